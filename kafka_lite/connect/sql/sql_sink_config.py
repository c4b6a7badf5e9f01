"""The configuration keys of the SQL sink · book 8.3.2"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from kafka_lite.common.config_def import ConfigDef, ConfigError, Range, Type, ValidString
from kafka_lite.common.config_value import Width
from kafka_lite.connect.sql.sql_connection import HIGH, MEDIUM, connection_config_def

INSERT_MODE, BATCH_SIZE, DELETE_ENABLED = "insert.mode", "batch.size", "delete.enabled"
TABLE_NAME_FORMAT, PK_MODE, PK_FIELDS, FIELDS_WHITELIST = (
    "table.name.format",
    "pk.mode",
    "pk.fields",
    "fields.whitelist",
)
AUTO_CREATE, AUTO_EVOLVE = "auto.create", "auto.evolve"
MAX_RETRIES, RETRY_BACKOFF_MS = "max.retries", "retry.backoff.ms"
WRITES_GROUP, MAPPING_GROUP, DDL_GROUP, RETRIES_GROUP = "Writes", "Data Mapping", "DDL Support", "Retries"


class InsertMode(Enum):
    """How a record is written; the value is that of ``insert.mode``."""

    INSERT = "insert"
    """A new row. A record that comes twice is in the table twice, or breaks its primary key."""
    UPSERT = "upsert"
    """A new row, or a change of the one with this primary key. A record may come twice."""
    UPDATE = "update"
    """A change of the row with this primary key, if there is one."""


class PrimaryKeyMode(Enum):
    """Where the columns of the primary key come from; the value is that of ``pk.mode``."""

    NONE = "none"
    """There is no primary key."""
    KAFKA = "kafka"
    """Topic, partition and offset, in three columns of their own."""
    RECORD_KEY = "record_key"
    """The record's key: a struct, or one value."""
    RECORD_VALUE = "record_value"
    """Fields of the record's value."""


def sql_sink_config_def() -> ConfigDef:
    """The keys of the connector."""
    return _retry_keys(_mapping_keys(_write_keys(connection_config_def())))


def _write_keys(definition: ConfigDef) -> ConfigDef:
    return (
        definition
        .define(INSERT_MODE, Type.STRING, "insert", HIGH,
                "insert, upsert (insert, or change the row with this primary key) or update.",
                ValidString.in_(*(mode.value for mode in InsertMode)),
                group=WRITES_GROUP, order_in_group=1, width=Width.MEDIUM, display_name="Insert Mode")
        .define(BATCH_SIZE, Type.INT, 3000, MEDIUM, "The most records of one statement.", Range.at_least(1),
                group=WRITES_GROUP, order_in_group=2, width=Width.SHORT, display_name="Batch Size")
        .define(DELETE_ENABLED, Type.BOOLEAN, False, MEDIUM,
                "Whether a tombstone deletes the row of its key. Needs pk.mode=record_key.",
                group=WRITES_GROUP, order_in_group=3, width=Width.SHORT, display_name="Enable deletes")
    )  # fmt: skip


def _mapping_keys(definition: ConfigDef) -> ConfigDef:
    return (
        definition
        .define(TABLE_NAME_FORMAT, Type.STRING, "${topic}", MEDIUM, "The table's name, with the topic's in it.",
                group=MAPPING_GROUP, order_in_group=1, width=Width.LONG, display_name="Table Name Format")
        .define(PK_MODE, Type.STRING, "none", HIGH,
                "Where the primary key comes from: none, kafka, record_key or record_value.",
                ValidString.in_(*(mode.value for mode in PrimaryKeyMode)),
                group=MAPPING_GROUP, order_in_group=2, width=Width.MEDIUM, display_name="Primary Key Mode")
        .define(PK_FIELDS, Type.LIST, "", MEDIUM,
                "The columns of the primary key; by default all fields of the key. A key without fields needs a name.",
                group=MAPPING_GROUP, order_in_group=3, width=Width.LONG, display_name="Primary Key Fields")
        .define(FIELDS_WHITELIST, Type.LIST, "", MEDIUM, "The fields of the value to write; by default all.",
                group=MAPPING_GROUP, order_in_group=4, width=Width.LONG, display_name="Fields Whitelist")
        .define(AUTO_CREATE, Type.BOOLEAN, False, MEDIUM, "Whether a table that is not there is created.",
                group=DDL_GROUP, order_in_group=1, width=Width.SHORT, display_name="Auto-Create")
        .define(AUTO_EVOLVE, Type.BOOLEAN, False, MEDIUM, "Whether columns that are not there are added.",
                group=DDL_GROUP, order_in_group=2, width=Width.SHORT, display_name="Auto-Evolve")
    )  # fmt: skip


def _retry_keys(definition: ConfigDef) -> ConfigDef:
    return (
        definition
        .define(MAX_RETRIES, Type.INT, 10, MEDIUM, "How often a batch is tried again.", Range.at_least(0),
                group=RETRIES_GROUP, order_in_group=1, width=Width.SHORT, display_name="Maximum Retries")
        .define(RETRY_BACKOFF_MS, Type.INT, 3000, MEDIUM, "How long to wait before, ms.", Range.at_least(0),
                group=RETRIES_GROUP, order_in_group=2, width=Width.SHORT, display_name="Retry Backoff (millis)")
    )  # fmt: skip


def check(values: Mapping[str, Any]) -> None:
    """Check what the keys say together. Raises ConfigError."""
    pk_mode, mode = PrimaryKeyMode(values[PK_MODE]), InsertMode(values[INSERT_MODE])
    if values[DELETE_ENABLED] and pk_mode is not PrimaryKeyMode.RECORD_KEY:
        raise ConfigError(DELETE_ENABLED, True, "Deletes are only supported for pk.mode record_key")
    if mode is not InsertMode.INSERT and pk_mode is PrimaryKeyMode.NONE:
        raise ConfigError(PK_MODE, values[PK_MODE], f"insert.mode={mode.value} needs a primary key")
    if pk_mode is PrimaryKeyMode.KAFKA and len(values[PK_FIELDS]) not in (0, 3):
        raise ConfigError(PK_FIELDS, values[PK_FIELDS], "pk.mode=kafka has three columns: topic, partition, offset")
