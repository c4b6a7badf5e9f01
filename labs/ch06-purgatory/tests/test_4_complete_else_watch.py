"""Task 4: into the purgatory, without missing anything."""

import pytest

from kafka_lite.common.purgatory.delayed_operation import DelayedOperationPurgatory
from kafka_lite.common.purgatory.timer import SystemTimer
from kafka_lite.common.time import MockTime


@pytest.mark.points(3, task=4)
def test_what_can_be_completed_at_once_does_not_wait(purgatory, operation):
    """Ready from the beginning"""
    operation.ready = True
    assert purgatory.try_complete_else_watch(operation, ["a", "b"]) is True, "completed here and now: True"
    assert purgatory.watched == 0, "it was put on a list though it could be completed at once"
    assert purgatory.delayed == 0, "it was put into the timer though it could be completed at once"


@pytest.mark.points(3, task=4)
def test_what_cannot_waits_everywhere(purgatory, operation):
    """On all lists, and in the timer"""
    assert purgatory.try_complete_else_watch(operation, ["a", "b"]) is False, "it waits: False"
    assert purgatory.watched == 2, f"it must be on the lists of both keys; it is on {purgatory.watched}"
    assert purgatory.delayed == 1, "nothing will ever end its wait: it must be in the timer, for delay_ms"
    assert purgatory._estimated_total_operations == 1, "one operation on two lists: it counts once"


@pytest.mark.points(2, task=4)
def test_an_operation_must_watch_something(purgatory, operation):
    """No keys"""
    try:
        purgatory.try_complete_else_watch(operation, [])
    except ValueError:
        return
    pytest.fail("without a key only time could complete it: raise ValueError")


@pytest.mark.points(6, task=4)
def test_the_event_between_the_look_and_the_list(purgatory, operation_class):
    """It comes when no list has the operation"""

    class Between(operation_class):
        def try_complete(self):
            result = super().try_complete()
            if self.tries == 1:
                self.ready = True  # the event, right after the first look
                purgatory.check_and_complete("a")
            return result

    purgatory.check_and_complete("unknown")
    operation = Between()
    completed = purgatory.try_complete_else_watch(operation, ["a"])
    assert operation.completions == 1, (
        "lost wake-up: the event came after the first look and before the operation was on the list. "
        "Nobody will announce it again"
    )
    assert completed is True, "the second look completed it, in this very call: True"
    assert purgatory.delayed == 0, "it is completed: it must not be in the timer"


@pytest.mark.points(3, task=4)
def test_completed_before_it_is_in_the_timer(operation_class):
    """The event comes after the second look"""

    class LateTimer(SystemTimer):
        def add(self, task):
            task.force_complete()  # another thread, which calls cancel() when the timer does not have it yet
            super().add(task)

    purgatory = DelayedOperationPurgatory("lab", reaper_enabled=False, timer=LateTimer(time=MockTime()))
    operation = operation_class()
    assert purgatory.try_complete_else_watch(operation, ["a"]) is False, "another thread completed it: False"
    assert purgatory.delayed == 0, (
        "it was completed just before it came into the timer, where it now stays for its whole delay: look once more"
    )


@pytest.mark.points(3, task=4)
def test_when_another_thread_completes_it_meanwhile(purgatory, operation):
    """The first of three lists is enough"""
    watch = purgatory._watch

    def watch_and_complete(key, operation):
        watch(key, operation)
        operation.force_complete()

    purgatory._watch = watch_and_complete
    assert purgatory.try_complete_else_watch(operation, ["a", "b", "c"]) is False, "another thread completed it: False"
    assert purgatory.watched == 1, "once it is completed there is no need to put it on more lists"
    assert purgatory.delayed == 0, "it is completed: it must not be in the timer"
