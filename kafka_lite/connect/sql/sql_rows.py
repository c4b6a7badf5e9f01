"""Makes rows of records: the columns of the primary key, and the others · book 8.3.2"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafka_lite.connect.api.data.schema import Schema, Type
from kafka_lite.connect.api.data.struct import Struct
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.api.sink_record import SinkRecord
from kafka_lite.connect.sql import sql_sink_config as keys
from kafka_lite.connect.sql.sql_sink_config import PrimaryKeyMode
from kafka_lite.connect.sql.sql_types import to_column

KAFKA_COLUMNS = ("__connect_topic", "__connect_partition", "__connect_offset")


@dataclass(frozen=True)
class SqlRow:
    """One row to write, or to delete if ``others`` is None."""

    table: str
    key: Mapping[str, Any]
    others: Mapping[str, Any] | None
    schemas: Mapping[str, Schema]
    """Of all columns."""

    @property
    def values(self) -> dict[str, Any]:
        """The values of all columns."""
        return {**self.key, **(self.others or {})}


class SqlRows:
    """Makes rows of records. It decides only, and writes nothing."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        """Of the parsed values of the sink's keys."""
        self._format: str = values[keys.TABLE_NAME_FORMAT]
        self._pk_mode = PrimaryKeyMode(values[keys.PK_MODE])
        self._pk_fields: Sequence[str] = values[keys.PK_FIELDS]
        self._whitelist = set(values[keys.FIELDS_WHITELIST])
        self._deletes: bool = values[keys.DELETE_ENABLED]

    def row_of(self, record: SinkRecord) -> SqlRow:
        """The row of a record. Raises ConnectError if the record does not have what the configuration asks for."""
        table = self._format.replace("${topic}", record.topic)
        if record.value is None and self._deletes:
            key, schemas = self._key(record)
            return SqlRow(table, key, None, schemas)
        value = self._struct(record.value, "value")
        key, schemas = self._key(record)
        fields = [field for field in value.schema.fields if field.name not in key]
        if self._whitelist:
            fields = [field for field in fields if field.name in self._whitelist]
        others = {field.name: to_column(value.get(field)) for field in fields}
        return SqlRow(table, key, others, {**schemas, **{field.name: field.schema for field in fields}})

    def _key(self, record: SinkRecord) -> tuple[dict[str, Any], dict[str, Schema]]:
        match self._pk_mode:
            case PrimaryKeyMode.NONE:
                return {}, {}
            case PrimaryKeyMode.KAFKA:
                names = self._pk_fields or KAFKA_COLUMNS
                coordinates = (record.original_topic, record.original_kafka_partition, record.original_kafka_offset)
                schemas = (Schema.STRING_SCHEMA, Schema.INT32_SCHEMA, Schema.INT64_SCHEMA)
                return dict(zip(names, coordinates, strict=True)), dict(zip(names, schemas, strict=True))
            case PrimaryKeyMode.RECORD_KEY if not isinstance(record.key, Struct):
                return self._simple_key(record)
            case PrimaryKeyMode.RECORD_KEY:
                return self._fields(self._struct(record.key, "key"), "key")
        return self._fields(self._struct(record.value, "value"), "value")

    def _simple_key(self, record: SinkRecord) -> tuple[dict[str, Any], dict[str, Schema]]:
        if record.key is None or record.key_schema is None:
            raise self._unfit(record.key, "key", "with a schema and not null")
        if len(self._pk_fields) != 1 or not record.key_schema.type.is_primitive:
            raise self._unfit(record.key, "key", f"that is a struct, or one name in {keys.PK_FIELDS}")
        name = self._pk_fields[0]
        return {name: to_column(record.key)}, {name: record.key_schema}

    def _fields(self, struct: Struct, of: str) -> tuple[dict[str, Any], dict[str, Schema]]:
        names = self._pk_fields or [field.name for field in struct.schema.fields]
        fields = [struct.schema.field(name) for name in names]
        if None in fields:
            missing = ", ".join(name for name, field in zip(names, fields, strict=True) if field is None)
            raise ConnectError(f"The record's {of} has no field {missing}, which pk.mode={self._pk_mode.value} needs")
        found = [field for field in fields if field is not None]
        return (
            {field.name: to_column(struct.get(field)) for field in found},
            {field.name: field.schema for field in found},
        )

    def _struct(self, value: object, of: str) -> Struct:
        if not isinstance(value, Struct) or value.schema.type is not Type.STRUCT:
            raise self._unfit(value, of, "that is a struct with a schema")
        return value

    def _unfit(self, value: object, of: str, wanted: str) -> ConnectError:
        found = "null" if value is None else f"a {type(value).__name__}"
        return ConnectError(
            f"The sink with pk.mode={self._pk_mode.value} and delete.enabled={str(self._deletes).lower()} requires a "
            f"record {of} {wanted}, not {found}"
        )
