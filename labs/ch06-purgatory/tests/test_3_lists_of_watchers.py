"""Task 3: the operations that wait for one key."""

import pytest

from kafka_learn.labs.locks import touched_only_with
from kafka_lite.common.purgatory.delayed_operation import Watchers


@pytest.mark.points(4, task=3)
def test_every_operation_is_checked(operation_class):
    """Three wait, two are ready"""
    watchers, operations = Watchers(), [operation_class() for _ in range(3)]
    for operation in operations:
        watchers.watch(operation)
    operations[0].ready = operations[2].ready = True
    completed = watchers.try_complete_watched()
    assert [operation.tries for operation in operations] == [1, 1, 1], "each operation is checked once, ready or not"
    assert completed == 2, f"two were completed, not {completed}"
    assert len(watchers) == 1, "completed operations leave the list, the others stay"


@pytest.mark.points(3, task=3)
def test_operations_completed_elsewhere_are_purged(operation_class):
    """Completed through another key, or by a timeout"""
    watchers, operations = Watchers(), [operation_class() for _ in range(3)]
    for operation in operations:
        watchers.watch(operation)
    operations[1].run()
    purged = watchers.purge_completed()
    assert purged == 1, f"one of three was completed, so one is purged, not {purged}"
    assert len(watchers) == 2, "the two that still wait must stay"
    operations[0].run()
    assert watchers.try_complete_watched() == 0, "completed by a timeout, not by this event: it does not count"
    assert len(watchers) == 1, "try_complete_watched also removes operations that were completed elsewhere"


@pytest.mark.points(1, task=3)
def test_the_list_is_only_touched_with_its_lock(operation_class):
    """Other threads add operations meanwhile"""
    watchers = Watchers()
    for _ in range(3):
        watchers.watch(operation_class())
    for method in ("purge_completed", "try_complete_watched"):
        with touched_only_with(watchers, "_lock", state=["_operations"], within=[method]):
            getattr(watchers, method)()


@pytest.mark.points(2, task=3)
def test_a_completion_may_cause_the_next_event(operation_class, in_thread):
    """on_complete triggers an event for the same key"""
    watchers = Watchers()
    watchers.try_complete_watched()

    class Chain(operation_class):
        def on_complete(self):
            super().on_complete()
            watchers.try_complete_watched()

    operations = [Chain() for _ in range(5)]
    for operation in operations:
        watchers.watch(operation)
        operation.ready = True
    running = in_thread(watchers.try_complete_watched)
    assert running.ended(2), (
        "on_complete came back here and waits for a lock that its own thread holds: check without it"
    )
    assert running.error is None, (
        f"on_complete came back here and changed the list: check a copy of it; {running.error!r}"
    )
    assert [operation.completions for operation in operations] == [1] * 5, "each of the five is completed once"
