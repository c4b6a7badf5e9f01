"""Helpers that the tests of this lab share."""

import sys
import threading

import pytest

from kafka_lite.common.purgatory.delayed_operation import DelayedOperation, DelayedOperationPurgatory
from kafka_lite.common.time import MockTime


class Operation(DelayedOperation):
    """Waits until ``ready`` is set, and counts its calls."""

    def __init__(self, delay_ms=60_000):
        super().__init__(delay_ms)
        self.ready = False
        self.tries = self.completions = self.expirations = 0

    def try_complete(self):
        self.tries += 1
        return self.ready and self.force_complete()

    def on_complete(self):
        self.completions += 1

    def on_expiration(self):
        self.expirations += 1


@pytest.fixture
def operation_class():
    """The class of operations, to create or derive more."""
    return Operation


@pytest.fixture
def operation():
    """One operation that waits until ``ready`` is set."""
    return Operation()


@pytest.fixture
def purgatory():
    """A purgatory without a reaper, whose clock jumps when a thread waits."""
    return DelayedOperationPurgatory("lab", reaper_enabled=False, time=MockTime())


@pytest.fixture
def in_thread():
    """``in_thread(work)``: run it in another thread; its ``join`` fails if it hangs. The thread ends with the test."""

    class Running:
        def __init__(self, work):
            self.result = self.error = None
            self._thread = threading.Thread(target=self._run, args=(work,), daemon=True)
            self._thread.start()

        def _run(self, work):
            try:
                self.result = work()
            except Exception as error:  # noqa: BLE001 - the test asks for it
                self.error = error

        def ended(self, timeout_s):
            self._thread.join(timeout_s)
            return not self._thread.is_alive()

    return Running


@pytest.fixture
def frequent_switches():
    """Make the interpreter switch threads as often as it can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)
