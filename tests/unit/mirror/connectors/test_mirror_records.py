"""Heartbeats, checkpoints and offset syncs in Java's bytes."""

from __future__ import annotations

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.connectors.mirror_records import Checkpoint, Heartbeat, MirrorRecordError, OffsetSync

HEARTBEAT = Heartbeat("west", "east", 1_700_000_000_000)
CHECKPOINT = Checkpoint("g", TopicPartition("west.t", 2), 258, 7, "hé")
SYNC = OffsetSync(TopicPartition("t", 2), 258, 7)


@pytest.mark.parametrize(
    ("record", "key", "value"),
    [
        (HEARTBEAT, "0004 77657374 0004 65617374", "0000 0000018bcfe56800"),
        (CHECKPOINT, "0001 67 0006 776573742e74 00000002", "0000 0000000000000102 0000000000000007 0003 68c3a9"),
        (SYNC, "0001 74 00000002", "0000000000000102 0000000000000007"),
    ],
)
def test_the_bytes_are_those_of_javas_structs(
    record: Heartbeat | Checkpoint | OffsetSync, key: str, value: str
) -> None:
    assert (record.key().hex(), record.value().hex()) == (key.replace(" ", ""), value.replace(" ", ""))
    assert type(record).decode(record.key(), record.value()) == record


def test_bytes_that_are_left_over_do_not_matter() -> None:
    assert OffsetSync.decode(SYNC.key() + b"x", SYNC.value() + b"x") == SYNC


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        (b"\x00\x05west", HEARTBEAT.value(), "a STRING of 5 bytes, of which 4 are there"),
        (b"\xff\xffwest", HEARTBEAT.value(), "a STRING of -1 bytes"),
        (b"\x00\x01\xff\x00\x00", HEARTBEAT.value(), "not UTF-8"),
        (HEARTBEAT.key(), b"\x00\x01" + HEARTBEAT.value()[2:], "version 1 is not known"),
        (HEARTBEAT.key(), HEARTBEAT.value()[:-1], "9 bytes are too few"),
        (b"", HEARTBEAT.value(), "0 bytes are too few"),
    ],
)
def test_other_bytes_are_refused(key: bytes, value: bytes, words: str) -> None:
    with pytest.raises(MirrorRecordError, match=words):
        Heartbeat.decode(key, value)


def test_a_name_that_is_too_long_is_refused() -> None:
    with pytest.raises(MirrorRecordError, match="a STRING of 32768 bytes is too long"):
        Heartbeat("w" * 0x8000, "east", 0).key()
