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
            "Where the log is kept, when log.dirs is not set.")
    .define("log.dirs", Type.STRING, None, HIGH,
            "Where the log is kept: one directory, or several with commas between. Not set: log.dir.")
    .define("log.segment.bytes", Type.INT, 1073741824, HIGH,
            "Size of a segment file before a new one is begun.", at_least(14))
    .define("log.roll.ms", Type.LONG, None, HIGH,
            "Age of a segment, ms, before a new one is begun. Not set: log.roll.hours.")
    .define("log.roll.hours", Type.INT, 168, HIGH,
            "The same in hours.", at_least(1))
    .define("log.roll.jitter.ms", Type.LONG, None, HIGH,
            "Random part taken off log.roll.ms, so that not all logs roll at once. Not set: log.roll.jitter.hours.")
    .define("log.roll.jitter.hours", Type.INT, 0, HIGH,
            "The same in hours.", at_least(0))
    .define("log.retention.ms", Type.LONG, None, HIGH,
            "Age at which a segment is deleted, ms; -1: never. Not set: log.retention.minutes.")
    .define("log.retention.minutes", Type.INT, None, HIGH,
            "The same in minutes. Not set: log.retention.hours.")
    .define("log.retention.hours", Type.INT, 168, HIGH,
            "The same in hours.")
    .define("log.retention.bytes", Type.LONG, -1, HIGH,
            "Size of a partition above which its oldest segments are deleted; -1: no limit.")
    .define("log.retention.check.interval.ms", Type.LONG, 300000, MEDIUM,
            "How often to look for segments to delete.", at_least(1))
    .define("log.cleanup.policy", Type.LIST, "delete", MEDIUM,
            "What happens to old segments: `delete`, `compact` (keep the last value of each key), or both.",
            ValidList.in_("compact", "delete"))
    .define("log.cleaner.enable", Type.BOOLEAN, True, MEDIUM,
            "Whether compaction runs; `__consumer_offsets` needs it.")
    .define("log.cleaner.threads", Type.INT, 1, MEDIUM,
            "Threads that compact.", at_least(0))
    .define("log.cleaner.io.max.bytes.per.second", Type.DOUBLE, 1.7976931348623157e308, MEDIUM,
            "Throttle of the cleaner: what it reads and writes in a second.")
    .define("log.cleaner.dedupe.buffer.size", Type.LONG, 134217728, MEDIUM,
            "Memory of all cleaner threads for the map from keys to offsets.")
    .define("log.cleaner.io.buffer.size", Type.INT, 524288, MEDIUM,
            "Memory of all cleaner threads for reading and writing.", at_least(0))
    .define("log.cleaner.io.buffer.load.factor", Type.DOUBLE, 0.9, MEDIUM,
            "How full the map may become: from 0.001 to 1.")
    .define("log.cleaner.backoff.ms", Type.LONG, 15000, MEDIUM,
            "Pause of a cleaner thread that found nothing to do.", at_least(0))
    .define("log.cleaner.min.cleanable.ratio", Type.DOUBLE, 0.5, MEDIUM,
            "Share of a log that must be dirty before it is cleaned.")
    .define("log.cleaner.delete.retention.ms", Type.LONG, 86400000, MEDIUM,
            "How long a tombstone stays in a compacted log.")
    .define("log.cleaner.min.compaction.lag.ms", Type.LONG, 0, MEDIUM,
            "How long a message stays uncompacted at least.")
    .define("log.cleaner.max.compaction.lag.ms", Type.LONG, I64, MEDIUM,
            "How long a message stays uncompacted at most (since Kafka 2.3).", at_least(1))
    .define("log.index.size.max.bytes", Type.INT, 10485760, MEDIUM,
            "Size of an offset index, allocated when its segment begins.", at_least(4))
    .define("log.index.interval.bytes", Type.INT, 4096, MEDIUM,
            "Bytes of log between two entries of an index.", at_least(0))
    .define("log.flush.interval.messages", Type.LONG, I64, HIGH,
            "Messages of a partition after which it is forced to disk.", at_least(1))
    .define("log.flush.interval.ms", Type.LONG, None, HIGH,
            "Time after which messages are forced to disk. Not set: log.flush.scheduler.interval.ms.")
    .define("log.flush.scheduler.interval.ms", Type.LONG, I64, HIGH,
            "How often to look for logs to flush.")
    .define("log.flush.offset.checkpoint.interval.ms", Type.INT, 60000, HIGH,
            "How often recovery-point-offset-checkpoint is written.", at_least(0))
    .define("log.flush.start.offset.checkpoint.interval.ms", Type.INT, 60000, HIGH,
            "How often log-start-offset-checkpoint is written (since Kafka 0.11).", at_least(0))
    .define("log.segment.delete.delay.ms", Type.LONG, 60000, HIGH,
            "How long a deleted file lies renamed to `.deleted` before it goes.", at_least(0))
    .define("log.preallocate", Type.BOOLEAN, False, MEDIUM,
            "Whether a new segment is given its full size at once.")
    .define("num.recovery.threads.per.data.dir", Type.INT, 1, HIGH,
            "Threads per directory that load logs at the start and flush them at the end.", at_least(1))
    .define("min.insync.replicas", Type.INT, 1, HIGH,
            "With acks=all: how many replicas must be in sync for an append to be accepted.", at_least(1))
    .define("log.message.format.version", Type.STRING, LATEST.version, MEDIUM,
            "The message format on disk, named by the Kafka that had it: up to 0.9 magic 0, up to 0.10.2 magic 1, "
            "later magic 2.")
    .define("log.message.timestamp.type", Type.STRING, "CreateTime", MEDIUM,
            "Whose clock stamps messages: the producer's (CreateTime) or the broker's (LogAppendTime).",
            ValidString.in_("CreateTime", "LogAppendTime"))
    .define("log.message.timestamp.difference.max.ms", Type.LONG, I64, MEDIUM,
            "How far a producer's timestamp may be from the broker's clock.", at_least(0))
    .define("log.message.timestamp.before.max.ms", Type.LONG, I64, MEDIUM,
            "How far it may be behind (since Kafka 3.6).", at_least(0))
    .define("log.message.timestamp.after.max.ms", Type.LONG, I64, MEDIUM,
            "How far it may be ahead (since Kafka 3.6).", at_least(0))
    .define("log.message.downconversion.enable", Type.BOOLEAN, True, LOW,
            "Whether old consumers get messages converted to a format that they know (since Kafka 2.0).")
    .define("producer.id.expiration.ms", Type.INT, 86400000, LOW,
            "How long a log remembers an idle idempotent producer (since Kafka 2.8.2).", at_least(1))
    .define("producer.id.expiration.check.interval.ms", Type.INT, 600000, LOW,
            "How often to look for those (since Kafka 0.11).", at_least(1))
)
# fmt: on
