"""A worker for each way, with its connectors, which only a leader may configure."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

import pytest

from kafka_lite.common.errors import KafkaError
from kafka_lite.connect.api.errors import NotFoundError
from kafka_lite.connect.runtime.distributed.distributed_config import DistributedConfig
from kafka_lite.connect.runtime.herder_errors import NotLeaderError
from kafka_lite.mirror.dedicated import dedicated_mirror_maker
from kafka_lite.mirror.dedicated.dedicated_mirror_maker import DedicatedMirrorMaker
from kafka_lite.mirror.dedicated.mirror_maker_config import KINDS, STORAGES, MirrorMakerConfig
from tests.support.eventually import eventually

PROPS = {
    "clusters": "west,east", "west.bootstrap.servers": "w:1", "east.bootstrap.servers": "e:1",
    "west->east.enabled": "true", "config.storage.replication.factor": "1", "status.storage.partitions": "2",
}  # fmt: skip


class FakeWorker:
    """Worker and herder in one. ``refusals``: how many requests come before it leads."""

    def __init__(self, props: Mapping[str, str]) -> None:
        self.props = props
        self.herder = self
        self.configs: dict[str, Mapping[str, str]] = {}
        self.puts = 0
        self.refusals = 1
        self.is_running = False

    def start(self) -> None:
        self.is_running = True

    def stop(self) -> None:
        self.is_running = False

    def await_stop(self, timeout_s: float) -> bool:
        assert timeout_s > 0
        return not self.is_running

    def connector_config(self, name: str) -> Future[Mapping[str, str]]:
        future: Future[Mapping[str, str]] = Future()
        if name in self.configs:
            future.set_result(self.configs[name])
        else:
            future.set_exception(NotFoundError(name))
        return future

    def put_connector_config(self, name: str, config: Mapping[str, str], *, allow_replace: bool) -> Future[None]:
        assert allow_replace
        future: Future[None] = Future()
        if self.refusals:
            self.refusals -= 1
            future.set_exception(NotLeaderError("Only the leader can set connector configs.", "http://other"))
        else:
            self.puts += 1
            self.configs[name] = config
            future.set_result(None)
        return future


class Rig:
    """A mirror on fakes."""

    def __init__(self, *targets: str, props: Mapping[str, str] | None = None) -> None:
        self.workers: list[FakeWorker] = []
        worker: Any = self._worker
        config = MirrorMakerConfig({**PROPS, **(props or {})})
        self.mirror = DedicatedMirrorMaker(config, targets, new_worker=worker)

    def _worker(self, props: Mapping[str, str]) -> FakeWorker:
        self.workers.append(FakeWorker(props))
        return self.workers[-1]


@pytest.fixture(autouse=True)
def _no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dedicated_mirror_maker, "RETRY_MS", 1)


def test_each_way_has_a_worker_and_its_connectors() -> None:
    rig = Rig()
    rig.mirror.start()
    assert [worker.props["client.id"] for worker in rig.workers] == ["west->east", "east->west"]
    eventually(lambda: all(worker.configs.keys() == set(KINDS) for worker in rig.workers))
    enabled = [worker.configs["MirrorSourceConnector"]["enabled"] for worker in rig.workers]
    assert enabled == ["true", "false"], "the other way has heartbeats only"
    assert not rig.mirror.await_stop(0.01)
    rig.mirror.stop()
    rig.mirror.stop()
    assert not any(worker.is_running for worker in rig.workers)


def test_what_is_configured_already_is_left_as_it_is() -> None:
    rig = Rig("east")
    config = MirrorMakerConfig(PROPS)
    rig.mirror.start()
    (worker,) = rig.workers
    eventually(lambda: len(worker.configs) == 3)
    again = dedicated_mirror_maker._ConfiguringThread(config, {rig.mirror.pairs[0]: worker})  # type: ignore[dict-item]
    again.do_work()
    assert not again.is_running, "there is nothing left to do"
    assert worker.puts == 3
    rig.mirror.stop()


def test_a_worker_that_fails_ends_it() -> None:
    rig = Rig("east")
    rig.mirror.start()
    rig.workers[0].stop()
    assert rig.mirror.await_stop(1)
    rig.mirror.stop()


def test_without_a_way_there_is_nothing_to_do() -> None:
    with pytest.raises(KafkaError, match="No source->target replication flows"):
        Rig("north")
    with pytest.raises(KafkaError, match="No source->target replication flows"):
        Rig(props={"emit.heartbeats.enabled": "false", "west->east.enabled": "false"})


def test_a_worker_creates_its_topics_with_the_settings_of_the_file() -> None:
    rig = Rig(props={"config.storage.segment.bytes": "1048576"})
    rig.mirror.start()
    rig.mirror.stop()
    configs = [DistributedConfig(worker.props) for worker in rig.workers]
    topics = {topic.name: topic for config in configs for topic in map(config.internal_topic, STORAGES)}
    shapes = {name: (topic.partitions, topic.replication_factor) for name, topic in topics.items()}
    assert shapes["mm2-configs.west.internal"] == (1, 1)
    assert shapes["mm2-offsets.west.internal"] == (25, 3)
    assert shapes["mm2-status.east.internal"] == (2, 3)
    assert topics["mm2-configs.west.internal"].configs == {"segment.bytes": "1048576"}
