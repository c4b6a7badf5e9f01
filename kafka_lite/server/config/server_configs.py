"""Keys about the broker as a whole: its identity, its threads, its topics.

Kafka 0.10.2: core/.../server/KafkaConfig.scala (general) · book 2.3.4
"""

from kafka_lite.common.config_def import ConfigDef, Importance, Range, Type, ValidString

at_least = Range.at_least
HIGH, MEDIUM, LOW = Importance

# A table: one key, its kind on the first line, its meaning on the second.
# fmt: off
SERVER_CONFIGS = (
    ConfigDef()
    .define("broker.id", Type.INT, -1, HIGH,
            "The number of this broker, unique in the cluster. -1: ZooKeeper hands out one above "
            "reserved.broker.max.id, and meta.properties keeps it.")
    .define("broker.id.generation.enable", Type.BOOLEAN, True, MEDIUM,
            "Whether a broker without broker.id may get a generated one.")
    .define("reserved.broker.max.id", Type.INT, 1000, MEDIUM,
            "The largest number that broker.id may have; generated ids begin above it.", at_least(0))
    .define("broker.rack", Type.STRING, None, MEDIUM,
            "The rack (or zone) of the broker: replicas of a partition are spread over racks.")
    .define("num.network.threads", Type.INT, 1, HIGH,
            "Processor threads per listener: they read requests from sockets and write answers.", at_least(1))
    .define("num.io.threads", Type.INT, 8, HIGH,
            "Request handler threads: they do the work of requests, disk included.", at_least(1))
    .define("inline.quick.requests", Type.BOOLEAN, True, MEDIUM,
            "Whether a network thread handles a request itself when that needs no waiting. If not, every request is "
            "queued for the request handler threads, as in Kafka.")
    .define("background.threads", Type.INT, 10, HIGH,
            "Threads of the scheduler: retention, flushes, checkpoints, ISR upkeep.", at_least(1))
    .define("queued.max.requests", Type.INT, 500, HIGH,
            "Requests that may wait for a handler; then the network threads stop reading.", at_least(1))
    .define("request.timeout.ms", Type.INT, 30000, HIGH,
            "How long the broker waits for the answer to a request of its own.")
    .define("message.max.bytes", Type.INT, 1048588, HIGH,
            "The largest record batch (before 0.11: message) that may be appended, bytes.", at_least(0))
    .define("auto.create.topics.enable", Type.BOOLEAN, True, HIGH,
            "Whether a topic comes into being when a client asks for its metadata.")
    .define("delete.topic.enable", Type.BOOLEAN, True, HIGH,
            "Whether topics can be deleted. If not, deletions are refused.")
    .define("num.partitions", Type.INT, 1, MEDIUM,
            "Partitions of a topic that is created without a number.", at_least(1))
    .define("default.replication.factor", Type.INT, 1, MEDIUM,
            "Replicas of a topic that is created without a number.")
    .define("compression.type", Type.STRING, "producer", HIGH,
            "The codec in the log: `producer` keeps what the producer chose, `uncompressed` decompresses, a "
            "codec's name recompresses.", ValidString.in_("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"))
    .define("create.topic.policy.class.name", Type.CLASS, None, LOW,
            "A class that judges every topic before it is created.")
    .define("controlled.shutdown.enable", Type.BOOLEAN, True, MEDIUM,
            "Whether a broker that stops first hands its leaderships to others.")
    .define("controlled.shutdown.max.retries", Type.INT, 3, MEDIUM,
            "How often a failed controlled shutdown is tried again.")
    .define("controlled.shutdown.retry.backoff.ms", Type.LONG, 5000, MEDIUM,
            "The pause before it is tried again.")
    .define("fetch.max.bytes", Type.INT, 57671680, MEDIUM,
            "The most bytes that one fetch answer carries, whatever the client asks for (since Kafka 2.5).",
            at_least(1024))
)
# fmt: on
