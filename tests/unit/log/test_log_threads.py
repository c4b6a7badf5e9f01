"""Readers that take no lock, beside a writer that appends, rolls and deletes."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.time import MockTime
from kafka_lite.log import log_segments
from kafka_lite.log.log import Log
from kafka_lite.log.log_segment import LogSegment
from kafka_lite.log.log_segments import LogSegments
from kafka_lite.record.records import batches
from tests.support.logs import open_log, record_set, to_bytes


class Reader(threading.Thread):
    """Reads the log from start to end until stopped; starts over if retention overtakes it."""

    def __init__(self, log: Log, done: threading.Event) -> None:
        super().__init__(name="reader")
        self.log = log
        self.done = done
        self.seen = 0
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            offset = 0
            while not (self.done.is_set() and offset >= self.log.log_end_offset):
                offset = self.read_from(offset)
        except BaseException as error:  # noqa: BLE001
            self.failure = error

    def read_from(self, offset: int) -> int:
        try:
            data = self.log.read(offset, 700, self.log.log_end_offset, min_one_message=True)
            self.log.fetch_offset_by_timestamp(1_000 + offset)
        except ApiError as error:
            if error.error is not Errors.OFFSET_OUT_OF_RANGE:
                raise
            return self.log.log_start_offset
        for batch in batches(to_bytes(data.records)):
            for record in batch.records():
                if record.offset < offset:
                    continue
                assert record.value == b"%020d" % record.offset
                assert record.offset == offset
                offset += 1
                self.seen += 1
        return offset


@pytest.fixture
def frequent_switches() -> Iterator[None]:
    """Make the interpreter switch threads every 50 µs, so that they interleave in more places."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(50e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("frequent_switches")
def test_readers_see_complete_messages_in_order(tmp_path: Path) -> None:
    time = MockTime(start_ms=1_000)
    log = open_log(
        tmp_path,
        time=time,
        segment_bytes=1_500,
        index_interval_bytes=100,
        retention_ms=-1,
        retention_bytes=3_000,
        file_delete_delay_ms=0,
    )
    done = threading.Event()
    readers = [Reader(log, done) for _ in range(2)]
    for reader in readers:
        reader.start()
    for i in range(0, 400, 2):
        log.append_as_leader(record_set(b"%020d" % i, b"%020d" % (i + 1), timestamp=1_000 + i), 0)
        if i % 50 == 0:
            log.delete_old_segments()
            time.sleep(1)  # removes the files of deleted segments, and flushes
    done.set()
    for reader in readers:
        reader.join()
    for reader in readers:
        if reader.failure is not None:
            raise reader.failure
        assert reader.seen > 0
    assert log.log_start_offset > 0


class TestReadsBesideADeletion:
    """A read of deleted messages is out of range: it must not return later ones in their place."""

    @pytest.fixture
    def log(self, tmp_path: Path) -> Log:
        log = open_log(tmp_path, segment_bytes=100, retention_ms=-1, retention_bytes=150)
        for _ in range(4):
            log.append_as_leader(record_set(b"x" * 20), 0)
        assert len(log.segments) == 4
        return log

    def assert_out_of_range(self, log: Log) -> None:
        with pytest.raises(ApiError) as info:
            log.read(0, 1000)
        assert info.value.error is Errors.OFFSET_OUT_OF_RANGE

    def test_read_that_begins_while_segments_are_removed_is_out_of_range(
        self, log: Log, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        remove = LogSegments.remove

        def remove_and_read(segments: LogSegments, base_offset: int) -> None:
            remove(segments, base_offset)
            self.assert_out_of_range(log)

        monkeypatch.setattr(LogSegments, "remove", remove_and_read)
        assert log.delete_old_segments() == 2

    @pytest.mark.skipif(not log_segments.__file__.endswith(".py"), reason="compiled methods cannot be replaced")
    def test_read_that_began_before_the_deletion_is_out_of_range(
        self, log: Log, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from_offset = LogSegments.from_offset

        def delete_first(segments: LogSegments, offset: int) -> tuple[LogSegment, ...]:
            log.delete_old_segments()
            return from_offset(segments, offset)

        monkeypatch.setattr(LogSegments, "from_offset", delete_first)
        self.assert_out_of_range(log)
