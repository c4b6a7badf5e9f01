"""Pauses that a shutdown interrupts."""

from __future__ import annotations

import threading

import pytest

from kafka_lite.common.shutdownable_thread import ProcessKilledError, ShutdownableThread


class Idle(ShutdownableThread):
    """Does nothing."""

    def do_work(self) -> None:
        """Nothing."""


@pytest.mark.parametrize("ms", [600_000.0, 2**63 - 1, float("inf")])
def test_a_shutdown_interrupts_any_pause(ms: float) -> None:
    thread = Idle("idle")
    stopping = threading.Timer(0.01, thread.initiate_shutdown)
    stopping.start()
    assert thread.pause(ms)
    stopping.join()


class Killed(ShutdownableThread):
    """Meets the end of its process wherever it looks at the clock: in a turn, and at its end."""

    def __init__(self) -> None:
        super().__init__("killed")
        self.exits = 0

    def do_work(self) -> None:
        raise ProcessKilledError

    def on_exit(self) -> None:
        self.exits += 1
        raise ProcessKilledError


def test_a_thread_of_a_killed_process_ends_in_silence() -> None:
    thread = Killed()
    thread.run()
    assert (thread.exits, thread.is_running) == (1, False)
