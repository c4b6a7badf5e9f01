"""Keys about replicas and the controller.

Kafka 0.10.2: core/.../server/KafkaConfig.scala (replication) · book 6.2.1
"""

from kafka_lite.common.api_version import LATEST
from kafka_lite.common.config_def import ConfigDef, Importance, Range, Type

at_least = Range.at_least
HIGH, MEDIUM, LOW = Importance

# A table: one key, its kind on the first line, its meaning on the second.
# fmt: off
REPLICATION_CONFIGS = (
    ConfigDef()
    .define("inter.broker.protocol.version", Type.STRING, LATEST.version, MEDIUM,
            "How brokers talk among themselves, named by the Kafka that talked so; raised after every broker of a "
            "cluster is upgraded.")
    .define("unclean.leader.election.enable", Type.BOOLEAN, True, HIGH,
            "Whether a replica that is not in sync may lead when no other is left, at the price of lost messages.")
    .define("replica.lag.time.max.ms", Type.LONG, 10000, HIGH,
            "A follower that was not at the leader's end for this long leaves the ISR.")
    .define("replica.socket.timeout.ms", Type.INT, 30000, HIGH,
            "Socket timeout of follower fetches; at least replica.fetch.wait.max.ms.")
    .define("replica.socket.receive.buffer.bytes", Type.INT, 65536, HIGH,
            "SO_RCVBUF of follower fetches.")
    .define("replica.fetch.max.bytes", Type.INT, 1048576, MEDIUM,
            "Bytes per partition that a follower asks for.", at_least(0))
    .define("replica.fetch.wait.max.ms", Type.INT, 500, HIGH,
            "How long a leader may hold a follower's fetch back.")
    .define("replica.fetch.backoff.ms", Type.INT, 1000, MEDIUM,
            "Pause of a follower after an error of a partition.", at_least(0))
    .define("replica.fetch.min.bytes", Type.INT, 1, HIGH,
            "Bytes that must be there before a follower's fetch is answered.")
    .define("replica.fetch.response.max.bytes", Type.INT, 10485760, MEDIUM,
            "Bytes of a whole answer to a follower.", at_least(0))
    .define("num.replica.fetchers", Type.INT, 1, HIGH,
            "Fetcher threads per source broker.")
    .define("replica.high.watermark.checkpoint.interval.ms", Type.LONG, 5000, HIGH,
            "How often replication-offset-checkpoint is written.")
    .define("fetch.purgatory.purge.interval.requests", Type.INT, 1000, MEDIUM,
            "Finished fetches that may stay in the purgatory before it is swept.")
    .define("producer.purgatory.purge.interval.requests", Type.INT, 1000, MEDIUM,
            "The same for produce requests.")
    .define("controller.socket.timeout.ms", Type.INT, 30000, MEDIUM,
            "Socket timeout from the controller to brokers.")
    .define("auto.leader.rebalance.enable", Type.BOOLEAN, True, HIGH,
            "Whether the controller gives leadership back to preferred replicas by itself.")
    .define("leader.imbalance.per.broker.percentage", Type.INT, 10, HIGH,
            "Share of a broker's partitions that others may lead before it does.")
    .define("leader.imbalance.check.interval.seconds", Type.LONG, 300, HIGH,
            "How often it looks.")
)
# fmt: on
