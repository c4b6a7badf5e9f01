"""Every bean of a broker with its meaning. The reference page is generated from it; a test compares it with a broker.

Kafka 0.10.2: the section *Monitoring* of docs/ops.html · book 2.3
"""

from __future__ import annotations

from kafka_lite.server.metrics.bean_declaration import GAUGE, METER, TIMER, BeanDeclaration, server_bean
from kafka_lite.server.metrics.coordinator_beans import COORDINATOR_BEANS
from kafka_lite.server.metrics.quota_beans import QUOTA_BEANS
from kafka_lite.server.metrics.request_beans import REQUEST_BEANS


def _of_partition(group: str, type_name: str, name: str, en: str, zh: str) -> BeanDeclaration:
    return BeanDeclaration(group, type_name, name, GAUGE, en, zh, ("topic", "partition"))


def _session(event: str, en: str, zh: str) -> BeanDeclaration:
    return server_bean("SessionExpireListener", f"ZooKeeper{event}PerSec", METER, en, zh)


_REPLICAS: tuple[BeanDeclaration, ...] = (
    server_bean(
        "ReplicaManager", "LeaderCount", GAUGE, "partitions that this broker leads", "本 broker 作为主副本的分区数"
    ),
    server_bean("ReplicaManager", "PartitionCount", GAUGE, "partitions on this broker", "本 broker 上的分区数"),
    server_bean(
        "ReplicaManager",
        "UnderReplicatedPartitions",
        GAUGE,
        "partitions led by this broker with a replica that is not in sync; should be 0",
        "有副本不同步的分区数（主副本在本 broker），应为 0",
    ),
    server_bean(
        "ReplicaManager",
        "PartitionsWithLateTransactionsCount",
        GAUGE,
        "partitions led by this broker with a transaction that is open for longer than any may be; should be 0. "
        "`kafka-lite transactions find-hanging` finds it, `abort` ends it",
        "主副本在本 broker、且有事务超过最长时限仍未结束的分区数，应为 0。"
        "用 `kafka-lite transactions find-hanging` 查找，用 `abort` 结束",
    ),
    server_bean("ReplicaManager", "IsrShrinksPerSec", METER, "times an ISR shrank", "ISR 收缩次数"),
    server_bean("ReplicaManager", "IsrExpandsPerSec", METER, "times an ISR grew", "ISR 扩张次数"),
    server_bean(
        "ReplicaFetcherManager",
        "MaxLag",
        GAUGE,
        "records that this broker's followers lack of their leaders' high watermarks, at most",
        "本 broker 上的备份副本落后主副本高水位的最大消息数",
        "clientId",
    ),
    server_bean(
        "ReplicaFetcherManager",
        "MinFetchRate",
        GAUGE,
        "requests per second of the slowest fetcher thread",
        "最慢的拉取线程每秒的请求数",
        "clientId",
    ),
    _of_partition(
        "kafka.cluster",
        "Partition",
        "InSyncReplicasCount",
        "in-sync replicas; 0 unless this broker leads the partition",
        "同步副本数；主副本不在本 broker 时为 0",
    ),
    _of_partition(
        "kafka.cluster",
        "Partition",
        "ReplicasCount",
        "replicas; 0 unless this broker leads the partition",
        "副本数；主副本不在本 broker 时为 0",
    ),
    _of_partition(
        "kafka.cluster",
        "Partition",
        "UnderReplicated",
        "1 if this broker leads the partition and a replica is not in sync",
        "主副本在本 broker 且有副本不同步时为 1",
    ),
)
_LOGS: tuple[BeanDeclaration, ...] = (
    _of_partition("kafka.log", "Log", "LogStartOffset", "log start offset", "保留的第一个偏移量"),
    _of_partition("kafka.log", "Log", "LogEndOffset", "offset of the next message", "下一条消息的偏移量"),
    _of_partition("kafka.log", "Log", "NumLogSegments", "segments", "日志分段数"),
    _of_partition(
        "kafka.log", "Log", "Size", "size of all segments in bytes, without indexes", "全部分段的字节数，不含索引"
    ),
    BeanDeclaration(
        "kafka.log",
        "LogFlushStats",
        "LogFlushRateAndTimeMs",
        TIMER,
        "flushes of segments to disk",
        "分段刷盘的次数与用时",
    ),
    BeanDeclaration(
        "kafka.log",
        "LogCleaner",
        "cleaner-recopy-percent",
        GAUGE,
        "percentage of the bytes read by the last cleanings that they wrote again",
        "最近几次清理重写的数据占读取数据的百分比",
    ),
    BeanDeclaration(
        "kafka.log",
        "LogCleaner",
        "max-buffer-utilization-percent",
        GAUGE,
        "highest utilization of an offset map",
        "偏移量映射的最高使用率",
    ),
    BeanDeclaration(
        "kafka.log",
        "LogCleaner",
        "max-clean-time-secs",
        GAUGE,
        "longest of the last cleanings",
        "最近几次清理中最长的用时",
    ),
    BeanDeclaration(
        "kafka.log",
        "LogCleanerManager",
        "max-dirty-percent",
        GAUGE,
        "dirty percentage of the dirtiest log",
        "最脏日志中未清理部分的百分比",
    ),
    BeanDeclaration(
        "kafka.log",
        "LogCleanerManager",
        "time-since-last-run-ms",
        GAUGE,
        "time since a cleaner thread last looked for work",
        "清理线程上次寻找任务至今的时间",
    ),
    BeanDeclaration(
        "kafka.utils",
        "Throttler",
        "cleaner-io",
        METER,
        "bytes read and written by the cleaner",
        "清理线程读写的字节数",
    ),
)
_CONTROLLER: tuple[BeanDeclaration, ...] = (
    BeanDeclaration(
        "kafka.controller",
        "KafkaController",
        "ActiveControllerCount",
        GAUGE,
        "1 on the controller; the sum over all brokers should be 1",
        "本 broker 是控制器时为 1；整个集群之和应为 1",
    ),
    BeanDeclaration(
        "kafka.controller",
        "KafkaController",
        "OfflinePartitionsCount",
        GAUGE,
        "partitions without a leader",
        "没有主副本的分区数",
    ),
    BeanDeclaration(
        "kafka.controller",
        "KafkaController",
        "PreferredReplicaImbalanceCount",
        GAUGE,
        "partitions not led by their preferred replica",
        "主副本不是首选副本的分区数",
    ),
    BeanDeclaration(
        "kafka.controller",
        "ControllerStats",
        "LeaderElectionRateAndTimeMs",
        TIMER,
        "elections after a change of the live brokers",
        "存活 broker 变化引起的选举次数与用时",
    ),
    BeanDeclaration(
        "kafka.controller",
        "ControllerStats",
        "UncleanLeaderElectionsPerSec",
        METER,
        "elections that may lose messages",
        "可能丢失消息的选举次数",
    ),
)
CLIENT_TELEMETRY = BeanDeclaration(
    "kafka.client",
    "client-telemetry",
    "",
    "one attribute for each metric",
    "metrics that a client has pushed; there are none without a subscription: `kafka-lite client-metrics`",
    "客户端推送的指标；没有订阅就没有：`kafka-lite client-metrics`",
    ("client_id", "client_software_name", "client_software_version", "client_source_address", "client_instance_id"),
)
_BROKER: tuple[BeanDeclaration, ...] = (
    _session("Disconnects", "lost connections to ZooKeeper", "与 ZooKeeper 断开的次数"),
    _session("SyncConnects", "reconnections", "重新连接的次数"),
    _session("Expires", "expired sessions", "会话过期的次数"),
    _session("AuthFailures", "failed authentications", "认证失败的次数"),
    _session("ReadOnlyConnects", "connections to a read-only server", "连接到只读服务器的次数"),
    _session("SaslAuthentications", "SASL authentications", "SASL 认证的次数"),
    server_bean(
        "KafkaServer",
        "BrokerState",
        GAUGE,
        "0 not running, 1 starting, 2 recovering, 3 running, 7 shutting down",
        "0 未运行，1 启动中，2 恢复中，3 运行，7 关闭中",
    ),
    server_bean("KafkaServer", "ClusterId", GAUGE, "id of the cluster", "集群的编号"),
    server_bean(
        "KafkaServer",
        "yammer-metrics-count",
        GAUGE,
        "number of metrics of the broker's classes",
        "broker 各个类的指标总数",
    ),
    server_bean(
        "client-metrics",
        "",
        "instance-count, unknown-subscription-request-count",
        "clients that have asked which metrics to push (KIP-714), and pushes of those whose subscription had changed",
        "询问过要推送哪些指标的客户端数（KIP-714），以及订阅已变时的推送次数",
    ),
    CLIENT_TELEMETRY,
    server_bean(
        "kafka-metrics-count",
        "",
        "count",
        "number of metrics of Kafka's own metrics library",
        "Kafka 自带指标库的指标总数",
    ),
    server_bean("app-info", "", "Version, CommitId", "version of the software", "软件版本", "id"),
    BeanDeclaration(
        "kafka",
        "kafka.Log4jController",
        "",
        "Loggers",
        "loggers of the process, each as `name=LEVEL`",
        "进程中的日志器，每个为 `name=LEVEL`",
    ),
)

BEANS: tuple[BeanDeclaration, ...] = (
    *REQUEST_BEANS, *QUOTA_BEANS, *_REPLICAS, *_LOGS, *_CONTROLLER, *COORDINATOR_BEANS, *_BROKER,
)  # fmt: skip
"""All declarations."""
