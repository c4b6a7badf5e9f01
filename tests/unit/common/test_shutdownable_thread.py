"""Pauses that a shutdown interrupts."""

from __future__ import annotations

import threading

import pytest

from kafka_lite.common.shutdownable_thread import ShutdownableThread


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
