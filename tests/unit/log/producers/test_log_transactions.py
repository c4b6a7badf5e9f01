"""Transactions in a log: the last stable offset, the index of aborted ones, what readers of committed records see."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.time import MockTime
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.log.cleaning.log_to_clean import LogToClean, cleanable_offsets
from kafka_lite.log.log import Log
from kafka_lite.log.producers.aborted_txn import AbortedTxn
from kafka_lite.record.control_record import ControlRecordType, EndTransactionMarker
from kafka_lite.record.records import batches
from tests.support.compaction import all_batches, clean, keyed_set, new_cleaner
from tests.support.logs import open_log, record_set, to_bytes

COMMIT, ABORT = ControlRecordType.COMMIT, ControlRecordType.ABORT
NOW_MS = MockTime().milliseconds()


class Producers:
    """Writes transactions of several producers, and remembers what they are."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.sequences: dict[int, int] = {}
        self.open: dict[int, int] = {}
        """First offsets by producer id."""
        self.aborted: list[AbortedTxn] = []
        self.values: dict[int, tuple[bytes, bytes, int | None]] = {}
        """Key, value and producer id of every record by offset; without producer id: outside of transactions."""
        self.aborted_offsets: set[int] = set()

    def send(self, producer_id: int, key: bytes, value: bytes) -> int:
        sequence = self.sequences.get(producer_id, 0)
        self.sequences[producer_id] = sequence + 1
        records = keyed_set(
            (key, value), timestamp=NOW_MS, producer_id=producer_id, producer_epoch=0, base_sequence=sequence,
            is_transactional=True,
        )  # fmt: skip
        offset = self.log.append_as_leader(records, 0).first_offset
        self.open.setdefault(producer_id, offset)
        self.values[offset] = (key, value, producer_id)
        return offset

    def send_outside(self, key: bytes, value: bytes) -> None:
        offset = self.log.append_as_leader(keyed_set((key, value), timestamp=NOW_MS), 0).first_offset
        self.values[offset] = (key, value, None)

    def end(self, producer_id: int, kind: ControlRecordType) -> int:
        offset = append_marker(self.log, producer_id, kind)
        first = self.open.pop(producer_id, None)
        if first is not None and kind is ABORT:
            self.aborted.append(AbortedTxn(producer_id, first, offset, min(self.open.values(), default=offset + 1)))
            self.aborted_offsets |= {o for o, (_, _, pid) in self.values.items() if pid == producer_id and o >= first}
        return offset

    def stable(self) -> int:
        """The last stable offset if everything is replicated."""
        return min(self.open.values(), default=self.log.log_end_offset)

    def committed(self) -> dict[int, bytes]:
        stable = self.stable()
        return {o: value for o, (_, value, _) in self.values.items() if o < stable and o not in self.aborted_offsets}


def append_marker(log: Log, producer_id: int, kind: ControlRecordType, *, epoch: int = 0, coordinator: int = 0) -> int:
    marker = EndTransactionMarker(kind, coordinator).to_batch(producer_id, epoch, NOW_MS)
    return log.append_as_leader(bytearray(marker), 0, AppendOrigin.COORDINATOR).first_offset


def indexed(log: Log) -> list[AbortedTxn]:
    return [entry for segment in log.segments for entry in segment.txn_index.entries]


def read_committed(log: Log, max_bytes: int = 300) -> dict[int, bytes | None]:
    """The values that a consumer with read_committed gets, in fetches of some batches each.

    As clients do, it skips the batches of a producer from the first offset of an aborted transaction on, until it meets
    the marker.
    """
    offset, stable = log.log_start_offset, log.last_stable_offset(log.log_end_offset)
    found: dict[int, bytes | None] = {}
    while offset < stable:
        data = log.read(offset, max_bytes, stable, min_one_message=True)
        read = list(batches(to_bytes(data.records)))
        if not read:
            break
        to_come = sorted((aborted.first_offset, aborted.producer_id) for aborted in log.aborted_transactions(data))
        skipped: set[int] = set()
        for batch in read:
            while to_come and to_come[0][0] <= batch.last_offset:
                skipped.add(to_come.pop(0)[1])
            if batch.is_control:
                if EndTransactionMarker.from_record(next(batch.records())).control_type is ABORT:
                    skipped.discard(batch.producer_id)
            elif not (batch.is_transactional and batch.producer_id in skipped):
                found |= {record.offset: record.value for record in batch.records() if record.offset >= offset}
        offset = read[-1].next_offset
    return found


