"""The beans of a broker about the groups and transactions that it coordinates.

Kafka 0.10.2: core/.../coordinator/GroupMetadataManager.scala; 0.11 transaction/TransactionMarkerChannelManager.scala
· book 5.1, 10.3
"""

from __future__ import annotations

from kafka_lite.coordinator.group.group_state import GroupState
from kafka_lite.server.metrics.bean_declaration import GAUGE, HISTOGRAM, METER, BeanDeclaration, server_bean


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


COORDINATOR_BEANS: tuple[BeanDeclaration, ...] = (
    *_groups("NumGroups", "groups that this broker coordinates", "本 broker 协调的消费组数"),
    *_groups("NumOffsets", "committed offsets of these groups", "这些消费组已提交的偏移量数"),
    *_groups_in_states(),
    server_bean(
        "group-coordinator-metrics",
        "",
        "offset-commit-rate, offset-commit-count, offset-expiration-rate, offset-expiration-count, "
        "offset-deletion-rate, offset-deletion-count, group-completed-rebalance-rate, "
        "group-completed-rebalance-count, consumer-group-rebalance-rate, consumer-group-rebalance-count, "
        "share-group-rebalance-rate, share-group-rebalance-count, "
        "partition-load-time-max, partition-load-time-avg",
        "commits, expired and deleted offsets, rebalances with a completed assignment, new epochs of groups that the "
        "coordinator assigns and of share groups, and the time to load a partition of `__consumer_offsets` in ms",
        "提交次数、过期和被删除的偏移量、已完成分配的再平衡、由协调者分配的消费组和共享组的新纪元，"
        "以及加载 `__consumer_offsets` 一个分区的毫秒数",
    ),
    server_bean(
        "group-coordinator-metrics",
        "",
        "group-count",
        "groups of a protocol: `classic`, `consumer`, whose coordinator assigns, or `share`",
        "使用某种协议的消费组数：`classic`、由协调者分配的 `consumer`，或共享组 `share`",
        "protocol",
    ),
    server_bean(
        "group-coordinator-metrics",
        "",
        "consumer-group-count, share-group-count",
        "groups in a state whose coordinator assigns, and share groups",
        "由协调者分配、处于某个状态的消费组数，以及共享组数",
        "state",
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
    server_bean(
        "AddPartitionsToTxnManager",
        "VerificationFailureRate",
        METER,
        "partitions that could not be verified as part of a transaction before its first batch was appended",
        "追加事务的第一个批次之前，未能验证属于该事务的分区数",
    ),
    server_bean(
        "AddPartitionsToTxnManager",
        "VerificationTimeMs",
        HISTOGRAM,
        "time to verify the partitions of a request with the transaction coordinator",
        "向事务协调者验证一个请求的分区所用的时间",
    ),
    server_bean(
        "share-coordinator-metrics",
        "",
        "write-rate, write-total, write-latency-avg, write-latency-max",
        "writes of the states of share partitions, and the time in ms until they are in `__share_group_state`",
        "写入共享分区状态的次数，以及写进 `__share_group_state` 所用的毫秒数",
    ),
    server_bean(
        "share-coordinator-metrics",
        "",
        "last-pruned-offset",
        "the offset up to which a partition of `__share_group_state` was last pruned",
        "`__share_group_state` 的一个分区最近一次清理到的偏移量",
        "topic",
        "partition",
    ),
    server_bean(
        "transaction-coordinator-metrics",
        "",
        "partition-load-time-max, partition-load-time-avg",
        "the time to load a partition of `__transaction_state` in ms",
        "加载 `__transaction_state` 一个分区的毫秒数",
    ),
)
