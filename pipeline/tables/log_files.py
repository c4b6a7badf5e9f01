"""A broker's log files as tables, read without the broker.

::

    /data/flights-0/00000000000000000000.log      flights-0: partition 0 of the topic flights
                    00000000000000000000.index    0…0: the base offset, the offset of the segment's first record
                    00000000000000001834.log
                    00000000000000001834.index

A ``.log`` file is a sequence of record batches. Each begins with a header, which says how long it is and all that is
needed to skip it, so 100 MB of records are surveyed by reading some thousand headers. Format v2, big-endian:

::

     0             8        12       16      17    21          23           27          35         43
    +-------------+--------+--------+-------+-----+-----------+------------+-----------+----------+---
    | base offset | length | leader | magic | crc | attributes| last offset| base      | max      |
    | I64         | I32    | epoch  | I8    | U32 | I16       | delta I32  | timestamp | timestamp|
    +-------------+--------+--------+-------+-----+-----------+------------+-----------+----------+---
     43            51              53              57             61
    +-------------+---------------+---------------+--------------+--------
    | producer id | epoch of the  | base sequence | record count | records
    | I64         | producer  I16 | I32           | I32          |
    +-------------+---------------+---------------+--------------+--------

An ``.index`` file has entries of 8 bytes: an offset relative to the segment's base offset, and the position of its
batch in the ``.log`` file. It is sparse: a fetch looks up the last entry that is not greater, and scans the
log from there.

The files must be where Spark's workers are: on this machine, or on a disk that all of them share.

Kafka 0.10.2: core/.../log/LogSegment.scala, OffsetIndex.scala · book 6.1.3
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import pandas as pd
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812

from kafka_lite.record.default_record_batch import HEADER

LENGTH_END = 12
"""``length`` counts the bytes after itself: those from here on."""
MAGIC_V2 = 2
CODEC_MASK = 0x07
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
ENTRY = struct.Struct(">ii")

SEGMENT_SCHEMA = "topic string, partition int, base_offset long, path string"
BATCH_SCHEMA = (
    "topic string, partition int, segment long, position long, size_bytes long, base_offset long, last_offset long, "
    "record_count int, codec string, max_timestamp_ms long, producer_id long"
)
INDEX_SCHEMA = "topic string, partition int, segment long, offset long, position long"


class BatchHeader(NamedTuple):
    """The header of each batch: ``position`` and ``size_bytes`` are those of the whole batch in its file.

    ``last_offset`` is the batch's last offset when it was written. A compacted batch keeps it, with fewer records.
    """

    position: int
    size_bytes: int
    base_offset: int
    last_offset: int
    record_count: int
    codec: str
    max_timestamp_ms: int
    producer_id: int


class OldFormatError(ValueError):
    """The file has messages of format v0 or v1, which have another header."""


def parse_header(header: bytes, position: int) -> BatchHeader:
    """Decode the 61 bytes of a header; the batch begins at ``position`` of its file.

    ``size_bytes`` includes the 12 bytes that ``length`` does not count. The lowest three bits of ``attributes`` are the
    codec, an index into ``CODECS``; the others have other meanings. Raises OldFormatError unless the magic is 2.
    """
    (base_offset, length, _leader_epoch, magic, _crc, attributes, last_offset_delta, _base_timestamp, max_timestamp,
     producer_id, _producer_epoch, _base_sequence, record_count) = HEADER.unpack(header)  # fmt: skip
    if magic != MAGIC_V2:
        raise OldFormatError(f"magic {magic} at byte {position}: only record batches, magic 2, can be read")
    return BatchHeader(
        position=position,
        size_bytes=LENGTH_END + length,
        base_offset=base_offset,
        last_offset=base_offset + last_offset_delta,
        record_count=record_count,
        codec=CODECS[attributes & CODEC_MASK],
        max_timestamp_ms=max_timestamp,
        producer_id=producer_id,
    )


def read_headers(log: BinaryIO, size_bytes: int) -> Iterator[BatchHeader]:
    """The headers of all complete batches of a ``.log`` file of this size, in order; records are skipped, not read.

    A broker that was killed may leave an incomplete batch at the end, which is no batch yet, and one that preallocates
    its segments leaves zeros. The walk ends at either: the length of a real batch is never 0.
    """
    position = 0
    while position + HEADER.size <= size_bytes:
        log.seek(position)
        header = log.read(HEADER.size)
        if not int.from_bytes(header[8:LENGTH_END], "big"):
            return
        batch = parse_header(header, position)
        if position + batch.size_bytes > size_bytes:
            return
        yield batch
        position += batch.size_bytes


def parse_index(data: bytes, base_offset: int) -> list[tuple[int, int]]:
    """The entries of an ``.index`` file as (offset, position), with the offset made absolute.

    The index of the active segment is preallocated, and its unused room is zeros. No entry has the relative offset 0.
    """
    whole = data[: len(data) - len(data) % ENTRY.size]
    return [(base_offset + relative, position) for relative, position in ENTRY.iter_unpack(whole) if relative]


def segment_files(folder: Path) -> list[tuple[str, int, int, str]]:
    """The segments in a broker's data directory: (topic, partition, base offset, path of the ``.log`` file), sorted.

    The name of a partition's folder is the topic, ``-`` and the partition; a topic may contain ``-``, too. Folders that
    are not partitions and files with other suffixes, such as ``.log.deleted``, are ignored.
    """
    found = []
    for path in folder.glob("*/*.log"):
        topic, _, partition = path.parent.name.rpartition("-")
        if topic and partition.isdigit() and path.stem.isdigit():
            found.append((topic, int(partition), int(path.stem), str(path)))
    return sorted(found)


def segments(spark: SparkSession, folder: Path) -> DataFrame:
    """``segment_files`` as a DataFrame, spread over all cores, so that files are read in parallel."""
    files = segment_files(folder)
    tasks = min(len(files), 2 * spark.sparkContext.defaultParallelism)
    return spark.createDataFrame(files, SEGMENT_SCHEMA).repartition(max(1, tasks))


def batches(spark: SparkSession, folder: Path) -> DataFrame:
    """Every batch of every segment: the columns of BATCH_SCHEMA; ``segment`` is the segment's base offset."""
    return segments(spark, folder).mapInPandas(_batches_of_files, BATCH_SCHEMA)


