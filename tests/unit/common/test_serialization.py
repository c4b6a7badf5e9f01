"""Serializers write the bytes of Java's, read them back, and name the topic of what they refuse."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.common import serialization
from kafka_lite.common.serialization import Deserializer, SerializationError, Serializer, ensure_serializer

NUMBERS = [
    ("Integer", 1, "00000001"),
    ("Integer", -(2**31), "80000000"),
    ("Long", 2**63 - 1, "7fffffffffffffff"),
    ("Long", -1, "ffffffffffffffff"),
    ("Double", -0.5, "bfe0000000000000"),
    ("Double", float("inf"), "7ff0000000000000"),
]


def both(kind: str) -> tuple[Serializer[Any], Deserializer[Any]]:
    return getattr(serialization, f"{kind}Serializer")(), getattr(serialization, f"{kind}Deserializer")()


@pytest.mark.parametrize(("kind", "number", "data"), NUMBERS)
def test_numbers_are_big_endian(kind: str, number: float, data: str) -> None:
    serializer, deserializer = both(kind)
    assert serializer.serialize("t", number) == bytes.fromhex(data)
    assert deserializer.deserialize("t", bytes.fromhex(data)) == number


@pytest.mark.parametrize("kind", ["ByteArray", "String", "Integer", "Long", "Double"])
def test_none_stays_none(kind: str) -> None:
    serializer, deserializer = both(kind)
    assert serializer.serialize("t", None) is None
    assert deserializer.deserialize("t", None) is None
    serializer.close()
    deserializer.close()


@pytest.mark.parametrize(
    ("kind", "value"), [("Integer", 2**31), ("Integer", 1.5), ("Long", "1"), ("Double", "1"), ("String", b"a"),
                        ("String", "\ud800"), ("ByteArray", "a"), ("ByteArray", 1)]
)  # fmt: skip
def test_a_value_of_another_type_is_refused_with_its_topic(kind: str, value: object) -> None:
    with pytest.raises(SerializationError, match=r"^orders: "):
        both(kind)[0].serialize("orders", value)


@pytest.mark.parametrize(
    ("kind", "data"), [("Integer", b"123"), ("Integer", b""), ("Long", b"1234"), ("Double", b"123456789"),
                       ("String", b"\xff")]
)  # fmt: skip
def test_bytes_of_another_length_are_refused_with_their_topic(kind: str, data: bytes) -> None:
    with pytest.raises(SerializationError, match=r"^orders: "):
        both(kind)[1].deserialize("orders", data)


@pytest.mark.parametrize("data", [b"a", bytearray(b"a"), memoryview(b"a")])
def test_bytes_of_any_kind_pass_through(data: Any) -> None:
    passed = serialization.ByteArraySerializer().serialize("t", data)
    assert passed == b"a"
    assert type(passed) is bytes


@pytest.mark.parametrize(
    ("configs", "is_key", "data"),
    [
        ({}, True, b"\xc3\xa4"),
        ({"serializer.encoding": "latin-1"}, True, b"\xe4"),
        ({"serializer.encoding": "latin-1", "key.serializer.encoding": "utf-16-be"}, True, b"\x00\xe4"),
        ({"serializer.encoding": "latin-1", "key.serializer.encoding": "utf-16-be"}, False, b"\xe4"),
    ],
)
def test_the_encoding_of_text_is_that_of_keys_or_values_or_both(
    configs: dict[str, object], is_key: bool, data: bytes
) -> None:
    serializer, deserializer = serialization.StringSerializer(), serialization.StringDeserializer()
    serializer.configure(configs, is_key)
    deserializer.configure({key.replace("serializer", "deserializer"): v for key, v in configs.items()}, is_key)
    assert serializer.serialize("t", "ä") == data
    assert deserializer.deserialize("t", data) == "ä"


@pytest.mark.parametrize("given", [serialization.StringSerializer, str.encode, "a name", 7])
def test_what_is_no_serializer_is_refused_by_its_argument(given: object) -> None:
    ensure_serializer(None, Serializer, "key_serializer")
    ensure_serializer(serialization.StringSerializer(), Serializer, "key_serializer")
    with pytest.raises(TypeError, match="key_serializer must be an object derived from Serializer"):
        ensure_serializer(given, Serializer, "key_serializer")
    with pytest.raises(TypeError, match="Deserializer"):
        ensure_serializer(serialization.StringSerializer(), Deserializer, "value_deserializer")
