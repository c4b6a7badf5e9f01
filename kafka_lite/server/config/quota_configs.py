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
            "Classes (`package.module.Class`, subclasses of `kafka_lite.metrics.metrics_reporter.MetricsReporter`) "
            "that are told of every metric of Kafka's own metrics library.")
    .define("kafka.metrics.reporters", Type.LIST, "", LOW,
            "Classes (subclasses of `kafka_lite.metrics.kafka_metrics_reporter.KafkaMetricsReporter`) that get at all "
            "metrics of the broker, such as `kafka_lite.metrics.kafka_csv_metrics_reporter.KafkaCSVMetricsReporter`.")
    .define("kafka.metrics.polling.interval.secs", Type.INT, 10, LOW,
            "How often those look.", at_least(1))
    .define("kafka.csv.metrics.dir", Type.STRING, "kafka_metrics", LOW,
            "Where KafkaCSVMetricsReporter writes a file for each metric; those of the last run are deleted.")
    .define("kafka.csv.metrics.reporter.enabled", Type.BOOLEAN, False, LOW,
            "Whether it writes.")
    .define("metrics.http.port", Type.INT, -1, MEDIUM,
            "The port on which all metrics are shown over HTTP: `/metrics` for Prometheus, `/jmx` as JSON. 0: any free "
            "port, which `kafka-lite top` finds by itself; -1: no HTTP. (Kafka has JMX instead.)",
            Range.between(-1, 65535))
    .define("metrics.http.host", Type.STRING, "127.0.0.1", LOW,
            "The address for that; whoever can connect to it can read the metrics.")
)
# fmt: on