def play(log: Log, seed: int, steps: int) -> Producers:
    """A random history of four producers with transactions, and of records outside of them."""
    draw, producers = random.Random(seed), Producers(log)
    for step in range(steps):
        producer_id, key = draw.randrange(7, 11), b"key %d" % draw.randrange(4)
        choice = draw.random()
        if choice < 0.5:
            producers.send(producer_id, key, b"%d" % step)
        elif choice < 0.6:
            producers.send_outside(key, b"%d" % step)
        elif producer_id in producers.open or choice > 0.95:
            producers.end(producer_id, draw.choice([COMMIT, ABORT]))
    return producers


SMALL = {"segment_bytes": 700, "index_interval_bytes": 150}


@pytest.mark.parametrize("seed", range(6))
def test_readers_see_committed_records_and_nothing_else(tmp_path: Path, seed: int) -> None:
    log = open_log(tmp_path, **SMALL)
    producers = play(log, seed, 120)
    assert len(log.segments) > 3
    assert indexed(log) == producers.aborted
    assert log.last_stable_offset(log.log_end_offset) == producers.stable()
    assert read_committed(log) == producers.committed()
    assert read_committed(log, 5_000) == producers.committed()


@pytest.mark.parametrize("clean_shutdown", [True, False])
@pytest.mark.parametrize("lost", ["nothing", "transaction indexes", "all indexes", "a snapshot too", "a torn entry"])
def test_a_restart_finds_the_same_transactions(tmp_path: Path, clean_shutdown: bool, lost: str) -> None:
    log = open_log(tmp_path, **SMALL)
    producers = play(log, 1, 120)
    if clean_shutdown:
        log.close()
    for file in sorted(log.dir.glob("*.txnindex")):
        if lost == "a torn entry":
            file.write_bytes(file.read_bytes()[:-3])
        elif lost != "nothing" and not (lost == "transaction indexes" and clean_shutdown):
            file.unlink()
    if lost in ("all indexes", "a snapshot too"):
        for file in log.dir.glob("*.index"):
            file.unlink()
    if lost == "a snapshot too":
        sorted(log.dir.glob("*.snapshot"))[1].unlink()
    again = open_log(tmp_path, had_clean_shutdown=clean_shutdown, **SMALL)
    assert indexed(again) == producers.aborted
    assert again.last_stable_offset(again.log_end_offset) == producers.stable()
    assert read_committed(again) == producers.committed()
    producers.log = again
    for producer_id in list(producers.open):
        producers.end(producer_id, ABORT)
    assert read_committed(again) == producers.committed()


