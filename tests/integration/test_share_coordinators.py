"""Three brokers keep the state of share partitions: their coordinators die, and nothing that was written is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.common.topic_names import SHARE_GROUP_STATE_TOPIC_NAME
from kafka_lite.coordinator.share.persister import (
    PartitionStateBatchData,
    PartitionStateData,
    Persister,
    PersisterStateBatch,
    SharePartitionKey,
)
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages import api_90_describe_share_group_offsets as describe
from kafka_lite.protocol.messages import api_91_alter_share_group_offsets as alter
from kafka_lite.protocol.messages import api_92_delete_share_group_offsets as delete
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorRequest
from kafka_lite.protocol.messages.api_76_share_group_heartbeat import ShareGroupHeartbeatRequest
from kafka_lite.protocol.schema import Request
from kafka_lite.testing.cluster import Cluster
from kafka_lite.testing.cluster_broker import ClusterBroker
from kafka_lite.tools.main import main
from tests.support.eventually import eventually
from tests.support.patience import patient_s

GROUP, TOPIC, PARTITIONS = "share", "orders", 4
R = TypeVar("R")
OVERRIDES = {
    "share.coordinator.state.topic.num.partitions": "3",
    "share.coordinator.snapshot.update.records.per.snapshot": "3",
    "share.coordinator.append.linger.ms": "1",
    "group.coordinator.rebalance.protocols": "classic,consumer,share",
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(OVERRIDES, brokers=3) as cluster:
        cluster.create_topic(TOPIC, partitions=PARTITIONS)
        yield cluster


def wait(call: Callable[[Callable[[Mapping[TopicIdPartition, R]], None]], None]) -> Mapping[TopicIdPartition, R]:
    """The response of a persister."""
    responses: list[Mapping[TopicIdPartition, R]] = []
    responded = threading.Event()

    def respond(response: Mapping[TopicIdPartition, R]) -> None:
        responses.append(response)
        responded.set()

    call(respond)
    assert responded.wait(patient_s(60))
    return responses[0]


def initialize(persister: Persister, partitions: list[TopicIdPartition]) -> list[Errors]:
    data = dict.fromkeys(partitions, PartitionStateData(1, 0))
    results = wait(lambda respond: persister.initialize_state(GROUP, data, respond))
    return [result.error for result in results.values()]


def acknowledge(persister: Persister, partition: TopicIdPartition, offset: int) -> Errors:
    batch = PersisterStateBatch(offset, offset, 2, 1)
    data = {partition: PartitionStateBatchData(1, 0, -1, [batch])}
    return wait(lambda respond: persister.write_state(GROUP, data, respond))[partition].error


def test_states_outlive_their_coordinators(cluster: Cluster) -> None:
    topic_id = cluster.brokers[0].server.metadata_cache.topic_id(TOPIC)
    assert topic_id is not None
    partitions = [TopicIdPartition(topic_id, number) for number in range(PARTITIONS)]
    first = partitions[0]
    key = SharePartitionKey(GROUP, *first)

    def coordinator() -> ClusterBroker:
        found: list[int] = []
        alive = next(broker for broker in cluster.brokers if broker.is_running)

        def is_known() -> bool:
            leader = alive.server.share.coordination().coordinator_of(key)
            found.extend([] if leader is None else [leader])
            return bool(found)

        eventually(is_known)
        return cluster.brokers[found[-1]]

    persister = cluster.brokers[0].server.share.persister()
    assert initialize(persister, partitions) == [Errors.NONE] * PARTITIONS
    cluster.wait_for_isr(SHARE_GROUP_STATE_TOPIC_NAME)
    for offset in range(10):
        assert acknowledge(persister, first, offset) is Errors.NONE

    dead = coordinator()
    dead.kill()
    survivor = next(broker for broker in cluster.brokers if broker is not dead).server.share.persister()
    for offset in range(10, 20):
        assert acknowledge(survivor, first, offset) is Errors.NONE
    state = wait(lambda respond: survivor.read_state(GROUP, {first: 5}, respond))[first]
    assert (state.state_epoch, state.start_offset, list(state.state_batches)) == (
        1,
        0,
        [PersisterStateBatch(0, 19, 2, 1)],
    )
    dead.start()
    cluster.wait_for_isr(SHARE_GROUP_STATE_TOPIC_NAME, brokers=cluster.brokers)

    for broker in cluster.brokers:
        assert acknowledge(broker.server.share.persister(), first, 20) is Errors.FENCED_LEADER_EPOCH
        summaries = wait(
            lambda respond, broker=broker: broker.server.share.persister().read_summary(  # type: ignore[misc]
                GROUP, dict.fromkeys(partitions, -1), respond
            )
        )
        assert [summary.error for summary in summaries.values()] == [Errors.NONE] * PARTITIONS
        assert summaries[first].leader_epoch == 5


def test_the_state_of_a_deleted_topic_is_forgotten(cluster: Cluster) -> None:
    cluster.create_topic("short-lived")
    topic_id = cluster.brokers[0].server.metadata_cache.topic_id("short-lived")
    assert topic_id is not None
    partition = TopicIdPartition(topic_id, 0)
    assert initialize(cluster.brokers[1].server.share.persister(), [partition]) == [Errors.NONE]
    key = SharePartitionKey(GROUP, *partition)

    def is_known() -> bool:
        shards = [
            shard for broker in cluster.brokers for shard in broker.server.share.coordination().coordinator.shards()
        ]
        return any(key in shard for shard in shards)

    assert is_known()
    cluster.delete_topic("short-lived")
    eventually(lambda: not is_known())


def test_offsets_of_a_group_are_described_altered_and_deleted(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    group, topic = "people", "letters"
    cluster.create_topic(topic, partitions=2)
    ask = Asking(cluster, group)
    joining = {"group_id": group, "member_id": "m", "subscribed_topic_names": [topic]}

    def is_assigned() -> bool:
        response: Any = ask(ShareGroupHeartbeatRequest(**joining, member_epoch=0), 1)
        return response.assignment is not None and bool(response.assignment.topic_partitions)

    eventually(is_assigned)
    assert ask.offsets() == {(topic, 0): -1, (topic, 1): -1}
    partition = alter.AlterShareGroupOffsetsRequestPartition(partition_index=1, start_offset=7)
    topics = [alter.AlterShareGroupOffsetsRequestTopic(topic_name=topic, partitions=[partition])]
    altering = alter.AlterShareGroupOffsetsRequest(group_id=group, topics=topics)
    assert ask(altering).error_code == Errors.NON_EMPTY_GROUP.code
    assert ask(ShareGroupHeartbeatRequest(**joining, member_epoch=-1), 1).error_code == 0
    assert ask(altering).responses[0].partitions[0].error_code == 0
    assert ask.offsets() == {(topic, 0): -1, (topic, 1): 7}
    cluster.produce(topic, "a letter", partition=0)
    arguments = ["--reset-offsets", "--group", group, "--topic", topic, "--to-latest", "--execute"]
    assert main(["share-groups", "--bootstrap-server", cluster.bootstrap_servers, *arguments]) == 0
    assert ask.offsets() == {(topic, 0): 1, (topic, 1): 0}
    capsys.readouterr()
    arguments = ["--describe", "--group", group]
    assert main(["share-groups", "--bootstrap-server", cluster.bootstrap_servers, *arguments]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[1:] == [[group, topic, "0", "1"], [group, topic, "1", "0"]]
    names = [delete.DeleteShareGroupOffsetsRequestTopic(topic_name=topic)]
    assert ask(delete.DeleteShareGroupOffsetsRequest(group_id=group, topics=names)).responses[0].error_code == 0
    assert ask.offsets() == {}
    arguments = ["--delete", "--group", group]
    assert main(["share-groups", "--bootstrap-server", cluster.bootstrap_servers, *arguments]) == 0
    assert "was successful" in capsys.readouterr().out


class Asking:
    """Sends requests to the coordinator of a group."""

    def __init__(self, cluster: Cluster, group: str) -> None:
        self.group = group
        self._bootstrap = cluster.brokers[0]
        self._cluster = cluster

    def __call__(self, request: Request, version: int = 0) -> Any:
        return self._to(self._coordinator(), request, version)

    def _coordinator(self) -> ClusterBroker:
        found: list[int] = []

        def is_found() -> bool:
            request = FindCoordinatorRequest(coordinator_keys=[self.group])
            (coordinator,) = self._to(self._bootstrap, request, 4).coordinators
            found.append(coordinator.node_id)
            return coordinator.error_code == 0

        eventually(is_found)
        return self._cluster.brokers[found[-1]]

    @staticmethod
    def _to(broker: ClusterBroker, request: Request, version: int) -> Any:
        host, _, port = broker.bootstrap_server.rpartition(":")
        channel = BlockingChannel(host, int(port), client_id="people", read_timeout_ms=60_000)
        channel.connect()
        try:
            return channel.exchange(request, version)
        finally:
            channel.close()

    def offsets(self) -> dict[tuple[str, int], int]:
        asked = describe.DescribeShareGroupOffsetsRequestGroup(group_id=self.group, topics=None)
        (described,) = self(describe.DescribeShareGroupOffsetsRequest(groups=[asked])).groups
        assert described.error_code == 0
        return {
            (topic.topic_name, partition.partition_index): partition.start_offset
            for topic in described.topics
            for partition in topic.partitions
        }
