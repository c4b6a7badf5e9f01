from typing import Any

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.connect.sql.sql_source_config import Mode, check, sql_source_config_def

BASE = {"connection.url": "sqlite://", "topic.prefix": "t-", "mode": "bulk"}


@pytest.mark.parametrize(
    ("mode", "incrementing", "timestamp"),
    [("bulk", False, False), ("incrementing", True, False), ("timestamp", False, True),
     ("timestamp+incrementing", True, True)],
)  # fmt: skip
def test_modes(mode: str, incrementing: bool, timestamp: bool) -> None:
    assert (Mode(mode).has_incrementing, Mode(mode).has_timestamp) == (incrementing, timestamp)


def test_the_defaults_are_those_of_the_jdbc_connector() -> None:
    values: dict[str, Any] = sql_source_config_def().parse(BASE)
    check(values)
    assert (values["poll.interval.ms"], values["table.poll.interval.ms"], values["batch.max.rows"]) == (
        5000,
        60_000,
        100,
    )
    assert (values["timestamp.delay.interval.ms"], values["validate.non.null"]) == (0, True)


@pytest.mark.parametrize("key", ["poll.interval.ms", "batch.max.rows", "table.poll.interval.ms"])
def test_numbers_are_positive(key: str) -> None:
    with pytest.raises(ConfigError, match="Value must be at least 1"):
        sql_source_config_def().parse(BASE | {key: "0"})
