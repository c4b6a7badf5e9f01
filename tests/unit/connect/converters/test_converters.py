"""The string converter and the byte array converter."""

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.connect.api import DataError, Schema, SchemaAndValue
from kafka_lite.connect.converters.byte_array_converter import ByteArrayConverter
from kafka_lite.connect.converters.string_converter import StringConverter


def test_any_value_becomes_its_text() -> None:
    strings = StringConverter()

    assert strings.from_connect_data("t", None, {"a": 1.0}) == b"{a=1.0}"
    assert strings.from_connect_data("t", Schema.STRING_SCHEMA, "fünf") == "fünf".encode()
    assert strings.from_connect_data("t", None, None) is None


def test_bytes_become_an_optional_string() -> None:
    strings = StringConverter()

    assert strings.to_connect_data("t", b"x\xff") == SchemaAndValue(Schema.OPTIONAL_STRING_SCHEMA, "x\ufffd")
    assert strings.to_connect_data("t", None) == SchemaAndValue(Schema.OPTIONAL_STRING_SCHEMA, None)
    assert strings.to_connect_header("t", "h", strings.from_connect_header("t", "h", None, 7)).value == "7"


def test_the_encoding_can_be_chosen() -> None:
    latin = StringConverter()
    latin.configure({"converter.encoding": "ISO-8859-1"}, True)

    assert latin.from_connect_data("t", None, "fünf中") == b"f\xfcnf?"
    assert latin.to_connect_data("t", b"f\xfcnf").value == "fünf"
    with pytest.raises(ConfigError, match=r"no such encoding"):
        latin.configure({"converter.encoding": "klingon"}, True)
    assert "converter.encoding" in latin.config()


def test_bytes_are_passed_through() -> None:
    raw = ByteArrayConverter()
    raw.configure({}, False)

    assert raw.from_connect_data("t", Schema.BYTES_SCHEMA, bytearray(b"x")) == b"x"
    assert raw.from_connect_header("t", "h", None, None) is None
    assert raw.to_connect_data("t", b"x") == SchemaAndValue(Schema.OPTIONAL_BYTES_SCHEMA, b"x")
    assert raw.to_connect_header("t", "h", b"x").value == b"x"


def test_only_bytes_are_passed_through() -> None:
    with pytest.raises(DataError, match=r"^Invalid schema type for ByteArrayConverter: STRING$"):
        ByteArrayConverter().from_connect_data("t", Schema.STRING_SCHEMA, "x")
    with pytest.raises(DataError, match=r"not compatible with objects of type str"):
        ByteArrayConverter().from_connect_data("t", None, "x")
