"""While an ISR is written to a slow ZooKeeper, the leader serves its followers, producers and consumers."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.scheduler import KafkaScheduler
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.server.fetch_params import FetchParams, FetchPartition
from kafka_lite.server.replication.isr_changes import IsrChanges
from kafka_lite.zookeeper.data import LeaderIsrAndControllerEpoch
from tests.support.eventually import eventually
from tests.support.replica_managers import TP, Broker

WITHIN_S = 30
"""How long a request may take on a busy machine; ZooKeeper does not answer for as long as the test runs."""


class SlowStore:
    """A ZooKeeper that answers once ``may_answer`` is set."""

    def __init__(self) -> None:
        self.is_asked, self.may_answer = threading.Event(), threading.Event()
        self.written: list[list[int]] = []

    def update_partition_state(self, _: TopicPartition, state: LeaderIsrAndControllerEpoch) -> int:
        self.is_asked.set()
        self.may_answer.wait()
        self.written.append(list(state.leader_and_isr.isr))
        return len(self.written)

    def propagate_isr_changes(self, partitions: Collection[TopicPartition]) -> None: ...


class SlowBroker(Broker):
    """Broker 1, whose ISRs a real scheduler writes to a slow ZooKeeper; broker 2 follows."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.store, self.writers = SlowStore(), KafkaScheduler(2)
        self.writers.startup()
        self.replicas._isr_changes = IsrChanges(self.store, self.time, self.writers)

    def network_thread(self, *requests: str) -> None:
        """A thread that handles these requests, one after the other, and must end soon."""
        thread = threading.Thread(target=lambda: [self.handle(each) for each in requests], daemon=True)
        thread.start()
        thread.join(WITHIN_S)
        assert not thread.is_alive(), f"{requests} waited for ZooKeeper"

    def handle(self, request: str) -> None:
        if request == "produce":
            self.produce(TP, acks=1)
        else:
            replica_id = 2 if request == "follower" else -1
            params = FetchParams(replica_id, 0, 0, 1 << 20, False)
            offset = self.log(TP).log_end_offset if request == "follower" else 0
            self.replicas.fetch_messages(params, [(TP, FetchPartition(offset, 0, 1 << 20))], self.fetched.append)

    @property
    def isr(self) -> set[int]:
        partition = self.replicas.get_leader_partition(TP)
        return {replica.broker_id for replica in partition.isr}


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[SlowBroker]:
    made = SlowBroker(tmp_path / "logs")
    yield made
    made.store.may_answer.set()
    made.writers.shutdown()
    made.close()


def test_a_follower_that_catches_up_does_not_make_a_network_thread_wait(broker: SlowBroker) -> None:
    broker.lead(TP, isr=(1,), replicas=(2,))
    broker.produce(TP, acks=1)
    broker.network_thread("follower")
    assert broker.store.is_asked.wait(WITHIN_S)
    broker.network_thread("produce", "consumer", "follower", "produce")
    assert [response[TP].error for response in broker.produced] == [Errors.NONE] * 3
    assert broker.isr == {1}
    broker.store.may_answer.set()
    eventually(lambda: broker.isr == {1, 2})
    assert broker.store.written == [[1, 2]]


def test_a_shrink_does_not_make_a_network_thread_wait(broker: SlowBroker) -> None:
    broker.lead(TP, isr=(1, 2))
    broker.produce(TP, acks=-1)
    broker.time.sleep(broker.replicas.config.replica_lag_time_max_ms + 1)
    broker.replicas.maybe_shrink_isrs()
    assert broker.store.is_asked.wait(WITHIN_S)
    broker.network_thread("produce", "consumer")
    assert [response[TP].error for response in broker.produced] == [Errors.NONE], "acks=all waits for broker 2"
    broker.store.may_answer.set()
    eventually(lambda: len(broker.produced) == 2)
    assert broker.isr == {1}
