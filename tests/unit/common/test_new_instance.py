"""An object is made of the class that a configuration key names."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.new_instance import new_instance
from kafka_lite.common.serialization import Deserializer, Serializer, StringSerializer


def test_a_class_is_named_with_its_module_and_gets_the_arguments() -> None:
    name = "kafka_lite.common.serialization.StringSerializer"
    made = new_instance("key.serializer", Serializer, name, "latin-1")
    assert isinstance(made, StringSerializer)
    assert made.serialize("t", "ä") == b"\xe4"


@pytest.mark.parametrize(
    "name", ["no.such.module.Serializer", "kafka_lite.common.serialization.Nothing", "StringSerializer", ""]
)
def test_a_class_that_cannot_be_found_is_an_error_of_the_key(name: str) -> None:
    with pytest.raises(KafkaError, match=r"key\.serializer"):
        new_instance("key.serializer", Serializer, name)


def test_a_class_of_another_kind_is_an_error_of_the_key() -> None:
    with pytest.raises(KafkaError, match=r"key\.deserializer"):
        new_instance("key.deserializer", Deserializer, "kafka_lite.common.serialization.StringSerializer")
