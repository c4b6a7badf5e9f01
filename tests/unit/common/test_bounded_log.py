"""One request cannot fill the log."""

from __future__ import annotations

import logging

import pytest

from kafka_lite.common.bounded_log import MAX_LINES, BoundedLog

logger = logging.getLogger("kafka_lite.test_bounded_log")


def test_the_first_lines_are_logged_and_the_others_counted(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO), BoundedLog(logger) as log:
        for number in range(1000):
            log.log(logging.INFO, "line %d", number)
    lines = [record.getMessage() for record in caplog.records]
    assert lines[:MAX_LINES] == [f"line {number}" for number in range(MAX_LINES)]
    assert lines[MAX_LINES:] == [f"{1000 - MAX_LINES} more lines of the same request are not logged"]


def test_the_count_has_the_level_of_the_worst_line(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO), BoundedLog(logger, max_lines=0) as log:
        log.log(logging.INFO, "small")
        log.log(logging.ERROR, "bad", exc_info=ValueError("x"))
        log.log(logging.DEBUG, "not enabled, not counted")
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("ERROR", "2 more lines of the same request are not logged")
    ]


def test_few_lines_need_no_count(caplog: pytest.LogCaptureFixture) -> None:
    error = ValueError("broken")
    with caplog.at_level(logging.INFO), BoundedLog(logger, max_lines=1) as log:
        log.log(logging.ERROR, "bad", exc_info=error)
    (record,) = caplog.records
    assert record.exc_info is not None
    assert record.exc_info[1] is error
