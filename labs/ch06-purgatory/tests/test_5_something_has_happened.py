"""Task 5: events, and finally everything at once."""

import random
import threading
from time import sleep

import pytest

from kafka_lite.common.purgatory.delayed_operation import DelayedOperationPurgatory


@pytest.mark.points(3, task=5)
def test_an_event_completes_the_operations_of_its_key(purgatory, operation_class):
    """Two keys"""
    here, elsewhere = operation_class(), operation_class()
    purgatory.try_complete_else_watch(here, ["a"])
    purgatory.try_complete_else_watch(elsewhere, ["b"])
    here.ready = elsewhere.ready = True
    completed = purgatory.check_and_complete("a")
    assert elsewhere.completions == 0, "an event of a concerns the operations that wait for a, and no others"
    assert here.completions == 1, (
        "an operation that waits for a was ready when the event of a came, but it has not completed"
    )
    assert completed == 1, f"one operation waits for a: the result is 1, not {completed}"
    assert purgatory.check_and_complete("unknown") == 0, "no operation waits for this key: 0"


@pytest.mark.points(2, task=5)
def test_empty_lists_do_not_stay(purgatory, operation_class):
    """A thousand keys, one after the other"""
    for number in range(1000):
        operation = operation_class()
        purgatory.try_complete_else_watch(operation, [number])
        operation.ready = True
        purgatory.check_and_complete(number)
    left = len(purgatory._watchers)
    assert left == 0, f"{left} empty lists are left: with many topics, this memory is never freed"


@pytest.mark.points(5, task=5)
@pytest.mark.usefixtures("frequent_switches")
def test_no_event_is_lost(operation_class):
    """Three hundred rounds of three threads: two events, one operation that needs both"""
    rounds = 300
    purgatory = DelayedOperationPurgatory("stress", purge_interval=50)
    first = operation_class()
    purgatory.try_complete_else_watch(first, ["a"])
    first.ready = True
    purgatory.check_and_complete("a")  # first in this thread, where a missing body is reported
    together = threading.Barrier(3)

    class NeedsTwoEvents(operation_class):
        def __init__(self):
            super().__init__(3_600_000)
            self.events = []

        def try_complete(self):
            seen = len(self.events)
            sleep(0)  # let other threads run between check and decision
            return seen == 2 and self.force_complete()

    operations = [NeedsTwoEvents() for _ in range(rounds)]

    def announce(seed):
        pauses = random.Random(seed)
        for number, operation in enumerate(operations):
            together.wait()
            for _ in range(pauses.randrange(4)):
                sleep(0)
            operation.events.append(seed)
            purgatory.check_and_complete(number)

    def wait():
        for number, operation in enumerate(operations):
            together.wait()
            purgatory.try_complete_else_watch(operation, [number, "another key"])

    works = [lambda: announce(1), lambda: announce(2), wait]
    threads = [threading.Thread(target=work, daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    purgatory.shutdown()
    lost = sum(operation.completions == 0 for operation in operations)
    twice = sum(operation.completions > 1 for operation in operations)
    assert lost == 0, f"lost wake-up: {lost} of {rounds} operations wait though both of their events have happened"
    assert twice == 0, f"{twice} operations were completed more than once"
