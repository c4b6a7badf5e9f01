"""Keys about consumer groups, their offsets, and transactions.

Kafka 0.10.2: core/.../server/KafkaConfig.scala (group coordinator; transactions: 0.11) · book 5.2.1
"""

from kafka_lite.common.config_def import ConfigDef, Importance, Range, Type

at_least = Range.at_least
HIGH, MEDIUM, LOW = Importance

# A table: one key, its kind on the first line, its meaning on the second.
# fmt: off
GROUP_COORDINATOR_CONFIGS = (
    ConfigDef()
    .define("group.min.session.timeout.ms", Type.INT, 6000, MEDIUM,
            "The shortest session timeout that a member may ask for.")
    .define("group.max.session.timeout.ms", Type.INT, 300000, MEDIUM,
            "The longest.")
    .define("group.initial.rebalance.delay.ms", Type.INT, 0, MEDIUM,
            "How long the first rebalance of an empty group waits for more members (since Kafka 0.11).", at_least(0))
    .define("group.max.size", Type.INT, 2147483647, MEDIUM,
            "Members of one group at most (since Kafka 2.2).", at_least(1))
    .define("offset.metadata.max.bytes", Type.INT, 4096, HIGH,
            "The longest note that may come with an offset commit.")
    .define("offsets.load.buffer.size", Type.INT, 5242880, HIGH,
            "Bytes read at a time while a coordinator loads its partition.", at_least(1))
    .define("offsets.topic.num.partitions", Type.INT, 50, HIGH,
            "Partitions of `__consumer_offsets`; not to be changed later.", at_least(1))
    .define("offsets.topic.replication.factor", Type.SHORT, 3, HIGH,
            "Replicas of `__consumer_offsets`; fewer when fewer brokers are alive at its creation.", at_least(1))
    .define("offsets.topic.segment.bytes", Type.INT, 104857600, HIGH,
            "Segment size of `__consumer_offsets`: small, so that it compacts and loads quickly.", at_least(1))
    .define("offsets.topic.compression.codec", Type.INT, 0, HIGH,
            "Codec of offset commits: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.", Range.between(0, 4))
    .define("offsets.retention.minutes", Type.INT, 1440, HIGH,
            "How long a committed offset is remembered.", at_least(1))
    .define("offsets.retention.check.interval.ms", Type.LONG, 600000, HIGH,
            "How often to look for offsets to forget.", at_least(1))
    .define("offsets.commit.timeout.ms", Type.INT, 5000, HIGH,
            "How long a commit waits for the replicas of its partition.", at_least(1))
    .define("offsets.commit.required.acks", Type.SHORT, -1, HIGH,
            "acks of the append that a commit is; -1 (all) should stay.")
    .define("transactional.id.expiration.ms", Type.INT, 604800000, HIGH,
            "How long an idle transactional id is remembered (since Kafka 0.11).", at_least(1))
    .define("transaction.max.timeout.ms", Type.INT, 900000, HIGH,
            "The longest transaction timeout that a producer may ask for (since Kafka 0.11).", at_least(1))
    .define("transaction.state.log.min.isr", Type.INT, 2, HIGH,
            "min.insync.replicas of `__transaction_state` (since Kafka 0.11).", at_least(1))
    .define("transaction.state.log.load.buffer.size", Type.INT, 5242880, HIGH,
            "Bytes read at a time while a coordinator loads its partition (since Kafka 0.11).", at_least(1))
    .define("transaction.state.log.replication.factor", Type.SHORT, 3, HIGH,
            "Replicas of `__transaction_state` (since Kafka 0.11).", at_least(1))
    .define("transaction.state.log.num.partitions", Type.INT, 50, HIGH,
            "Partitions of `__transaction_state`; not to be changed later (since Kafka 0.11).", at_least(1))
    .define("transaction.state.log.segment.bytes", Type.INT, 104857600, HIGH,
            "Segment size of `__transaction_state` (since Kafka 0.11).", at_least(1))
    .define("transaction.abort.timed.out.transaction.cleanup.interval.ms", Type.INT, 10000, LOW,
            "How often to abort transactions that took too long (since Kafka 0.11).", at_least(1))
    .define("transaction.remove.expired.transaction.cleanup.interval.ms", Type.INT, 3600000, LOW,
            "How often to forget expired transactional ids (since Kafka 0.11).", at_least(1))
)
# fmt: on
