"""Prints an index file and checks each entry against the log.

Kafka 0.10.2: core/.../tools/DumpLogSegments.scala (dumpIndex, dumpTimeIndex) · book 6.1.3
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from kafka_lite.common.errors import KafkaError
from kafka_lite.log.abstract_index import AbstractIndex
from kafka_lite.log.index_entry import OffsetPosition, TimestampOffset
from kafka_lite.log.log_file_utils import INDEX_FILE_SUFFIX, LOG_FILE_SUFFIX
from kafka_lite.log.offset_index import OffsetIndex
from kafka_lite.log.time_index import TimeIndex
from kafka_lite.record.record import NO_TIMESTAMP
from kafka_lite.tools.log_files.log_file import LogFile

_NOT_FOUND = -1

E = TypeVar("E", OffsetPosition, TimestampOffset)
Index = TypeVar("Index", OffsetIndex, TimeIndex)
Pairs = defaultdict[Path, list[tuple[int, int]]]


def base_offset_of(file: Path) -> int:
    """The base offset in a segment file's name. Raises KafkaError if there is none."""
    digits = file.name.split(".")[0]
    if not digits.isdigit():
        raise KafkaError(f"{file} is not named after an offset, as the files of a log are")
    return int(digits)


def open_offset_index(file: Path) -> OffsetIndex:
    """Open a copy of an offset index. Raises OSError if the file does not exist."""
    return _copy(OffsetIndex, file)


def open_time_index(file: Path) -> TimeIndex:
    """Open a copy of a time index. Raises OSError if the file does not exist."""
    return _copy(TimeIndex, file)


def _copy(kind: type[Index], file: Path) -> Index:
    """Open a copy of the file, so that the tool and a running broker cannot affect each other."""
    content = file.read_bytes()
    with TemporaryDirectory() as folder:
        copy = Path(folder) / file.name
        copy.write_bytes(content)
        index = kind(copy, base_offset_of(file), -1)
    index.file = file  # for messages; the mapping stays valid after the copy is unlinked
    return index


class IndexMismatches:
    """Mismatches by file, reported at the end so that they do not drown in the entries."""

    def __init__(self) -> None:
        self.offsets: Pairs = defaultdict(list)
        """(offset in the index, offset in the log)"""
        self.timestamps: Pairs = defaultdict(list)
        """(timestamp in the index, timestamp in the log)"""
        self.out_of_order: Pairs = defaultdict(list)
        """(timestamp, the one before it)"""
        self.not_found: Pairs = defaultdict(list)
        """(offset in the index, offset found in the log instead)"""

    def offset_lines(self) -> Iterator[str]:
        """Kafka's report on offset indexes, last mismatch first."""
        for file, pairs in self.offsets.items():
            yield f"Mismatches in :{file}"
            for index_offset, log_offset in reversed(pairs):
                yield f"  Index offset: {index_offset}, log offset: {log_offset}"

    def time_lines(self) -> Iterator[str]:
        """Kafka's report on time indexes."""
        for file, pairs in self.timestamps.items():
            yield f"Found timestamp mismatch in :{file}"
            for index_timestamp, log_timestamp in pairs:
                yield f"  Index timestamp: {index_timestamp}, log timestamp: {log_timestamp}"
        for file, pairs in self.out_of_order.items():
            yield f"Found out of order timestamp in :{file}"
            for timestamp, before in pairs:
                yield f"  Index timestamp: {timestamp}, Previously indexed timestamp: {before}"
        for pairs in self.not_found.values():
            yield "The following indexed offsets are not found in the log."
            for index_offset, log_offset in pairs:
                yield f"Indexed offset: {index_offset}, found log offset: {log_offset}"


def check_offset_index(file: Path, mismatches: IndexMismatches, max_message_size: int) -> Iterator[OffsetPosition]:
    """Yield the entries of an ``.index`` file, adding those that disagree with the log to ``mismatches``."""
    with LogFile(file.with_suffix(LOG_FILE_SUFFIX)) as log:
        for entry in used_entries(open_offset_index(file)):
            batch = next(log.batches(entry.position, entry.position + max_message_size), None)
            found = batch.last_offset if batch is not None else _NOT_FOUND
            if found != entry.offset:
                mismatches.offsets[file.absolute()].append((entry.offset, found))
            yield entry


def check_time_index(file: Path, mismatches: IndexMismatches) -> Iterator[TimestampOffset]:
    """Yield the entries of a ``.timeindex`` file, adding those that disagree with the log to ``mismatches``."""
    offset_index = open_offset_index(file.with_suffix(INDEX_FILE_SUFFIX))
    previous = NO_TIMESTAMP
    with LogFile(file.with_suffix(LOG_FILE_SUFFIX)) as log:
        for entry in used_entries(open_time_index(file)):
            _check_time_entry(file, log, offset_index, entry, previous, mismatches)
            yield entry
            previous = entry.timestamp


def _check_time_entry(
    file: Path,
    log: LogFile,
    offset_index: OffsetIndex,
    entry: TimestampOffset,
    previous: int,
    mismatches: IndexMismatches,
) -> None:
    """Check that a batch ends at the entry's offset and that its largest timestamp is the entry's."""
    position = offset_index.lookup(entry.offset).position
    batch = next((batch for batch in log.batches(position) if batch.last_offset >= entry.offset), None)
    if batch is None or batch.last_offset != entry.offset:
        found = batch.last_offset if batch is not None else _NOT_FOUND
        mismatches.not_found[file.absolute()].append((entry.offset, found))
        return
    largest = max((record.timestamp for record in batch.records()), default=NO_TIMESTAMP)
    if largest != entry.timestamp:
        mismatches.timestamps[file.absolute()].append((entry.timestamp, largest))
    if previous >= entry.timestamp:
        mismatches.out_of_order[file.absolute()].append((entry.timestamp, previous))


def used_entries(index: AbstractIndex[E]) -> Iterator[E]:
    """The entries up to the first zero one: a running broker preallocates the space after it."""
    for number in range(index.entries):
        entry = index.entry(number)
        if number > 0 and index.relative_offset(entry.offset) == 0:
            return
        yield entry