def test_only_segments_with_aborted_transactions_have_an_index(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    producers = Producers(log)
    producers.send(7, b"k", b"v")
    producers.end(7, COMMIT)
    assert not list(log.dir.glob("*.txnindex"))
    producers.send(7, b"k", b"v")
    producers.end(7, ABORT)
    assert (log.dir / "00000000000000000000.txnindex").read_bytes() == AbortedTxn(7, 2, 3, 4).encode()


def test_a_transaction_counts_as_undecided_until_its_marker_is_replicated(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    producers = Producers(log)
    producers.send_outside(b"k", b"0")
    first = producers.send(7, b"k", b"1")
    assert [log.last_stable_offset(high_watermark) for high_watermark in (0, 1, 2)] == [0, 1, first]
    marker = producers.end(7, COMMIT)
    assert [log.last_stable_offset(high_watermark) for high_watermark in (0, marker, marker + 1)] == [0, first, 3]
    log.derived_state.on_high_watermark_updated(marker)
    assert log.last_stable_offset(marker) == first
    log.derived_state.on_high_watermark_updated(marker + 1)
    assert not log.producer_state.transactions.ended
    assert log.last_stable_offset(marker + 1) == marker + 1


def test_an_emptied_log_has_no_open_transaction(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    producers = Producers(log)
    producers.send(7, b"k", b"v")
    log.truncate_fully_and_start_at(0)
    producers.send_outside(b"k", b"2")
    assert log.last_stable_offset(1) == 1


def test_deleted_records_do_not_hold_the_last_stable_offset_back(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    producers = Producers(log)
    producers.send(7, b"k", b"1")
    producers.send_outside(b"k", b"2")
    log.maybe_increment_log_start_offset(1)
    assert log.last_stable_offset(2) == 1


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("clean_shutdown", [True, False])
def test_truncation_takes_back_the_ends_of_transactions(tmp_path: Path, seed: int, clean_shutdown: bool) -> None:
    log = open_log(tmp_path, **SMALL)
    play(log, seed, 120)
    for end in range(log.log_end_offset - 1, log.log_end_offset // 2, -7):
        log.truncate_to(end)
        expected = open_log(tmp_path, name=f"other-{end}", **SMALL)
        for segment in log.segments:
            expected.append_as_follower(segment.log.read(0, segment.size).to_bytes())
        assert indexed(log) == indexed(expected)
        assert log.last_stable_offset(end) == expected.last_stable_offset(end)
        assert read_committed(log) == read_committed(expected)
    if clean_shutdown:
        log.close()
    again = open_log(tmp_path, had_clean_shutdown=clean_shutdown, **SMALL)
    assert indexed(again) == indexed(expected)


def test_a_follower_has_the_same_transactions(tmp_path: Path) -> None:
    leader, follower = open_log(tmp_path, **SMALL), open_log(tmp_path, name="follower-0", **SMALL)
    producers = play(leader, 3, 120)
    offset = 0
    while offset < leader.log_end_offset:
        fetched = to_bytes(leader.read(offset, 500, min_one_message=True).records)
        follower.append_as_follower(fetched)
        offset = follower.log_end_offset
    assert read_committed(follower) == producers.committed()
    assert [entry[:3] for entry in indexed(follower)] == [entry[:3] for entry in producers.aborted]


def newest_offsets(producers: Producers, offsets: Iterable[int]) -> dict[bytes, int]:
    return {producers.values[offset][0]: offset for offset in sorted(offsets)}


@pytest.mark.parametrize("seed", range(6))
def test_compaction_keeps_the_newest_committed_record_of_each_key(tmp_path: Path, seed: int) -> None:
    time = MockTime()
    log = open_log(tmp_path, time=time, cleanup_policy="compact", **SMALL)
    producers = play(log, seed, 120)
    log.roll()
    log.derived_state.on_high_watermark_updated(log.log_end_offset)
    end = cleanable_offsets(log, None, time.milliseconds()).first_uncleanable_dirty_offset
    assert end == min(producers.stable(), log.active_segment.base_offset)
    for _ in range(2):  # the second time it reads what the first has written
        new_cleaner(time).clean(LogToClean(log.topic_partition, log, 0, end))
        seen = read_committed(log)
        assert seen.items() <= producers.committed().items()
        assert newest_offsets(producers, seen) == newest_offsets(producers, producers.committed())
    again = open_log(tmp_path, time=time, cleanup_policy="compact", **SMALL)
    assert read_committed(again) == seen


def test_an_aborted_record_is_removed_and_does_not_hide_the_older_one(tmp_path: Path) -> None:
    time = MockTime()
    log = open_log(tmp_path, time=time, cleanup_policy="compact", delete_retention_ms=1_000)
    producers = Producers(log)
    producers.send_outside(b"k", b"valid")
    producers.send(7, b"k", b"aborted")
    producers.send(7, b"k", b"aborted, too")
    producers.end(7, ABORT)
    producers.send(7, b"other", b"committed later")
    producers.end(7, COMMIT)
    log.roll()
    clean(log, time)
    assert read_committed(log) == {0: b"valid", 4: b"committed later"}
    stored = [record.value for batch in all_batches(log) if not batch.is_control for record in batch.records()]
    assert stored == [b"valid", b"committed later"]
    # The marker goes when its time is up, and the entry of the index with it.
    for _ in range(2):
        time.sleep(2_000)
        log.append_as_leader(record_set(b"v", timestamp=time.milliseconds()), 0)
        log.roll()
        clean(log, time)
    assert indexed(log) == []
    assert read_committed(log)[4] == b"committed later"


def test_a_marker_of_an_old_coordinator_is_fenced(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    producers = Producers(log)
    producers.send(7, b"k", b"v")
    append_marker(log, 7, COMMIT, coordinator=3)
    with pytest.raises(ApiError) as info:
        append_marker(log, 7, ABORT, coordinator=2)
    assert info.value.error is Errors.TRANSACTION_COORDINATOR_FENCED
    assert log.log_end_offset == 2
    append_marker(log, 7, ABORT, coordinator=3)
