"""The pytest plugin of a check in a page: that of the labs, with a time limit that takes no signal, and one process.

The grader's process and that of the tests are one here, so outcomes go to a function, unsigned: they count in the
page only.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from types import FrameType
from typing import Any, Final

import pytest

from kafka_learn.labs.in_page.slow_test import limited
from kafka_learn.labs.pytest_plugin import LabPlugin, TooSlowError, _task_of, pytest_addoption, running_loop

__all__ = ["pytest_addoption", "pytest_configure"]
TAKER: Final = "kafka-lite-row-taker"
"""The name under which a check registers what takes the outcomes, in place of a ``Reporter``."""


class PagePlugin(LabPlugin):
    """Collects the outcome of each test."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, None, None]:
        """Turn an endless loop into a failure that names it."""
        stopped: list[TooSlowError] = []

        def stop(frame: FrameType) -> None:
            self._too_slow += 1
            where = running_loop(frame, self.files.values())
            words = f"still running after {self._test_limit_s:.3g} s, in {where}: does that loop make progress?"
            stopped.append(TooSlowError(words))
            raise stopped[0]

        try:
            with limited(self._test_limit_s, list(self.files.values()), stop):
                result = yield
        except Exception:
            if stopped:
                raise stopped[0] from None
            raise
        if words := self._swallows.get(_task_of(item)):  # the test might have failed otherwise
            pytest.fail(words)
        return result


def pytest_configure(config: pytest.Config) -> None:
    """Register the plugin with the grader's options."""
    pairs = [pair.partition("=") for pair in config.getoption("--lab-module")]
    limits = config.getoption("--lab-test-limit"), config.getoption("--lab-time-limit")
    rows = [row.partition(": ") for row in config.getoption("--lab-swallows")]
    taker: Any = config.pluginmanager.get_plugin(TAKER)
    swallows = {int(task): words for task, _, words in rows}
    plugin = PagePlugin(taker, {module: Path(file) for module, _, file in pairs}, *limits, swallows)
    config.pluginmanager.register(plugin, "kafka-lite-lab")
