"""The small transformations and the predicates."""

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.connect.api import DataError, Headers, Schema, SchemaBuilder, SourceRecord, Struct
from kafka_lite.connect.java_names import load
from tests.support.transformed_records import made, of_value

SCHEMA = SchemaBuilder.struct().field("a", Schema.INT8_SCHEMA).build()
STRUCT = Struct(SCHEMA, {"a": 1})


def test_extract_field_of_nothing_is_nothing() -> None:
    extract = made("ExtractField$Value", field="a")

    assert of_value(extract, None).value is None
    assert of_value(extract, None, SCHEMA).value_schema == Schema.INT8_SCHEMA
    with pytest.raises(DataError, match=r"^Unknown field: b$"):
        of_value(made("ExtractField$Value", field="b"), STRUCT, SCHEMA)


def test_hoist_field_and_extract_field_are_inverse() -> None:
    hoisted = of_value(made("HoistField$Value", field="w"), STRUCT, SCHEMA)

    assert hoisted.value["w"] is STRUCT
    assert made("ExtractField$Value", field="w").apply(hoisted).value is STRUCT  # type: ignore[union-attr]


def test_set_schema_metadata() -> None:
    name = made("SetSchemaMetadata$Value", schema_name="n")
    renamed = of_value(name, STRUCT, SCHEMA)

    assert renamed.value_schema is not None
    assert (renamed.value_schema.name, renamed.value_schema.version) == ("n", None)
    assert renamed.value == Struct(renamed.value_schema, {"a": 1})
    version = made("SetSchemaMetadata$Value", schema_version="8")
    assert of_value(version, STRUCT, SCHEMA).value.schema.version == 8
    assert of_value(name, None).value is None


def test_regex_router() -> None:
    def routed(topic: str, **config: str) -> str:
        changed = made("RegexRouter", **config).apply(SourceRecord(topic=topic))
        assert changed is not None
        return changed.topic

    assert routed("a-b", regex="(?<x>.)-(.)", replacement="${x}\\$$2") == "a$b"
    assert routed("aa", regex="a+", replacement="$0$0") == "aaaa"
    with pytest.raises(ConfigError, match="Invalid regex"):
        routed("a", regex="(", replacement="")
    with pytest.raises(ConfigError, match="No group 1"):
        routed("a", regex="a", replacement="$1")


def test_timestamp_router() -> None:
    routed = made("TimestampRouter").apply(SourceRecord(topic="t", timestamp=1700000000123))

    assert routed is not None
    assert routed.topic == "t-20231114"
    with pytest.raises(ConfigError, match="Illegal pattern character 'b'"):
        made("TimestampRouter", timestamp_format="bb")
    with pytest.raises(DataError, match="not in the years 1 to 9999"):
        made("TimestampRouter").apply(SourceRecord(topic="t", timestamp=2**62))


def test_value_to_key_needs_the_fields() -> None:
    with pytest.raises(DataError, match=r"^Field does not exist: b$"):
        of_value(made("ValueToKey", fields="b"), STRUCT, SCHEMA)


def test_filter_drops_each_record() -> None:
    assert made("Filter").apply(SourceRecord(topic="t")) is None


def test_predicates() -> None:
    matches, has_header, is_tombstone = (
        load(name)() for name in ("TopicNameMatches", "HasHeaderKey", "RecordIsTombstone")
    )
    matches.configure({"pattern": "a+"})
    has_header.configure({"name": "h"})
    record = SourceRecord(topic="aa", value=1)

    assert (matches.test(record), matches.test(record.new_record(topic="aab"))) == (True, False)
    assert (has_header.test(record), has_header.test(record.new_record(headers=Headers().add("h", None)))) == (
        False,
        True,
    )
    assert (is_tombstone.test(record), is_tombstone.test(record.new_record(value=None))) == (False, True)
    with pytest.raises(ConfigError, match="non-empty"):
        has_header.configure({"name": ""})
