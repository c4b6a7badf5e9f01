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
            "The id of this broker, unique in the cluster. -1: ZooKeeper generates one above reserved.broker.max.id, "
            "which is stored in meta.properties.")
    .define("broker.id.generation.enable", Type.BOOLEAN, True, MEDIUM,
            "Whether an id is generated for a broker without broker.id.")
    .define("reserved.broker.max.id", Type.INT, 1000, MEDIUM,
            "The largest valid broker.id. Generated ids are larger.", at_least(0))
    .define("broker.rack", Type.STRING, None, MEDIUM,
            "The rack (or zone) of the broker. The replicas of a partition are spread over racks.")
    .define("num.network.threads", Type.INT, 1, HIGH,
            "The number of network threads per listener, which read requests from sockets and write "
            "responses.", at_least(1))
    .define("num.io.threads", Type.INT, 8, HIGH,
            "The number of request handler threads, which process requests, including disk I/O.", at_least(1))
    .define("inline.quick.requests", Type.BOOLEAN, True, MEDIUM,
            "Whether a network thread handles a request itself if that cannot block. Otherwise every request is "
            "queued for the request handler threads, as in Kafka.")
    .define("background.threads", Type.INT, 10, HIGH,
            "The number of scheduler threads, for retention, flushes, checkpoints and ISR upkeep.", at_least(1))
    .define("queued.max.requests", Type.INT, 500, HIGH,
            "How many requests may be queued for the request handlers before the network threads stop "
            "reading.", at_least(1))
    .define("queued.max.request.bytes", Type.LONG, 104857600, MEDIUM,
            "How many bytes large requests may have together that are being received or handled, before the network "
            "threads read no more of them; the last one may exceed it. -1: no bound, the default of Kafka. Requests "
            "that come in one piece, up to 64 KB, are not counted.")
    .define("request.timeout.ms", Type.INT, 30000, HIGH,
            "How long the broker waits for the response to a request that it sends.")
    .define("message.max.bytes", Type.INT, 1048588, HIGH,
            "The largest record batch (before 0.11: message) that may be appended.", at_least(0))
    .define("auto.create.topics.enable", Type.BOOLEAN, True, HIGH,
            "Whether a topic is created when a client requests its metadata.")
    .define("delete.topic.enable", Type.BOOLEAN, True, HIGH,
            "Whether topics can be deleted. If not, DeleteTopics is rejected.")
    .define("num.partitions", Type.INT, 1, MEDIUM,
            "The number of partitions of a topic that is created without one.", at_least(1))
    .define("default.replication.factor", Type.INT, 1, MEDIUM,
            "The replication factor of a topic that is created without one.")
    .define("compression.type", Type.STRING, "producer", HIGH,
            "The codec in the log: `producer` keeps the producer's, `uncompressed` decompresses, and the name of a "
            "codec recompresses.", ValidString.in_("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"))
    .define("create.topic.policy.class.name", Type.CLASS, None, LOW,
            "The class that decides whether a topic may be created.")
    .define("controlled.shutdown.enable", Type.BOOLEAN, True, MEDIUM,
            "Whether a broker moves its leaders to other brokers before it stops.")
    .define("controlled.shutdown.max.retries", Type.INT, 3, MEDIUM,
            "How often a failed controlled shutdown is retried.")
    .define("controlled.shutdown.retry.backoff.ms", Type.LONG, 5000, MEDIUM,
            "How long to wait before a controlled shutdown is retried.")
    .define("fetch.max.bytes", Type.INT, 57671680, MEDIUM,
            "The maximum bytes of a fetch response, whatever the client requests (since Kafka 2.5).",
            at_least(1024))
    .define("max.incremental.fetch.session.cache.slots", Type.INT, 1000, MEDIUM,
            "The number of fetch sessions that the broker remembers (since Kafka 1.1). A client without one names all "
            "its partitions in every fetch request.", at_least(0))
    .define("max.request.partition.size.limit", Type.INT, 2000, MEDIUM,
            "The most partitions in one response to DescribeTopicPartitions (since Kafka 3.8).", at_least(1))
)
# fmt: on
