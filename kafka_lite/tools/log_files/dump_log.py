"""``kafka-lite dump-log``: prints the contents of log files and checks their consistency.

Kafka 0.10.2: core/.../tools/DumpLogSegments.scala; the output is 3.9's · book 6.1.3
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from kafka_lite.common.errors import KafkaError
from kafka_lite.log.log_file_utils import (
    INDEX_FILE_SUFFIX,
    LOG_FILE_SUFFIX,
    PRODUCER_SNAPSHOT_FILE_SUFFIX,
    TIME_INDEX_FILE_SUFFIX,
    TXN_INDEX_FILE_SUFFIX,
)
from kafka_lite.log.producers.aborted_txn import CURRENT_VERSION, AbortedTxn
from kafka_lite.log.producers.producer_snapshot import CorruptSnapshotError, decode_entries
from kafka_lite.log.producers.producer_state_entry import ProducerStateEntry
from kafka_lite.record.control_record import ControlRecordType, EndTransactionMarker
from kafka_lite.record.default_record_batch import DefaultRecordBatch, increment_sequence
from kafka_lite.record.message_set import MessageAndOffset
from kafka_lite.record.record import NO_SEQUENCE, NO_TIMESTAMP, Record, TimestampType
from kafka_lite.record.record_batch import RecordBatch
from kafka_lite.tools.common import terminal
from kafka_lite.tools.common.tool_errors import reports_errors
from kafka_lite.tools.log_files.dump_index import (
    IndexMismatches,
    base_offset_of,
    check_offset_index,
    check_time_index,
    open_offset_index,
    open_time_index,
)
from kafka_lite.tools.log_files.dump_picture import BY_CODEC, BY_PRODUCER, print_picture
from kafka_lite.tools.log_files.log_file import LogFile
from kafka_lite.tools.log_files.record_decoders import (
    VALUE_DECODERS,
    Decoder,
    decode_offsets,
    decode_share_group_state,
    decode_transactions,
    key_and_value_decoder,
)

NAME = "dump-log"
SUMMARY = "show the contents of log files and check their indexes"

NO_LIMIT = 2**31 - 1
ROWS_PER_TABLE = 1000
"""A log may have millions of batches, so a terminal shows them in several tables."""

_LATEST_DATE_MS = 253_402_300_799_999  # the year 9999

_NO_FILE = "a folder. Name files in it, separated by commas, whose names end in one of"

_TIMESTAMP_TYPES = {
    TimestampType.NO_TIMESTAMP_TYPE: "NoTimestampType",
    TimestampType.CREATE_TIME: "CreateTime",
    TimestampType.LOG_APPEND_TIME: "LogAppendTime",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of kafka-dump-log.sh that apply to topic logs."""
    parser.add_argument(
        "--files", required=True, metavar="FILE,…", help=".log, .index, .timeindex, .txnindex or .snapshot files"
    )
    parser.add_argument("--print-data-log", action="store_true", help="also print the records' keys and values")
    parser.add_argument("--deep-iteration", action="store_true", help="print the records, not only the batches")
    parser.add_argument("--skip-record-metadata", action="store_true", help="print only the key and value of a record")
    parser.add_argument("--verify-index-only", action="store_true", help="check indexes without printing their entries")
    parser.add_argument(
        "--index-sanity-check",
        action="store_true",
        help="only the sanity check that a broker makes of an index at startup",
    )
    parser.add_argument(
        "--max-message-size",
        type=int,
        default=5 * 1024 * 1024,
        metavar="BYTES",
        help="size of the largest batch (default: %(default)s)",
    )
    parser.add_argument(
        "--max-bytes", type=int, default=NO_LIMIT, metavar="BYTES", help="stop after reading this much of a .log file"
    )
    for what in ("value", "key"):
        parser.add_argument(
            f"--{what}-decoder-class",
            nargs="?",
            const="StringDecoder",
            metavar="CLASS",
            help=f"how to decode {what}s: {', '.join(VALUE_DECODERS)}, with or without Kafka's package name",
        )
    parser.add_argument("--offsets-decoder", action="store_true", help="decode the log as one of __consumer_offsets")
    parser.add_argument(
        "--transaction-log-decoder", action="store_true", help="decode the log as one of __transaction_state"
    )
    parser.add_argument(
        "--share-group-state-decoder", action="store_true", help="decode the log as one of __share_group_state"
    )
    parser.add_argument(
        "--picture",
        nargs="?",
        const=BY_CODEC,
        choices=(BY_CODEC, BY_PRODUCER),
        help="draw .log files with their indexes instead, coloured by codec (default) or by producer",
    )


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Dump the files in order, then report inconsistencies. Returns 1 if a file cannot be read completely.

    As in Kafka, mismatches are reported but do not change the exit code.
    """
    dump = LogDump(options)
    exit_code = 0
    for name in options.files.split(","):
        try:
            dump.dump(Path(name.strip()))
        except BrokenPipeError:
            raise
        except (KafkaError, OSError) as error:
            terminal.print_error(_reason(error, name.strip()))
            exit_code = 1
    for line in dump.complaints():
        terminal.print_error(line) if terminal.on_terminal() else terminal.print_to_stderr(line)
    return exit_code


def _reason(error: Exception, name: str) -> str:
    if isinstance(error, OSError) and error.strerror:  # may name another file: the log of an index
        return f"{error.filename or name}: {error.strerror}"
    return f"{name}: {error}"


class LogDump:
    """One run: what to print, and the inconsistencies found."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._mismatches = IndexMismatches()
        self._non_consecutive: dict[Path, list[tuple[int, int]]] = {}
        self._decoder = self._choose_decoder()
        self._print_data = options.print_data_log or self._has_decoder_option()
        self._deep = options.deep_iteration or self._print_data
        self._tables = terminal.on_terminal() and not self._deep

    def _has_decoder_option(self) -> bool:
        options = self._options
        return bool(
            options.offsets_decoder
            or options.transaction_log_decoder
            or options.share_group_state_decoder
            or options.value_decoder_class
            or options.key_decoder_class
        )

    def _choose_decoder(self) -> Decoder:
        if self._options.offsets_decoder:
            return decode_offsets
        if self._options.share_group_state_decoder:
            return decode_share_group_state
        if self._options.transaction_log_decoder:
            return decode_transactions
        return key_and_value_decoder(self._options.key_decoder_class, self._options.value_decoder_class)

    def dump(self, file: Path) -> None:
        """Print one file. Raises OSError, and KafkaError if the contents do not match the file's suffix."""
        print(f"Dumping {file}")
        dumpers: dict[str, Callable[[Path], None]] = {
            LOG_FILE_SUFFIX: self._dump_log,
            INDEX_FILE_SUFFIX: self._dump_index,
            TIME_INDEX_FILE_SUFFIX: self._dump_time_index,
            PRODUCER_SNAPSHOT_FILE_SUFFIX: self._dump_producer_snapshot,
            TXN_INDEX_FILE_SUFFIX: self._dump_txn_index,
        }
        dumper = dumpers.get(file.suffix)
        if dumper is None:
            if file.is_dir() or not file.exists():
                raise KafkaError(f"{_NO_FILE} {', '.join(dumpers)}" if file.is_dir() else "No such file or directory")
            terminal.print_to_stderr(f"Ignoring unknown file {file}")
            return
        dumper(file)

    def complaints(self) -> Iterator[str]:
        """The inconsistencies, in Kafka's wording and order."""
        yield from self._mismatches.offset_lines()
        yield from self._mismatches.time_lines()
        for file, pairs in self._non_consecutive.items():
            yield f"Non-consecutive offsets in {file}"
            for first, second in reversed(pairs):
                yield f"  {first} is followed by {second}"

    # ------------------------------------------------------------------------------------------------------- indexes

    def _dump_index(self, file: Path) -> None:
        index = open_offset_index(file)
        if index.entries == 0:
            print(f"{file} is empty.")
            return
        if self._options.index_sanity_check:
            index.sanity_check()
            print(f"{file} passed sanity check.")
            return
        entries = check_offset_index(file, self._mismatches, self._options.max_message_size)
        self._show_entries(["offset", "position"], entries)

    def _dump_time_index(self, file: Path) -> None:
        if self._options.index_sanity_check:
            open_time_index(file).sanity_check()
            print(f"{file} passed sanity check.")
            return
        self._show_entries(["timestamp", "offset"], check_time_index(file, self._mismatches))

    def _show_entries(self, names: list[str], entries: Iterator[tuple[int, int]]) -> None:
        if self._tables and not self._options.verify_index_only:
            _print_tables(names, ([str(first), str(second)] for first, second in entries))
            return
        for first, second in entries:  # iterating checks the entries, even if none is printed
            if not self._options.verify_index_only:
                print(f"{names[0]}: {first} {names[1]}: {second}")

    def _dump_txn_index(self, file: Path) -> None:
        aborted = AbortedTxn.read_all(file.read_bytes())
        if self._tables:
            columns = ["producer", "first offset", "last offset", "last stable offset"]
            _print_tables(columns, (list(map(str, txn)) for txn in aborted))
            return
        for txn in aborted:
            print(
                f"version: {CURRENT_VERSION} producerId: {txn.producer_id} firstOffset: {txn.first_offset} "
                f"lastOffset: {txn.last_offset} lastStableOffset: {txn.last_stable_offset}"
            )

    # ------------------------------------------------------------------------------------------------ producer states

    def _dump_producer_snapshot(self, file: Path) -> None:
        try:
            entries = decode_entries(file.read_bytes())
        except CorruptSnapshotError as error:
            terminal.print_to_stderr(str(error))
            return
        if self._tables:
            columns = ["producer", "epoch", "first sequence", "last sequence", "last offset", "last timestamp"]
            _print_tables(columns, (_producer_row(entry) for entry in entries))
            return
        for entry in entries:
            print(_producer_line(entry))

    # ----------------------------------------------------------------------------------------------------------- log

    def _dump_log(self, file: Path) -> None:
        print(f"Log starting offset: {base_offset_of(file)}")
        if self._options.picture:
            print_picture(file, self._options.picture)
            return
        limit = self._options.max_bytes
        with LogFile(file) as log:
            batches = _Positioned(log.batches(0, limit))
            if self._tables:
                _print_tables(_BATCH_COLUMNS, (_batch_row(batch, position) for batch, position in batches))
            else:
                self._print_batches(file, batches)
        trailing = log.size_in_bytes - batches.valid_bytes
        if trailing > 0 and limit == NO_LIMIT:
            print(f"Found {trailing} invalid bytes at the end of {file.name}")

    def _print_batches(self, file: Path, batches: _Positioned) -> None:
        last_offset = -1
        for batch, position in batches:
            print(batch_line(batch, position))
            if not self._deep:
                continue
            for record, checksum in _records(batch):
                if last_offset not in (-1, record.offset - 1):
                    self._non_consecutive.setdefault(file.absolute(), []).append((last_offset, record.offset))
                last_offset = record.offset
                print(self._record_line(batch, record, checksum))

    def _record_line(self, batch: RecordBatch, record: Record, checksum: str) -> str:
        line, prefix = "", "| "
        if not self._options.skip_record_metadata:
            parts = [record_metadata(batch, record), checksum, _control(record) if batch.is_control else ""]
            line, prefix = "| " + " ".join(part for part in parts if part), " "
        if self._print_data and not batch.is_control:
            key, payload = self._decoder(record)
            line += "" if key is None else f"{prefix}key: {key}"
            line += "" if payload is None else f" payload: {payload}"
        return line


