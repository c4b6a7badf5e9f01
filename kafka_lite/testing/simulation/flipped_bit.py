"""A bit of a replica's segment reads wrong for a while, as with a bad cable: where it may be, what may be lost.

Not in Kafka. Only what a batch's checksum covers flips, and of that only what the broker does not read without
checking it, which are the records and the checksum itself::

    base offset, length, epoch, magic │ checksum │ attributes, … producer, count │ records
                  never               │   yes    │            never             │   yes

A broker finds batches by the fields of their headers, and by indexes, which have no checksums: Kafka promises nothing
if those rot, and neither do we. The batch is committed, so other replicas in sync have had it when it rots.

A broker that starts again meanwhile recovers its log, and may cut it off at the batch. Not being in sync any more, it
gets the rest from the leader. If it is still in the ISR, since it was the last one in sync, or since nobody has noticed
its end, it may lead with what it has left. Clean elections allow that: such a partition is *excused*.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from kafka_lite.record.default_record_batch import CRC_BYTES, CRC_POSITION, RECORD_BATCH_OVERHEAD
from kafka_lite.record.record import MAGIC_V2
from kafka_lite.record.records import batches


class Spot(NamedTuple):
    """A batch of a replica that may rot."""

    topic: str
    partition: int
    segment: Path
    position: int
    size: int


def committed_batches(server: Any, data: Path, topics: Sequence[str]) -> Iterator[Spot]:
    """The batches below the high watermarks that a KafkaServer knows, in the segments of its replicas in ``data``.

    Only those of format v2: bits of older formats do not flip.
    """
    manager = getattr(server, "replica_manager", None)
    for partition in sorted(manager.partitions if manager is not None else (), key=lambda each: each.topic_partition):
        topic, number = partition.topic_partition
        replica = partition.get_replica()
        if topic not in topics or replica is None or replica.log is None:
            continue
        committed = replica.high_watermark.message_offset
        for segment in sorted((data / f"{topic}-{number}").glob("*.log")):
            position = 0
            for batch in batches(segment.read_bytes()):
                if batch.magic == MAGIC_V2 and batch.last_offset < committed:
                    yield Spot(topic, number, segment, position, batch.size_in_bytes)
                position += batch.size_in_bytes


def draw_position(random: Random, spot: Spot) -> int:
    """A byte of the batch that its checksum covers, or one of the checksum."""
    within = random.randrange(CRC_BYTES + spot.size - RECORD_BATCH_OVERHEAD)
    start = CRC_POSITION if within < CRC_BYTES else RECORD_BATCH_OVERHEAD - CRC_BYTES
    return spot.position + start + within


class FlippedBit:
    """A bit of a batch that reads wrong until it is put right. The file may be renamed or removed meanwhile."""

    def __init__(self, spot: Spot, position: int, bit: int) -> None:
        self._fd = os.open(spot.segment, os.O_RDWR | os.O_CLOEXEC)
        self._start, self._end = spot.position, position + 1
        self._right = self._read()
        byte = self._right[-1]
        os.pwrite(self._fd, bytes([byte ^ 1 << bit]), position)
        self._wrong = self._read()

    def _read(self) -> bytes:
        return os.pread(self._fd, self._end - self._start, self._start)

    def put_right(self) -> bool:
        """Flip the bit back. Returns False if it no longer exists: the file was truncated before it, or rewritten.

        It is there if the batch is the same up to the bit. No other bit of the batch may flip meanwhile.
        """
        is_there = self._read() == self._wrong
        if is_there:
            os.pwrite(self._fd, self._right, self._start)
        os.close(self._fd)
        return is_there


def isr(zookeeper: Any, topic: str, partition: int) -> list[int] | None:
    """The ISR that an EmbeddedZooKeeper has for a partition; None if it cannot be told."""
    factory = getattr(zookeeper, "_factory", None)
    if factory is None:
        return None
    tree = factory._server.database.tree
    try:
        data, _ = tree.get_data(f"/brokers/topics/{topic}/partitions/{partition}/state")
    except Exception:  # noqa: BLE001  the class is the simulated process's own copy
        return None
    in_sync: list[int] = json.loads(data)["isr"]
    return in_sync
