from typing import Any

import pytest

from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.data.schema_builder import SchemaBuilder
from kafka_lite.connect.api.data.struct import Struct
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.api.sink_record import SinkRecord
from kafka_lite.connect.sql.sql_rows import SqlRow, SqlRows
from kafka_lite.connect.sql.sql_sink_config import sql_sink_config_def

ITEM = SchemaBuilder.struct().field("id", Schema.INT64_SCHEMA).field("what", Schema.OPTIONAL_STRING_SCHEMA).build()
KEY = SchemaBuilder.struct().field("id", Schema.INT64_SCHEMA).build()


def _row(record: SinkRecord, **changes: str) -> SqlRow:
    props = {"connection.url": "sqlite://"} | {key.replace("_", "."): value for key, value in changes.items()}
    return SqlRows(sql_sink_config_def().parse(props)).row_of(record)


def _record(value: Any = None, key: Any = None, key_schema: Schema | None = None) -> SinkRecord:
    return SinkRecord(topic="items", kafka_partition=3, kafka_offset=9, key=key, key_schema=key_schema, value=value)


TEA = Struct(ITEM, {"id": 1, "what": "tea"})


def test_without_a_key() -> None:
    row = _row(_record(TEA), table_name_format="shop.kafka_${topic}")
    assert (row.table, row.key, row.others) == ("shop.kafka_items", {}, {"id": 1, "what": "tea"})
    assert row.schemas == {"id": Schema.INT64_SCHEMA, "what": Schema.OPTIONAL_STRING_SCHEMA}
    assert _row(_record(TEA), fields_whitelist="what").others == {"what": "tea"}


@pytest.mark.parametrize(
    ("record", "changes", "key", "others"),
    [
        (_record(TEA), {"pk_mode": "kafka"},
         {"__connect_topic": "items", "__connect_partition": 3, "__connect_offset": 9}, {"id": 1, "what": "tea"}),
        (_record(TEA), {"pk_mode": "kafka", "pk_fields": "t,p,o"}, {"t": "items", "p": 3, "o": 9},
         {"id": 1, "what": "tea"}),
        (_record(TEA), {"pk_mode": "record_value", "pk_fields": "id"}, {"id": 1}, {"what": "tea"}),
        (_record(TEA), {"pk_mode": "record_value"}, {"id": 1, "what": "tea"}, {}),
        (_record(TEA, Struct(KEY, {"id": 1})), {"pk_mode": "record_key"}, {"id": 1}, {"what": "tea"}),
        (_record(TEA, 7, Schema.INT32_SCHEMA), {"pk_mode": "record_key", "pk_fields": "nr"}, {"nr": 7},
         {"id": 1, "what": "tea"}),
        (_record(None, Struct(KEY, {"id": 1})), {"pk_mode": "record_key", "delete_enabled": "true"}, {"id": 1}, None),
    ],
)  # fmt: skip
def test_keys(record: SinkRecord, changes: dict[str, str], key: Any, others: Any) -> None:
    row = _row(record, **changes)
    assert (row.key, row.others) == (key, others)
    assert row.values == {**key, **(others or {})}
    assert row.schemas.keys() == row.values.keys()


@pytest.mark.parametrize(
    ("record", "changes", "problem"),
    [
        (
            _record(None),
            {},
            "delete.enabled=false requires a record value that is a struct .* not null",
        ),
        (_record({"id": 1}), {}, "requires a record value that is a struct with a schema, not a dict"),
        (
            _record(TEA),
            {"pk_mode": "record_key", "pk_fields": "id"},
            "a record key with a schema and not null",
        ),
        (_record(TEA, 7, Schema.INT32_SCHEMA), {"pk_mode": "record_key"}, "or one name in pk.fields"),
        (_record(TEA, Struct(KEY, {"id": 1})), {"pk_mode": "record_key", "pk_fields": "id,nr"}, "key has no field nr"),
        (_record(TEA), {"pk_mode": "record_value", "pk_fields": "nr"}, "value has no field nr"),
    ],
)
def test_records_that_do_not_fit(record: SinkRecord, changes: dict[str, str], problem: str) -> None:
    with pytest.raises(ConnectError, match=problem):
        _row(record, **changes)
