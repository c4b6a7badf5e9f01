"""Keys about ZooKeeper.

Kafka 0.10.2: core/.../server/KafkaConfig.scala (ZooKeeper) · book 7.1.1
"""

from kafka_lite.common.config_def import NO_DEFAULT, NON_EMPTY, ConfigDef, Importance, Range, Type

HIGH, MEDIUM, LOW = Importance

# A table: one key, its kind on the first line, its meaning on the second.
# fmt: off
ZK_CONFIGS = (
    ConfigDef()
    .define("zookeeper.connect", Type.STRING, NO_DEFAULT, HIGH,
            "Where ZooKeeper is: `host:port,host:port`, perhaps followed by `/path` under which everything of "
            "this cluster lies; or `embedded`: the broker starts a ZooKeeper server in its own process.", NON_EMPTY)
    .define("zookeeper.embedded.port", Type.INT, 0, LOW,
            "Port of the embedded ZooKeeper on 127.0.0.1; 0 lets the kernel choose, and so does -1 if 2181 is in use.",
            Range.between(-1, 65535))
    .define("zookeeper.embedded.dir", Type.STRING, None, LOW,
            "Where the embedded ZooKeeper keeps its transaction log and snapshots. Not set: beside the first log "
            "directory, under its name with `-zookeeper` behind it.")
    .define("zookeeper.session.timeout.ms", Type.INT, 6000, HIGH,
            "After this long without a sign of life ZooKeeper takes the broker for dead.")
    .define("zookeeper.connection.timeout.ms", Type.INT, None, HIGH,
            "How long to wait for the first connection. Not set: zookeeper.session.timeout.ms.")
    .define("zookeeper.sync.time.ms", Type.INT, 2000, LOW,
            "How far a ZooKeeper follower may be behind its leader.")
    .define("zookeeper.set.acl", Type.BOOLEAN, False, HIGH,
            "Whether znodes may be written by brokers only; needs an authenticated ZooKeeper session.")
)
# fmt: on
