"""The ZooKeeper of a test cluster, and what it says about leaders, ISRs and the controller.

Kafka 0.10.2: core/src/test/.../zk/EmbeddedZookeeper.scala, utils/TestUtils.scala (getLeader…) · book 7.1.1
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from kazoo.client import KazooClient
from kazoo.handlers.threading import KazooTimeoutError

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.zookeeper import paths
from kafka_lite.zookeeper.data import LeaderIsrAndControllerEpoch
from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper
from kafka_lite.zookeeper.embedded.session_tracker import session_password
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.zk_errors import ZkConnectionError

TICK_MS = 500
TIMEOUT_MS = 30_000


class ClusterZooKeeper:
    """Reads what is stored in ZooKeeper, and ends sessions. Calls block while ZooKeeper is down."""

    def __init__(self, connect_string: Callable[[], str]) -> None:
        self._connect_string = connect_string
        self._client: KafkaZkClient | None = None

    @property
    def client(self) -> KafkaZkClient:
        """A session of the test's own, which no fault affects."""
        if self._client is None:
            client = KafkaZkClient(self._connect_string(), TIMEOUT_MS, TIMEOUT_MS)
            client.start()
            self._client = client
        return self._client

    def close(self) -> None:
        """Close the test's own session."""
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def controller_id(self) -> int | None:
        """The broker that is registered as the controller."""
        return self.client.get_controller_id()

    def partition_state(self, partition: TopicPartition) -> LeaderIsrAndControllerEpoch | None:
        """Leader, ISR and epochs of a partition; None if it has never had a leader."""
        return self.client.get_partition_state(partition)

    def replicas(self, partition: TopicPartition) -> list[int]:
        """The brokers to which a partition is assigned; empty if there is no such partition."""
        return self.client.get_replica_assignment([partition.topic]).get(partition, [])

    def partitions(self) -> dict[TopicPartition, list[int]]:
        """All partitions with their replicas, including those of internal topics."""
        return self.client.get_replica_assignment(self.client.get_all_topics())

    def isrs(self) -> dict[TopicPartition, list[int]]:
        """The ISR of every partition that has had a leader."""
        states = self.client.get_partition_states(self.partitions())
        return {partition: state.leader_and_isr.isr for partition, state in states.items()}

    def expire_broker(self, broker_id: int) -> bool:
        """End the session that registered a broker. Returns False if the broker is not registered.

        A broker that is alive may take its session back before it is closed; then it is taken over again.
        """
        path = paths.broker(broker_id)
        stat = self.client.zookeeper.exists(path)
        if stat is None:
            return False
        owner = stat.ephemeral_owner
        while stat is not None and stat.ephemeral_owner == owner:
            self.expire((owner, session_password(owner)))
            stat = self.client.zookeeper.exists(path)
        return True

    def expire(self, session: tuple[int, bytes]) -> None:
        """End a session at once, as if it had timed out."""
        end_session(self._connect_string(), session)


def end_session(connect_string: str, session: tuple[int, bytes]) -> None:
    """Take a session, its id and password, over from its owner, and close it.

    Raises ZkConnectionError if ZooKeeper is unreachable: it may be restarting.
    """
    client = KazooClient(connect_string, timeout=TIMEOUT_MS / 1000, client_id=session)
    try:
        client.start(TIMEOUT_MS / 1000)
    except KazooTimeoutError as error:
        raise ZkConnectionError(f"no ZooKeeper at {connect_string} to end a session of") from error
    finally:
        client.stop()
        client.close()


def new_zookeeper(directory: Path) -> EmbeddedZooKeeper:
    """A server in this process that allows the short session timeouts of tests, and does not wait for the disk."""
    return EmbeddedZooKeeper(directory, tick_time_ms=TICK_MS, max_session_timeout_ms=120_000, force_sync=False)
