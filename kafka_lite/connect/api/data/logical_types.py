"""Decimals, dates, times and timestamps: what they mean, and the plain values that represent them.

A logical type is a plain type with a name. A struct has Python's own objects in such fields; a converter asks these
classes for the plain values:

=========== ============================= ==========================================================
logical     Python                        plain
=========== ============================= ==========================================================
Decimal     ``decimal.Decimal``           BYTES: the unscaled value, big-endian two's complement
Date        ``datetime.date``             INT32: days since 1970-01-01
Time        ``datetime.time``             INT32: ms since midnight
Timestamp   ``datetime.datetime``         INT64: ms since 1970-01-01 00:00 UTC
=========== ============================= ==========================================================

Kafka 0.10.2: connect/api/.../connect/data/Decimal.java, Date.java, Time.java, Timestamp.java · book 8.3.3
"""

from __future__ import annotations

import datetime
import decimal
from typing import ClassVar, Final

from kafka_lite.connect.api.data import logical_names
from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.data.schema_builder import SchemaBuilder
from kafka_lite.connect.api.errors import DataError

_MS: Final = datetime.timedelta(milliseconds=1)
_MS_PER_DAY: Final = 24 * 60 * 60 * 1000
_EPOCH: Final = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_EXACT: Final = decimal.Context(prec=decimal.MAX_PREC, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)


class Decimal:
    """A decimal number; the schema's parameter ``scale`` has the number of digits after the point."""

    LOGICAL_NAME: Final = logical_names.DECIMAL
    SCALE_FIELD: Final = "scale"

    @staticmethod
    def builder(scale: int) -> SchemaBuilder:
        """The builder of a schema, to make it optional or give it a default."""
        return SchemaBuilder.bytes().name(Decimal.LOGICAL_NAME).parameter(Decimal.SCALE_FIELD, str(scale)).version(1)

    @staticmethod
    def schema(scale: int) -> Schema:
        """The schema of numbers with so many digits after the point."""
        return Decimal.builder(scale).build()

    @staticmethod
    def from_logical(schema: Schema, value: decimal.Decimal) -> bytes:
        """The bytes of a number. Raises DataError if it has not exactly the schema's digits after the point."""
        sign, digits, exponent = value.as_tuple()
        if not isinstance(exponent, int) or -exponent != Decimal._scale(schema):
            raise DataError("BigDecimal has mismatching scale value for given Decimal schema")
        unscaled = int("".join(map(str, digits))) * (-1 if sign else 1)
        # As BigInteger.toByteArray: as few bytes as hold all bits and the sign.
        bits = (unscaled if unscaled >= 0 else ~unscaled).bit_length()
        return unscaled.to_bytes(bits // 8 + 1, "big", signed=True)

    @staticmethod
    def to_logical(schema: Schema, value: bytes) -> decimal.Decimal:
        """The number of these bytes. Raises DataError."""
        if not value:
            raise DataError("A decimal needs at least one byte")
        unscaled = int.from_bytes(value, "big", signed=True)
        return decimal.Decimal(unscaled).scaleb(-Decimal._scale(schema), _EXACT)

    @staticmethod
    def _scale(schema: Schema) -> int:
        text = (schema.parameters or {}).get(Decimal.SCALE_FIELD)
        if text is None:
            raise DataError("Invalid Decimal schema: scale parameter not found.")
        try:
            return int(text)
        except ValueError as error:
            raise DataError("Invalid scale parameter found in Decimal schema: ") from error


class Date:
    """A day, without a time or a zone."""

    LOGICAL_NAME: Final = logical_names.DATE
    SCHEMA: ClassVar[Schema]

    @staticmethod
    def builder() -> SchemaBuilder:
        """The builder of a schema, to make it optional or give it a default."""
        return SchemaBuilder.int32().name(Date.LOGICAL_NAME).version(1)

    @staticmethod
    def from_logical(schema: Schema, value: datetime.date) -> int:
        """Days since 1970. Raises DataError for a datetime that is not midnight."""
        _check_name(schema, Date.LOGICAL_NAME, "Date")
        if isinstance(value, datetime.datetime):
            value = _in_utc(value)
            if value.timetz().replace(tzinfo=None) != datetime.time():
                raise DataError("Kafka Connect Date type should not have any time fields set to non-zero values.")
            value = value.date()
        return (value - _EPOCH.date()).days

    @staticmethod
    def to_logical(schema: Schema, value: int) -> datetime.date:
        """The day. Raises DataError if Python's dates (years 1 to 9999) do not reach it."""
        _check_name(schema, Date.LOGICAL_NAME, "Date")
        try:
            return _EPOCH.date() + datetime.timedelta(days=value)
        except OverflowError:
            raise DataError(f"The date {value} days after 1970-01-01 is not in the years 1 to 9999") from None


class Time:
    """A time of the day, in ms, without a day or a zone."""

    LOGICAL_NAME: Final = logical_names.TIME
    SCHEMA: ClassVar[Schema]

    @staticmethod
    def builder() -> SchemaBuilder:
        """The builder of a schema, to make it optional or give it a default."""
        return SchemaBuilder.int32().name(Time.LOGICAL_NAME).version(1)

    @staticmethod
    def from_logical(schema: Schema, value: datetime.time) -> int:
        """The ms since midnight; smaller parts are cut off."""
        _check_name(schema, Time.LOGICAL_NAME, "Time")
        seconds = (value.hour * 60 + value.minute) * 60 + value.second
        return seconds * 1000 + value.microsecond // 1000

    @staticmethod
    def to_logical(schema: Schema, value: int) -> datetime.time:
        """The time. Raises DataError for a value outside of a day. (Kafka allows the end of the day as well.)"""
        _check_name(schema, Time.LOGICAL_NAME, "Time")
        if not 0 <= value < _MS_PER_DAY:
            raise DataError("Time values must use number of milliseconds greater than 0 and less than 86400000")
        return (_EPOCH + value * _MS).time()


class Timestamp:
    """A point in time, in ms. One that is read is in UTC; one without a zone is taken to be in UTC."""

    LOGICAL_NAME: Final = logical_names.TIMESTAMP
    SCHEMA: ClassVar[Schema]

    @staticmethod
    def builder() -> SchemaBuilder:
        """The builder of a schema, to make it optional or give it a default."""
        return SchemaBuilder.int64().name(Timestamp.LOGICAL_NAME).version(1)

    @staticmethod
    def from_logical(schema: Schema, value: datetime.datetime) -> int:
        """The ms since 1970; smaller parts are cut off."""
        _check_name(schema, Timestamp.LOGICAL_NAME, "Timestamp")
        return (_in_utc(value) - _EPOCH) // _MS

    @staticmethod
    def to_logical(schema: Schema, value: int) -> datetime.datetime:
        """The point in time. Raises DataError if Python's datetimes (years 1 to 9999) do not reach it."""
        _check_name(schema, Timestamp.LOGICAL_NAME, "Timestamp")
        try:
            return _EPOCH + datetime.timedelta(milliseconds=value)
        except OverflowError:
            raise DataError(f"The timestamp {value} ms after 1970-01-01 is not in the years 1 to 9999") from None


def _in_utc(value: datetime.datetime) -> datetime.datetime:
    return value.replace(tzinfo=datetime.UTC) if value.tzinfo is None else value.astimezone(datetime.UTC)


def _check_name(schema: Schema, name: str, kind: str) -> None:
    if schema.name != name:
        raise DataError(f"Requested conversion of {kind} object but the schema does not match.")


Date.SCHEMA = Date.builder().build()
Time.SCHEMA = Time.builder().build()
Timestamp.SCHEMA = Timestamp.builder().build()
