"""Log levels as configs of a resource, with Kafka's validation of changes."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.process import log_levels
from kafka_lite.protocol.messages.api_44_incremental_alter_configs import AlterableConfig
from kafka_lite.server.admin.runtime_logger_manager import RuntimeLoggerManager

NAME = "runtime_logger_manager_test.package.module"
PACKAGE = "runtime_logger_manager_test.package"
SET, DELETE, APPEND, SUBTRACT = range(4)


@pytest.fixture(autouse=True)
def _loggers() -> Iterator[None]:
    root_level = logging.root.level
    logging.getLogger(NAME)
    logging.root.setLevel(logging.WARNING)
    yield
    logging.root.setLevel(root_level)
    for name in (NAME, PACKAGE):
        logging.getLogger(name).setLevel(logging.NOTSET)


@pytest.fixture
def manager() -> RuntimeLoggerManager:
    return RuntimeLoggerManager(7)


def op(name: str, operation: int, value: str | None = None) -> AlterableConfig:
    return AlterableConfig(name=name, config_operation=operation, value=value)


def described(manager: RuntimeLoggerManager) -> dict[str, str | None]:
    return {entry.name: entry.value for entry in manager.describe("7", ["root", NAME, PACKAGE])}


def test_every_logger_is_described_with_its_effective_level(manager: RuntimeLoggerManager) -> None:
    assert described(manager) == {"root": "WARN", NAME: "WARN", PACKAGE: "WARN"}
    entry = manager.describe("7", [NAME])[0]
    assert (entry.config_source, entry.read_only, entry.is_sensitive) == (6, False, False)
    assert {"root", NAME} <= {entry.name for entry in manager.describe("7")}


def test_a_level_is_inherited_below_a_package_until_it_is_deleted(manager: RuntimeLoggerManager) -> None:
    manager.alter("7", [op(PACKAGE, SET, "DEBUG")], validate_only=False)
    assert described(manager) == {"root": "WARN", NAME: "DEBUG", PACKAGE: "DEBUG"}
    assert logging.getLogger(NAME).isEnabledFor(logging.DEBUG)
    manager.alter("7", [op(NAME, SET, "TRACE"), op("root", SET, "ERROR")], validate_only=False)
    assert described(manager) == {"root": "ERROR", NAME: "TRACE", PACKAGE: "DEBUG"}
    manager.alter("7", [op(NAME, DELETE), op(PACKAGE, DELETE)], validate_only=False)
    assert described(manager) == {"root": "ERROR", NAME: "ERROR", PACKAGE: "ERROR"}


def test_validation_changes_nothing(manager: RuntimeLoggerManager) -> None:
    manager.alter("7", [op(NAME, SET, "DEBUG")], validate_only=True)
    assert described(manager)[NAME] == "WARN"


@pytest.mark.parametrize(
    ("ops", "error", "message"),
    [
        ([op("no.such", SET, "INFO")], Errors.INVALID_CONFIG, "Logger no.such does not exist!"),
        ([op("no.such", DELETE)], Errors.INVALID_CONFIG, "Logger no.such does not exist!"),
        (
            [op(NAME, SET, "LOUD")],
            Errors.INVALID_CONFIG,
            f"Cannot set the log level of {NAME} to LOUD as it is not a supported log level. "
            "Valid log levels are DEBUG, ERROR, FATAL, INFO, TRACE, WARN",
        ),
        ([op(NAME, SET, "debug")], Errors.INVALID_CONFIG, "to debug as it is not a supported log level"),
        ([op("root", DELETE)], Errors.INVALID_REQUEST, "Removing the log level of the root logger is not allowed"),
        ([op(NAME, APPEND, "INFO")], Errors.INVALID_REQUEST, "APPEND operation is not allowed for the BROKER_LOGGER"),
        ([op(NAME, SUBTRACT, "INFO")], Errors.INVALID_REQUEST, "SUBTRACT operation is not allowed"),
        ([op(NAME, 9, "INFO")], Errors.INVALID_REQUEST, "9"),
        ([op(NAME, SET)], Errors.INVALID_REQUEST, "Null value not supported"),
        ([op(NAME, SET, "INFO"), op(NAME, DELETE)], Errors.INVALID_REQUEST, "duplicate"),
    ],
)
def test_one_invalid_change_rejects_all(
    manager: RuntimeLoggerManager, ops: list[AlterableConfig], error: Errors, message: str
) -> None:
    with pytest.raises(ApiError) as failure:
        manager.alter("7", [op(PACKAGE, SET, "DEBUG"), *ops], validate_only=False)
    assert failure.value.error is error
    assert message in str(failure.value)
    assert described(manager)[PACKAGE] == "WARN"


@pytest.mark.parametrize("name", ["", "8", "seven"])
def test_only_the_loggers_of_this_broker_can_be_changed(manager: RuntimeLoggerManager, name: str) -> None:
    for attempt in (lambda: manager.describe(name), lambda: manager.alter(name, [], validate_only=False)):
        with pytest.raises(ApiError) as failure:
            attempt()
        assert failure.value.error is Errors.INVALID_REQUEST


def test_levels_between_log4js_have_the_name_of_the_lower_one() -> None:
    assert [log_levels.level_name(level) for level in (0, 5, 7, 10, 30, 35, 50, 60)] == [
        "TRACE",
        "TRACE",
        "TRACE",
        "DEBUG",
        "WARN",
        "WARN",
        "FATAL",
        "FATAL",
    ]
