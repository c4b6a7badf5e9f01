"""Serdes write the bytes of Java's, and refuse what does not fit."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.common.serdes import JsonSerde, Serde, Serdes
from kafka_lite.common.serialization import SerializationError, StringDeserializer, StringSerializer

JSON = st.recursive(
    st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text("abcä€"),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("xyz"), inner),
)


@pytest.mark.parametrize(
    ("serde", "value", "data"),
    [
        (Serdes.byte_array(), b"\x00\xff", b"\x00\xff"),
        (Serdes.string(), "偏移量", "偏移量".encode()),
        (Serdes.integer(), -2, b"\xff\xff\xff\xfe"),
        (Serdes.long(), 258, b"\0\0\0\0\0\0\1\2"),
        (Serdes.double(), 1.5, b"\x3f\xf8\0\0\0\0\0\0"),
        (Serdes.json(), {"b": [1, None], "a": "ä"}, '{"a":"ä","b":[1,null]}'.encode()),
    ],
)
def test_bytes_of_the_built_in_serdes(serde: Serde[Any], value: Any, data: bytes) -> None:
    assert serde.serializer.serialize("t", value) == data
    assert serde.deserializer.deserialize("t", data) == value
    assert serde.serializer.serialize("t", None) is None
    assert serde.deserializer.deserialize("t", None) is None


@pytest.mark.parametrize(
    ("serde", "value"),
    [(Serdes.integer(), 1 << 31), (Serdes.long(), "1"), (Serdes.string(), 1), (Serdes.json(), {1, 2}),
     (Serdes.json(), float("nan"))],
)  # fmt: skip
def test_a_value_that_does_not_fit_is_a_serialization_error(serde: Serde[Any], value: Any) -> None:
    with pytest.raises(SerializationError, match="t: "):
        serde.serializer.serialize("t", value)


@pytest.mark.parametrize(
    ("serde", "data"), [(Serdes.long(), b"1234"), (Serdes.string(), b"\xff"), (Serdes.json(), b"{")]
)
def test_bytes_that_do_not_fit_are_a_serialization_error(serde: Serde[Any], data: bytes) -> None:
    with pytest.raises(SerializationError, match="t: "):
        serde.deserializer.deserialize("t", data)


@given(JSON)
def test_json_comes_back(value: Any) -> None:
    serde = JsonSerde()
    assert serde.deserializer.deserialize("t", serde.serializer.serialize("t", value)) == value


def test_a_serde_of_your_own() -> None:
    serde = Serdes.serde_from(StringSerializer("utf-16-be"), StringDeserializer("utf-16-be"))
    assert serde.serializer.serialize("t", "a") == b"\0a"
    with pytest.raises(TypeError, match="serializer must be an object derived from Serializer"):
        Serdes.serde_from(StringSerializer, StringDeserializer())  # type: ignore[arg-type]
