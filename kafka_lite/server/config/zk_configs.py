"""Keys about ZooKeeper.

Kafka 0.10.2: core/.../server/KafkaConfig.scala (ZooKeeper) · book 7.1.1
"""

from kafka_lite.common.config_def import NO_DEFAULT, NON_EMPTY, ConfigDef, Importance, Range, Type
from kafka_lite.security.ssl.zookeeper_ssl import ZK_SSL_CONFIGS

HIGH, MEDIUM, LOW = Importance

# A table: one key, its kind on the first line, its meaning on the second.
# fmt: off
ZK_CONFIGS = (
    ConfigDef()
    .define("zookeeper.connect", Type.STRING, NO_DEFAULT, HIGH,
            "ZooKeeper's servers: `host:port,host:port`, optionally followed by a `/path` below which the cluster "
            "keeps everything; or `embedded`: the broker runs a ZooKeeper server in its own process.", NON_EMPTY)
    .define("zookeeper.embedded.port", Type.INT, 0, LOW,
            "The port of the embedded ZooKeeper on 127.0.0.1. 0: any free port; -1: 2181, or any free port if that is "
            "in use.",
            Range.between(-1, 65535))
    .define("zookeeper.embedded.dir", Type.STRING, None, LOW,
            "Where the embedded ZooKeeper keeps its transaction log and snapshots. Not set: the path of the first log "
            "directory with `-zookeeper` appended.")
    .define("zookeeper.session.timeout.ms", Type.INT, 6000, HIGH,
            "How long ZooKeeper waits for a heartbeat before it considers the broker dead.")
    .define("zookeeper.connection.timeout.ms", Type.INT, None, HIGH,
            "How long to wait for ZooKeeper at startup. Not set: zookeeper.session.timeout.ms.")
    .define("zookeeper.sync.time.ms", Type.INT, 2000, LOW,
            "How far a ZooKeeper follower may lag behind its leader.")
    .define("zookeeper.set.acl", Type.BOOLEAN, False, HIGH,
            "Whether only brokers may write znodes, and read those with secrets. Needs a user: the section `Client` in "
            "the JAAS login file that `KAFKA_OPTS` names, or a certificate in `zookeeper.ssl.keystore.location`.")
    .include(ZK_SSL_CONFIGS)
)
# fmt: on
