"""Converters, transformations and predicates one after the other, as a worker calls them."""

import json
from collections.abc import Sequence
from typing import Any

from kafka_lite.connect.api import Predicate, SinkRecord, Transformation
from kafka_lite.connect.java_names import load
from kafka_lite.connect.json.json_converter import JsonConverter

ORDER = {
    "schema": {
        "type": "struct",
        "name": "order",
        "fields": [
            {"type": "int64", "field": "id"},
            {"type": "string", "optional": True, "field": "card"},
            {"type": "struct", "field": "home", "fields": [{"type": "string", "field": "town"}]},
            {"type": "int64", "name": "org.apache.kafka.connect.data.Timestamp", "version": 1, "field": "at"},
        ],
    },
    "payload": {"id": 7, "card": "4111", "home": {"town": "Ulm"}, "at": 1700000000123},
}
STEPS: list[tuple[str, dict[str, str]]] = [
    ("Flatten$Value", {"delimiter": "_"}),
    ("MaskField$Value", {"fields": "card", "replacement": "****"}),
    ("TimestampConverter$Value", {"field": "at", "target.type": "string", "format": "yyyy-MM-dd"}),
    ("ReplaceField$Value", {"renames": "home_town:town"}),
    ("ValueToKey", {"fields": "id"}),
    ("ExtractField$Key", {"field": "id"}),
    ("Cast$Key", {"spec": "string"}),
    ("TimestampRouter", {"timestamp.format": "yyyy"}),
    ("RegexRouter", {"regex": "(.*)-2023", "replacement": "old.$1"}),
]


def configured(name: str, config: dict[str, str]) -> Any:
    made = load(f"org.apache.kafka.connect.transforms.{name}")()
    made.configure(config)
    return made


def through(chain: Sequence[tuple[Transformation, Predicate | None]], record: SinkRecord) -> SinkRecord | None:
    current: SinkRecord | None = record
    for transformation, predicate in chain:
        if current is not None and (predicate is None or predicate.test(current)):
            current = transformation.apply(current)
    return current


def read(value: bytes | None) -> SinkRecord:
    converter = JsonConverter()
    schema, data = converter.to_connect_data("orders", value)
    return SinkRecord(
        topic="orders", kafka_partition=0, kafka_offset=3, value_schema=schema, value=data, timestamp=1700000000123
    )


def test_an_order_becomes_a_flat_row_with_a_key_in_another_topic() -> None:
    chain = [(configured(name, config), None) for name, config in STEPS]
    record = through(chain, read(json.dumps(ORDER).encode()))

    assert record is not None
    assert (record.topic, record.key, record.original_topic) == ("old.orders", "7", "orders")
    written = JsonConverter().from_connect_data(record.topic, record.value_schema, record.value)
    assert json.loads(written or b"")["payload"] == {"id": 7, "card": "****", "town": "Ulm", "at": "2023-11-14"}


def test_tombstones_are_filtered_and_other_records_are_not() -> None:
    tombstone = load("org.apache.kafka.connect.transforms.predicates.RecordIsTombstone")()
    chain = [(configured("Filter", {}), tombstone)]

    assert through(chain, read(None)) is None
    assert through(chain, read(json.dumps(ORDER).encode())) is not None
