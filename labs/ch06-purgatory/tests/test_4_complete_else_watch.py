"""Task 4: into the purgatory, without missing an event."""

import pytest

from kafka_learn.labs.locks import touched_only_with
from kafka_learn.labs.raising import must_raise
from kafka_lite.common.purgatory.delayed_operation import DelayedOperationPurgatory
from kafka_lite.common.purgatory.timer import SystemTimer
from kafka_lite.common.time import MockTime


@pytest.mark.points(3, task=4)
def test_an_operation_that_can_complete_at_once(purgatory, operation):
    """Ready from the start"""
    operation.ready = True
    assert purgatory.try_complete_else_watch(operation, ["a", "b"]) is True, "it completed at once: True"
    assert purgatory.watched == 0, "it was added to a list though it could complete at once"
    assert purgatory.delayed == 0, "it was added to the timer though it could complete at once"


@pytest.mark.points(3, task=4)
def test_an_operation_that_must_wait(purgatory, operation):
    """On all lists, and in the timer"""
    assert purgatory.try_complete_else_watch(operation, ["a", "b"]) is False, "it waits: False"
    assert purgatory.watched == 2, f"it must be on the lists of both keys; it is on {purgatory.watched}"
    assert purgatory.delayed == 1, "otherwise nothing ends its wait: it must be in the timer, for delay_ms"
    assert purgatory._estimated_total_operations == 1, "one operation on two lists: it counts once"


@pytest.mark.points(1, task=4)
def test_the_count_changes_with_the_lock(purgatory, operation):
    """Many threads count at the same time"""
    with touched_only_with(
        purgatory, "_lock", state=["_estimated_total_operations"], within=["try_complete_else_watch"], reads=False
    ):
        purgatory.try_complete_else_watch(operation, ["a"])


class Reaper:
    """Counts how often it is woken."""

    woken = 0

    def wake_up(self):
        self.woken += 1

    def shutdown(self):
        pass


@pytest.mark.points(2, task=4)
def test_the_reaper_is_woken_when_there_is_much_to_purge(purgatory, operation_class):
    """Few completed operations in the lists, then many; then without a reaper"""
    reaper = purgatory._reaper = Reaper()
    purgatory.try_complete_else_watch(operation_class(), ["a"])
    assert reaper.woken == 0, "the lists have next to no completed operations: do not wake the reaper for each new one"
    purgatory._estimated_total_operations += 1_000_000
    purgatory.try_complete_else_watch(operation_class(), ["a"])
    assert reaper.woken == 1, (
        "a million completed operations are in the lists (_needs_purge): wake the reaper, which may sleep for long; "
        f"you woke it {reaper.woken} times"
    )
    purgatory._reaper = None
    try:
        purgatory.try_complete_else_watch(operation_class(), ["a"])
    except AttributeError:
        pytest.fail("a purgatory may have no reaper (None): there is nothing to wake")


@pytest.mark.points(2, task=4)
def test_an_operation_needs_a_key(purgatory, operation):
    """No keys"""
    rule = "without a key, only a timeout could complete it"
    must_raise(ValueError, rule, purgatory.try_complete_else_watch, operation, [])


@pytest.mark.points(3, task=4)
def test_an_event_between_check_and_watch(purgatory, operation_class):
    """It comes when no list has the operation"""

    class Between(operation_class):
        def try_complete(self):
            result = super().try_complete()
            if self.tries == 1:
                self.ready = True  # the event, right after the first check
                purgatory.check_and_complete("a")
            return result

    purgatory.check_and_complete("unknown")
    operation = Between()
    completed = purgatory.try_complete_else_watch(operation, ["a"])
    assert operation.completions == 1, (
        "lost wake-up: the event came after the first check and before the operation was on the "
        "list. It will not come again"
    )
    assert completed is True, "the second check completed it, in this very call: True"
    assert purgatory.delayed == 0, "it has completed: it must not be in the timer"


@pytest.mark.points(3, task=4)
def test_completed_before_it_is_in_the_timer(operation_class):
    """The event comes after the second check"""

    class LateTimer(SystemTimer):
        def add(self, task):
            task.force_complete()  # another thread, which calls cancel() before the timer has it
            super().add(task)

    purgatory = DelayedOperationPurgatory("lab", reaper_enabled=False, timer=LateTimer(time=MockTime()))
    operation = operation_class()
    assert purgatory.try_complete_else_watch(operation, ["a"]) is False, "another thread completed it: False"
    assert purgatory.delayed == 0, (
        "it completed just before it was added to the timer, where it now stays for its whole delay: check once more"
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
    assert purgatory.watched == 1, "once it has completed, there is no need to add it to more lists"
    assert purgatory.delayed == 0, "it has completed: it must not be in the timer"
