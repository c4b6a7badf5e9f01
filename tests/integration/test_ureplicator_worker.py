"""uReplicator's workers between two clusters, steered by a Helix controller: partitions move, a worker dies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.helix.manager.routing_table_provider import RoutingTableProvider, View
from kafka_lite.mirror.helix.manager.zk_helix_data_accessor import ZKHelixDataAccessor
from kafka_lite.mirror.helix.model.ideal_state import IdealState
from kafka_lite.mirror.ureplicator.helix_names import ONLINE, STATE_MODEL
from kafka_lite.mirror.ureplicator.worker.mirror_maker_worker import MirrorMakerWorker
from kafka_lite.mirror.ureplicator.worker.mirror_maker_worker_config import MirrorMakerWorkerConfig
from kafka_lite.testing.cluster import Cluster
from kafka_lite.zookeeper.consumer_groups import ConsumerGroups
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.zk_errors import ZkConnectionError
from kafka_lite.zookeeper.zookeeper_client import ZooKeeperClient
from tests.support.eventually import eventually
from tests.support.helix_zookeeper import PATHS, HelixOnZooKeeper
from tests.support.mirrored_records import check_complete, old_consumer, publish
from tests.support.patience import patient_s

TOPIC = "t"
SESSION_TIMEOUT_MS = 30_000


class Mirrors:
    """Two clusters, and workers between them. Helix uses the target's ZooKeeper."""

    def __init__(self, stack: ExitStack, brokers: int = 1) -> None:
        """With several brokers the ZooKeepers are outside of them, and stay when all brokers stop."""
        self.source, self.target = (
            stack.enter_context(Cluster({"num.partitions": 4}, brokers=brokers)) for _ in range(2)
        )
        for cluster in (self.source, self.target):
            cluster.create_topic(TOPIC, partitions=4)
        self._stack = stack
        self.helix = HelixOnZooKeeper(self._connect)
        stack.callback(self.helix.close)
        self.helix.start_controller("controller")
        self.views: list[View] = []
        spectator = RoutingTableProvider(ZKHelixDataAccessor(self._connect(), PATHS), self.views.append)
        spectator.start()
        stack.callback(spectator.shutdown)
        self.published = 0

    def _connect(self) -> ZooKeeperClient:
        client = ZooKeeperClient(self.target.zookeeper_connect, SESSION_TIMEOUT_MS, SESSION_TIMEOUT_MS)
        client.connect()
        self._stack.callback(client.close)
        return client

    def start_worker(self, name: str) -> MirrorMakerWorker:
        config = MirrorMakerWorkerConfig(
            old_consumer(self.source, "ur"),
            {"bootstrap.servers": self.target.bootstrap_servers},
            {"zkServer": self.target.zookeeper_connect, "helixClusterName": PATHS.cluster, "instanceId": name},
        )
        worker = MirrorMakerWorker.create(config)
        worker.start()
        self._stack.callback(worker.await_shutdown)
        return worker

    def assign(self, *workers: str) -> None:
        """Partition 0 to the first worker, 1 to the second one, and so on; returns when they have them."""
        assignment = {str(number): {worker: ONLINE} for number, worker in enumerate(workers)}
        self.helix.admin.add_resource(IdealState.customized(TOPIC, STATE_MODEL, assignment))
        self.helix.await_view(assignment, TOPIC)

    def publish(self, count: int) -> None:
        publish(self.source, TOPIC, range(self.published, self.published + count))
        self.published += count

    def await_all(self) -> int:
        """Wait until everything has arrived; returns how many records have arrived more than once."""
        eventually(lambda: len({record.value for record in self.target.records(TOPIC)}) == self.published)
        return check_complete(self.target.records(TOPIC), self.published)

    def committed(self) -> list[int | None]:
        zk = KafkaZkClient(self.source.zookeeper_connect)
        zk.start()
        self._stack.callback(zk.close)
        return [ConsumerGroups(zk).get_offset("ur", TopicPartition(TOPIC, number)) for number in range(4)]

    def ends(self) -> list[int]:
        return [len([r for r in self.source.records(TOPIC) if r.partition == number]) for number in range(4)]


@pytest.fixture
def mirrors() -> Iterator[Mirrors]:
    with ExitStack() as stack:
        yield Mirrors(stack)


