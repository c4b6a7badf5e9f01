"""Kafka's layout of log lines."""

from __future__ import annotations

import logging
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.process.log_levels import TRACE
from kafka_lite.tools.common.logging_config import CONFIG_VARIABLE, LEVEL_VARIABLE, KafkaFormatter, configure_logging


@pytest.fixture(autouse=True)
def _no_settings_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(LEVEL_VARIABLE, raising=False)
    monkeypatch.delenv(CONFIG_VARIABLE, raising=False)


@pytest.mark.parametrize(
    ("level", "word"),
    [(logging.INFO, "INFO"), (logging.WARNING, "WARN"), (logging.ERROR, "ERROR"), (logging.CRITICAL, "FATAL")],
)
def test_lines_have_the_layout_of_kafka(level: int, word: str) -> None:
    record = logging.LogRecord("kafka_lite.log.log", level, __file__, 1, "Rolled %s-%d", ("topic", 3), None)
    record.created, record.msecs = 1_600_000_000.123, 123
    line = KafkaFormatter().format(record)
    assert re.fullmatch(rf"\[2020-09-1\d \d\d:\d\d:\d\d,123\] {word} Rolled topic-3 \(kafka_lite\.log\.log\)", line)


@pytest.mark.parametrize(
    ("message", "args", "line"),
    [
        ("Client %r asks", ("a\nb",), "Client 'a\\nb' asks"),
        (
            "Denied %s on %s",
            ("m\n[2026] INFO root is Allowed", 7),
            "Denied m\\n[2026] INFO root is Allowed on 7",
        ),
        ("Group %s", ("\x1b[2J\r\x7f\x9b\u2028",), "Group \\x1b[2J\\r\\x7f\\x9b\\u2028"),
        ("Group %s", ("日本\t é",), "Group 日本\t é"),
        ("Values:\n%s", ("a = 1\nb = 2",), "Values:\na = 1\nb = 2"),
        ("%s", ("of the cleaner\n\tread 7",), "of the cleaner\n\tread 7"),
    ],
)
def test_a_client_cannot_forge_a_line(message: str, args: tuple[object, ...], line: str) -> None:
    record = logging.LogRecord("kafka", logging.INFO, __file__, 1, message, args, None)
    assert KafkaFormatter().format(record).partition("INFO ")[2] == f"{line} (kafka)"


def test_a_traceback_keeps_its_lines() -> None:
    record = logging.LogRecord("kafka", logging.INFO, __file__, 1, "of %s", ("a\nb",), None)
    record.exc_text = "Traceback\n  ValueError"
    assert KafkaFormatter().format(record).splitlines()[1:] == ["Traceback", "  ValueError"]


def test_info_is_printed_on_stderr_and_debug_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging()
    logging.getLogger("kafka_lite.some.module").info("shown")
    logging.getLogger("kafka_lite.some.module").debug("hidden")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "INFO shown (kafka_lite.some.module)" in captured.err
    assert "hidden" not in captured.err


def test_the_next_test_has_no_handler_of_the_former_one() -> None:
    """The fixture ``logging_as_before`` of tests/conftest.py: the stderr of the test above is closed by now."""
    assert [each for each in logging.getLogger().handlers if isinstance(each.formatter, KafkaFormatter)] == []


def test_warnings_of_kazoo_are_hidden(capsys: pytest.CaptureFixture[str]) -> None:
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


def test_an_unknown_level_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LEVEL_VARIABLE, "LOUD")
    with pytest.raises(KafkaError, match=r"LOUD.*valid levels: TRACE, DEBUG, INFO"):
        configure_logging()


# ------------------------------------------------------------------------------------------------------ from a file


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The directory of the log files; restores all loggers after the test."""
    monkeypatch.setenv("LOG_DIR", str(tmp_path / "logs"))
    named = [logging.getLogger(name) for name in NAMED]
    before = [(each, each.level, each.handlers[:], each.propagate) for each in named]
    opened = set(logging._handlers.values())  # type: ignore[attr-defined]
    yield tmp_path / "logs"
    # Before the loggers let go of them: a garbage collection in between would find files that nobody has closed.
    for handler in set(logging._handlers.values()) - opened:  # type: ignore[attr-defined]
        handler.close()
    for each, level, handlers, propagate in before:
        each.setLevel(level)
        each.handlers[:] = handlers
        each.propagate = propagate


SHIPPED = Path(__file__).parents[4] / "config" / "logging.toml"
NAMED = list(tomllib.loads(SHIPPED.read_text(encoding="utf-8"))["loggers"])


def test_the_shipped_file_configures_the_log_files_of_kafka(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(SHIPPED)
    logging.getLogger("kafka_lite.server.x").info("of the server")
    logging.getLogger("kafka_lite.controller.x").log(TRACE, "of the controller")
    logging.getLogger("state.change.logger").log(TRACE, "of a state")
    logging.getLogger("kafka_lite.log.cleaning.log_cleaner").info("of the cleaner")
    logging.getLogger("kafka.request.logger").debug("of a request")
    logging.getLogger("kafka.request.logger").setLevel(logging.DEBUG)
    logging.getLogger("kafka.request.logger").debug("of the next")
    lines = {file.name: file.read_text(encoding="utf-8").splitlines() for file in files.iterdir()}
    assert {name: [line.split("] ")[1] for line in found] for name, found in lines.items()} == {
        "server.log": ["INFO of the server (kafka_lite.server.x)"],
        "controller.log": ["TRACE of the controller (kafka_lite.controller.x)"],
        "state-change.log": ["TRACE of a state (state.change.logger)"],
        "log-cleaner.log": ["INFO of the cleaner (kafka_lite.log.cleaning.log_cleaner)"],
        "kafka-request.log": ["DEBUG of the next (kafka.request.logger)"],
    }
    assert [line.split("] ")[1] for line in capsys.readouterr().err.splitlines()] == [lines["server.log"][0][26:]]


def test_the_environment_names_the_file(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CONFIG_VARIABLE, str(SHIPPED))
    configure_logging()
    assert (files / "controller.log").exists()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[root", "not valid TOML: Expected"),
        ("[root]\nlevel = 'LOUD'", "root.*LOUD"),
        ("[root]\nhandlers = ['nobody']", "root.*nobody"),
        ("[formatters.x]\n'()' = 'no.such.Class'", "no"),
    ],
)
def test_a_malformed_file_is_reported_as_one_error(tmp_path: Path, text: str, reason: str) -> None:
    file = tmp_path / "logging.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(KafkaError, match=f"log configuration .*{reason}"):
        configure_logging(file)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(KafkaError, match=r"cannot read the log configuration .*: No such file"):
        configure_logging(tmp_path / "none.toml")
