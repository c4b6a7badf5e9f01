"""After any sequence of operations, the log has the content that a list would have."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from kafka_lite.common.time import MockTime
from kafka_lite.log.log import Log
from kafka_lite.record.compression import CompressionType
from tests.support.examples import examples
from tests.support.logs import open_log, read_records, record_set


class LogMachine(RuleBasedStateMachine):
    """The model: a list of sets (first offset, values); the log's start and end; what has been flushed."""

    def __init__(self) -> None:
        super().__init__()
        self.dir = Path(tempfile.mkdtemp(prefix="log-model-"))
        self.time = MockTime(start_ms=1_000_000)
        self.sets: list[tuple[int, list[bytes]]] = []
        self.start = 0
        self.end = 0
        self.count = 0
        self.log = self.open()

    def open(self, **kwargs: object) -> Log:
        return open_log(
            self.dir,
            time=self.time,
            segment_bytes=500,
            index_interval_bytes=120,
            segment_index_bytes=60,
            retention_ms=1_000,
            retention_bytes=1_500,
            file_delete_delay_ms=50,
            **kwargs,  # type: ignore[arg-type]
        )

    def teardown(self) -> None:
        shutil.rmtree(self.dir)

    @property
    def records(self) -> dict[int, bytes]:
        return {first + i: value for first, values in self.sets for i, value in enumerate(values)}

    @rule(sizes=st.lists(st.integers(0, 60), min_size=1, max_size=4), compressed=st.booleans())
    def append(self, sizes: list[int], compressed: bool) -> None:
        values = [b"%05d" % (self.count + i) + b"x" * size for i, size in enumerate(sizes)]
        codec = CompressionType.LZ4 if compressed else CompressionType.NONE
        timestamp = self.time.milliseconds()
        info = self.log.append_as_leader(record_set(*values, timestamp=timestamp, compression=codec), 0)
        assert (info.first_offset, info.last_offset) == (self.end, self.end + len(values) - 1)
        self.sets.append((self.end, values))
        self.count += len(values)
        self.end += len(values)

    @rule(ms=st.integers(1, 400))
    def wait(self, ms: int) -> None:
        self.time.sleep(ms)

    @rule()
    def roll(self) -> None:
        self.log.roll()

    @rule()
    def flush(self) -> None:
        self.log.flush()
        assert self.log.recovery_point == self.end

    @rule(back=st.integers(0, 12))
    def truncate(self, back: int) -> None:
        target = max(0, self.end - back)
        self.log.truncate_to(target)
        cut = [first for first, values in self.sets if first <= target < first + len(values)]
        self.end = min([target, *cut])
        self.sets = [(first, values) for first, values in self.sets if first < self.end]
        self.start = min(self.start, self.end)

    @rule(by=st.integers(0, 10))
    def raise_start(self, by: int) -> None:
        self.start = min(self.end, self.start + by)
        self.log.maybe_increment_log_start_offset(self.start)

    @rule()
    def retention(self) -> None:
        before = self.log.log_start_offset
        self.log.delete_old_segments()
        assert before <= self.log.log_start_offset <= self.end
        self.start = self.log.log_start_offset
        # A truncation to an offset in a deleted segment finds no batch to cut.
        first_kept = self.log.segments.first.base_offset
        self.sets = [(first, values) for first, values in self.sets if first >= first_kept]

    @rule(clean=st.booleans())
    def reopen(self, clean: bool) -> None:
        recovery_point = self.log.recovery_point
        if clean:
            self.log.close()
        self.log = self.open(
            had_clean_shutdown=clean, recovery_point=recovery_point, log_start_offset=self.log.log_start_offset
        )

    @rule()
    @precondition(lambda self: self.end > self.start)
    def search_by_time(self) -> None:
        for segment in self.log.segments:
            found = self.log.fetch_offset_by_timestamp(segment.largest_timestamp)
            if segment.size and segment.max_timestamp_so_far.offset >= self.start:
                assert found is not None
                assert found.timestamp >= segment.largest_timestamp
                assert self.start <= found.offset <= segment.max_timestamp_so_far.offset

    @rule(data=st.data(), max_bytes=st.integers(0, 700))
    def read(self, data: st.DataObject, max_bytes: int) -> None:
        offset = data.draw(st.integers(self.start, self.end))
        found = {record.offset: record.value for record in read_records(self.log, offset, max_bytes)}
        assert found == {o: value for o, value in self.records.items() if o >= offset}

    @invariant()
    def bounds(self) -> None:
        assert (self.log.log_start_offset, self.log.log_end_offset) == (self.start, self.end)
        bases = [segment.base_offset for segment in self.log.segments]
        assert bases == sorted(set(bases))
        assert self.log.recovery_point <= self.end


LogMachine.TestCase.settings = settings(max_examples=examples(60), stateful_step_count=25, deadline=None)
TestLogModel = LogMachine.TestCase