def test_partitions_move_and_a_worker_dies_and_only_its_partitions_are_concerned(mirrors: Mirrors) -> None:
    first, second = mirrors.start_worker("w1"), mirrors.start_worker("w2")
    mirrors.assign("w1", "w1", "w2", "w2")
    mirrors.publish(200)
    assert mirrors.await_all() == 0

    mirrors.assign("w1", "w1", "w2", "w1")
    mirrors.publish(50)
    assert mirrors.await_all() == 0, "a planned move copies nothing twice"
    assert [each.topic_partition.partition for each in first.progress()] == [0, 1, 3]
    *not_due, of_the_moved_one = mirrors.committed()
    assert (not_due, of_the_moved_one is not None) == ([None] * 3, True)

    copied_by_second = sum(each.position for each in second.progress())
    second.state.exiting_on_send_failure = True  # it ends as if it were killed: without a commit
    assert second.await_end(patient_s(60))
    assert second.await_shutdown()
    eventually(lambda: "w2" not in mirrors.helix.accessor.children(PATHS.live_instances))
    mirrors.publish(50)
    mirrors.assign("w1", "w1", "w1", "w1")
    assert mirrors.await_all() == copied_by_second
    for partition in ("0", "1"):
        states = [view.get(TOPIC, {}).get(partition, {}) for view in mirrors.views]
        assert all(state == {"w1": ONLINE} for state in states[states.index({"w1": ONLINE}) :]), "it was never stopped"
    assert first.await_shutdown()
    assert mirrors.committed() == mirrors.ends()


@pytest.mark.soak
def test_clusters_that_are_down_at_the_start_or_go_away_are_waited_for() -> None:
    with ExitStack() as stack:
        mirrors = Mirrors(stack, brokers=2)
        mirrors.publish(20)
        mirrors.source.stop_broker()
        worker = mirrors.start_worker("w1")
        mirrors.assign("w1", "w1", "w1", "w1")
        mirrors.source.start_broker()
        assert mirrors.await_all() == 0
        for cluster in (mirrors.source, mirrors.target):
            cluster.stop_broker()
            cluster.start_broker()
            mirrors.publish(20)
            mirrors.await_all()
        assert not worker.state.exiting_on_send_failure
        assert worker.await_shutdown()
        assert mirrors.committed() == mirrors.ends()


def test_a_target_with_fewer_partitions_gets_everything_of_those_that_it_has(mirrors: Mirrors) -> None:
    """The default handler leaves the partition to the key, so that one partition may take the records of four."""
    mirrors.source.create_topic("narrow", partitions=4)
    mirrors.target.create_topic("narrow", partitions=1)
    publish(mirrors.source, "narrow", range(40))
    mirrors.start_worker("w1")
    mirrors.assign("w1", "w1", "w1", "w1")
    names = {str(number): {"w1": ONLINE} for number in range(4)}
    mirrors.helix.admin.add_resource(IdealState.customized("narrow", STATE_MODEL, names))
    eventually(lambda: len(mirrors.target.records("narrow")) == 40)
    assert check_complete(mirrors.target.records("narrow"), 40) == 0


def test_a_deleted_topic_of_the_target_gets_what_comes_later(mirrors: Mirrors) -> None:
    worker = mirrors.start_worker("w1")
    mirrors.assign("w1", "w1", "w1", "w1")
    mirrors.publish(20)
    mirrors.await_all()
    mirrors.target.delete_topic(TOPIC)  # the target creates it again for the next record
    mirrors.publish(30)
    later = {b"%d" % number for number in range(20, 50)}
    eventually(lambda: TOPIC in mirrors.target.topics)
    eventually(lambda: {record.value for record in mirrors.target.records(TOPIC)} >= later)
    assert not worker.state.exiting_on_send_failure
    assert worker.await_shutdown()
    assert mirrors.committed() == mirrors.ends()


def test_a_record_too_large_for_the_target_ends_the_worker_without_a_commit(mirrors: Mirrors) -> None:
    mirrors.target.create_topic("large", configs={"max.message.bytes": "2000"})
    mirrors.source.create_topic("large")
    mirrors.source.produce("large", b"a" * 5000)
    worker = mirrors.start_worker("w1")
    mirrors.helix.admin.add_resource(IdealState.customized("large", STATE_MODEL, {"0": {"w1": ONLINE}}))
    assert worker.await_end(patient_s(60))
    assert worker.state.exiting_on_send_failure
    assert worker.await_shutdown()
    zk = KafkaZkClient(mirrors.source.zookeeper_connect)
    zk.start()
    try:
        assert not ConsumerGroups(zk).get_offset("ur", TopicPartition("large", 0)), "the record comes again"
    finally:
        zk.close()


def test_a_worker_says_that_the_sources_zookeeper_is_not_there(mirrors: Mirrors) -> None:
    config = MirrorMakerWorkerConfig(
        {"zookeeper.connect": "127.0.0.1:1", "zookeeper.connection.timeout.ms": "300", "group.id": "ur"},
        {"bootstrap.servers": mirrors.target.bootstrap_servers},
        {"zkServer": mirrors.target.zookeeper_connect, "helixClusterName": PATHS.cluster, "instanceId": "w1"},
    )
    with pytest.raises(ZkConnectionError):
        MirrorMakerWorker.create(config)
    assert mirrors.helix.accessor.children(PATHS.live_instances) == [], "it did not join"
