"""A real Helix controller drives our participants, and ours drives real ones, on the embedded and a real ZooKeeper.

At the end the ZooKeeper's log is judged: no bound was broken by any write, and all went along the state models.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from kafka_lite.mirror.helix.model.ideal_state import IdealState, RebalanceMode
from kafka_lite.testing.simulation.helix.written_course import judge_log
from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper
from kafka_lite.zookeeper.zookeeper_client import ZooKeeperClient
from tests.support.eventually import eventually
from tests.support.helix_zookeeper import PATHS, HelixOnZooKeeper
from tests.support.jvm import classpath, compile_java, java_command
from tests.support.real_zookeeper import real_zookeeper
from tests.support.zookeeper_sessions import end_session_of

pytestmark = [pytest.mark.jvm, pytest.mark.soak, pytest.mark.nightly]

JARS = ("org.apache.helix:helix-core:0.6.9", "org.slf4j:slf4j-log4j12:1.7.21")
SOURCE = Path(__file__).parent / "HelixMember.java"
SESSION_TIMEOUT_MS = 30_000


class Place:
    """A ZooKeeper, our members in this process, and real ones."""

    def __init__(self, connect_string: str, helix: HelixOnZooKeeper, stack: ExitStack, folder: Path) -> None:
        self.connect_string, self.helix = connect_string, helix
        self._stack, self._folder = stack, folder

    def start(self, kind: str, role: str, name: str) -> None:
        """``kind``: java or ours; ``role``: controller or participant."""
        if kind == "ours":
            start = self.helix.start_controller if role == "controller" else self.helix.start_participant
            start(name)
            return
        jars = classpath(*JARS)
        command = java_command(
            *("HelixMember", self.connect_string, PATHS.cluster, role, name),
            classpath=[compile_java(SOURCE, jars), *jars],
            options=[f"-Dzk.session.timeout={SESSION_TIMEOUT_MS}"],
        )
        log = self._folder / f"{name}.log"
        with log.open("wb") as output:
            process = self._stack.enter_context(subprocess.Popen(command, stdout=output, stderr=output))
        self._stack.callback(process.kill)
        eventually(lambda: "started" in log.read_text() or process.poll() is not None, log.read_text, 120)

    def end(self, name: str) -> None:
        """End the session of a participant of ours or of Java."""
        end_session_of(self.connect_string, PATHS.live_instance(name))


@contextmanager
def embedded_zookeeper(folder: Path) -> Iterator[str]:
    with EmbeddedZooKeeper(folder, tick_time_ms=500, max_session_timeout_ms=60_000, force_sync=False) as server:
        yield server.connect_string


@pytest.fixture(params=["embedded", "real"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    folder = tmp_path / "zk"
    with ExitStack() as stack:
        is_real = request.param == "real"
        server = real_zookeeper(folder, tick_time_ms=2000) if is_real else embedded_zookeeper(folder)
        connect_string = stack.enter_context(server)

        def connect() -> ZooKeeperClient:
            client = ZooKeeperClient(connect_string, SESSION_TIMEOUT_MS, 60_000)
            client.connect()
            stack.callback(client.close)
            return client

        helix = HelixOnZooKeeper(connect)
        stack.callback(helix.close)
        yield Place(connect_string, helix, stack, tmp_path)
    assert judge_log(folder, PATHS.cluster) == []


@pytest.mark.parametrize("controller", ["java", "ours"])
def test_one_controller_drives_participants_of_both(place: Place, controller: str) -> None:
    helix = place.helix
    place.start(controller, "controller", "controller1")
    place.start("java", "participant", "j")
    place.start("ours", "participant", "p")
    helix.admin.add_resource(_plan("j", "p", "j", "p"))
    helix.await_view(_on("j", "p", "j", "p"))
    helix.admin.add_resource(_plan("p", "j", "j", "p", "p"))
    helix.await_view(_on("p", "j", "j", "p", "p"))
    helix.admin.enable_instance("j", enabled=False)
    helix.await_view(_on("p", "j", "j", "p", "p") | {"1": {"j": "OFFLINE"}, "2": {"j": "OFFLINE"}})
    helix.admin.enable_instance("j", enabled=True)
    helix.await_view(_on("p", "j", "j", "p", "p"))
    sessions = PATHS.instance("p", "CURRENTSTATES")
    before = helix.accessor.children(sessions)
    place.end("p")  # it joins again with another session, and gets its partitions once more
    eventually(lambda: helix.accessor.children(sessions) not in ([], before))
    helix.await_view(_on("p", "j", "j", "p", "p"))
    helix.admin.drop_resource("t")
    helix.await_view({})


@pytest.mark.parametrize("controller", ["java", "ours"])
def test_a_slave_of_either_kind_becomes_the_master(place: Place, controller: str) -> None:
    helix = place.helix
    place.start(controller, "controller", "controller1")
    place.start("java", "participant", "j")
    place.start("ours", "participant", "p")
    lists = {"t_0": ["j", "p"], "t_1": ["p", "j"]}
    helix.admin.add_resource(IdealState.automatic(RebalanceMode.SEMI_AUTO, "t", "MasterSlave", lists, replicas=2))
    helix.await_view({"t_0": {"j": "MASTER", "p": "SLAVE"}, "t_1": {"j": "SLAVE", "p": "MASTER"}})
    helix.sessions["p"].close()
    helix.await_view({"t_0": {"j": "MASTER"}, "t_1": {"j": "MASTER"}})


def _plan(*instances: str) -> IdealState:
    assignment = {str(number): {instance: "ONLINE"} for number, instance in enumerate(instances)}
    return IdealState.customized("t", "OnlineOffline", assignment)


def _on(*instances: str) -> dict[str, dict[str, str]]:
    return {str(number): {instance: "ONLINE"} for number, instance in enumerate(instances)}
