"""The first signal asks for a shutdown, the second Ctrl-C forces it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from kafka_lite.tools.common.stop_signals import FORCED_EXIT_CODE, StopRequested, StopSignals
from tests.support.patience import patient_s

SLOW_TO_STOP = """
import time
from kafka_lite.tools.common.stop_signals import StopRequested, StopSignals
StopSignals().install()
try:
    print("running", flush=True)
    while True:  # a signal that comes just before a pause would not end it
        time.sleep(0.05)
except StopRequested:
    print("stopping", flush=True)
    while True:
        time.sleep(0.05)
"""


@pytest.fixture(autouse=True)
def _restored_handlers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in StopSignals.SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", StopSignals.SIGNALS)
def test_a_signal_raises_in_the_main_thread(number: signal.Signals) -> None:
    StopSignals().install()
    with pytest.raises(StopRequested):
        signal.raise_signal(number)


def test_signals_during_shutdown_are_ignored() -> None:
    signals = StopSignals()
    signals.install()
    signals.disarm()
    signal.raise_signal(signal.SIGTERM)
    signal.raise_signal(signal.SIGHUP)


def test_sighup_stays_ignored_under_nohup() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    StopSignals().install()
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


def test_a_second_ctrl_c_ends_a_process_that_does_not_stop() -> None:
    with subprocess.Popen([sys.executable, "-c", SLOW_TO_STOP], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "running\n"
        os.kill(process.pid, signal.SIGINT)
        assert process.stdout.readline() == "stopping\n"
        os.kill(process.pid, signal.SIGTERM)  # SIGTERM does not force
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(patient_s(60)) == FORCED_EXIT_CODE
