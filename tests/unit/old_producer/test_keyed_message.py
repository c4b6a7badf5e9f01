"""A message's two keys: one is stored, the other may choose the partition."""

from __future__ import annotations

import pytest

from kafka_lite.old_producer import KeyedMessage
from kafka_lite.old_producer.keyed_message import SerializedMessage


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (KeyedMessage("t", "m"), None), (KeyedMessage("t", "m", "k"), "k"), (KeyedMessage("t", "m", "k", "p"), "p"),
        (KeyedMessage("t", "m", part_key=0), 0),
    ],
)  # fmt: skip
def test_the_partition_key_is_the_key_unless_it_is_given(message: KeyedMessage, expected: object) -> None:
    assert message.partition_key == expected


def test_only_the_key_is_stored() -> None:
    serialized = KeyedMessage("t", "m", "k", "p").serialized(b"k", b"m", 5)
    assert serialized == SerializedMessage("t", "p", b"k", b"m", 5)


@pytest.mark.parametrize("topic", ["", None, 3])
def test_a_message_needs_a_topic(topic: object) -> None:
    with pytest.raises(ValueError, match="needs the name of a topic"):
        KeyedMessage(topic, "m")  # type: ignore[arg-type]
