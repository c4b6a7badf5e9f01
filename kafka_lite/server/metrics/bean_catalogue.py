"""Every bean of a broker with its meaning. The reference page is generated from it; a test compares it with a broker.

Kafka 0.10.2: the section *Monitoring* of docs/ops.html · book 2.3
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_lite.coordinator.group.group_state import GroupState
from kafka_lite.network.metrics.selector_metrics import DESCRIPTIONS

GAUGE, METER, HISTOGRAM, TIMER = "gauge", "meter", "histogram", "timer"


@dataclass(frozen=True)
class BeanDeclaration:
    """One bean, or all beans that differ only in the values of ``tags``."""

    group: str
    type: str
    name: str
    kind: str
    """gauge, meter, histogram or timer; or the attributes if it is a bean of Kafka's own metrics library."""
    en: str
    zh: str
    tags: tuple[str, ...] = ()

    @property
    def pattern(self) -> str:
        """The bean's name with ``*`` for the values of tags."""
        name = f",name={self.name}" if self.name else ""
        return f"{self.group}:type={self.type}{name}{''.join(f',{tag}=*' for tag in self.tags)}"


def _topics(name: str, en: str, zh: str) -> list[BeanDeclaration]:
    of_topic = BeanDeclaration(
        "kafka.server", "BrokerTopicMetrics", name, METER, f"{en}, for one topic", f"{zh}（单个主题）", ("topic",)
    )
    return [BeanDeclaration("kafka.server", "BrokerTopicMetrics", name, METER, en, zh), of_topic]


def _request(name: str, kind: str, en: str, zh: str) -> BeanDeclaration:
    return BeanDeclaration("kafka.network", "RequestMetrics", name, kind, en, zh, ("request",))


def _server(type_name: str, name: str, kind: str, en: str, zh: str, *tags: str) -> BeanDeclaration:
    return BeanDeclaration("kafka.server", type_name, name, kind, en, zh, tags)


def _of_partition(group: str, type_name: str, name: str, en: str, zh: str) -> BeanDeclaration:
    return BeanDeclaration(group, type_name, name, GAUGE, en, zh, ("topic", "partition"))


def _session(event: str, en: str, zh: str) -> BeanDeclaration:
    return _server("SessionExpireListener", f"ZooKeeper{event}PerSec", METER, en, zh)


def _groups(name: str, en: str, zh: str) -> list[BeanDeclaration]:
    """The bean under its current name and its name in 0.10."""
    today = BeanDeclaration("kafka.coordinator.group", "GroupMetadataManager", name, GAUGE, en, zh)
    return [today, BeanDeclaration("kafka.coordinator", "GroupMetadataManager", name, GAUGE, en, zh)]


def _transactions(name: str, en: str, zh: str) -> BeanDeclaration:
    return BeanDeclaration("kafka.coordinator.transaction", "TransactionMarkerChannelManager", name, GAUGE, en, zh)


def _groups_in_states() -> list[BeanDeclaration]:
    return [
        BeanDeclaration(
            "kafka.coordinator.group",
            "GroupMetadataManager",
            f"NumGroups{state.value}",
            GAUGE,
            f"groups in the state {state.value}",
            f"处于 {state.value} 状态的消费组数",
        )
        for state in GroupState
    ]


