"""Task 1: exactly once."""

import threading

import pytest


@pytest.mark.points(4, task=1)
def test_force_complete_returns_true_once(operation):
    """Three calls, one completion"""
    answers = [operation.force_complete() for _ in range(3)]
    assert operation.completions == 1, f"on_complete must be called once, it was called {operation.completions} times"
    assert answers == [True, False, False], f"only the first caller has completed it; the results were {answers}"
    assert operation.is_completed, "is_completed of a completed operation must be true"


@pytest.mark.points(3, task=1)
def test_the_operation_is_marked_before_it_completes(operation_class):
    """on_complete finds the operation completed"""

    class Curious(operation_class):
        seen = None
        again = None

        def on_complete(self):
            super().on_complete()
            self.seen = self.is_completed
            if self.completions < 5:
                self.again = self.force_complete()

    operation = Curious()
    operation.force_complete()
    assert operation.completions == 1, (
        "on_complete called force_complete, and was called again: mark first, then complete"
    )
    assert operation.seen, "while on_complete runs, is_completed must already be true"
    assert operation.again is False, "a second force_complete is false, even within on_complete"


@pytest.mark.points(3, task=1)
@pytest.mark.usefixtures("frequent_switches")
def test_many_threads_one_winner(operation_class):
    """Four threads at the same moment, two hundred times"""
    start = threading.Barrier(4)
    operations = [operation_class() for _ in range(200)]
    wins = []

    def complete_all():
        for operation in operations:
            start.wait()
            if operation.force_complete():
                wins.append(operation)

    threads = [threading.Thread(target=complete_all, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    if not operations[0].is_completed:
        operations[0].force_complete()  # in this thread, too, where a missing body is reported
    for thread in threads:
        thread.join()
    most = max(operation.completions for operation in operations)
    assert most == 1, f"four threads called force_complete together, but on_complete was called {most} times"


@pytest.mark.points(3, task=1)
def test_a_completed_operation_leaves_the_timer(purgatory, operation):
    """The timer no longer has it"""
    purgatory._timer.add(operation)
    operation.force_complete()
    assert purgatory.delayed == 0, "a completed operation is still in the timer: cancel() removes it"


@pytest.mark.points(2, task=1)
def test_only_a_timeout_is_an_expiration(operation_class):
    """run, which the timer calls"""
    expired, completed = operation_class(), operation_class()
    expired.run()
    assert (expired.completions, expired.expirations) == (1, 1), "at the timeout: on_complete, then on_expiration"
    order = []

    class Ordered(operation_class):
        def on_complete(self):
            order.append("on_complete")

        def on_expiration(self):
            order.append("on_expiration")

    Ordered().run()
    assert order == ["on_complete", "on_expiration"], (
        f"only the thread that has completed it may say that it has expired: first complete; yours called {order}"
    )
    completed.force_complete()
    completed.run()
    assert completed.expirations == 0, "it completed before its timeout: that is no expiration"
