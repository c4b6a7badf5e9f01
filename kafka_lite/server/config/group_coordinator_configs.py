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
            "The shortest session timeout that a member may request.")
    .define("group.max.session.timeout.ms", Type.INT, 300000, MEDIUM,
            "The longest session timeout that a member may request.")
    .define("group.initial.rebalance.delay.ms", Type.INT, 0, MEDIUM,
            "How long the first rebalance of an empty group waits for more members (since Kafka 0.11).", at_least(0))
    .define("group.max.size", Type.INT, 2147483647, MEDIUM,
            "The maximum number of members of a group (since Kafka 2.2).", at_least(1))
    .define("offset.metadata.max.bytes", Type.INT, 4096, HIGH,
            "The maximum size of the metadata of an offset commit.")
    .define("offsets.load.buffer.size", Type.INT, 5242880, HIGH,
            "How many bytes to read at a time when a coordinator loads a partition of "
            "`__consumer_offsets`.", at_least(1))
    .define("offsets.topic.num.partitions", Type.INT, 50, HIGH,
            "The number of partitions of `__consumer_offsets`. Must not be changed later.", at_least(1))
    .define("offsets.topic.replication.factor", Type.SHORT, 3, HIGH,
            "The number of replicas of `__consumer_offsets`; fewer if fewer brokers are alive when it "
            "is created.", at_least(1))
    .define("offsets.topic.segment.bytes", Type.INT, 104857600, HIGH,
            "The segment size of `__consumer_offsets`. Small, so that it compacts and loads quickly.", at_least(1))
    .define("offsets.topic.compression.codec", Type.INT, 0, HIGH,
            "The codec of offset commits: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.", Range.between(0, 4))
    .define("offsets.retention.minutes", Type.INT, 1440, HIGH,
            "How long a committed offset is kept.", at_least(1))
    .define("offsets.retention.check.interval.ms", Type.LONG, 600000, HIGH,
            "How often to look for expired offsets.", at_least(1))
    .define("offsets.commit.timeout.ms", Type.INT, 5000, HIGH,
            "How long a commit waits for the replicas of its partition.", at_least(1))
    .define("offsets.commit.required.acks", Type.SHORT, -1, HIGH,
            "The acks with which commits are appended. Should stay -1 (all).")
    .define("transactional.id.expiration.ms", Type.INT, 604800000, HIGH,
            "How long an idle transactional id is kept (since Kafka 0.11).", at_least(1))
    .define("transaction.max.timeout.ms", Type.INT, 900000, HIGH,
            "The longest transaction timeout that a producer may request (since Kafka 0.11).", at_least(1))
    .define("transaction.partition.verification.enable", Type.BOOLEAN, True, LOW,
            "Whether a partition's leader asks the transaction coordinator before it appends a transaction's first "
            "batch, so that late batches cannot begin transactions that never end (since Kafka 3.6).")
    .define("transaction.state.log.min.isr", Type.INT, 2, HIGH,
            "min.insync.replicas of `__transaction_state` (since Kafka 0.11).", at_least(1))
    .define("transaction.state.log.load.buffer.size", Type.INT, 5242880, HIGH,
            "How many bytes to read at a time when a coordinator loads a partition of `__transaction_state` (since "
            "Kafka 0.11).", at_least(1))
    .define("transaction.state.log.replication.factor", Type.SHORT, 3, HIGH,
            "The number of replicas of `__transaction_state` (since Kafka 0.11).", at_least(1))
    .define("transaction.state.log.num.partitions", Type.INT, 50, HIGH,
            "The number of partitions of `__transaction_state`. Must not be changed later (since Kafka "
            "0.11).", at_least(1))
    .define("transaction.state.log.segment.bytes", Type.INT, 104857600, HIGH,
            "The segment size of `__transaction_state` (since Kafka 0.11).", at_least(1))
    .define("transaction.abort.timed.out.transaction.cleanup.interval.ms", Type.INT, 10000, LOW,
            "How often to abort transactions that have timed out (since Kafka 0.11).", at_least(1))
    .define("transaction.remove.expired.transaction.cleanup.interval.ms", Type.INT, 3600000, LOW,
            "How often to remove expired transactional ids (since Kafka 0.11).", at_least(1))
)
# fmt: on
