"""A store of bytes whose segments are databases of their own.

Kafka 0.10.2: streams/.../state/internals/RocksDBSegmentedBytesStore.java, Segments.java (openExisting), Segment.java
· book 9.2.4
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path

from kafka_lite.streams.errors import InvalidStateStoreError
from kafka_lite.streams.processor.state_store import StateStore, StateStoreContext
from kafka_lite.streams.state.rocksdb.bulk_load import BulkLoad
from kafka_lite.streams.state.rocksdb.database import CorruptStoreError, Database, Entry
from kafka_lite.streams.state.windowed.key_schema import KeySchema
from kafka_lite.streams.state.windowed.segmented_bytes_store import AbstractSegmentedBytesStore
from kafka_lite.streams.state.windowed.segments import Segment

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DATE = re.compile(r"(\d{4,})(\d\d)(\d\d)(\d\d)(\d\d)", re.ASCII)
_YEARS_PER_CYCLE, _SECONDS_PER_CYCLE = 400, 146_097 * 86_400
"""After so long the calendar repeats itself; Python's ends in the year 9999."""


def segment_name(store: str, segment_id: int, interval_ms: int) -> str:
    """``<store>-yyyyMMddHHmm``: the start of a segment in UTC. A year after 9999 has more digits."""
    cycles, seconds = divmod(segment_id * interval_ms // 1000, _SECONDS_PER_CYCLE)
    start = _EPOCH + timedelta(seconds=seconds)
    return f"{store}-{start.year + cycles * _YEARS_PER_CYCLE:04}{start:%m%d%H%M}"


def segment_id_of(store: str, name: str, interval_ms: int) -> int | None:
    """The id of a segment's directory; None if no segment of this interval has the name.

    A name has no seconds, but an interval may: the segment is the one that starts in that minute. (0.10.2 takes the one
    before it.)
    """
    found = _DATE.fullmatch(name.removeprefix(f"{store}-"))
    if found is None:
        return None
    cycles, year = divmod(int(found[1]) - _EPOCH.year, _YEARS_PER_CYCLE)
    try:
        month, day, hour, minute = map(int, found.groups()[1:])
        start = datetime(_EPOCH.year + year, month, day, hour, minute, tzinfo=UTC)
    except ValueError:
        return None
    seconds = cycles * _SECONDS_PER_CYCLE + int((start - _EPOCH).total_seconds())
    segment_id = -(-seconds * 1000 // interval_ms)
    return segment_id if segment_name(store, segment_id, interval_ms) == name else None


class RocksDBSegment(Segment):
    """The binary keys of one interval of time."""

    def __init__(self, name: str, path: Path, configs: Mapping[str, object], suffix_size: int) -> None:
        """Raises ProcessorStateError."""
        self._database = Database(name, path, configs)
        self._suffix_size = suffix_size

    def put(self, key: bytes, value: bytes | None) -> None:
        """Set or delete the value of a binary key."""
        self._database.put(key, value)

    def put_all(self, entries: list[tuple[bytes, bytes | None]]) -> None:
        """Set or delete the values of several binary keys."""
        self._database.put_all(entries)

    def get(self, key: bytes) -> bytes | None:
        """The value of a binary key, or None."""
        return self._database.get(key)

    def fetch(self, key: bytes, lower: bytes, upper: bytes) -> Iterator[Entry]:
        """The suffixes and values of a record's key. Between its binary keys there may be those of longer keys.

        A segment that expires while another thread reads it has no more entries.
        """
        size, start = len(key) + self._suffix_size, len(key)
        with suppress(InvalidStateStoreError):
            for binary, value in self._database.range(key + lower, key + upper):
                if len(binary) == size and binary.startswith(key) and lower <= binary[start:] < upper:
                    yield binary[start:], value

    def flush(self) -> None:
        """Write everything to disk."""
        self._database.flush()

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def destroy(self) -> None:
        """Delete the directory."""
        self._database.destroy()


class RocksDBSegmentedBytesStore(AbstractSegmentedBytesStore[RocksDBSegment]):
    """Keeps segments on disk::

        <directory of the task>/<store>/<store>-202611231305/     the segment that starts at 13:05 UTC: a database
                                        <store>-202611231310/

    The keys are those of :class:`KeySchema`, so that Kafka's stores can be read.
    """

    def __init__(self, name: str, retention_ms: int, num_segments: int, key_schema: KeySchema) -> None:
        super().__init__(name, retention_ms, num_segments, key_schema)
        self._directory = Path()
        self._configs: Mapping[str, object] = {}
        self._loading = BulkLoad(self._put_all)
        """Entries that a standby task restores wait in it until the next flush."""

    @property
    def persistent(self) -> bool:
        """True."""
        return True

    def _open_segment(self, segment_id: int) -> RocksDBSegment:
        name = segment_name(self.name, segment_id, self._segments.segment_interval_ms)
        return RocksDBSegment(name, self._directory / name, self._configs, self._schema.suffix_size)

    def init(self, context: StateStoreContext, root: StateStore) -> None:
        """Open the existing segments, and restore the rest. If one is damaged, all are restored.

        Raises ProcessorStateError if the store is damaged and has no changelog.
        """
        self._directory, self._configs = context.state_dir / self.name, context.app_configs
        self._loading = BulkLoad(self._put_all)
        try:
            self._open_existing(context)
            context.register(root, self._loading)
            self._loading.finish()
        except BaseException:
            self._segments.close()  # nobody else knows them yet
            raise
        self._open, self._context = True, context

    def flush(self) -> None:
        """Write everything to disk, before the checkpoint that says so."""
        self._loading.finish()
        super().flush()

    def _open_existing(self, context: StateStoreContext) -> None:
        if not self._directory.exists():
            context.forget_checkpoint(self.name, f"{self._directory} is not there")
            self._directory.mkdir(parents=True)
        try:
            for segment_id in self._existing_ids():
                self._segments.get_or_create(segment_id * self._segments.segment_interval_ms)
        except CorruptStoreError as error:
            self._segments.close()
            if not context.forget_checkpoint(self.name, str(error)):
                raise
            shutil.rmtree(self._directory)
            self._directory.mkdir()

    def _existing_ids(self) -> list[int]:
        """In order. Raises CorruptStoreError for what is no segment, or was one of another interval."""
        ids = []
        for path in self._directory.iterdir():
            segment_id = segment_id_of(self.name, path.name, self._segments.segment_interval_ms)
            if segment_id is None or not Database.exists(path):
                raise CorruptStoreError(
                    f"store {self.name}: {path} is not a segment of {self._segments.segment_interval_ms} ms"
                )
            ids.append(segment_id)
        return sorted(ids)

    def _put_all(self, entries: list[tuple[bytes, bytes | None]]) -> None:
        interval_ms = self._segments.segment_interval_ms
        for segment_id, group in groupby(entries, lambda each: self._schema.segment_timestamp(each[0]) // interval_ms):
            segment = self._segments.get_or_create(segment_id * interval_ms)
            if segment is not None:
                segment.put_all(list(group))
