"""Plans a replay: which event is sent when, with late, duplicated and broken ones mixed in.

Kafka 0.10.2: clients/.../producer/internals/DefaultPartitioner.java (the partition of a key) · book 2.1.1

    event time   ──a────b──────c───────────d────>
    sent         ──a───────────c───b───a'──d────>     b is late, a' is a duplicate of a

The plan is a pure function of the events, the mix of faults and the seed. A replay that was killed therefore knows from
the end offset of each partition which records it has already sent (``split_sent``).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.murmur2 import murmur2, to_positive
from kafka_lite.common.topic_partition import TopicPartition
from pipeline.events import Event

LATE_BY_MS = 3_600_000
"""By how much a late event is late at most: half of what the pipeline's watermark allows, so it is still counted."""


class ReplayPlanError(KafkaError):
    """The mix of faults is impossible, or a topic contains other records than the plan's."""


class Fault(Enum):
    """The deliberate fault of a record."""

    LATE = "late"
    DUPLICATE = "duplicates"
    GARBAGE = "garbage"


@dataclass(frozen=True)
class FaultMix:
    """How many faults of each kind.

    ``late`` and ``duplicates`` are shares of the events, 0 to 1; ``garbage`` is a number of records. Late events and
    duplicates are sent up to ``late_by_ms`` after their event time.
    """

    late: float = 0.0
    duplicates: float = 0.0
    garbage: int = 0
    late_by_ms: int = LATE_BY_MS

    def __post_init__(self) -> None:
        for name, share in (("late", self.late), ("duplicates", self.duplicates)):
            if not 0 <= share <= 1:
                raise ReplayPlanError(f"{name} is a share from 0 to 1, not {share:g}")
        for name, least, number in (("garbage", 0, self.garbage), ("late_by_ms", 1, self.late_by_ms)):
            if number < least:
                raise ReplayPlanError(f"{name} is at least {least}, not {number}")


@dataclass(frozen=True, slots=True)
class PlannedRecord:
    """An event and when to send it: ``due_ms``, on the clock of the event times."""

    due_ms: int
    event: Event
    partition: TopicPartition
    fault: Fault | None = None


def plan(events: Iterable[Event], partitions: Mapping[str, int], mix: FaultMix, seed: int) -> list[PlannedRecord]:
    """The records to send, in order. ``partitions`` is the number of partitions of each topic.

    Raises ``ReplayPlanError`` if garbage is wanted and there are no events to make it from.
    """
    rng = random.Random(seed)
    in_time = [PlannedRecord(event.timestamp_ms, event, partition_of(event, partitions)) for event in events]
    late = set(rng.sample(range(len(in_time)), round(mix.late * len(in_time))))
    records = [_late(record, rng, mix) if index in late else record for index, record in enumerate(in_time)]
    duplicates = [_duplicate(record, rng, mix) for record in rng.sample(records, round(mix.duplicates * len(records)))]
    garbage = _garbage(in_time, rng, mix.garbage)
    return sorted([*records, *duplicates, *garbage], key=lambda record: record.due_ms)  # stable


def partition_of(event: Event, partitions: Mapping[str, int]) -> TopicPartition:
    """The partition that the default partitioner chooses for the event's key."""
    number = to_positive(murmur2(event.key.encode())) % partitions[event.topic]
    return TopicPartition(event.topic, number)


def fault_counts(records: Iterable[PlannedRecord]) -> dict[Fault, int]:
    """How many records have each fault."""
    counts = Counter(record.fault for record in records)
    return {fault: counts[fault] for fault in Fault}


def split_sent(
    records: Sequence[PlannedRecord], end_offsets: Mapping[TopicPartition, int]
) -> tuple[list[PlannedRecord], list[PlannedRecord]]:
    """Split a plan into the records that are already in the topics and those that are not.

    A partition contains the first records of its plan, because an idempotent producer writes them in order and once.
    ``end_offsets`` are those of partitions that begin at offset 0. Raises ``ReplayPlanError`` if a partition contains
    more records than the plan has for it.
    """
    there = dict(end_offsets)
    sent: list[PlannedRecord] = []
    unsent: list[PlannedRecord] = []
    for record in records:
        is_sent = there.get(record.partition, 0) > 0
        (sent if is_sent else unsent).append(record)
        if is_sent:
            there[record.partition] -= 1
    for partition, surplus in there.items():
        if surplus > 0:
            raise ReplayPlanError(f"{partition} has {surplus} records that this replay did not send")
    return sent, unsent


def _late(record: PlannedRecord, rng: random.Random, mix: FaultMix) -> PlannedRecord:
    return replace(record, due_ms=record.due_ms + rng.randint(1, mix.late_by_ms), fault=Fault.LATE)


def _duplicate(record: PlannedRecord, rng: random.Random, mix: FaultMix) -> PlannedRecord:
    """The same bytes once more: after the original, and no later than a late event may be."""
    latest_ms = record.event.timestamp_ms + mix.late_by_ms
    return replace(record, due_ms=rng.randint(record.due_ms, latest_ms), fault=Fault.DUPLICATE)


def _garbage(records: Sequence[PlannedRecord], rng: random.Random, count: int) -> list[PlannedRecord]:
    """Broken copies of ``count`` records, each kind of damage in turn, due together with their originals."""
    if count and not records:
        raise ReplayPlanError("garbage is made from events, and there are none")
    originals = [rng.choice(records) for _ in range(count)]
    return [
        replace(record, event=DAMAGES[index % len(DAMAGES)](record.event, rng), fault=Fault.GARBAGE)
        for index, record in enumerate(originals)
    ]


def _cut_off(event: Event, rng: random.Random) -> Event:
    """The beginning of the value, as if its writer had died."""
    return event._replace(value=event.value[: rng.randrange(1, len(event.value))])


def _noise(event: Event, rng: random.Random) -> Event:
    """Bytes that are not UTF-8."""
    return event._replace(value=b"\xff" + rng.randbytes(len(event.value)))


def _other_program(event: Event, rng: random.Random) -> Event:
    """Text of a program that wrote to the wrong topic, without headers."""
    line = f"{rng.randrange(24):02}:{rng.randrange(60):02} INFO gate {rng.randrange(1, 60)} closed"
    return event._replace(value=line, headers=[])


def _nothing(event: Event, _rng: random.Random) -> Event:
    """An empty value."""
    return event._replace(value="")


DAMAGES: tuple[Callable[[Event, random.Random], Event], ...] = (_cut_off, _noise, _other_program, _nothing)
"""The kinds of garbage, used in turn."""
