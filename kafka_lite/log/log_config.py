"""The configuration of a topic.

Kafka 0.10.2: core/.../log/LogConfig.scala; the keys added since as in Kafka 3.9 · book 6.1.5
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from kafka_lite.common.config_def import Check, ConfigDef, ConfigError, Importance, Range, Type, ValidList, ValidString
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.record import MAGIC_V0, MAGIC_V1, MAGIC_V2, TimestampType

MAX_LONG = 2**63 - 1
DAY_MS = 24 * 60 * 60 * 1000
DEFAULT_MESSAGE_FORMAT_VERSION = "3.0-IV1"

_MEDIUM = Importance.MEDIUM
_VERSION = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))*(?:\.X)?(?:-IV\d+)?")


def _release(version: str) -> tuple[int, int]:
    """``0.10.2-IV0`` → (0, 10), ``3.9`` → (3, 9). Raises ValueError for anything else."""
    match = _VERSION.fullmatch(version)
    if match is None:
        raise ValueError(f"{version!r} is not a Kafka version such as 0.10.2, 2.8-IV1 or 3.9")
    return int(match[1]), int(match[2])


def magic_of_message_format_version(version: str) -> int:
    """The message format of a Kafka version: v0 below 0.10, v1 below 0.11, v2 from then on."""
    release = _release(version)
    if release < (0, 10):
        return MAGIC_V0
    return MAGIC_V1 if release < (0, 11) else MAGIC_V2


def _is_kafka_version(version: str) -> bool:
    try:
        return _release(version) >= (0, 8)
    except ValueError:
        return False


def _is_throttled_replica_list(entries: list[str]) -> bool:
    return entries == ["*"] or all(re.fullmatch(r"\d+:\d+", entry.strip()) for entry in entries)


KAFKA_VERSION = Check(_is_kafka_version, "a Kafka version from 0.8.0 on, such as 0.10.2 or 3.9-IV0")
THROTTLED_REPLICAS = Check(_is_throttled_replica_list, "[partitionId]:[brokerId],... or the literal '*'")
COMPRESSION_TYPES = ("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")

LOG_CONFIG_DEF = (
    ConfigDef()
    .define(
        "segment.bytes",
        Type.INT,
        2**30,
        _MEDIUM,
        "Maximum size of a segment file. Retention and compaction always take whole segments, so a larger one means "
        "fewer files but coarser retention.",
        Range.at_least(14),
    )
    .define(
        "segment.ms",
        Type.LONG,
        7 * DAY_MS,
        _MEDIUM,
        "After this time the log rolls even if the segment is not full, so that retention can delete or compact it.",
        Range.at_least(0),
    )
    .define(
        "segment.jitter.ms",
        Type.LONG,
        0,
        _MEDIUM,
        "The maximum random time subtracted from segment.ms, so that not all segments roll at once.",
        Range.at_least(0),
    )
    .define(
        "segment.index.bytes",
        Type.INT,
        10 * 2**20,
        _MEDIUM,
        "Size to which the index files are preallocated; they are trimmed when the segment rolls.",
        Range.at_least(12),
    )
    .define(
        "flush.messages",
        Type.LONG,
        MAX_LONG,
        _MEDIUM,
        "Flush the log to disk after this many messages. Replication is the better way to durability.",
        Range.at_least(0),
    )
    .define(
        "flush.ms",
        Type.LONG,
        MAX_LONG,
        _MEDIUM,
        "Flush the log to disk after this time.",
        Range.at_least(0),
    )
    .define(
        "retention.bytes",
        Type.LONG,
        -1,
        _MEDIUM,
        "The size of a partition above which old segments are deleted (policy delete); -1: no limit.",
    )
    .define(
        "retention.ms",
        Type.LONG,
        7 * DAY_MS,
        _MEDIUM,
        "The age of a segment's newest message after which it is deleted (policy delete); -1: no limit.",
        Range.at_least(-1),
    )
    .define(
        "max.message.bytes",
        Type.INT,
        1048588,
        _MEDIUM,
        "The largest batch that is accepted (after compression); up to message format v1: the largest message.",
        Range.at_least(0),
    )
    .define(
        "index.interval.bytes",
        Type.INT,
        4096,
        _MEDIUM,
        "How many bytes of the log lie between two index entries: fewer make lookups faster and indexes larger.",
        Range.at_least(0),
    )
    .define(
        "delete.retention.ms",
        Type.LONG,
        DAY_MS,
        _MEDIUM,
        "How long tombstones of compacted topics are kept, so that a consumer that reads from the start sees them.",
        Range.at_least(0),
    )
    .define(
        "min.compaction.lag.ms",
        Type.LONG,
        0,
        _MEDIUM,
        "The minimum time that a message stays uncompacted.",
        Range.at_least(0),
    )
    .define(
        "max.compaction.lag.ms",
        Type.LONG,
        MAX_LONG,
        _MEDIUM,
        "The maximum time that a message may stay ineligible for compaction.",
        Range.at_least(1),
    )
    .define(
        "file.delete.delay.ms",
        Type.LONG,
        60_000,
        _MEDIUM,
        "How long to wait before a deleted file is removed from the file system.",
        Range.at_least(0),
    )
    .define(
        "min.cleanable.dirty.ratio",
        Type.DOUBLE,
        0.5,
        _MEDIUM,
        "The share of a compacted log that must be uncompacted before it is cleaned.",
        Range.between(0, 1),
    )
    .define(
        "cleanup.policy",
        Type.LIST,
        "delete",
        _MEDIUM,
        "What happens to old segments: delete them by time and size, compact them to the latest value of each key, or "
        "both.",
        ValidList.in_("compact", "delete"),
    )
    .define(
        "unclean.leader.election.enable",
        Type.BOOLEAN,
        False,
        _MEDIUM,
        "Whether a replica that is not in sync may become leader as a last resort, although messages are lost.",
    )
    .define(
        "min.insync.replicas",
        Type.INT,
        1,
        _MEDIUM,
        "How many replicas must be in sync for a produce request with acks=all to be accepted.",
        Range.at_least(1),
    )
    .define(
        "compression.type",
        Type.STRING,
        "producer",
        _MEDIUM,
        "The codec on disk; 'producer' keeps what the producer chose.",
        ValidString.in_(*COMPRESSION_TYPES),
    )
    .define(
        "preallocate",
        Type.BOOLEAN,
        False,
        _MEDIUM,
        "Whether the .log file of a new segment is preallocated.",
    )
    .define(
        "message.format.version",
        Type.STRING,
        DEFAULT_MESSAGE_FORMAT_VERSION,
        _MEDIUM,
        "The message format on disk, named by a version of Kafka that has it: v0 below 0.10.0, v1 below 0.11.0, v2 "
        "from then on.",
        KAFKA_VERSION,
    )
    .define(
        "message.timestamp.type",
        Type.STRING,
        "CreateTime",
        _MEDIUM,
        "Whether a message's timestamp is the time of its creation or of its append to the log.",
        ValidString.in_("CreateTime", "LogAppendTime"),
    )
    .define(
        "message.timestamp.difference.max.ms",
        Type.LONG,
        MAX_LONG,
        _MEDIUM,
        "The maximum difference between a message's timestamp and the broker's clock (CreateTime only).",
        Range.at_least(0),
    )
    .define(
        "message.timestamp.before.max.ms",
        Type.LONG,
        MAX_LONG,
        _MEDIUM,
        "How far a message's timestamp may be before the broker's clock (CreateTime only).",
        Range.at_least(0),
    )
    .define(
        "message.timestamp.after.max.ms",
        Type.LONG,
        MAX_LONG,
        _MEDIUM,
        "How far a message's timestamp may be after the broker's clock (CreateTime only).",
        Range.at_least(0),
    )
    .define(
        "message.downconversion.enable",
        Type.BOOLEAN,
        True,
        Importance.LOW,
        "Whether messages are converted to older formats for old consumers; if not, these get an error.",
    )
    .define(
        "leader.replication.throttled.replicas",
        Type.LIST,
        "",
        _MEDIUM,
        "Replicas whose replication is throttled on the leader.",
        THROTTLED_REPLICAS,
    )
    .define(
        "follower.replication.throttled.replicas",
        Type.LIST,
        "",
        _MEDIUM,
        "Replicas whose replication is throttled on the follower.",
        THROTTLED_REPLICAS,
    )
)


class LogConfig:
    """The configuration of one topic: the broker's defaults, overridden by the topic's own values.

    Attributes are named after their keys: ``segment.bytes`` is ``segment_bytes``. Immutable: a change at run time gives
    the topic's logs another LogConfig.
    """

    def __init__(self, props: Mapping[str, object] | None = None, defaults: Mapping[str, object] | None = None) -> None:
        """Values in ``props`` override those in ``defaults``. Raises ConfigError if a value is invalid.

        Unknown keys are ignored here; they are rejected when a topic is created or altered.
        """
        self.overridden = dict(props or {})
        merged = {**(defaults or {}), **self.overridden}
        values: dict[str, Any] = LOG_CONFIG_DEF.parse(merged)
        self.values = values
        self.segment_bytes: int = values["segment.bytes"]
        self.segment_ms: int = values["segment.ms"]
        self.segment_jitter_ms: int = values["segment.jitter.ms"]
        self.segment_index_bytes: int = values["segment.index.bytes"]
        self.flush_messages: int = values["flush.messages"]
        self.flush_ms: int = values["flush.ms"]
        self.retention_bytes: int = values["retention.bytes"]
        self.retention_ms: int = values["retention.ms"]
        self.max_message_bytes: int = values["max.message.bytes"]
        self.index_interval_bytes: int = values["index.interval.bytes"]
        self.delete_retention_ms: int = values["delete.retention.ms"]
        self.min_compaction_lag_ms: int = values["min.compaction.lag.ms"]
        self.max_compaction_lag_ms: int = values["max.compaction.lag.ms"]
        self.file_delete_delay_ms: int = values["file.delete.delay.ms"]
        self.min_cleanable_dirty_ratio: float = values["min.cleanable.dirty.ratio"]
        self.cleanup_policy: list[str] = values["cleanup.policy"]
        self.unclean_leader_election_enable: bool = values["unclean.leader.election.enable"]
        self.min_insync_replicas: int = values["min.insync.replicas"]
        self.compression_type: str = values["compression.type"]
        self.preallocate: bool = values["preallocate"]
        self.message_format_version: str = values["message.format.version"]
        # The message format on disk: 0, 1 or 2. Computed once, because every append reads it.
        self.magic: int = magic_of_message_format_version(self.message_format_version)
        self.message_timestamp_type = TimestampType.for_name(values["message.timestamp.type"])
        self.message_timestamp_difference_max_ms: int = values["message.timestamp.difference.max.ms"]
        self.message_timestamp_before_max_ms: int = values["message.timestamp.before.max.ms"]
        self.message_timestamp_after_max_ms: int = values["message.timestamp.after.max.ms"]
        self.message_downconversion_enable: bool = values["message.downconversion.enable"]
        self.leader_replication_throttled_replicas: list[str] = values["leader.replication.throttled.replicas"]
        self.follower_replication_throttled_replicas: list[str] = values["follower.replication.throttled.replicas"]

    # Cached, because every append reads most of these, and a LogConfig never changes.

    @cached_property
    def compact(self) -> bool:
        """Whether the log is compacted."""
        return "compact" in self.cleanup_policy

    @cached_property
    def delete(self) -> bool:
        """Whether old segments are deleted by time and size."""
        return "delete" in self.cleanup_policy

    @cached_property
    def max_segment_ms(self) -> int:
        """Maximum age of a segment before the log rolls; compacted logs must also roll in time for compaction."""
        return min(self.max_compaction_lag_ms, self.segment_ms) if self.compact else self.segment_ms

    @cached_property
    def appends_v2_as_it_is(self) -> bool:
        """Whether a v2 batch is appended without being rewritten and without fsync."""
        return self.magic == MAGIC_V2 and self.target_compression is None and self.flush_messages == MAX_LONG

    @cached_property
    def target_compression(self) -> CompressionType | None:
        """The codec on disk, or None to keep the producer's."""
        match self.compression_type:
            case "producer":
                return None
            case "uncompressed":
                return CompressionType.NONE
            case name:
                return CompressionType.from_name(name)

    @cached_property
    def timestamp_before_max_ms(self) -> int:
        """How far a timestamp may be in the past: the stricter of the two keys."""
        return min(self.message_timestamp_before_max_ms, self.message_timestamp_difference_max_ms)

    @cached_property
    def timestamp_after_max_ms(self) -> int:
        """How far a timestamp may be in the future: the stricter of the two keys."""
        return min(self.message_timestamp_after_max_ms, self.message_timestamp_difference_max_ms)

    def random_segment_jitter_ms(self) -> int:
        """How much earlier than segment.ms a segment rolls, chosen at random."""
        largest = min(self.segment_jitter_ms, self.segment_ms)
        return random.randrange(largest) if largest > 0 else 0

    def validate_values(self) -> None:
        """Raise ConfigError for values that contradict each other."""
        if self.min_compaction_lag_ms > self.max_compaction_lag_ms:
            raise ConfigError(
                "min.compaction.lag.ms",
                self.min_compaction_lag_ms,
                f"conflicts with max.compaction.lag.ms = {self.max_compaction_lag_ms}: it must not be greater",
            )

    def __repr__(self) -> str:
        return f"LogConfig({self.overridden})"
