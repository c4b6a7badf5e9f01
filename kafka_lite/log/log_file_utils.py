"""Names of a log's files and directories.

Kafka 0.10.2: core/.../log/Log.scala (object Log) · book 6.1.1
"""

from __future__ import annotations

import logging
import os
import re
import uuid
from pathlib import Path

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.topic_partition import TopicPartition

logger = logging.getLogger(__name__)

LOG_FILE_SUFFIX = ".log"
INDEX_FILE_SUFFIX = ".index"
TIME_INDEX_FILE_SUFFIX = ".timeindex"
PRODUCER_SNAPSHOT_FILE_SUFFIX = ".snapshot"
TXN_INDEX_FILE_SUFFIX = ".txnindex"

DELETED_FILE_SUFFIX = ".deleted"
"""Suffix of a file that will be removed after file.delete.delay.ms."""
CLEANED_FILE_SUFFIX = ".cleaned"
"""Suffix of the output of an unfinished compaction."""
SWAP_FILE_SUFFIX = ".swap"
"""Suffix of the output of a finished compaction that has not replaced its source segments yet."""
DELETE_DIR_SUFFIX = "-delete"
"""Suffix of a deleted partition's directory until its files are removed."""
FUTURE_DIR_SUFFIX = "-future"
"""Suffix of the directory of a log that is being copied from another log directory, which it will replace."""

CLEAN_SHUTDOWN_FILE = ".kafka_cleanshutdown"

_UNIQUE_DIR = re.compile(r"(\S+)-(\S+)\.(\S+)-(delete|future)")
_SEGMENT_FILE = re.compile(r"(\d{20})\.(log|index|timeindex|txnindex)(\.cleaned|\.swap|\.deleted)?")
_PRODUCER_SNAPSHOT_FILE = re.compile(r"(\d{20})\.snapshot")


def filename_prefix_from_offset(offset: int) -> str:
    """A base offset as 20 digits, so that ``ls`` lists segments in order."""
    return f"{offset:020d}"


def log_file(directory: Path, offset: int, suffix: str = "") -> Path:
    """The .log file of the segment with this base offset."""
    return directory / f"{filename_prefix_from_offset(offset)}{LOG_FILE_SUFFIX}{suffix}"


def offset_index_file(directory: Path, offset: int, suffix: str = "") -> Path:
    """The offset index of the segment with this base offset."""
    return directory / f"{filename_prefix_from_offset(offset)}{INDEX_FILE_SUFFIX}{suffix}"


def time_index_file(directory: Path, offset: int, suffix: str = "") -> Path:
    """The time index of the segment with this base offset."""
    return directory / f"{filename_prefix_from_offset(offset)}{TIME_INDEX_FILE_SUFFIX}{suffix}"


def transaction_index_file(directory: Path, offset: int, suffix: str = "") -> Path:
    """The index of aborted transactions of the segment with this base offset; it exists only if there are any."""
    return directory / f"{filename_prefix_from_offset(offset)}{TXN_INDEX_FILE_SUFFIX}{suffix}"


def producer_snapshot_file(directory: Path, offset: int) -> Path:
    """The snapshot of the producer state at this offset."""
    return directory / f"{filename_prefix_from_offset(offset)}{PRODUCER_SNAPSHOT_FILE_SUFFIX}"


def offset_from_snapshot_file(file: Path) -> int | None:
    """The offset in the name of a producer snapshot, or None for any other file."""
    match = _PRODUCER_SNAPSHOT_FILE.fullmatch(file.name)
    return int(match[1]) if match else None


def flush_file_or_directory(path: Path) -> None:
    """Force the content of a file, or the entries of a directory, to disk. Raises OSError."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def offset_from_file(file: Path) -> int | None:
    """The base offset in the name of a segment's file, or None for any other file."""
    match = _SEGMENT_FILE.fullmatch(file.name)
    return int(match[1]) if match else None


def without_suffix(file: Path, suffix: str) -> Path:
    """``00.log.swap`` → ``00.log``."""
    return file.with_name(file.name.removesuffix(suffix))


def log_dir_name(topic_partition: TopicPartition) -> str:
    """The directory name of a partition: ``topic-0``."""
    return str(topic_partition)


def log_delete_dir_name(topic_partition: TopicPartition) -> str:
    """The directory name of a partition to be deleted: ``topic-0.<32 hex digits>-delete``.

    The digits make it unique, even if topics of the same name are created and deleted in quick succession.
    """
    return f"{topic_partition}.{uuid.uuid4().hex}{DELETE_DIR_SUFFIX}"


def log_future_dir_name(topic_partition: TopicPartition) -> str:
    """The directory name of a log that is being copied: ``topic-0.<32 hex digits>-future``."""
    return f"{topic_partition}.{uuid.uuid4().hex}{FUTURE_DIR_SUFFIX}"


def parse_topic_partition_name(directory: Path) -> TopicPartition:
    """Parse the name of a log's directory; the topic may contain ``-``, so the last one is the separator.

    Raises KafkaError if it is not the name of a partition's directory.
    """
    name = directory.name
    if name.endswith((DELETE_DIR_SUFFIX, FUTURE_DIR_SUFFIX)):
        if not _UNIQUE_DIR.fullmatch(name):
            raise _not_a_log_dir(directory)
        name = name[: name.rindex(".")]
    topic, _, partition = name.rpartition("-")
    if not topic or not partition.isascii() or not partition.isdecimal():
        raise _not_a_log_dir(directory)
    return TopicPartition(topic, int(partition))


def _not_a_log_dir(directory: Path) -> KafkaError:
    return KafkaError(
        f"found directory {directory}, whose name is not of the form topic-partition (or, when it is marked for "
        "deletion or being moved, topic-partition.uniqueId-delete or -future); log directories should contain nothing "
        "but Kafka's topic data"
    )


def is_log_dir(path: Path) -> bool:
    """Whether the directory's name is that of a partition; logs a warning if it is not."""
    try:
        parse_topic_partition_name(path)
    except KafkaError as error:
        logger.warning("Ignoring a directory: %s", error)
        return False
    return True
