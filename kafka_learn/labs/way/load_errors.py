"""A pytest plugin that says at the end why files of tests could not be loaded: the error, not only that there was one.

A learner's module that fails at import, or lacks a class that a test imports, stops the check before any test runs.
"""

from __future__ import annotations

import pytest


class LoadErrors:
    """Collects the errors, each once: most files of a lab import the same module."""

    def __init__(self) -> None:
        self._found: dict[str, None] = {}

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep the error itself, and for an error in a file the line."""
        lines = [line.removeprefix("E  ").strip() for line in report.longreprtext.splitlines() if line.startswith("E ")]
        if report.failed and lines:
            self._found["\n".join(lines)] = None

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """The last words of the output."""
        for words in self._found:
            terminalreporter.write_line(words)


def pytest_configure(config: pytest.Config) -> None:
    """Register the plugin."""
    config.pluginmanager.register(LoadErrors(), "kafka-lite-load-errors")
