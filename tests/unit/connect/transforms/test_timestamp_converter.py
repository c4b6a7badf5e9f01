import datetime
from typing import Any

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.connect.api import ConnectError, DataError, Date, Schema, SchemaBuilder, Struct, Time, Timestamp
from tests.support.transformed_records import made, of_value

MS = 1700000000123
MOMENT = datetime.datetime(2023, 11, 14, 22, 13, 20, 123_000, tzinfo=datetime.UTC)
FORMAT = "yyyy-MM-dd'T'HH:mm:ss.SSS"
TEXT = "2023-11-14T22:13:20.123"


@pytest.mark.parametrize(
    ("target", "schema", "value", "expected"),
    [
        ("string", Timestamp.SCHEMA, MOMENT, TEXT),
        ("unix", Timestamp.SCHEMA, MOMENT, MS),
        ("Date", Timestamp.SCHEMA, MOMENT, MOMENT.date()),
        ("Time", Timestamp.SCHEMA, MOMENT, MOMENT.time()),
        ("Timestamp", Schema.STRING_SCHEMA, TEXT, MOMENT),
        ("Timestamp", Schema.INT64_SCHEMA, MS, MOMENT),
        ("Timestamp", Date.SCHEMA, MOMENT.date(), datetime.datetime(2023, 11, 14, tzinfo=datetime.UTC)),
        ("unix", Time.SCHEMA, datetime.time(0, 0, 1), 1000),
        ("unix", Timestamp.builder().optional().build(), None, None),
        ("string", None, MS, TEXT),
        ("unix", None, TEXT, MS),
        ("unix", None, MOMENT, MS),
        ("unix", None, MOMENT.date(), 1699920000000),
        ("unix", None, datetime.time(0, 0, 1), 1000),
        ("unix", None, None, None),
    ],
)
def test_each_representation_becomes_each_other(target: str, schema: Schema | None, value: Any, expected: Any) -> None:
    converter = made("TimestampConverter$Value", target_type=target, format=FORMAT)

    assert of_value(converter, value, schema).value == expected


def test_the_schema_is_that_of_the_target() -> None:
    to_date = made("TimestampConverter$Value", target_type="Date")

    assert of_value(to_date, MS, Schema.INT64_SCHEMA).value_schema == Date.SCHEMA
    assert of_value(to_date, None, Schema.OPTIONAL_INT64_SCHEMA).value_schema == Date.builder().optional().build()


@pytest.mark.parametrize(
    ("precision", "value"),
    [("seconds", 1700000000), ("milliseconds", MS), ("microseconds", MS * 1000), ("nanoseconds", MS * 10**6)],
)
def test_precisions(precision: str, value: int) -> None:
    read = made("TimestampConverter$Value", target_type="Timestamp", unix_precision=precision)
    written = made("TimestampConverter$Value", target_type="unix", unix_precision=precision)

    assert abs(of_value(read, value).value - MOMENT) < datetime.timedelta(seconds=1)
    assert of_value(written, MOMENT).value == value


def test_before_1970_parts_are_cut_towards_it() -> None:
    seconds = made("TimestampConverter$Value", target_type="unix", unix_precision="seconds")

    assert of_value(seconds, datetime.datetime(1969, 12, 31, 23, 59, 58, 500_000)).value == -1


STRUCT = (
    SchemaBuilder.struct().optional().field("when", Schema.OPTIONAL_INT64_SCHEMA).field("n", Schema.INT8_SCHEMA).build()
)


def test_a_field() -> None:
    converter = made("TimestampConverter$Value", field="when", target_type="Timestamp")
    record = of_value(converter, Struct(STRUCT, {"when": MS, "n": 1}), STRUCT)

    assert (record.value["when"], record.value["n"]) == (MOMENT, 1)
    assert record.value_schema == (
        SchemaBuilder.struct()
        .optional()
        .field("when", Timestamp.builder().optional())
        .field("n", Schema.INT8_SCHEMA)
        .build()
    )
    assert of_value(converter, None, STRUCT).value is None
    assert of_value(converter, {"when": MS, "n": 1}).value == {"when": MOMENT, "n": 1}
    assert of_value(converter, {"n": 1}).value == {"n": 1, "when": None}


@pytest.mark.parametrize(
    ("config", "value", "says"),
    [
        ({"format": FORMAT}, "soon", r"^Could not parse timestamp: value \(soon\) does not match pattern"),
        ({}, "soon", "since there is no format$"),
        ({}, 1.5, "^TimestampConverter does not support float objects as timestamps$"),
        ({}, True, "does not support bool objects"),
        (
            {"field": "when"},
            5,
            r"^Only Map objects supported in absence of schema for \[converting timestamp formats\]",
        ),
        ({}, 2**62, "not in the years 1 to 9999$"),
    ],
)
def test_what_is_no_time(config: dict[str, object], value: Any, says: str) -> None:
    with pytest.raises(DataError, match=says):
        of_value(made("TimestampConverter$Value", target_type="Timestamp", **config), value)


def test_a_schema_without_times() -> None:
    with pytest.raises(ConnectError, match=r"^Schema Schema{INT8} does not correspond to a known timestamp type"):
        of_value(made("TimestampConverter$Value", target_type="unix"), 1, Schema.INT8_SCHEMA)


def test_a_field_needs_a_struct() -> None:
    with pytest.raises(DataError, match=r"^Cannot list fields on non-struct type$"):
        of_value(
            made("TimestampConverter$Value", field="when", target_type="unix"), None, Schema.OPTIONAL_STRING_SCHEMA
        )


def test_texts_need_a_format() -> None:
    with pytest.raises(ConfigError, match="requires format option to be specified"):
        made("TimestampConverter$Value", target_type="string")
    with pytest.raises(ConfigError, match="requires a SimpleDateFormat-compatible pattern"):
        made("TimestampConverter$Value", target_type="unix", format="yyyy-bb")
    with pytest.raises(ConfigError, match="must be one of: string, unix, Date, Time, Timestamp"):
        made("TimestampConverter$Value", target_type="date")