class _Positioned:
    """Iterates over batches with their positions; afterwards ``valid_bytes`` is the end of the last one."""

    def __init__(self, batches: Iterator[RecordBatch]) -> None:
        self._batches = batches
        self.valid_bytes = 0

    def __iter__(self) -> Iterator[tuple[RecordBatch, int]]:
        for batch in self._batches:
            position, self.valid_bytes = self.valid_bytes, self.valid_bytes + batch.size_in_bytes
            yield batch, position


def batch_line(batch: RecordBatch, position: int) -> str:
    """A batch's header, as Kafka's tool prints it."""
    line = f"offset: {batch.last_offset}"
    if isinstance(batch, DefaultRecordBatch):
        horizon = batch.delete_horizon_ms
        line = (
            f"baseOffset: {batch.base_offset} lastOffset: {batch.last_offset} count: {batch.record_count} "
            f"baseSequence: {batch.base_sequence} lastSequence: {batch.last_sequence} "
            f"producerId: {batch.producer_id} producerEpoch: {batch.producer_epoch} "
            f"partitionLeaderEpoch: {batch.partition_leader_epoch} isTransactional: {_java(batch.is_transactional)} "
            f"isControl: {_java(batch.is_control)} "
            f"deleteHorizonMs: {'OptionalLong.empty' if horizon is None else f'OptionalLong[{horizon}]'}"
        )
    return (
        f"{line} position: {position} {_TIMESTAMP_TYPES[batch.timestamp_type]}: {batch.max_timestamp} "
        f"size: {batch.size_in_bytes} magic: {batch.magic} compresscodec: {batch.compression.name.lower()} "
        f"crc: {batch.crc} isvalid: {_java(batch.is_valid())}"
    )


