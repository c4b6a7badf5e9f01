"""A compacted log beside a model of it: hypothesis generates histories, with crashes at any step."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from kafka_lite.common.time import MockTime
from kafka_lite.log.log import Log
from kafka_lite.log.log_config import LogConfig
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.record import Record
from tests.support.compaction import (
    FORMATS,
    Crash,
    all_batches,
    all_records,
    append,
    crash_at,
    new_cleaner,
    new_manager,
    no_waiting_for_the_disk,
    replayed,
)
from tests.support.logs import open_log, read_records

RETENTION_MS = 100
LAG_MS = 60
CODECS = [CompressionType.NONE, CompressionType.LZ4, CompressionType.GZIP]


class Entry(NamedTuple):
    """What was appended at an offset."""

    key: bytes
    value: bytes | None
    timestamp: int


class CompactionMachine(RuleBasedStateMachine):
    """The model: everything that was ever appended, by offset; the offset up to which the log is clean; and when a
    cleaning may first have seen each tombstone.
    """

    def __init__(self) -> None:
        super().__init__()
        self.quick = contextlib.ExitStack()
        self.quick.enter_context(no_waiting_for_the_disk())
        self.dir = Path(tempfile.mkdtemp(prefix="compaction-model-"))
        self.now_ms = 1_000_000
        self.magic = 2
        self.lag_ms = 0
        self.entries: dict[int, Entry] = {}
        self.end = 0
        self.start = 0
        self.clean_end = 0
        self.first_cleaned: dict[int, int] = {}
        self.crashes = 0
        self.truncated = False
        self.open()

    # -- helpers -------------------------------------------------------------------------------------------------------

    def props(self) -> dict[str, object]:
        return {
            "cleanup_policy": "compact",
            "segment_bytes": 600,  # the largest set that append makes is smaller, in every format
            "index_interval_bytes": 100,
            "segment_index_bytes": 120,
            "delete_retention_ms": RETENTION_MS,
            "min_cleanable_dirty_ratio": 0.0,
            "min_compaction_lag_ms": self.lag_ms,
            "message_format_version": FORMATS[self.magic],
            "file_delete_delay_ms": 30,
        }

    def open(self, *, clean: bool = False) -> None:
        """Open the log as a new process does, with a new clock and scheduler."""
        self.time = MockTime(start_ms=self.now_ms)
        recovery_point = 0 if not hasattr(self, "log") else self.log.recovery_point
        self.log: Log = open_log(
            self.dir,
            time=self.time,
            had_clean_shutdown=clean,
            recovery_point=recovery_point,
            log_start_offset=self.start,
            **self.props(),
        )
        self.manager = new_manager(self.log, self.time)
        if self.truncated:
            # Possibly to an offset between two batches that compaction has left: no file contains it.
            assert max(self.entries, default=-1) < self.log.log_end_offset <= self.end
            self.end = self.log.log_end_offset
            self.truncated = False

    def teardown(self) -> None:
        shutil.rmtree(self.dir)
        self.quick.close()

    def expected_state(self) -> dict[bytes | None, bytes]:
        state: dict[bytes | None, bytes] = {}
        for offset in sorted(self.entries):
            key, value, _ = self.entries[offset]
            if value is None:
                state.pop(key, None)
            elif offset >= self.start or key in state:
                state[key] = value
        return state

    def newest(self) -> dict[bytes, int]:
        return {self.entries[offset].key: offset for offset in sorted(self.entries)}

    # -- rules ---------------------------------------------------------------------------------------------------------

    @rule(
        pairs=st.lists(st.tuples(st.integers(0, 5), st.none() | st.integers(0, 60)), min_size=1, max_size=5),
        codec=st.sampled_from(CODECS),
    )
    def append(self, pairs: list[tuple[int, int | None]], codec: CompressionType) -> None:
        now_ms = self.time.milliseconds()
        sent: list[tuple[bytes | None, bytes | None]] = []
        for index, (key_number, size) in enumerate(pairs):
            key = b"key %d" % key_number
            value = None if size is None else b"%d:" % (self.end + index) + b"x" * size
            sent.append((key, value))
            self.entries[self.end + index] = Entry(key, value, -1 if self.magic == 0 else now_ms)
        assert append(self.log, *sent, timestamp=now_ms, compression=codec) == self.end
        self.end += len(pairs)

    @rule(ms=st.integers(1, RETENTION_MS))
    def wait(self, ms: int) -> None:
        self.time.sleep(ms)
        self.now_ms = self.time.milliseconds()

    @rule()
    def roll(self) -> None:
        self.log.roll()

    @rule(magic=st.sampled_from([0, 1, 2]), lag_ms=st.sampled_from([0, 0, LAG_MS]))
    def change_topic(self, magic: int, lag_ms: int) -> None:
        self.magic, self.lag_ms = magic, lag_ms
        self.log.update_config(LogConfig({k.replace("_", "."): v for k, v in self.props().items()}))

    @rule(slots=st.sampled_from([1, 2, 4, 1000]), buffer=st.sampled_from([1, 500, 1 << 20]))
    def clean(self, slots: int, buffer: int) -> None:
        self.compact(slots, buffer, None)

    @rule(slots=st.sampled_from([2, 1000]), step=st.integers(0, 40))
    def crash_while_cleaning(self, slots: int, step: int) -> None:
        self.compact(slots, 1 << 20, step)

    def compact(self, slots: int, buffer: int, crash_step: int | None) -> None:
        cleanable = self.manager.grab_filthiest_compacted_log()
        if cleanable is None:
            return
        active = self.log.active_segment
        before = active.log.file.read_bytes()
        for offset in range(cleanable.first_uncleanable_offset):
            self.first_cleaned.setdefault(offset, self.time.milliseconds())
        try:
            with crash_at(crash_step):
                end, _ = new_cleaner(self.time, slots=slots, io_buffer_size=buffer).clean(cleanable)
                self.manager.done_cleaning(self.log.topic_partition, self.dir, end)
        except Crash:
            self.crash()
            return
        assert end > cleanable.first_dirty_offset
        assert self.log.active_segment is active
        assert active.log.file.read_bytes() == before
        self.clean_end = end
        assert self.manager.all_cleaner_checkpoints() == {self.log.topic_partition: end}
        kept = [record.key for record in all_records(self.log) if self.start <= record.offset < end]
        assert len(kept) == len(set(kept)), "a key occurs twice in the clean part"

    def crash(self) -> None:
        self.crashes += 1
        self.open()
        self.clean_end = self.manager.all_cleaner_checkpoints().get(self.log.topic_partition, 0)
        leftovers = [path.name for path in self.log.dir.iterdir() if path.suffix in (".cleaned", ".swap", ".deleted")]
        assert not leftovers

    @rule(step=st.integers(0, 30))
    def crash_at_the_start(self, step: int) -> None:
        """The process crashes, and crashes again while it recovers."""
        try:
            with crash_at(step):
                self.open()
        except Crash:
            self.crash()

    @rule()
    def restart(self) -> None:
        self.log.close()
        self.open(clean=True)

    @rule(back=st.integers(0, 12))
    def truncate(self, back: int) -> None:
        target = max(0, self.end - back)
        # A batch is removed as a whole. In the older formats, the start of a compressed one is unknown.
        cut = next((batch for batch in all_batches(self.log) if batch.last_offset >= target), None)
        if cut is not None:
            target = min(target, cut.base_offset)
        if self.log.truncate_to(target):
            self.end = self.log.log_end_offset
            assert self.end == target
            assert not [r for r in all_records(self.log) if r.offset >= self.end]
            self.truncated = True
            self.start = min(self.start, self.end)
            self.entries = {offset: entry for offset, entry in self.entries.items() if offset < self.end}
            self.first_cleaned = {offset: ms for offset, ms in self.first_cleaned.items() if offset < self.end}
            self.forget_what_is_gone()
            base = self.log.active_segment.base_offset
            self.manager.maybe_truncate_checkpoint(self.dir, self.log.topic_partition, base)
            self.clean_end = min(self.clean_end, base)

    def forget_what_is_gone(self) -> None:
        """A truncation may remove the newest value of a key whose older ones were compacted away: then it is lost."""
        there = {record.offset for record in all_records(self.log)}
        self.entries = {offset: entry for offset, entry in self.entries.items() if offset in there}

    @rule(by=st.integers(0, 4))
    def delete_records(self, by: int) -> None:
        self.start = min(self.end, self.start + by)
        self.log.maybe_increment_log_start_offset(self.start)
        self.log.delete_old_segments()

    # -- invariants ----------------------------------------------------------------------------------------------------

    @invariant()
    def every_record_is_where_it_was(self) -> None:
        offsets = []
        for record in all_records(self.log):
            offsets.append(record.offset)
            if record.offset >= self.start:
                assert self.entries[record.offset] == (record.key, record.value, record.timestamp)
        assert offsets == sorted(set(offsets))

    @invariant()
    def the_newest_of_every_key_is_there(self) -> None:
        there = {record.offset for record in all_records(self.log)}
        now_ms = self.time.milliseconds()
        for offset in self.newest().values():
            entry = self.entries[offset]
            if offset < self.start or offset in there:
                continue
            assert entry.value is None, f"{entry} at offset {offset} is gone"
            older = [o for o in there if o < offset and o >= self.start and self.entries[o].key == entry.key]
            assert not older, f"a tombstone is gone, but not the value it deletes, {older}"
            seen_ms = self.first_cleaned.get(offset)
            assert seen_ms is not None, "a tombstone that no cleaning has seen is gone"
            if self.entries[offset].timestamp >= 0 and self.magic == 2 and self.crashes == 0:
                assert now_ms >= seen_ms

    @invariant()
    def readers_see_the_newest_state(self) -> None:
        found = {record.offset: record for record in read_records(self.log)}
        visible = [record for record in all_records(self.log) if record.offset >= self.start]
        assert list(found.values()) == visible
        if self.start == 0:
            assert replayed(visible) == self.expected_state()

    @invariant()
    def what_is_dirty_is_untouched(self) -> None:
        there = {record.offset for record in all_records(self.log)}
        active = self.log.active_segment.base_offset
        assert {offset for offset in self.entries if offset >= max(active, self.start)} <= there

    @invariant()
    def bounds(self) -> None:
        assert (self.log.log_start_offset, self.log.log_end_offset) == (self.start, self.end)
        bases = [segment.base_offset for segment in self.log.segments]
        assert bases == sorted(set(bases))

    @precondition(lambda self: self.end > self.start)
    @rule(data=st.data())
    def read_from_anywhere(self, data: st.DataObject) -> None:
        offset = data.draw(st.integers(self.start, self.end))
        there: list[Record] = [record for record in all_records(self.log) if record.offset >= offset]
        assert read_records(self.log, offset, 100) == there
