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
            "The Kafka version whose protocol brokers use among themselves. Raise it once every broker of the cluster "
            "is upgraded.")
    .define("unclean.leader.election.enable", Type.BOOLEAN, True, HIGH,
            "Whether a replica outside the ISR may become leader if no other is alive. Messages may be lost.")
    .define("replica.lag.time.max.ms", Type.LONG, 10000, HIGH,
            "A follower that has not caught up with the leader for this long is removed from the ISR.")
    .define("replica.socket.timeout.ms", Type.INT, 30000, HIGH,
            "The socket timeout of follower fetches. Must be at least replica.fetch.wait.max.ms.")
    .define("replica.socket.receive.buffer.bytes", Type.INT, 65536, HIGH,
            "SO_RCVBUF of follower fetches.")
    .define("replica.fetch.max.bytes", Type.INT, 1048576, MEDIUM,
            "The maximum bytes per partition in a follower's fetch.", at_least(0))
    .define("replica.fetch.wait.max.ms", Type.INT, 500, HIGH,
            "How long a leader may wait for replica.fetch.min.bytes before it responds to a follower.")
    .define("replica.fetch.backoff.ms", Type.INT, 1000, MEDIUM,
            "How long a follower waits after an error of a partition before it fetches it again.", at_least(0))
    .define("replica.fetch.min.bytes", Type.INT, 1, HIGH,
            "How many bytes a leader collects before it responds to a follower.")
    .define("replica.fetch.response.max.bytes", Type.INT, 10485760, MEDIUM,
            "The maximum bytes of a whole fetch response to a follower.", at_least(0))
    .define("replica.selector.class", Type.STRING, None, MEDIUM,
            "The class that selects the replica that a consumer reads from (KIP-392), a subclass of ReplicaSelector; "
            "org.apache.kafka.common.replica.RackAwareReplicaSelector is one in the consumer's client.rack. By "
            "default it is the leader.")
    .define("num.replica.fetchers", Type.INT, 1, HIGH,
            "The number of fetcher threads per source broker.")
    .define("replica.high.watermark.checkpoint.interval.ms", Type.LONG, 5000, HIGH,
            "How often replication-offset-checkpoint is written.")
    .define("fetch.purgatory.purge.interval.requests", Type.INT, 1000, MEDIUM,
            "How many completed fetches may stay in the purgatory before it is purged.")
    .define("producer.purgatory.purge.interval.requests", Type.INT, 1000, MEDIUM,
            "How many completed produce requests may stay in the purgatory before it is purged.")
    .define("controller.socket.timeout.ms", Type.INT, 30000, MEDIUM,
            "The socket timeout of the controller's connections to brokers.")
    .define("auto.leader.rebalance.enable", Type.BOOLEAN, True, HIGH,
            "Whether the controller moves leadership back to preferred replicas by itself.")
    .define("leader.imbalance.per.broker.percentage", Type.INT, 10, HIGH,
            "The percentage of a broker's partitions with a leader other than the preferred replica above which the "
            "controller rebalances.")
    .define("leader.imbalance.check.interval.seconds", Type.LONG, 300, HIGH,
            "How often the controller checks the imbalance of leaders.")
)
# fmt: on
