"""Kafka's layout of log lines."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator

import pytest

from kafka_lite.common.errors import KafkaError
from kafka_lite.tools.logging_config import LEVEL_VARIABLE, KafkaFormatter, configure_logging


@pytest.fixture(autouse=True)
def _restored_logging(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv(LEVEL_VARIABLE, raising=False)
    root, kazoo = logging.getLogger(), logging.getLogger("kazoo")
    handlers, levels = root.handlers[:], (root.level, kazoo.level)
    yield
    root.handlers[:] = handlers
    root.setLevel(levels[0])
    kazoo.setLevel(levels[1])


@pytest.mark.parametrize(
    ("level", "word"),
    [(logging.INFO, "INFO"), (logging.WARNING, "WARN"), (logging.ERROR, "ERROR"), (logging.CRITICAL, "FATAL")],
)
def test_a_line_has_kafkas_layout(level: int, word: str) -> None:
    record = logging.LogRecord("kafka_lite.log.log", level, __file__, 1, "Rolled %s-%d", ("topic", 3), None)
    record.created, record.msecs = 1_600_000_000.123, 123
    line = KafkaFormatter().format(record)
    assert re.fullmatch(rf"\[2020-09-1\d \d\d:\d\d:\d\d,123\] {word} Rolled topic-3 \(kafka_lite\.log\.log\)", line)


def test_information_goes_to_stderr_and_debugging_nowhere(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging()
    logging.getLogger("kafka_lite.some.module").info("shown")
    logging.getLogger("kafka_lite.some.module").debug("hidden")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "INFO shown (kafka_lite.some.module)" in captured.err
    assert "hidden" not in captured.err


def test_kazoos_attempts_are_not_told(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging()
    logging.getLogger("kazoo.client").warning("Connection dropped")
    assert capsys.readouterr().err == ""


def test_the_level_comes_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(LEVEL_VARIABLE, "debug")
    configure_logging()
    logging.getLogger("kafka_lite.x").debug("shown")
    logging.getLogger("kazoo.client").debug("shown too")
    assert capsys.readouterr().err.count("DEBUG shown") == 2
    monkeypatch.setenv(LEVEL_VARIABLE, "WARN")
    configure_logging()
    logging.getLogger("kafka_lite.x").info("hidden")
    assert capsys.readouterr().err == ""


def test_an_unknown_level_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LEVEL_VARIABLE, "LOUD")
    with pytest.raises(KafkaError, match=r"LOUD.*valid levels: TRACE, DEBUG, INFO"):
        configure_logging()
