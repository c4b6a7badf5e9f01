"""The transactions of a producer, brought to a state by what their coordinator would say."""

from __future__ import annotations

from kafka_lite.clients.cluster import Node
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.producer.transaction_manager import TransactionManager
from kafka_lite.producer.txn_requests import CoordinatorType

T0 = TopicPartition("t", 0)
NODE = Node(0, "localhost", 9092)

TRANSACTION, OF_GROUP = (CoordinatorType.TRANSACTION, "id"), (CoordinatorType.GROUP, "g")


def new_manager() -> TransactionManager:
    return TransactionManager(transactional_id="id", transaction_timeout_ms=5000)


def ready(*, can_bump_epoch: bool = True) -> TransactionManager:
    manager = new_manager()
    call = manager.initialize_transactions()
    manager.coordinator_found(*TRANSACTION, NODE)
    manager.coordinator_found(*OF_GROUP, NODE)
    manager.initialized(7, 0, can_bump_epoch=can_bump_epoch)
    call.wait(0)
    return manager


def in_transaction(*, can_bump_epoch: bool = True) -> TransactionManager:
    """With one partition in it."""
    manager = ready(can_bump_epoch=can_bump_epoch)
    manager.begin_transaction()
    manager.maybe_add_partition(T0)
    manager.next_request(False)
    manager.responded()
    manager.partitions_added(frozenset({T0}))
    return manager
