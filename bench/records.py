"""``python -m bench.records``: the cost of batch operations in brokers and consumers, without sockets and files."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from rich.console import Console
from rich.table import Table

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.record_batch_reader import MessageReader, RecordBatchReader
from kafka_lite.log.validation.log_validator import validate_and_assign_offsets
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.conversion import down_convert
from kafka_lite.record.default_record_batch import DefaultRecordBatch
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record_filter import offsets_and_keys
from kafka_lite.record.records import batches, records

NOW_MS = 1_700_000_000_000
REPEATS = 15
PARTITION, MAX_POLL_RECORDS = TopicPartition("topic", 0), 500


def main() -> None:
    """Measure the work per record for each sample batch and print a table."""
    table = Table("batch of 100 B records", title="nanoseconds of one processor per record (the best of some runs)")
    for column in ("records", *WORK):
        table.add_column(column, justify="right")
    for name, data in sample_batches().items():
        count = sum(1 for _ in records(data))
        table.add_row(name, str(count), *(nanoseconds(count, work, data) for work in WORK.values()))
    Console().print(table)


def sample_batches() -> dict[str, bytearray]:
    """Batches as producers send them: 16 KB and 1 MB, with equal and varying record sizes, uncompressed and lz4."""
    none, lz4 = CompressionType.NONE, CompressionType.LZ4
    return {
        "v2, 16 KB, all 100 B": batch(2, none, 140),
        "v2, 1 MB, all 100 B": batch(2, none, 9000),
        "v2, 16 KB, 60 to 140 B": batch(2, none, 140, spread=40),
        "v2, 1 MB, 60 to 140 B": batch(2, none, 9000, spread=40),
        "v2, 1 MB, all 100 B, lz4": batch(2, lz4, 9000),
        "v1, 16 KB, all 100 B": batch(1, none, 120),
        "v1, 16 KB, all 100 B, lz4": batch(1, lz4, 120),
    }


def batch(magic: int, codec: CompressionType, count: int, spread: int = 0) -> bytearray:
    """A batch of ``count`` records of 100 ± ``spread`` bytes, ten per millisecond."""
    random_numbers = random.Random(magic)
    builder = MemoryRecordsBuilder(magic, codec)
    for index in range(count):
        size = 100 + random_numbers.randint(-spread, spread)
        builder.append(NOW_MS + index // 10, None, (b"%09d " % (index * 7919) * 20)[:size])
    return bytearray(builder.build())


def check(data: bytearray) -> None:
    """A follower's work on a batch from the leader."""
    for each in batches(data):
        each.ensure_valid()


def validate(data: bytearray) -> None:
    """An append's work before it writes."""
    magic = next(batches(data)).magic
    validate_and_assign_offsets(data, offset=1000, now_ms=NOW_MS, magic=magic)


def decode(data: bytearray) -> None:
    """The first step of format conversion and of loading groups."""
    for _ in records(data):
        pass


def read_keys(data: bytearray) -> None:
    """The first step of compaction, which finds the newest value of each key."""
    for each in batches(data):
        for _ in offsets_and_keys(each):
            pass


def consume(data: bytearray) -> None:
    """A consumer's work on a checked batch, with 500 records per poll."""
    for each in batches(data):
        reader = (
            RecordBatchReader(each, PARTITION)
            if isinstance(each, DefaultRecordBatch)
            else MessageReader(each, PARTITION)
        )
        while reader.take(MAX_POLL_RECORDS):
            pass


def to_v1(data: bytearray) -> None:
    """The down-conversion for an old consumer's fetch."""
    down_convert(data, 1)


WORK: dict[str, Callable[[bytearray], None]] = {
    "view + CRC": check,
    "validate in place": validate,
    "decode all": decode,
    "read keys": read_keys,
    "consume": consume,
    "down to v1": to_v1,
}


def nanoseconds(count: int, work: Callable[[bytearray], None], data: bytearray) -> str:
    """Processor time of ``work`` per record."""
    best = float("inf")
    for _ in range(REPEATS):
        began = time.thread_time_ns()
        work(data)
        best = min(best, (time.thread_time_ns() - began) / count)
    return f"{best:,.0f}"


if __name__ == "__main__":
    main()
