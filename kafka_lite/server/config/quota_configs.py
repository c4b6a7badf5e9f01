"""Keys about quotas and metrics.

Kafka 0.10.2: core/.../server/KafkaConfig.scala (quotas, metrics) · book 10.1
"""

from kafka_lite.common.config_def import ConfigDef, Importance, Range, Type, ValidString

at_least = Range.at_least
HIGH, MEDIUM, LOW = Importance
I64 = (1 << 63) - 1

# A table: one key, its kind on the first line, its meaning on the second.
# fmt: off
QUOTA_CONFIGS = (
    ConfigDef()
    .define("quota.producer.default", Type.LONG, I64, HIGH,
            "How many bytes per second a producer's client id may send unless a quota in ZooKeeper "
            "overrides it.", at_least(1))
    .define("quota.consumer.default", Type.LONG, I64, HIGH,
            "How many bytes per second a consumer's client id may fetch unless a quota in ZooKeeper "
            "overrides it.", at_least(1))
    .define("client.quota.callback.class", Type.STRING, None, LOW,
            "A class of your own (`package.module.Class`, a subclass of "
            "`kafka_lite.server.quotas.client_quota_callback.ClientQuotaCallback`) that decides who shares a quota and "
            "how large it is, in place of the quotas in ZooKeeper.")
    .define("quota.window.num", Type.INT, 11, LOW,
            "The number of samples kept per client for quotas.", at_least(1))
    .define("quota.window.size.seconds", Type.INT, 1, LOW,
            "The length of a sample for client quotas.", at_least(1))
    .define("controller.quota.window.num", Type.INT, 11, LOW,
            "The number of samples kept for quotas of created and deleted partitions: together they are the longest "
            "time for which an idle client saves up its quota.", at_least(1))
    .define("controller.quota.window.size.seconds", Type.INT, 1, LOW,
            "The length of a sample for quotas of created and deleted partitions.", at_least(1))
    .define("replication.quota.window.num", Type.INT, 11, LOW,
            "The number of samples kept for replication quotas.", at_least(1))
    .define("replication.quota.window.size.seconds", Type.INT, 1, LOW,
            "The length of a sample for replication quotas.", at_least(1))
    .define("alter.log.dirs.replication.quota.window.num", Type.INT, 11, LOW,
            "The number of samples kept for the quota on moves between log directories.", at_least(1))
    .define("alter.log.dirs.replication.quota.window.size.seconds", Type.INT, 1, LOW,
            "The length of a sample for the quota on moves between log directories.", at_least(1))
    .define("telemetry.max.bytes", Type.INT, 1024 * 1024, LOW,
            "The maximum size of the metrics that a client pushes at once, compressed (KIP-714).", at_least(1))
    .define("metrics.num.samples", Type.INT, 2, LOW,
            "The number of samples kept per metric.", at_least(1))
    .define("metrics.sample.window.ms", Type.LONG, 30000, LOW,
            "The length of a metric's sample.", at_least(1))
    .define("metrics.recording.level", Type.STRING, "INFO", LOW,
            "The highest recording level of sensors.")
    .define("metric.reporters", Type.LIST, "", LOW,
            "Reporter classes (`package.module.Class`, subclasses of "
            "`kafka_lite.metrics.metrics_reporter.MetricsReporter`), notified of every metric of Kafka's own metrics "
            "library.")
    .define("kafka.metrics.reporters", Type.LIST, "", LOW,
            "Reporter classes (subclasses of `kafka_lite.metrics.kafka_metrics_reporter.KafkaMetricsReporter`) for "
            "all metrics of the broker, such as "
            "`kafka_lite.metrics.kafka_csv_metrics_reporter.KafkaCSVMetricsReporter`.")
    .define("kafka.metrics.polling.interval.secs", Type.INT, 10, LOW,
            "How often the classes in kafka.metrics.reporters read the metrics.", at_least(1))
    .define("kafka.csv.metrics.dir", Type.STRING, "kafka_metrics", LOW,
            "Where KafkaCSVMetricsReporter writes one file per metric. Files of an earlier run are deleted.")
    .define("kafka.csv.metrics.reporter.enabled", Type.BOOLEAN, False, LOW,
            "Whether KafkaCSVMetricsReporter is enabled.")
    .define("metrics.http.port", Type.INT, -1, MEDIUM,
            "The HTTP port that serves all metrics: `/metrics` for Prometheus, `/jmx` as JSON. 0: any free port, "
            "which `kafka-lite top` finds by itself; -1: no HTTP. (Kafka has JMX instead.)",
            Range.between(-1, 65535))
    .define("metrics.http.host", Type.STRING, "127.0.0.1", LOW,
            "The address of metrics.http.port. Every client that can connect to it can read the metrics.")
    .define("metrics.http.security.protocol", Type.STRING, "PLAINTEXT", LOW,
            "SSL: metrics.http.port has TLS, with the `ssl.` keys of the broker, or its own, which begin with "
            "`metrics.http.`; `metrics.http.ssl.client.auth=required` admits only clients with a certificate.",
            ValidString.in_("PLAINTEXT", "SSL"))
)
# fmt: on