def record_metadata(batch: RecordBatch, record: Record) -> str:
    """A record without key and value, as Kafka's tool prints it."""
    line = (
        f"offset: {record.offset} {_TIMESTAMP_TYPES[record.timestamp_type]}: {record.timestamp} "
        f"keySize: {_size(record.key)} valueSize: {_size(record.value)}"
    )
    if not isinstance(batch, DefaultRecordBatch):
        return line
    sequence = batch.base_sequence
    if sequence != NO_SEQUENCE:
        sequence = increment_sequence(sequence, record.offset - batch.base_offset)
    return f"{line} sequence: {sequence} headerKeys: [{','.join(header.key for header in record.headers)}]"


def _records(batch: RecordBatch) -> Iterator[tuple[Record, str]]:
    """The records, each with the validity of its own checksum in formats before v2 (empty for v2)."""
    if not isinstance(batch, MessageAndOffset):
        for record in batch.records():
            yield record, ""
        return
    messages = batch.inner_messages(batch.inner_data()) if batch.is_compressed else iter([batch])
    for record, message in zip(batch.records(), messages, strict=True):
        # Kafka prints this unmatched brace too.
        yield record, f"isValid: {_java(message.is_valid())} crc: {message.crc}}}"


def _control(record: Record) -> str:
    kind = ControlRecordType.parse(record.key)
    if kind is ControlRecordType.UNKNOWN:
        return f"controlType: UNKNOWN({int.from_bytes((record.key or b'')[2:4], signed=True)})"
    marker = EndTransactionMarker.from_record(record)
    return f"endTxnMarker: {kind.name} coordinatorEpoch: {marker.coordinator_epoch}"


