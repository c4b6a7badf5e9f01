"""The file format of producer snapshots, read, written and damaged."""

from __future__ import annotations

from pathlib import Path

import pytest
from crc32c import crc32c
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.log.producers.producer_snapshot import (
    CorruptSnapshotError,
    decode_entries,
    decode_snapshot,
    encode_snapshot,
)
from kafka_lite.log.producers.producer_state_entry import ProducerStateEntry
from tests.support.producer_states import ProducerState as State
from tests.support.producer_states import producer_batch as batch
from tests.support.samples import hex_sample

SNAPSHOT_OF_KAFKA = "v39-modern-0.00000000000000000009.snapshot.hex"


@pytest.fixture
def state(tmp_path: Path) -> State:
    return State(tmp_path)


def test_a_snapshot_of_kafka_is_read_and_written_back_unchanged() -> None:
    data = hex_sample(SNAPSHOT_OF_KAFKA)
    entries = decode_snapshot(data)
    assert [(e.producer_id, e.producer_epoch, e.last_seq, e.last_data_offset) for e in entries] == [
        (1, 0, 0, 5), (2, 0, 0, 6), (3, 0, 0, 7)
    ]  # fmt: skip
    assert [e.coordinator_epoch for e in entries] == [-1, -1, 0]
    assert encode_snapshot(entries) == data


@given(
    st.lists(
        st.builds(
            lambda pid, epoch, seq, offset, delta, time, coordinator, txn: ProducerStateEntry(
                pid, epoch, coordinator, time, txn
            ),
            st.integers(0, 2**63 - 1), st.integers(0, 2**15 - 1), st.none(), st.none(), st.none(),
            st.integers(-1, 2**63 - 1), st.integers(-1, 2**31 - 1), st.none() | st.integers(0, 2**63 - 1),
        )
    )
)  # fmt: skip
def test_snapshots_are_read_back(entries: list[ProducerStateEntry]) -> None:
    assert decode_snapshot(encode_snapshot(entries)) == entries


@given(st.data())
def test_files_that_are_no_snapshot_are_corrupt(data: st.DataObject) -> None:
    good = hex_sample(SNAPSHOT_OF_KAFKA)
    cut = data.draw(st.integers(0, len(good) - 1))
    with pytest.raises(CorruptSnapshotError):
        decode_snapshot(good[:cut])
    flipped = bytearray(good)
    flipped[cut] ^= data.draw(st.integers(1, 255))
    with pytest.raises(CorruptSnapshotError):
        decode_snapshot(bytes(flipped))
    with pytest.raises(CorruptSnapshotError):
        decode_snapshot(data.draw(st.binary(max_size=80)))


@pytest.mark.parametrize("count", [-1, 2, 2**31 - 1])
def test_an_impossible_entry_count_is_corrupt(count: int) -> None:
    body = count.to_bytes(4, "big", signed=True) + bytes(46)
    with pytest.raises(CorruptSnapshotError, match="cannot be"):
        decode_snapshot(b"\0\1" + crc32c(body).to_bytes(4, "big") + body)


def test_kafka_keeps_the_last_of_the_entries_of_a_producer(state: State) -> None:
    for sequence in range(3):
        state.append(batch(sequence, offset=sequence, timestamp=1000 + sequence))
    found = decode_entries(encode_snapshot(state.active_producers.values()))
    assert [(entry.producer_id, entry.last_seq, entry.last_timestamp) for entry in found] == [
        (7, 0, 1000), (7, 1, 1001), (7, 2, 1002)
    ]  # fmt: skip
