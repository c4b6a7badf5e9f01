"""A controller that dies at a certain one of its writes into ZooKeeper."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from kafka_lite.server.kafka_server import KafkaServer
from kafka_lite.zookeeper.node_operations import Operation
from kafka_lite.zookeeper.zk_errors import ZkConnectionError, ZkError


class DiesAtWrite:
    """Ends a broker's session at the n-th write of its controller thread, before ZooKeeper has it or after.

    All writes of a controller are transactions, since its epoch fences them. ``died_at`` says which one it was, and is
    empty as long as there have not been so many.
    """

    def __init__(self, server: KafkaServer, number: int, *, after: bool) -> None:
        self._zookeeper = server.zk_client.zookeeper
        self._commit = self._zookeeper.commit
        self._thread = f"controller-event-thread-{server.config.broker_id}"
        self._left, self._after = number, after
        self.died_at = ""
        self._zookeeper.commit = self._count  # type: ignore[method-assign]

    def _count(self, operations: Sequence[Operation]) -> list[int | ZkError | None]:
        if threading.current_thread().name != self._thread:
            return self._commit(operations)
        self._left -= 1
        if self._left:
            return self._commit(operations)
        if self._after:
            self._commit(operations)
        self.died_at = str([(type(each).__name__, each.path) for each in operations])
        self._zookeeper.close()
        raise ZkConnectionError(f"died at {self.died_at}")
