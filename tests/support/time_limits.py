"""pytest-timeout's limits, in seconds of a quiet machine.

``@pytest.mark.timeout(300)`` is written as before, and its seconds are those of ``Patience``. tests/conftest.py
registers this module as a plugin of pytest.
"""

from __future__ import annotations

import signal
import threading
from typing import Any

import pytest
import pytest_timeout

from tests.support.patience import Patience

LEAST_TURN_S, LONGEST_TURN_S = 0.5, 10.0
"""How often the load is sampled."""


class CutOff:
    """Counts the tests of this process that their limit has cut off.

    Whatever they shared with later tests may be in the middle of a call: see ``spark_jvm``.
    """

    count = 0


@pytest.hookimpl(tryfirst=True)
def pytest_timeout_set_timer(item: Any, settings: pytest_timeout.Settings) -> bool | None:
    """Start the limit of a test. None leaves it to pytest-timeout, if signals are not possible."""
    if settings.method != "signal" or threading.current_thread() is not threading.main_thread():
        return None
    patience = Patience(settings.timeout)

    def on_alarm(_number: int, _frame: object) -> None:
        __tracebackhide__ = True
        if patience.is_over():
            CutOff.count += 1
            pytest_timeout.timeout_sigalrm(item, settings)
        else:
            start()

    def start() -> None:
        signal.setitimer(signal.ITIMER_REAL, min(max(patience.left_s(), LEAST_TURN_S), LONGEST_TURN_S))

    def cancel() -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)

    item.cancel_timeout = cancel
    signal.signal(signal.SIGALRM, on_alarm)
    start()
    return True
