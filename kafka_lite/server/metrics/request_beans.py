"""The beans of a broker about requests: their records and bytes, phases, threads, queues, quotas and fetch sessions.

Kafka 0.10.2: the section *Monitoring* of docs/ops.html · book 2.3
"""

from __future__ import annotations

from kafka_lite.network.metrics.selector_metrics import DESCRIPTIONS
from kafka_lite.server.metrics.bean_declaration import GAUGE, HISTOGRAM, METER, BeanDeclaration, server_bean


def _topics(name: str, en: str, zh: str) -> list[BeanDeclaration]:
    of_topic = BeanDeclaration(
        "kafka.server", "BrokerTopicMetrics", name, METER, f"{en}, for one topic", f"{zh}（单个主题）", ("topic",)
    )
    return [BeanDeclaration("kafka.server", "BrokerTopicMetrics", name, METER, en, zh), of_topic]


def _request(name: str, kind: str, en: str, zh: str) -> BeanDeclaration:
    return BeanDeclaration("kafka.network", "RequestMetrics", name, kind, en, zh, ("request",))


REQUEST_BEANS: tuple[BeanDeclaration, ...] = (
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
    server_bean(
        "socket-server-metrics",
        "",
        ", ".join(DESCRIPTIONS | {"connection-count": ""}),
        "connections and bytes of one network thread; here a *request* is a frame written, a *response* a frame read",
        "单个网络线程的连接与字节数；这里的 request 指写出的帧，response 指读入的帧",
        "networkProcessor",
    ),
    server_bean(
        "KafkaRequestHandlerPool",
        "RequestHandlerAvgIdlePercent",
        METER,
        "share of time (0 to 1, see the rates) that request handlers are idle. They do not handle quick requests, "
        "see `inline.quick.requests`",
        "请求处理线程空闲时间的比例（0 到 1，看各个速率）。快速请求不经过它们，见 `inline.quick.requests`",
    ),
    server_bean(
        "DelayedOperationPurgatory",
        "NumDelayedOperations",
        GAUGE,
        "waiting operations",
        "等待中的延迟操作数",
        "delayedOperation",
    ),
    server_bean(
        "DelayedOperationPurgatory",
        "PurgatorySize",
        GAUGE,
        "entries in the watch lists, including completed operations that are not purged yet",
        "监听列表中的条目数，包括尚未清理的已完成操作",
        "delayedOperation",
    ),
    server_bean(
        "DelayedFetchMetrics",
        "ExpiresPerSec",
        METER,
        "fetches that waited for the client's whole maximum wait time",
        "等满客户端所给时间的拉取请求数",
        "fetcherType",
    ),
    server_bean(
        "DelayedProduceMetrics", "ExpiresPerSec", METER, "partitions not replicated in time", "未能及时复制的分区数"
    ),
    server_bean(
        "LeaderReplication",
        "",
        "byte-rate",
        "bytes per second sent to throttled followers",
        "每秒发给受限从副本的字节数",
    ),
    server_bean(
        "FollowerReplication",
        "",
        "byte-rate",
        "bytes per second fetched for throttled replicas",
        "每秒为受限副本拉取的字节数",
    ),
    server_bean(
        "AlterLogDirsReplication",
        "",
        "byte-rate",
        "bytes per second copied between log directories",
        "每秒在日志目录之间复制的字节数",
    ),
    server_bean(
        "FetchSessionCache", "NumIncrementalFetchSessions", GAUGE, "incremental fetch sessions", "增量拉取会话数"
    ),
    server_bean(
        "FetchSessionCache",
        "NumIncrementalFetchPartitionsCached",
        GAUGE,
        "partitions in all incremental fetch sessions",
        "所有增量拉取会话中的分区数",
    ),
    server_bean(
        "FetchSessionCache",
        "IncrementalFetchSessionEvictionsPerSec",
        METER,
        "fetch sessions evicted to make room for others",
        "为给其他会话腾出位置而被驱逐的拉取会话数",
    ),
    server_bean("ShareSessionCache", "ShareSessionsCount", GAUGE, "share sessions", "共享会话数"),
    server_bean(
        "ShareSessionCache", "SharePartitionsCount", GAUGE, "partitions in all share sessions", "所有共享会话中的分区数"
    ),
    server_bean(
        "ShareSessionCache",
        "ShareSessionEvictionsPerSec",
        METER,
        "share sessions that ended with their connections",
        "随连接断开而结束的共享会话数",
    ),
    server_bean(
        "ShareGroupMetrics",
        "RecordAcknowledgementsPerSec",
        METER,
        "records that members of share groups accepted, released or rejected",
        "共享组成员接受、释放或拒绝的消息数",
        "ackType",
    ),
    server_bean(
        "ShareGroupMetrics",
        "PartitionLoadTimeMs",
        HISTOGRAM,
        "how long the persister took to return the state of a partition",
        "持久化组件返回一个分区状态所用的时间",
    ),
    server_bean(
        "ShareGroupMetrics",
        "RequestTopicPartitionsFetchRatio",
        HISTOGRAM,
        "percent of the partitions of a share fetch that it could read",
        "共享拉取请求中能够读取的分区所占百分比",
        "group",
    ),
    server_bean(
        "ShareGroupMetrics",
        "TopicPartitionsAcquireTimeMs",
        HISTOGRAM,
        "how long a share fetch waited for partitions that no other one reads",
        "共享拉取请求等待没有被其他请求读取的分区所用的时间",
        "group",
    ),
    server_bean(
        "SharePartitionMetrics",
        "InFlightMessageCount",
        GAUGE,
        "records in flight",
        "在途的消息数",
        "group",
        "topic",
        "partition",
    ),
    server_bean(
        "SharePartitionMetrics",
        "InFlightBatchCount",
        GAUGE,
        "batches in flight",
        "在途的批次数",
        "group",
        "topic",
        "partition",
    ),
    server_bean(
        "SharePartitionMetrics",
        "InFlightBatchMessageCount",
        HISTOGRAM,
        "records of a batch that was acquired",
        "每次获取的批次中的消息数",
        "group",
        "topic",
        "partition",
    ),
    server_bean(
        "SharePartitionMetrics",
        "AcquisitionLockTimeoutPerSec",
        METER,
        "records that a member had not acknowledged in time",
        "成员没有按时确认的消息数",
        "group",
        "topic",
        "partition",
    ),
    server_bean(
        "SharePartitionMetrics",
        "FetchLockTimeMs",
        HISTOGRAM,
        "how long a fetch had the partition to itself",
        "一次拉取独占分区的时间",
        "group",
        "topic",
        "partition",
    ),
    server_bean(
        "SharePartitionMetrics",
        "FetchLockRatio",
        HISTOGRAM,
        "that time in percent of the time since the fetch before",
        "这段时间占上次拉取以来时间的百分比",
        "group",
        "topic",
        "partition",
    ),
    server_bean(
        "DelayedShareFetchMetrics",
        "ExpiresPerSec",
        METER,
        "share fetches that waited for the client's whole maximum wait time",
        "等满客户端所给时间的共享拉取请求数",
    ),
    server_bean(
        "DelayedProduceMetrics",
        "ExpiresPerSec",
        METER,
        "the same for one partition, once it has happened",
        "单个分区的同一指标，首次发生后才出现",
        "topic",
        "partition",
    ),
)