def index_entries(spark: SparkSession, folder: Path) -> DataFrame:
    """Every entry of every offset index: the columns of INDEX_SCHEMA. A segment without an index file has none."""
    return segments(spark, folder).mapInPandas(_entries_of_files, INDEX_SCHEMA)


def _batches_of_files(frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for topic, partition, base_offset, path in _rows(frames):
        with Path(path).open("rb") as log:
            headers = list(read_headers(log, Path(path).stat().st_size))
        if headers:
            frame = pd.DataFrame(headers, columns=list(BatchHeader._fields))
            yield frame.assign(topic=topic, partition=partition, segment=base_offset)[_columns(BATCH_SCHEMA)]


def _entries_of_files(frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for topic, partition, base_offset, path in _rows(frames):
        index = Path(path).with_suffix(".index")
        entries = parse_index(index.read_bytes(), base_offset) if index.exists() else []
        if entries:
            frame = pd.DataFrame(entries, columns=["offset", "position"])
            yield frame.assign(topic=topic, partition=partition, segment=base_offset)[_columns(INDEX_SCHEMA)]


def _rows(frames: Iterable[pd.DataFrame]) -> Iterator[Any]:
    for frame in frames:
        yield from frame.itertuples(index=False, name=None)


def _columns(schema: str) -> list[str]:
    return [column.split()[0] for column in schema.split(", ")]


def batch_sizes(batches: DataFrame) -> DataFrame:
    """How well producers batch, by ``topic`` and ``codec``: ``batches``, ``records``, ``bytes_per_batch``,
    ``records_per_batch``.

    ``records`` adds up the record counts; offsets would also count what compaction has removed.
    """
    return batches.groupBy("topic", "codec").agg(
        F.count("*").alias("batches"),
        F.sum("record_count").alias("records"),
        F.avg("size_bytes").alias("bytes_per_batch"),
        F.avg("record_count").alias("records_per_batch"),
    )


def scan_lengths(batches: DataFrame, entries: DataFrame) -> DataFrame:
    """How much of the log a fetch reads before it comes to its batch: the columns of ``batches``, and ``scan_bytes``.

    A fetch for the ``base_offset`` of a batch begins at the entry of the same segment with the greatest offset that is
    not greater, or at position 0 if there is none; ``scan_bytes`` is the distance from there to the batch. An entry has
    the *last* offset of its batch, so a batch of several records is not found through its own entry.
    """
    segment = ["topic", "partition", "segment"]
    no_entry = F.lit(None).cast("long")
    wanted = batches.select(*segment, F.col("base_offset").alias("offset"), "position", no_entry.alias("entry"))
    marks = entries.select(*segment, "offset", no_entry.alias("position"), F.col("position").alias("entry"))
    so_far = Window.partitionBy(*segment).orderBy("offset").rangeBetween(Window.unboundedPreceding, Window.currentRow)
    start = F.coalesce(F.max("entry").over(so_far), F.lit(0))
    found = wanted.unionByName(marks).withColumn("start", start).where(F.col("position").isNotNull())
    lengths = found.select(*segment, "position", (F.col("position") - F.col("start")).alias("scan_bytes"))
    return batches.join(lengths, [*segment, "position"])


def index_density(batches: DataFrame, entries: DataFrame) -> DataFrame:
    """How sparse the index of each segment is: one row per ``topic``, ``partition`` and ``segment``.

    ``log_bytes``; ``entries``, 0 for a segment that has none; ``bytes_per_entry``, null for such a segment; and
    ``mean_scan_bytes`` and ``max_scan_bytes`` over its batches.
    """
    segment = ["topic", "partition", "segment"]
    counted = entries.groupBy(*segment).agg(F.count("*").alias("entries"))
    sizes = (
        scan_lengths(batches, entries)
        .groupBy(*segment)
        .agg(
            F.sum("size_bytes").alias("log_bytes"),
            F.avg("scan_bytes").alias("mean_scan_bytes"),
            F.max("scan_bytes").alias("max_scan_bytes"),
        )
    )
    return (
        sizes.join(counted, segment, "left")
        .withColumn("entries", F.coalesce("entries", F.lit(0)))
        .withColumn("bytes_per_entry", F.col("log_bytes") / F.nullif("entries", F.lit(0)))
    )
