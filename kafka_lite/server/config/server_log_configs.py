"""Keys about the log; most are the defaults of the topic key of nearly the same name.

Kafka 0.10.2: core/.../server/KafkaConfig.scala (log) · book 6.1.5
"""

from pathlib import Path

from platformdirs import user_data_dir

from kafka_lite.common.api_version import LATEST
from kafka_lite.common.config_def import ConfigDef, Importance, Range, Type, ValidList, ValidString

at_least = Range.at_least
HIGH, MEDIUM, LOW = Importance
I64 = (1 << 63) - 1

DEFAULT_LOG_DIR = str(Path(user_data_dir("kafka-lite", appauthor=False)) / "kafka-logs")
"""/tmp/kafka-logs in Kafka; here the user's data directory, so that a reboot does not lose topics."""

# A table: one key, its kind on the first line, its meaning on the second.
# fmt: off
SERVER_LOG_CONFIGS = (
    ConfigDef()
    .define("log.dir", Type.STRING, DEFAULT_LOG_DIR, HIGH,
            "The directory of the logs if log.dirs is not set.")
    .define("log.dirs", Type.STRING, None, HIGH,
            "The directories of the logs, separated by commas. Not set: log.dir.")
    .define("log.segment.bytes", Type.INT, 1073741824, HIGH,
            "The maximum size of a segment file.", at_least(14))
    .define("log.roll.ms", Type.LONG, None, HIGH,
            "The age at which a segment is rolled even if it is not full. Not set: log.roll.hours.")
    .define("log.roll.hours", Type.INT, 168, HIGH,
            "Like log.roll.ms, in hours.", at_least(1))
    .define("log.roll.jitter.ms", Type.LONG, None, HIGH,
            "The maximum random time subtracted from log.roll.ms, so that not all logs roll at once. Not set: "
            "log.roll.jitter.hours.")
    .define("log.roll.jitter.hours", Type.INT, 0, HIGH,
            "Like log.roll.jitter.ms, in hours.", at_least(0))
    .define("log.retention.ms", Type.LONG, None, HIGH,
            "The age at which a segment is deleted; -1: never. Not set: log.retention.minutes.")
    .define("log.retention.minutes", Type.INT, None, HIGH,
            "Like log.retention.ms, in minutes. Not set: log.retention.hours.")
    .define("log.retention.hours", Type.INT, 168, HIGH,
            "Like log.retention.ms, in hours.")
    .define("log.retention.bytes", Type.LONG, -1, HIGH,
            "The size of a partition above which its oldest segments are deleted; -1: no limit.")
    .define("log.retention.check.interval.ms", Type.LONG, 300000, MEDIUM,
            "How often to look for segments to delete.", at_least(1))
    .define("log.cleanup.policy", Type.LIST, "delete", MEDIUM,
            "What happens to old segments: `delete`, `compact` (keep the last value of each key), or both.",
            ValidList.in_("compact", "delete"))
    .define("log.cleaner.enable", Type.BOOLEAN, True, MEDIUM,
            "Whether the log cleaner runs. Compacted topics, such as `__consumer_offsets`, need it.")
    .define("log.cleaner.threads", Type.INT, 1, MEDIUM,
            "The number of log cleaner threads.", at_least(0))
    .define("log.cleaner.io.max.bytes.per.second", Type.DOUBLE, 1.7976931348623157e308, MEDIUM,
            "The maximum bytes per second that the log cleaner reads and writes.")
    .define("log.cleaner.dedupe.buffer.size", Type.LONG, 134217728, MEDIUM,
            "The memory of all cleaner threads for their offset maps.")
    .define("log.cleaner.io.buffer.size", Type.INT, 524288, MEDIUM,
            "The memory of all cleaner threads for I/O buffers.", at_least(0))
    .define("log.cleaner.io.buffer.load.factor", Type.DOUBLE, 0.9, MEDIUM,
            "How full an offset map may become, from 0.001 to 1.")
    .define("log.cleaner.backoff.ms", Type.LONG, 15000, MEDIUM,
            "How long a cleaner thread pauses if there is nothing to clean.", at_least(0))
    .define("log.cleaner.min.cleanable.ratio", Type.DOUBLE, 0.5, MEDIUM,
            "The share of a log that must be dirty before it is cleaned.")
    .define("log.cleaner.delete.retention.ms", Type.LONG, 86400000, MEDIUM,
            "How long a tombstone is kept in a compacted log.")
    .define("log.cleaner.min.compaction.lag.ms", Type.LONG, 0, MEDIUM,
            "The minimum time that a message stays uncompacted.")
    .define("log.cleaner.max.compaction.lag.ms", Type.LONG, I64, MEDIUM,
            "The maximum time that a message stays uncompacted (since Kafka 2.3).", at_least(1))
    .define("log.index.size.max.bytes", Type.INT, 10485760, MEDIUM,
            "The maximum size of an offset index, preallocated with its segment.", at_least(4))
    .define("log.index.interval.bytes", Type.INT, 4096, MEDIUM,
            "How many bytes of the log lie between two index entries.", at_least(0))
    .define("log.flush.interval.messages", Type.LONG, I64, HIGH,
            "How many messages may be appended to a partition before it is flushed to disk.", at_least(1))
    .define("log.flush.interval.ms", Type.LONG, None, HIGH,
            "How long a message may stay unflushed. Not set: log.flush.scheduler.interval.ms.")
    .define("log.flush.scheduler.interval.ms", Type.LONG, I64, HIGH,
            "How often to look for logs to flush.")
    .define("log.flush.offset.checkpoint.interval.ms", Type.INT, 60000, HIGH,
            "How often recovery-point-offset-checkpoint is written.", at_least(0))
    .define("log.flush.start.offset.checkpoint.interval.ms", Type.INT, 60000, HIGH,
            "How often log-start-offset-checkpoint is written (since Kafka 0.11).", at_least(0))
    .define("log.segment.delete.delay.ms", Type.LONG, 60000, HIGH,
            "How long a deleted file, renamed to `.deleted`, is kept before it is removed.", at_least(0))
    .define("log.preallocate", Type.BOOLEAN, False, MEDIUM,
            "Whether a new segment file is preallocated.")
    .define("num.recovery.threads.per.data.dir", Type.INT, 1, HIGH,
            "The number of threads per log directory that load logs at startup and flush them at "
            "shutdown.", at_least(1))
    .define("min.insync.replicas", Type.INT, 1, HIGH,
            "How many replicas must be in sync for a produce request with acks=all to be accepted.", at_least(1))
    .define("log.message.format.version", Type.STRING, LATEST.version, MEDIUM,
            "The message format on disk, as a Kafka version: magic 0 up to 0.9, 1 up to 0.10.2, 2 from 0.11 on.")
    .define("log.message.timestamp.type", Type.STRING, "CreateTime", MEDIUM,
            "Whether the timestamp of a message is set by the producer (CreateTime) or the broker (LogAppendTime).",
            ValidString.in_("CreateTime", "LogAppendTime"))
    .define("log.message.timestamp.difference.max.ms", Type.LONG, I64, MEDIUM,
            "The maximum difference between a producer's timestamp and the broker's clock.", at_least(0))
    .define("log.message.timestamp.before.max.ms", Type.LONG, I64, MEDIUM,
            "How far a producer's timestamp may be behind the broker's clock (since Kafka 3.6).", at_least(0))
    .define("log.message.timestamp.after.max.ms", Type.LONG, I64, MEDIUM,
            "How far a producer's timestamp may be ahead of the broker's clock (since Kafka 3.6).", at_least(0))
    .define("log.message.downconversion.enable", Type.BOOLEAN, True, LOW,
            "Whether messages are converted to older formats for old consumers (since Kafka 2.0).")
    .define("producer.id.expiration.ms", Type.INT, 86400000, LOW,
            "How long a log remembers an idle idempotent producer (since Kafka 2.8.2).", at_least(1))
    .define("producer.id.expiration.check.interval.ms", Type.INT, 600000, LOW,
            "How often to look for expired producer ids (since Kafka 0.11).", at_least(1))
)
# fmt: on
