"""The plan of a replay: what is sent when, with which faults, and how much of it has been sent already."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.common.topic_partition import TopicPartition
from pipeline.events import LATENESS, Event
from pipeline.replay_plan import (
    LATE_BY_MS,
    Fault,
    FaultMix,
    PlannedRecord,
    ReplayPlanError,
    fault_counts,
    partition_of,
    plan,
    split_sent,
)

PARTITIONS = {"flights": 4, "weather": 2}
HOUR_MS = 3_600_000


def events(count: int) -> list[Event]:
    """Events of a few keys, a minute apart."""
    return [
        Event(
            "flights",
            f"UA{index % 7}",
            json.dumps({"flight": index, "origin": "EWR"}),
            index * 60_000,
            [("event-id", b"%d" % index)],
        )
        for index in range(count)
    ]


MIXES = st.builds(
    FaultMix,
    late=st.floats(0, 1),
    duplicates=st.floats(0, 1),
    garbage=st.integers(0, 20),
    late_by_ms=st.integers(1, HOUR_MS),
)


def by_partition(records: list[PlannedRecord]) -> dict[TopicPartition, list[PlannedRecord]]:
    logs: dict[TopicPartition, list[PlannedRecord]] = {}
    for record in records:
        logs.setdefault(record.partition, []).append(record)
    return logs


def test_without_faults_every_event_is_sent_once_at_its_event_time() -> None:
    planned = plan(reversed(events(50)), PARTITIONS, FaultMix(), seed=1)
    assert [record.event for record in planned] == events(50)
    assert all(record.due_ms == record.event.timestamp_ms and record.fault is None for record in planned)


def test_events_of_one_time_keep_their_order() -> None:
    at_once = [event._replace(timestamp_ms=5) for event in events(30)]
    assert [record.event for record in plan(at_once, PARTITIONS, FaultMix(), seed=1)] == at_once


@given(mix=MIXES, seed=st.integers(0, 1000))
def test_a_plan_has_exactly_the_faults_of_its_mix_and_still_every_event(mix: FaultMix, seed: int) -> None:
    originals = events(40)
    planned = plan(originals, PARTITIONS, mix, seed)
    assert [record.due_ms for record in planned] == sorted(record.due_ms for record in planned)
    duplicates = [record for record in planned if record.fault is Fault.DUPLICATE]
    assert len(duplicates) == round(mix.duplicates * 40)
    assert sum(record.fault is Fault.GARBAGE for record in planned) == mix.garbage
    first = [record for record in planned if record.fault in (None, Fault.LATE)]
    assert sum(record.fault is Fault.LATE for record in first) == round(mix.late * 40)
    assert Counter(record.event.timestamp_ms for record in first) == Counter(event.timestamp_ms for event in originals)
    for record in first:
        behind_ms = record.due_ms - record.event.timestamp_ms
        assert 1 <= behind_ms <= mix.late_by_ms if record.fault is Fault.LATE else behind_ms == 0


@given(mix=MIXES, seed=st.integers(0, 1000))
def test_a_duplicate_follows_its_original_and_is_no_later_than_late_events(mix: FaultMix, seed: int) -> None:
    planned = plan(events(40), PARTITIONS, mix, seed)
    originals = {record.event.value: record for record in planned if record.fault in (None, Fault.LATE)}
    for record in planned:
        if record.fault is Fault.DUPLICATE:
            original = originals[record.event.value]
            assert record.event == original.event
            assert original.due_ms <= record.due_ms <= record.event.timestamp_ms + mix.late_by_ms
            assert planned.index(original) < planned.index(record)


def test_the_same_seed_gives_the_same_plan_and_another_seed_another() -> None:
    mix = FaultMix(late=0.3, duplicates=0.2, garbage=8)
    assert plan(events(60), PARTITIONS, mix, seed=7) == plan(events(60), PARTITIONS, mix, seed=7)
    assert plan(events(60), PARTITIONS, mix, seed=7) != plan(events(60), PARTITIONS, mix, seed=8)


def test_garbage_is_broken_in_four_ways_and_no_event_of_the_data_set() -> None:
    originals = {event.value for event in events(60)}
    garbage = [r.event for r in plan(events(60), PARTITIONS, FaultMix(garbage=8), seed=3) if r.fault is Fault.GARBAGE]
    for event in garbage:
        assert event.value not in originals
        with pytest.raises(ValueError):
            json.loads(event.value)
    values = [event.value for event in garbage]
    assert sum(isinstance(value, bytes) for value in values) == 2  # not UTF-8
    assert values.count("") == 2
    assert sum(not event.headers for event in garbage) == 2  # of another program


def test_late_events_are_within_the_watermark() -> None:
    hours = int(LATENESS.removesuffix(" hours"))
    assert hours * HOUR_MS >= 2 * LATE_BY_MS


@pytest.mark.parametrize(
    ("mix", "message"),
    [
        ({"late": 1.5}, "late is a share from 0 to 1, not 1.5"),
        ({"duplicates": -0.1}, "duplicates is a share from 0 to 1, not -0.1"),
        ({"garbage": -1}, "garbage is at least 0, not -1"),
        ({"late_by_ms": 0}, "late_by_ms is at least 1, not 0"),
    ],
)
def test_an_impossible_mix_is_rejected(mix: dict[str, float], message: str) -> None:
    with pytest.raises(ReplayPlanError, match=message):
        FaultMix(**mix)  # type: ignore[arg-type]


def test_garbage_needs_events_to_be_made_from() -> None:
    with pytest.raises(ReplayPlanError, match="made from events"):
        plan([], PARTITIONS, FaultMix(garbage=1), seed=0)


def test_the_partition_matches_the_default_partitioner() -> None:
    # Kafka: Utils.toPositive(Utils.murmur2("UA1545".getBytes())) % 4, for keys whose hashes are known.
    hashes = {"21": -973932308, "foobar": -790332482, "a-little-bit-long-string": -985981536}
    for key, number in hashes.items():
        event = events(1)[0]._replace(key=key)
        assert partition_of(event, PARTITIONS) == TopicPartition("flights", (number & 0x7FFFFFFF) % 4)


@given(kept=st.lists(st.floats(0, 1), min_size=4, max_size=4), seed=st.integers(0, 100))
def test_a_replay_resumes_where_the_partitions_end(kept: list[float], seed: int) -> None:
    planned = plan(events(60), PARTITIONS, FaultMix(late=0.2, duplicates=0.1, garbage=5), seed)
    logs = by_partition(planned)
    ends = {address: int(share * len(log)) for (address, log), share in zip(logs.items(), kept, strict=False)}
    sent, unsent = split_sent(planned, ends)
    assert by_partition(sent) == {address: logs[address][:end] for address, end in ends.items() if end}
    for address, log in logs.items():
        assert [r for r in unsent if r.partition == address] == log[ends.get(address, 0) :]
    assert unsent == sorted(unsent, key=lambda record: record.due_ms)


def test_records_of_other_producers_in_a_topic_are_detected() -> None:
    planned = plan(events(10), PARTITIONS, FaultMix(), seed=0)
    ends = {address: len(log) for address, log in by_partition(planned).items()}
    foreign = TopicPartition("weather", 1)
    with pytest.raises(ReplayPlanError, match="weather-1 has 2 records that this replay did not send"):
        split_sent(planned, {**ends, foreign: 2})


def test_faults_are_counted() -> None:
    planned = plan(events(100), PARTITIONS, FaultMix(late=0.1, duplicates=0.05, garbage=3), seed=0)
    assert fault_counts(planned) == {Fault.LATE: 10, Fault.DUPLICATE: 5, Fault.GARBAGE: 3}
