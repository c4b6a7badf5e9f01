"""A worker in memory: the controller's messages move its partitions, and its end leaves every offset committed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.mirror.helix.helix_errors import HelixError
from kafka_lite.mirror.helix.model.ideal_state import IdealState
from kafka_lite.mirror.helix.property_paths import PropertyPaths
from kafka_lite.mirror.ureplicator.worker import mirror_maker_worker
from kafka_lite.mirror.ureplicator.worker.mirror_maker_worker import MirrorMakerWorker
from kafka_lite.mirror.ureplicator.worker.mirror_maker_worker_config import MirrorMakerWorkerConfig
from tests.support.eventually import eventually
from tests.support.helix_zookeeper import PATHS, FakeSession, HelixOnZooKeeper, SharedTree
from tests.support.worker_source import T0, T1, WorkerSource

CONSUMER = {
    "zookeeper.connect": "source", "group.id": "g", "client.id": "c", "auto.offset.reset": "smallest",
    "consumer.timeout.ms": "5", "fetch.wait.max.ms": "1", "refresh.leader.backoff.ms": "1",
}  # fmt: skip


class Session(FakeSession):
    """A session with Helix's ZooKeeper that can be closed."""

    def connect(self) -> None:
        """There is no server to wait for."""

    def close(self) -> None:
        self.end_session()


class World:
    """The source, a Helix cluster with a controller, and a target that stores what is flushed."""

    def __init__(self, source: WorkerSource, monkeypatch: pytest.MonkeyPatch) -> None:
        self.source = source
        self.helix_tree = SharedTree()
        self.helix = HelixOnZooKeeper(lambda: FakeSession(self.helix_tree))
        self.helix.start_controller("controller")
        self.workers: list[MirrorMakerWorker] = []
        session: Any = lambda *_arguments: Session(self.helix_tree)  # noqa: E731
        monkeypatch.setattr(mirror_maker_worker, "ZooKeeperClient", session)
        monkeypatch.setattr(mirror_maker_worker, "KafkaProducer", lambda _config, time: source.target)

    def start(self, name: str = "w1", **flags: Any) -> MirrorMakerWorker:
        helix = {"helixClusterName": PATHS.cluster, "instanceId": name}
        config = MirrorMakerWorkerConfig(CONSUMER, {"bootstrap.servers": "target"}, helix, **flags)
        worker = MirrorMakerWorker.create(config)
        self.workers.append(worker)
        worker.start()
        return worker

    def assign(self, *workers: str) -> None:
        assignment = {str(number): {worker: "ONLINE"} for number, worker in enumerate(workers)}
        self.helix.admin.add_resource(IdealState.customized("t", "OnlineOffline", assignment))

    def await_view(self, *workers: str) -> None:
        self.helix.await_view({str(number): {worker: "ONLINE"} for number, worker in enumerate(workers)})

    def await_positions(self, worker: MirrorMakerWorker, *positions: int) -> None:
        assert eventually(lambda: [each.position for each in worker.progress()] == list(positions))

    def close(self) -> None:
        for worker in self.workers:
            worker.await_shutdown()
        self.helix.close()


@pytest.fixture
def world(source: WorkerSource, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    world = World(source, monkeypatch)
    yield world
    world.close()


def test_a_worker_copies_what_it_is_assigned_and_commits_at_its_end(world: World) -> None:
    worker = world.start()
    world.assign("w1", "w1")
    world.await_view("w1", "w1")
    world.await_positions(worker, 3, 3)
    assert world.source.committed() == [None, None]
    worker.initiate_shutdown()
    assert worker.await_shutdown()
    assert world.source.committed() == [3, 3]
    assert sorted(record.value for record in world.source.target.stored) == [b"0", b"0", b"1", b"1", b"2", b"2"]
    assert world.source.calls[-1] == "close producer"
    assert world.helix.accessor.children(PATHS.live_instances) == []


def test_the_session_ends_after_the_commit(world: World) -> None:
    worker = world.start()
    world.assign("w1", "w1")
    world.await_positions(worker, 3, 3)
    seen: list[list[int | None]] = []

    def look(path: str) -> None:
        if path == PATHS.live_instance("w1"):
            seen.append(world.source.committed())

    world.helix_tree.after_change = look
    assert worker.await_shutdown()
    assert seen == [[3, 3]], "the controller can give the partitions to another worker only now"


def test_a_partition_moves_with_its_offset(world: World) -> None:
    first, second = world.start("w1"), world.start("w2")
    world.assign("w1", "w2")
    world.await_positions(first, 3)
    world.await_positions(second, 3)
    world.assign("w2", "w2")
    world.await_view("w2", "w2")
    world.source.cluster.ends = {T0: (0, 5), T1: (0, 5)}
    world.await_positions(second, 5, 5)
    assert first.progress() == []
    assert second.await_shutdown()
    assert sorted(record.value for record in world.source.target.stored) == sorted([b"0", b"1", b"2", b"3", b"4"] * 2)


def test_a_record_that_is_lost_ends_the_worker_without_a_commit(world: World) -> None:
    world.source.target.failures[b"1"] = OSError("too large")
    worker = world.start(offset_commit_interval_ms=0)
    world.assign("w1", "w1")
    assert worker.await_end(60)
    assert worker.state.exiting_on_send_failure
    assert worker.await_shutdown()
    assert max(offset or 0 for offset in world.source.committed()) <= 1, "record 1 is read again by the next worker"


def test_or_it_is_left_out(world: World) -> None:
    world.source.target.failures[b"1"] = OSError("too large")
    worker = world.start(abort_on_send_failure=False)
    world.assign("w1", "w1")
    world.await_positions(worker, 3, 3)
    assert worker.await_shutdown()
    assert (world.source.committed(), worker.state.num_dropped_messages) == ([3, 3], 2)


def test_topics_get_their_names_of_the_target(world: World) -> None:
    worker = world.start(topic_mappings={"t": "mirrored"})
    world.assign("w1")
    world.await_positions(worker, 3)
    assert worker.await_shutdown()
    assert {record.topic for record in world.source.target.stored} == {"mirrored"}


def test_a_cluster_that_no_controller_has_set_up_is_said(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror_maker_worker, "PropertyPaths", lambda _name: PropertyPaths("missing"))
    with pytest.raises(HelixError, match="The Helix cluster C is not set up in localhost:2181: start its controller"):
        world.start()
    assert world.source.calls == ["close producer"]


def test_a_name_that_is_taken_is_said(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.start("w1")
    helix = {"helixClusterName": PATHS.cluster, "instanceId": "w1"}
    config = MirrorMakerWorkerConfig(CONSUMER, {"bootstrap.servers": "target"}, helix)
    second = MirrorMakerWorker.create(config, MockTime())
    with pytest.raises(HelixError, match="w1 is live already, in another process"):
        second.start()
    assert second.await_shutdown()
