"""Helix's controllers and participants on the embedded ZooKeeper: sessions that end, and a leader that goes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from kafka_lite.mirror.helix.model.ideal_state import IdealState
from kafka_lite.testing.cluster_zookeeper import end_session
from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper
from kafka_lite.zookeeper.zookeeper_client import ZooKeeperClient
from tests.support.eventually import eventually
from tests.support.helix_zookeeper import PATHS, HelixOnZooKeeper

SESSION_TIMEOUT_MS = 30_000
"""Longer than a busy machine makes anybody wait; the test ends sessions itself."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EmbeddedZooKeeper]:
    with EmbeddedZooKeeper(tmp_path, tick_time_ms=500, max_session_timeout_ms=60_000, force_sync=False) as running:
        yield running


@pytest.fixture
def helix(server: EmbeddedZooKeeper) -> Iterator[HelixOnZooKeeper]:
    with ExitStack() as stack:

        def connect() -> ZooKeeperClient:
            client = ZooKeeperClient(server.connect_string, SESSION_TIMEOUT_MS, 60_000)
            client.connect()
            stack.callback(client.close)
            return client

        cluster = HelixOnZooKeeper(connect)
        stack.callback(cluster.close)
        yield cluster


def plan(*instances: str) -> IdealState:
    assignment = {str(number): {instance: "ONLINE"} for number, instance in enumerate(instances)}
    return IdealState.customized("t", "OnlineOffline", assignment)


def on(*instances: str) -> dict[str, dict[str, str]]:
    return {str(number): {instance: "ONLINE"} for number, instance in enumerate(instances)}


def test_partitions_move_sessions_end_and_the_leader_goes(server: EmbeddedZooKeeper, helix: HelixOnZooKeeper) -> None:
    first, second = helix.start_controller("controller1"), helix.start_controller("controller2")
    for name in ("w1", "w2"):
        helix.start_participant(name)
    helix.admin.add_resource(plan("w1", "w2", "w1", "w2"))
    helix.await_view(on("w1", "w2", "w1", "w2"))
    helix.admin.add_resource(plan("w1", "w2", "w1", "w1"))
    helix.await_view(on("w1", "w2", "w1", "w1"))

    ended = helix.sessions["w2"].session
    end_session(server.connect_string, ended)  # it gets another one, and joins again
    sessions = PATHS.instance("w2", "CURRENTSTATES")
    eventually(lambda: helix.accessor.children(sessions) not in ([], [f"{ended[0]:x}"]))
    helix.await_view(on("w1", "w2", "w1", "w1"))

    helix.sessions["w2"].close()
    helix.await_view({"0": {"w1": "ONLINE"}, "2": {"w1": "ONLINE"}, "3": {"w1": "ONLINE"}})
    assert (first.is_leader, second.is_leader) == (True, False)
    helix.sessions["controller1"].close()
    eventually(lambda: second.is_leader)
    helix.admin.add_resource(plan("w1", "w1", "w1", "w1"))
    helix.await_view(on("w1", "w1", "w1", "w1"))
