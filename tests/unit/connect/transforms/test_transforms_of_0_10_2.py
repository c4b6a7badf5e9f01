"""Each row of ``tests/data/connect-transforms-0.10.2.tsv``: what the transformations of 0.10.2.2 make of a record."""

import datetime
import json
import re
from pathlib import Path
from typing import Any

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.connect.api import DataError, Date, Schema, SchemaBuilder, SinkRecord, Struct, Transformation
from kafka_lite.connect.java_names import TRANSFORMATIONS, load
from kafka_lite.connect.json.json_converter import JsonConverter
from kafka_lite.record.record import TimestampType

REPOSITORY = Path(__file__).parents[4]
ROWS = [
    tuple(line.split("\t"))
    for line in (REPOSITORY / "tests/data/connect-transforms-0.10.2.tsv").read_text("utf-8").splitlines()
]
SCHEMA = (
    SchemaBuilder.struct()
    .name("rec")
    .version(3)
    .doc("d")
    .field("a", Schema.INT32_SCHEMA)
    .field("b", Schema.OPTIONAL_STRING_SCHEMA)
    .field("c", Schema.FLOAT64_SCHEMA)
    .field("day", Date.builder().optional())
    .field("l", SchemaBuilder.array(Schema.INT32_SCHEMA))
    .field("m", SchemaBuilder.map(Schema.STRING_SCHEMA, Schema.INT32_SCHEMA))
    .field("t", Schema.BOOLEAN_SCHEMA)
    .field("y", Schema.BYTES_SCHEMA)
    .build()
)
MAP = {"a": 7, "b": "x", "c": 1.5, "l": [1, 2], "t": True}
STRUCT = Struct(SCHEMA, {**MAP, "day": datetime.date(2023, 11, 14), "m": {"k": 5}, "y": b"\x01"})
WITHOUT_TIME = SinkRecord(topic="topic-1", kafka_partition=2, kafka_offset=42)
KEYED = WITHOUT_TIME.new_record(key="key", timestamp=1700000000123, timestamp_type=TimestampType.CREATE_TIME)
RECORDS = {
    "struct": KEYED.new_record(key_schema=Schema.STRING_SCHEMA, value_schema=SCHEMA, value=STRUCT),
    "map": KEYED.new_record(value=MAP),
    "int64, no timestamp": WITHOUT_TIME.new_record(value_schema=Schema.INT64_SCHEMA, value=9),
    "null": WITHOUT_TIME,
}
WITH_SCHEMAS, WITHOUT_SCHEMAS = JsonConverter(), JsonConverter()
WITHOUT_SCHEMAS.configure({"schemas.enable": "false"}, False)


def transformation(name: str, config: str) -> Transformation:
    made: Transformation = load(f"org.apache.kafka.connect.transforms.{name}")()
    made.configure(dict(pair.split("=", 1) for pair in config.split(";") if pair))
    return made


def shown(record: SinkRecord | None) -> str:
    assert record is not None
    key, value = (_json(*of) for of in ((record.key_schema, record.key), (record.value_schema, record.value)))
    time = "null" if record.timestamp is None else record.timestamp
    return f"topic={record.topic} p={record.kafka_partition} ts={time} key={key} value={value}"


def _json(schema: Schema | None, value: Any) -> str:
    text = (WITHOUT_SCHEMAS if schema is None else WITH_SCHEMAS).from_connect_data("t", schema, value)
    return "(null)" if text is None else text.decode()


def in_one_order(text: str) -> str:
    """Java's maps without a schema have another order of their keys."""
    head, key, value = re.split(" key=| value=", text)
    return " ".join([head, *(_sorted(part) if part[:9] != '{"schema"' else part for part in (key, value))])


def _sorted(text: str) -> str:
    return json.dumps(json.loads(text), sort_keys=True) if text[0] == "{" else text


NEWER = {
    "InsertField$Value null": "a record without a value stays as it is since Kafka 2.0",
    "ReplaceField$Value null": "the same",
    "ExtractField$Value null": "the same: its field is nothing",
    "ExtractField$Key int64, no timestamp": "the same",
    "ExtractField$Key null": "the same",
    "SetSchemaMetadata$Value null": "the same",
    "SetSchemaMetadata$Value struct": "the struct gets the new schema since 2.0",
}
"""Where later versions of Kafka mend what 0.10.2 could not do, ours follow them; the tests of each class have it."""


def is_newer(row: tuple[str, ...]) -> bool:
    name, _, record, expected = row
    return f"{name} {record}" in NEWER and expected.startswith("! DataException")


def says(expected: str) -> str:
    """What our message has of Java's: classes have other names, and InsertionSpec no address."""
    text = expected.partition(": ")[2].replace("\\n", "\n")
    for java, python in (("java.lang.Long", "int"), ("java.lang.String", "str"), ("class [B", "bytes")):
        text = text.replace(java, python)
    return text.partition("org.apache.kafka.connect.transforms.InsertField$")[0]


@pytest.mark.parametrize("row", [row for row in ROWS if not is_newer(row)], ids=lambda row: " ".join(row[:3]))
def test_makes_what_java_makes(row: tuple[str, str, str, str]) -> None:
    name, config, record, expected = row
    if not expected.startswith("!"):
        assert in_one_order(shown(transformation(name, config).apply(RECORDS[record]))) == in_one_order(expected)
        return
    with pytest.raises((DataError, ConfigError)) as caught:
        transformation(name, config).apply(RECORDS[record])
    if "NullPointerException" in expected:
        assert "none" in str(caught.value)
    elif "Missing required configuration" not in expected:
        assert says(expected) in str(caught.value).replace("None", "null")


def test_each_newer_row_differs() -> None:
    assert {f"{name} {record}" for name, _, record, _ in ROWS} >= NEWER.keys()
    for row in filter(is_newer, ROWS):
        assert isinstance(transformation(row[0], row[1]).apply(RECORDS[row[2]]), SinkRecord)


def test_every_transformation_is_in_the_sample_or_younger() -> None:
    old = {name for name in TRANSFORMATIONS if name.partition("$")[0] in {row[0].partition("$")[0] for row in ROWS}}

    assert len(old) == 15
