"""The configuration keys of the SQL source · book 8.3.2"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from kafka_lite.common.config_def import NO_DEFAULT, ConfigDef, ConfigError, Range, Type, ValidString
from kafka_lite.common.config_value import Width
from kafka_lite.connect.sql.sql_connection import DATABASE_GROUP, HIGH, LOW, MEDIUM, connection_config_def

WHITELIST, BLACKLIST = "table.whitelist", "table.blacklist"
INCLUDE, EXCLUDE = "table.include.list", "table.exclude.list"
SCHEMA_PATTERN, TABLE_TYPES, NUMERIC_MAPPING = "schema.pattern", "table.types", "numeric.mapping"
MODE, QUERY = "mode", "query"
INCREMENTING_COLUMN, TIMESTAMP_COLUMN = "incrementing.column.name", "timestamp.column.name"
VALIDATE_NON_NULL, TIMESTAMP_DELAY = "validate.non.null", "timestamp.delay.interval.ms"
TOPIC_PREFIX, POLL_INTERVAL, TABLE_POLL_INTERVAL = "topic.prefix", "poll.interval.ms", "table.poll.interval.ms"
BATCH_MAX_ROWS = "batch.max.rows"
TABLES = "tables"
MODE_GROUP, CONNECTOR_GROUP = "Mode", "Connector"


class Mode(Enum):
    """The rows that a poll reads; the value is that of ``mode``."""

    BULK = "bulk"
    """All of them."""
    INCREMENTING = "incrementing"
    """New ones, by a column that only grows. Changed rows are not noticed."""
    TIMESTAMP = "timestamp"
    """New and changed ones, by a time of their last change. A row that gets an older time is not noticed."""
    TIMESTAMP_INCREMENTING = "timestamp+incrementing"
    """New and changed ones, by both: rows of the same time are told apart."""

    @property
    def has_incrementing(self) -> bool:
        """Whether there is a column that grows."""
        return self in (Mode.INCREMENTING, Mode.TIMESTAMP_INCREMENTING)

    @property
    def has_timestamp(self) -> bool:
        """Whether there are columns of times."""
        return self in (Mode.TIMESTAMP, Mode.TIMESTAMP_INCREMENTING)


def sql_source_config_def() -> ConfigDef:
    """The keys of the connector."""
    return _connector_keys(_mode_keys(_table_keys(connection_config_def())))


def _table_keys(definition: ConfigDef) -> ConfigDef:
    return (
        definition
        .define(WHITELIST, Type.LIST, "", MEDIUM, "The tables to copy; by default all. Only one of the four lists.",
                group=DATABASE_GROUP, order_in_group=4, width=Width.LONG, display_name="Table Whitelist")
        .define(BLACKLIST, Type.LIST, "", MEDIUM, "Tables not to copy.",
                group=DATABASE_GROUP, order_in_group=5, width=Width.LONG, display_name="Table Blacklist")
        .define(INCLUDE, Type.LIST, "", MEDIUM, "Regular expressions for the names of the tables to copy.",
                group=DATABASE_GROUP, order_in_group=6, width=Width.LONG, display_name="Table Include List")
        .define(EXCLUDE, Type.LIST, "", MEDIUM, "Regular expressions for the names of tables not to copy.",
                group=DATABASE_GROUP, order_in_group=7, width=Width.LONG, display_name="Table Exclude List")
        .define(SCHEMA_PATTERN, Type.STRING, None, HIGH, "The schema of the tables; by default the user's.",
                group=DATABASE_GROUP, order_in_group=8, width=Width.SHORT, display_name="Schema pattern")
        .define(TABLE_TYPES, Type.LIST, "TABLE", LOW, "TABLE, or TABLE,VIEW to copy views, too.",
                group=DATABASE_GROUP, order_in_group=9, width=Width.MEDIUM, display_name="Table Types")
        .define(NUMERIC_MAPPING, Type.STRING, "none", LOW,
                "none: NUMERIC columns are decimals; best_fit: integers or floats.",
                ValidString.in_("none", "best_fit"),
                group=DATABASE_GROUP, order_in_group=10, width=Width.SHORT, display_name="Map Numeric Values")
    )  # fmt: skip


def _mode_keys(definition: ConfigDef) -> ConfigDef:
    return (
        definition
        .define(MODE, Type.STRING, NO_DEFAULT, HIGH,
                "Which rows are read: bulk, incrementing, timestamp or timestamp+incrementing.",
                ValidString.in_(*(mode.value for mode in Mode)),
                group=MODE_GROUP, order_in_group=1, width=Width.MEDIUM, display_name="Table Loading Mode",
                dependents=[INCREMENTING_COLUMN, TIMESTAMP_COLUMN, VALIDATE_NON_NULL])
        .define(INCREMENTING_COLUMN, Type.STRING, "", MEDIUM,
                "The column that grows with each new row; by default the only column of the primary key.",
                group=MODE_GROUP, order_in_group=2, width=Width.MEDIUM, display_name="Incrementing Column Name")
        .define(TIMESTAMP_COLUMN, Type.LIST, "", MEDIUM,
                "The columns with the time of a row's last change, in UTC; of several the first that is not null.",
                group=MODE_GROUP, order_in_group=3, width=Width.MEDIUM, display_name="Timestamp Column Name")
        .define(VALIDATE_NON_NULL, Type.BOOLEAN, True, LOW,
                "Whether a table whose column may be null is refused, since such rows would not be read.",
                group=MODE_GROUP, order_in_group=4, width=Width.SHORT, display_name="Validate Non Null")
        .define(QUERY, Type.STRING, "", MEDIUM, "A query to copy, in place of tables. The mode has to be bulk.",
                group=MODE_GROUP, order_in_group=5, width=Width.SHORT, display_name="Query")
        .define(TIMESTAMP_DELAY, Type.LONG, 0, HIGH,
                "How long after its time a row is read, ms, so that transactions that are still open are waited for.",
                Range.at_least(0),
                group=MODE_GROUP, order_in_group=6, width=Width.MEDIUM, display_name="Delay Interval (ms)")
    )  # fmt: skip


def _connector_keys(definition: ConfigDef) -> ConfigDef:
    return (
        definition
        .define(TOPIC_PREFIX, Type.STRING, NO_DEFAULT, HIGH,
                "What the name of a topic begins with; the table's follows. For a query the topic itself.",
                group=CONNECTOR_GROUP, order_in_group=1, width=Width.MEDIUM, display_name="Topic Prefix")
        .define(POLL_INTERVAL, Type.INT, 5000, HIGH, "How often each table is asked for rows, ms.", Range.at_least(1),
                group=CONNECTOR_GROUP, order_in_group=2, width=Width.SHORT, display_name="Poll Interval (ms)")
        .define(BATCH_MAX_ROWS, Type.INT, 100, LOW, "The most rows of one poll.", Range.at_least(1),
                group=CONNECTOR_GROUP, order_in_group=3, width=Width.SHORT, display_name="Max Rows Per Batch")
        .define(TABLE_POLL_INTERVAL, Type.LONG, 60_000, LOW,
                "How often new and dropped tables are looked for, ms.", Range.at_least(1),
                group=CONNECTOR_GROUP, order_in_group=4, width=Width.SHORT,
                display_name="Metadata Change Monitoring Interval (ms)")
    )  # fmt: skip


def check(values: Mapping[str, Any]) -> None:
    """Check what the keys say together. Raises ConfigError."""
    lists = [key for key in (WHITELIST, BLACKLIST, INCLUDE, EXCLUDE) if values[key]]
    if len(lists) > 1:
        raise ConfigError(lists[1], values[lists[1]], f"{lists[0]} and {lists[1]} are mutually exclusive")
    mode = Mode(values[MODE])
    if values[QUERY] and (lists or mode is not Mode.BULK):
        raise ConfigError(QUERY, values[QUERY], "a query has no list of tables, and its mode is bulk")
    if mode.has_timestamp and not values[TIMESTAMP_COLUMN]:
        raise ConfigError(TIMESTAMP_COLUMN, None, f"the mode {mode.value} needs it")
