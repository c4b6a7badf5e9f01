"""Keys about quotas and metrics.

Kafka 0.10.2: core/.../server/KafkaConfig.scala (quotas, metrics) · book 10.1
"""

from kafka_lite.common.config_def import ConfigDef, Importance, Range, Type

at_least = Range.at_least
HIGH, MEDIUM, LOW = Importance
I64 = (1 << 63) - 1

# A table: one key, its kind on the first line, its meaning on the second.
# fmt: off
QUOTA_CONFIGS = (
    ConfigDef()
    .define("quota.producer.default", Type.LONG, I64, HIGH,
            "Bytes per second that a producer client may send, when no quota in ZooKeeper says otherwise.", at_least(1))
    .define("quota.consumer.default", Type.LONG, I64, HIGH,
            "The same for what a consumer client fetches.", at_least(1))
    .define("quota.window.num", Type.INT, 11, LOW,
            "Samples kept per client.", at_least(1))
    .define("quota.window.size.seconds", Type.INT, 1, LOW,
            "Length of a sample.", at_least(1))
    .define("replication.quota.window.num", Type.INT, 11, LOW,
            "Samples kept for replication.", at_least(1))
    .define("replication.quota.window.size.seconds", Type.INT, 1, LOW,
            "Length of a sample.", at_least(1))
    .define("metrics.num.samples", Type.INT, 2, LOW,
            "Samples kept per metric.", at_least(1))
    .define("metrics.sample.window.ms", Type.LONG, 30000, LOW,
            "Length of a sample.", at_least(1))
    .define("metrics.recording.level", Type.STRING, "INFO", LOW,
            "Which metrics are recorded.")
    .define("metric.reporters", Type.LIST, "", LOW,
            "Classes that are told of every metric.")
)
# fmt: on