BEANS: tuple[BeanDeclaration, ...] = (
    *_topics("MessagesInPerSec", "messages appended", "写入的消息数"),
    *_topics("BytesInPerSec", "bytes of record batches from producers", "生产者写入的字节数"),
    *_topics("BytesOutPerSec", "bytes of record batches in fetch responses", "拉取响应中的字节数"),
    *_topics("BytesRejectedPerSec", "bytes rejected for being too large", "因过大而被拒绝的字节数"),
    *_topics(
        "TotalProduceRequestsPerSec",
        "produce requests, counted once per partition",
        "生产请求数，每个分区计一次",
    ),
    *_topics("TotalFetchRequestsPerSec", "fetch requests, counted once per partition", "拉取请求数，每个分区计一次"),
    *_topics(
        "FailedProduceRequestsPerSec",
        "produce requests that failed with an unexpected error",
        "因意外原因失败的生产请求数",
    ),
    *_topics(
        "FailedFetchRequestsPerSec", "fetch requests that failed with an unexpected error", "因意外原因失败的拉取请求数"
    ),
    _request("RequestsPerSec", METER, "requests of one API", "某一种请求的数量"),
    _request("RequestQueueTimeMs", HISTOGRAM, "time waiting for a request handler", "等待请求处理线程的时间"),
    _request("LocalTimeMs", HISTOGRAM, "time in the request handler", "处理线程中的处理时间"),
    _request("RemoteTimeMs", HISTOGRAM, "time waiting in a purgatory", "在延迟缓存（purgatory）中等待的时间"),
    _request("ThrottleTimeMs", HISTOGRAM, "time throttled because of a quota", "因配额而被推迟的时间"),
    _request(
        "ResponseQueueTimeMs", HISTOGRAM, "time the response waits for the network thread", "响应等待网络线程的时间"
    ),
    _request("ResponseSendTimeMs", HISTOGRAM, "time to send the response", "发送响应的时间"),
    _request("TotalTimeMs", HISTOGRAM, "total time of all phases", "以上各阶段的总时间"),
    BeanDeclaration("kafka.network", "RequestChannel", "RequestQueueSize", GAUGE, "queued requests", "排队的请求数"),
    BeanDeclaration("kafka.network", "RequestChannel", "ResponseQueueSize", GAUGE, "queued responses", "排队的响应数"),
    BeanDeclaration(
        "kafka.network",
        "RequestChannel",
        "ResponseQueueSize",
        GAUGE,
        "queued responses of one network thread",
        "单个网络线程排队的响应数",
        ("processor",),
    ),
    BeanDeclaration(
        "kafka.network",
        "Processor",
        "IdlePercent",
        GAUGE,
        "share of time (0 to 1) that a network thread is idle; low during the first half minute, as in Kafka",
        "网络线程空闲时间的比例（0 到 1）；启动后的头半分钟偏低，与 Kafka 相同",
        ("networkProcessor",),
    ),
    BeanDeclaration(
        "kafka.network",
        "SocketServer",
        "NetworkProcessorAvgIdlePercent",
        GAUGE,
        "mean of IdlePercent over all network threads",
        "上一项的平均值",
    ),
    _server(
        "socket-server-metrics",
        "",
        ", ".join(DESCRIPTIONS | {"connection-count": ""}),
        "connections and bytes of one network thread; here a *request* is a frame written, a *response* a frame read",
        "单个网络线程的连接与字节数；这里的 request 指写出的帧，response 指读入的帧",
        "networkProcessor",
    ),
    _server(
        "KafkaRequestHandlerPool",
        "RequestHandlerAvgIdlePercent",
        METER,
        "share of time (0 to 1, see the rates) that request handlers are idle. They do not handle quick requests, "
        "see `inline.quick.requests`",
        "请求处理线程空闲时间的比例（0 到 1，看各个速率）。快速请求不经过它们，见 `inline.quick.requests`",
    ),
    _server(
        "DelayedOperationPurgatory",
        "NumDelayedOperations",
        GAUGE,
        "waiting operations",
        "等待中的延迟操作数",
        "delayedOperation",
    ),
    _server(
        "DelayedOperationPurgatory",
        "PurgatorySize",
        GAUGE,
        "entries in the watch lists, including completed operations that are not purged yet",
        "监听列表中的条目数，包括尚未清理的已完成操作",
        "delayedOperation",
    ),
    _server(
        "DelayedFetchMetrics",
        "ExpiresPerSec",
        METER,
        "fetches that waited for the client's whole maximum wait time",
        "等满客户端所给时间的拉取请求数",
        "fetcherType",
    ),
    _server(
        "DelayedProduceMetrics", "ExpiresPerSec", METER, "partitions not replicated in time", "未能及时复制的分区数"
    ),
    _server(
        "LeaderReplication",
        "",
        "byte-rate",
        "bytes per second sent to throttled followers",
        "每秒发给受限从副本的字节数",
    ),
    _server(
        "FollowerReplication",
        "",
        "byte-rate",
        "bytes per second fetched for throttled replicas",
        "每秒为受限副本拉取的字节数",
    ),
    _server(
        "AlterLogDirsReplication",
        "",
        "byte-rate",
        "bytes per second copied between log directories",
        "每秒在日志目录之间复制的字节数",
    ),
    _server("FetchSessionCache", "NumIncrementalFetchSessions", GAUGE, "incremental fetch sessions", "增量拉取会话数"),
    _server(
        "FetchSessionCache",
        "NumIncrementalFetchPartitionsCached",
        GAUGE,
        "partitions in all incremental fetch sessions",
        "所有增量拉取会话中的分区数",
    ),
    _server(
        "FetchSessionCache",
        "IncrementalFetchSessionEvictionsPerSec",
        METER,
        "fetch sessions evicted to make room for others",
        "为给其他会话腾出位置而被驱逐的拉取会话数",
    ),
    _server(
        "DelayedProduceMetrics",
        "ExpiresPerSec",
        METER,
        "the same for one partition, once it has happened",
        "单个分区的同一指标，首次发生后才出现",
        "topic",
        "partition",
    ),
    _server(
        "ReplicaManager", "LeaderCount", GAUGE, "partitions that this broker leads", "本 broker 作为主副本的分区数"
    ),
    _server("ReplicaManager", "PartitionCount", GAUGE, "partitions on this broker", "本 broker 上的分区数"),
    _server(
        "ReplicaManager",
        "UnderReplicatedPartitions",
        GAUGE,
        "partitions led by this broker with a replica that is not in sync; should be 0",
        "有副本不同步的分区数（主副本在本 broker），应为 0",
    ),
    _server(
        "ReplicaManager",
        "PartitionsWithLateTransactionsCount",
        GAUGE,
        "partitions led by this broker with a transaction that is open for longer than any may be; should be 0. "
        "`kafka-lite transactions find-hanging` finds it, `abort` ends it",
        "主副本在本 broker、且有事务超过最长时限仍未结束的分区数，应为 0。"
        "用 `kafka-lite transactions find-hanging` 查找，用 `abort` 结束",
    ),
    _server("ReplicaManager", "IsrShrinksPerSec", METER, "times an ISR shrank", "ISR 收缩次数"),
    _server("ReplicaManager", "IsrExpandsPerSec", METER, "times an ISR grew", "ISR 扩张次数"),
    _server(
        "ReplicaFetcherManager",
        "MaxLag",
        GAUGE,
        "records that this broker's followers lack of their leaders' high watermarks, at most",
        "本 broker 上的备份副本落后主副本高水位的最大消息数",
        "clientId",
    ),
    _server(
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
    *_groups("NumGroups", "groups that this broker coordinates", "本 broker 协调的消费组数"),
    *_groups("NumOffsets", "committed offsets of these groups", "这些消费组已提交的偏移量数"),
    *_groups_in_states(),
    _server(
        "group-coordinator-metrics",
        "",
        "offset-commit-rate, offset-commit-count, offset-expiration-rate, offset-expiration-count, "
        "offset-deletion-rate, offset-deletion-count, group-completed-rebalance-rate, "
        "group-completed-rebalance-count, partition-load-time-max, partition-load-time-avg",
        "commits, expired and deleted offsets, rebalances with a completed assignment, and the time to load a "
        "partition of `__consumer_offsets` in ms",
        "提交次数、过期和被删除的偏移量、已完成分配的再平衡，以及加载 `__consumer_offsets` 一个分区的毫秒数",
    ),
    _transactions(
        "UnknownDestinationQueueSize",
        "transactions with markers for partitions that have no leader",
        "有分区没有主副本、标记写不出去的事务数",
    ),
    _transactions(
        "LogAppendRetryQueueSize",
        "transactions with all their markers, whose end could not be appended to `__transaction_state` yet",
        "标记已写完、但结束状态还没能追加到 `__transaction_state` 的事务数",
    ),
    _server(
        "AddPartitionsToTxnManager",
        "VerificationFailureRate",
        METER,
        "partitions that could not be verified as part of a transaction before its first batch was appended",
        "追加事务的第一个批次之前，未能验证属于该事务的分区数",
    ),
    _server(
        "AddPartitionsToTxnManager",
        "VerificationTimeMs",
        HISTOGRAM,
        "time to verify the partitions of a request with the transaction coordinator",
        "向事务协调者验证一个请求的分区所用的时间",
    ),
    _server(
        "transaction-coordinator-metrics",
        "",
        "partition-load-time-max, partition-load-time-avg",
        "the time to load a partition of `__transaction_state` in ms",
        "加载 `__transaction_state` 一个分区的毫秒数",
    ),
    _session("Disconnects", "lost connections to ZooKeeper", "与 ZooKeeper 断开的次数"),
    _session("SyncConnects", "reconnections", "重新连接的次数"),
    _session("Expires", "expired sessions", "会话过期的次数"),
    _session("AuthFailures", "failed authentications", "认证失败的次数"),
    _session("ReadOnlyConnects", "connections to a read-only server", "连接到只读服务器的次数"),
    _session("SaslAuthentications", "SASL authentications", "SASL 认证的次数"),
    _server(
        "KafkaServer",
        "BrokerState",
        GAUGE,
        "0 not running, 1 starting, 2 recovering, 3 running, 7 shutting down",
        "0 未运行，1 启动中，2 恢复中，3 运行，7 关闭中",
    ),
    _server("KafkaServer", "ClusterId", GAUGE, "id of the cluster", "集群的编号"),
    _server(
        "KafkaServer",
        "yammer-metrics-count",
        GAUGE,
        "number of metrics of the broker's classes",
        "broker 各个类的指标总数",
    ),
    _server(
        "kafka-metrics-count",
        "",
        "count",
        "number of metrics of Kafka's own metrics library",
        "Kafka 自带指标库的指标总数",
    ),
    _server("app-info", "", "Version, CommitId", "version of the software", "软件版本", "id"),
    BeanDeclaration(
        "kafka",
        "kafka.Log4jController",
        "",
        "Loggers",
        "loggers of the process, each as `name=LEVEL`",
        "进程中的日志器，每个为 `name=LEVEL`",
    ),
)
"""All declarations. Beans of client quotas follow with that part."""