def _size(field: bytes | None) -> int:
    return -1 if field is None else len(field)


def _java(value: bool) -> str:
    return "true" if value else "false"


# ------------------------------------------------------------------------------------------------ tables for a terminal

_BATCH_COLUMNS = ["offsets", "count", "position", "bytes", "magic", "codec", "newest", "producer", "epoch", "valid"]
_LEFT = ("codec", "newest", "producer", "valid")


def _batch_row(batch: RecordBatch, position: int) -> list[str]:
    modern = isinstance(batch, DefaultRecordBatch)
    first = f"{batch.base_offset}…" if modern and batch.base_offset != batch.last_offset else ""
    kind = " control" if batch.is_control else " txn" if batch.is_transactional else ""
    return [
        f"{first}{batch.last_offset}",
        "?" if batch.record_count is None else str(batch.record_count),
        str(position),
        str(batch.size_in_bytes),
        str(batch.magic),
        batch.compression.name.lower(),
        _date(batch.max_timestamp),
        f"{batch.producer_id}{kind}" if batch.has_producer_id else "",
        str(batch.partition_leader_epoch) if modern else "",
        "yes" if batch.is_valid() else "NO",
    ]


def _date(timestamp_ms: int) -> str:
    if not 0 <= timestamp_ms <= _LATEST_DATE_MS:  # no timestamp, or outside the calendar's range
        return "" if timestamp_ms == NO_TIMESTAMP else str(timestamp_ms)
    return datetime.fromtimestamp(timestamp_ms / 1000, UTC).isoformat(" ", "milliseconds").removesuffix("+00:00") + "Z"


def _print_tables(columns: list[str], rows: Iterator[list[str]]) -> None:
    """Print pages of rows, without the columns that are empty on the whole page."""
    while page := list(islice(rows, ROWS_PER_TABLE)):
        kept = [number for number in range(len(columns)) if any(row[number] for row in page)]
        names = [columns[number] for number in kept]
        shown = [[row[number] for number in kept] for row in page]
        terminal.print_table(names, shown, right=[name for name in names if name not in _LEFT])


def _producer_line(entry: ProducerStateEntry) -> str:
    """A producer as Kafka's tool prints it, including Java's OptionalLong."""
    txn = entry.current_txn_first_offset
    line = (
        f"producerId: {entry.producer_id} producerEpoch: {entry.producer_epoch} "
        f"coordinatorEpoch: {entry.coordinator_epoch} "
        f"currentTxnFirstOffset: {'OptionalLong.empty' if txn is None else f'OptionalLong[{txn}]'} "
        f"lastTimestamp: {entry.last_timestamp} "
    )
    for batch in entry.batch_metadata:  # an entry of a snapshot has at most one
        line += (
            f"firstSequence: {batch.first_seq} lastSequence: {batch.last_seq} lastOffset: {batch.last_offset} "
            f"offsetDelta: {batch.offset_delta} timestamp: {batch.timestamp}"
        )
    return line


def _producer_row(entry: ProducerStateEntry) -> list[str]:
    batch = entry.batch_metadata[-1] if entry.batch_metadata else None
    sequences = [batch.first_seq, batch.last_seq, batch.last_offset] if batch is not None else ["", "", ""]
    return [str(cell) for cell in (entry.producer_id, entry.producer_epoch, *sequences, entry.last_timestamp)]
