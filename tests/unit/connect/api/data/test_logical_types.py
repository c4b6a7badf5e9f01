import datetime
import decimal

import pytest

from kafka_lite.connect.api import DataError, Date, Decimal, Schema, SchemaBuilder, Time, Timestamp


@pytest.mark.parametrize(
    ("number", "scale", "expected"),
    [
        ("-12.34", 2, "fb2e"),
        ("128", 0, "0080"),
        ("-128", 0, "80"),
        ("127", 0, "7f"),
        ("0", 0, "00"),
        ("-0.00", 2, "00"),
        ("1E+3", -3, "01"),
        ("123456789012345678901234567890.123456789", 9, None),
    ],
)
def test_decimals(number: str, scale: int, expected: str | None) -> None:
    schema = Decimal.schema(scale)
    plain = Decimal.from_logical(schema, decimal.Decimal(number))

    assert expected is None or plain.hex() == expected
    assert Decimal.to_logical(schema, plain) == decimal.Decimal(number)
    assert Decimal.to_logical(schema, plain).as_tuple().exponent == -scale


@pytest.mark.parametrize("number", ["1.2", "1.234", "NaN", "Infinity"])
def test_a_decimal_has_exactly_the_scale(number: str) -> None:
    with pytest.raises(DataError, match=r"^BigDecimal has mismatching scale value for given Decimal schema$"):
        Decimal.from_logical(Decimal.schema(2), decimal.Decimal(number))


def test_a_decimal_needs_a_scale_and_bytes() -> None:
    with pytest.raises(DataError, match=r"^Invalid Decimal schema: scale parameter not found.$"):
        Decimal.from_logical(Schema.BYTES_SCHEMA, decimal.Decimal(1))
    with pytest.raises(DataError, match=r"^Invalid scale parameter found in Decimal schema: $"):
        Decimal.to_logical(SchemaBuilder.bytes().parameter("scale", "x").build(), b"\x01")
    with pytest.raises(DataError, match=r"at least one byte"):
        Decimal.to_logical(Decimal.schema(0), b"")


def test_dates() -> None:
    day = datetime.date(2023, 11, 14)

    assert Date.from_logical(Date.SCHEMA, day) == 19675
    assert Date.to_logical(Date.SCHEMA, 19675) == day
    assert Date.from_logical(Date.SCHEMA, datetime.datetime(1969, 12, 31, tzinfo=datetime.UTC)) == -1
    with pytest.raises(DataError, match=r"^Kafka Connect Date type should not have any time fields set to non-zero"):
        Date.from_logical(Date.SCHEMA, datetime.datetime(2023, 11, 14, 1))
    with pytest.raises(DataError, match=r"not in the years 1 to 9999"):
        Date.to_logical(Date.SCHEMA, 2**31 - 1)


def test_times() -> None:
    assert Time.from_logical(Time.SCHEMA, datetime.time(1, 2, 3, 4_999)) == 3723004
    assert Time.to_logical(Time.SCHEMA, 3723004) == datetime.time(1, 2, 3, 4_000)
    for outside in (-1, 86_400_000):
        with pytest.raises(DataError, match=r"^Time values must use number of milliseconds greater than 0"):
            Time.to_logical(Time.SCHEMA, outside)


def test_timestamps() -> None:
    moment = datetime.datetime(2023, 11, 14, 22, 13, 20, 123_000, tzinfo=datetime.UTC)
    elsewhere = moment.astimezone(datetime.timezone(datetime.timedelta(hours=8)))

    assert Timestamp.from_logical(Timestamp.SCHEMA, moment) == 1700000000123
    assert Timestamp.from_logical(Timestamp.SCHEMA, elsewhere) == 1700000000123
    assert Timestamp.from_logical(Timestamp.SCHEMA, moment.replace(tzinfo=None)) == 1700000000123
    assert Timestamp.to_logical(Timestamp.SCHEMA, 1700000000123) == moment
    assert Timestamp.to_logical(Timestamp.SCHEMA, -1).microsecond == 999_000
    with pytest.raises(DataError, match=r"not in the years 1 to 9999"):
        Timestamp.to_logical(Timestamp.SCHEMA, 2**63 - 1)


def test_the_schema_has_to_be_that_of_the_logical_type() -> None:
    with pytest.raises(DataError, match=r"^Requested conversion of Date object but the schema does not match.$"):
        Date.to_logical(Time.SCHEMA, 1)
    with pytest.raises(DataError, match=r"^Requested conversion of Time object"):
        Time.from_logical(Schema.INT32_SCHEMA, datetime.time())
    with pytest.raises(DataError, match=r"^Requested conversion of Timestamp object"):
        Timestamp.to_logical(Schema.INT64_SCHEMA, 1)


def test_schemas_have_kafkas_names() -> None:
    assert str(Decimal.schema(1)) == "Schema{org.apache.kafka.connect.data.Decimal:BYTES}"
    assert (Decimal.schema(1).version, Decimal.schema(1).parameters) == (1, {"scale": "1"})
    assert [str(t.SCHEMA) for t in (Date, Time, Timestamp)] == [
        "Schema{org.apache.kafka.connect.data.Date:INT32}",
        "Schema{org.apache.kafka.connect.data.Time:INT32}",
        "Schema{org.apache.kafka.connect.data.Timestamp:INT64}",
    ]
    assert Date.builder().optional().build().optional
