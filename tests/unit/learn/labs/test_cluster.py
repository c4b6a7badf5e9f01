"""A lab's three brokers, over processes and clients that only note what is asked of them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_learn.labs import cluster as lab_cluster
from kafka_learn.labs.cluster import BROKER_IDS, LEARNERS, WAIT_MS, LabCluster
from kafka_lite.common.time import MockTime
from kafka_lite.testing.any_cluster import BrokersById
from tests.support.noted_broker import NotedBroker


class Broker(NotedBroker):
    def end_of_log(self, lines: int) -> str:
        return f"the last {lines} lines"


class Processes:
    """Stands in for the brokers' processes."""

    def __init__(self, folder: Path, files: dict[str, Path], settings: dict[str, str]) -> None:
        self.given = folder, files, settings
        self.brokers = BrokersById([Broker(broker_id, 9000 + broker_id) for broker_id in BROKER_IDS])
        self.done: list[tuple[Any, ...]] = []
        self.isr: dict[str, list[int]] = {}
        self.zookeeper = SimpleNamespace(partition_state=self._state)

    def _state(self, partition: Any) -> Any:
        return SimpleNamespace(leader_and_isr=SimpleNamespace(isr=self.isr[partition.topic]))

    def __getattr__(self, name: str) -> Any:
        return lambda *args: self.done.append((name, *args))


class Admin:
    """What clients see: brokers, and the leader of each topic's partition 0."""

    def __init__(self) -> None:
        self.live = set(BROKER_IDS)
        self.leaders: dict[str, int] = {}
        self.deleted: list[str] = []

    def list_topics(self, topic: str = "", timeout: float = 0) -> Any:
        partitions = {name: SimpleNamespace(partitions={0: SimpleNamespace(leader=leader)})
                      for name, leader in self.leaders.items()}  # fmt: skip
        return SimpleNamespace(brokers=dict.fromkeys(self.live), topics=partitions)

    def delete_topics(self, topics: list[str]) -> dict[str, Any]:
        self.deleted += topics
        return {topic: SimpleNamespace(result=lambda _timeout_s: None) for topic in topics}


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> MockTime:
    time = MockTime()
    monkeypatch.setattr(lab_cluster, "SYSTEM_TIME", time)
    return time


@pytest.fixture
def admin() -> Admin:
    return Admin()


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, time: MockTime, admin: Admin) -> LabCluster:
    monkeypatch.setattr(lab_cluster, "_Processes", Processes)
    monkeypatch.setattr(LabCluster, "_admin", lambda _self: admin)
    return LabCluster(tmp_path, {"a.module": tmp_path / "a.py"}, {"num.partitions": "2"})


def processes(cluster: LabCluster) -> Processes:
    found: Any = cluster._processes
    return found  # type: ignore[no-any-return]


def test_the_learners_broker_starts_first_and_all_are_waited_for(
    cluster: LabCluster, time: MockTime, admin: Admin
) -> None:
    admin.live.discard(3)
    sleep = time.sleep

    def sleep_while_broker_3_starts(ms: float) -> None:
        sleep(ms)
        if time.hi_res_ms() > 1_000:
            admin.live.add(3)

    time.sleep = sleep_while_broker_3_starts  # type: ignore[method-assign]
    with cluster:
        started = processes(cluster).done
        assert started == [("prepare",), ("start_broker", LEARNERS), ("start_broker", 1, 2, 3)]
        assert admin.live == set(BROKER_IDS)
    assert processes(cluster).done[-1] == ("stop",)


def test_a_cluster_that_does_not_start_is_stopped(cluster: LabCluster, admin: Admin) -> None:
    admin.live = {1, 2}
    with pytest.raises(AssertionError, match="not all brokers have registered\nthe last 12 lines"):
        cluster.__enter__()
    assert processes(cluster).done[-1] == ("stop",)


def test_clients_are_given_the_brokers_that_run(cluster: LabCluster) -> None:
    processes(cluster).brokers[2].running = False
    assert cluster.bootstrap_servers == "127.0.0.1:9001,127.0.0.1:9003"
    assert cluster.log_tail(3) == "the last 3 lines"


def test_brokers_are_killed_stopped_and_started_one_by_one(cluster: LabCluster) -> None:
    cluster.kill(2)
    cluster.stop(3)
    cluster.start(2)
    assert processes(cluster).brokers[2].done == ["kill"]
    assert processes(cluster).done == [("stop_broker", 3), ("start_broker", 2)]


def test_a_leader_and_an_isr_are_waited_for(cluster: LabCluster, time: MockTime, admin: Admin) -> None:
    admin.leaders["orders"] = 2
    processes(cluster).isr["orders"] = [3, 2]
    cluster.wait_for("orders", leader=2, isr=[2, 3])
    began_ms = time.hi_res_ms()
    for wanted, words in [
        ({"leader": 1}, "leader 1"),
        ({"isr": [2]}, r"ISR \[2\]"),
        ({"leader": 2, "isr": [1, 2, 3]}, r"leader 2, ISR \[1, 2, 3\]"),
    ]:
        with pytest.raises(AssertionError, match=rf"must get {words}; it has leader 2, ISR \[2, 3\]\nthe last"):
            cluster.wait_for("orders", **wanted)
    assert time.hi_res_ms() - began_ms >= 3 * WAIT_MS
    with pytest.raises(AssertionError, match="nope-0 must get leader 1; it has no metadata"):
        cluster.wait_for("nope", leader=1)


def test_topics_are_seen_and_deleted_as_clients_do(cluster: LabCluster, admin: Admin) -> None:
    admin.leaders = {"orders": 1, "payments": 2}
    assert cluster.topics() == {"orders", "payments"}
    cluster.delete_topic("orders")
    assert admin.deleted == ["orders"]
