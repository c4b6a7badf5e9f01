"""A partition of a topic with masters and slaves, as values, and a cluster of Helix on the ZooKeeper of a broker."""

import threading
from contextlib import ExitStack
from types import SimpleNamespace

import pytest

from kafka_lite.mirror.helix.manager.generic_helix_controller import GenericHelixController
from kafka_lite.mirror.helix.manager.participant_manager import ParticipantManager
from kafka_lite.mirror.helix.manager.zk_helix_admin import ZKHelixAdmin
from kafka_lite.mirror.helix.manager.zk_helix_data_accessor import ZKHelixDataAccessor
from kafka_lite.mirror.helix.model.built_in_state_models import MASTER_SLAVE
from kafka_lite.mirror.helix.model.ideal_state import IdealState, RebalanceMode
from kafka_lite.mirror.helix.model.message import Message
from kafka_lite.mirror.helix.participant.state_model import StateMachineEngine, StateModel
from kafka_lite.mirror.helix.property_paths import PropertyPaths
from kafka_lite.mirror.helix.rebalancer.partition_replicas import PartitionReplicas
from kafka_lite.server.broker_process import free_port
from kafka_lite.zookeeper.zookeeper_client import ZooKeeperClient

PATHS = PropertyPaths("lab")


def message(text):
    """``message("w1: MASTER -> SLAVE")``"""
    instance, _, transition = text.partition(": ")
    start, end = transition.split(" -> ")
    return Message.transition(
        text, 0, source=("c", None), target=(instance, "s1"), resource="t", partition="0",
        from_state=start, to_state=end, state_model="MasterSlave",
    )  # fmt: skip


@pytest.fixture(scope="session")
def helix():
    """The state model, its bounds with two slaves, and makers of messages and replicas."""

    def replicas(states, live="123", disabled=""):
        return PartitionReplicas(MASTER_SLAVE, states, list(live), list(disabled), True)

    return SimpleNamespace(model=MASTER_SLAVE, bounds={"MASTER": 1, "SLAVE": 2}, message=message, replicas=replicas)


@pytest.fixture(scope="session")
def zookeeper_port():
    """The port of the broker's ZooKeeper."""
    return free_port()


@pytest.fixture(scope="session")
def broker_settings(zookeeper_port):
    """Its ZooKeeper listens where Helix finds it."""
    return {"zookeeper.embedded.port": str(zookeeper_port)}


class Masters:
    """Who is master of what, by the transitions of the participants, and when two were."""

    def __init__(self):
        self._lock = threading.Lock()
        self._now = {}
        self.two_at_a_time = []

    def begin(self, partition, worker):
        with self._lock:
            now = self._now.setdefault(partition, set())
            now.add(worker)
            if len(now) > 1:
                self.two_at_a_time.append(f"{partition}: {' and '.join(sorted(now))}")

    def end(self, partition, worker):
        with self._lock:
            self._now.setdefault(partition, set()).discard(worker)


class Replica(StateModel):
    """A replica that tells ``masters`` when it begins and ends to be a master."""

    def __init__(self, masters, worker, partition):
        super().__init__("OFFLINE")
        self._masters, self._worker, self._partition = masters, worker, partition

    def transitions(self):
        actions = dict.fromkeys((*MASTER_SLAVE.transitions,), lambda _message: None)
        actions["SLAVE", "MASTER"] = lambda _message: self._masters.begin(self._partition, self._worker)
        actions["MASTER", "SLAVE"] = lambda _message: self.reset()
        return actions

    def reset(self):
        self._masters.end(self._partition, self._worker)


class Cluster:
    """A controller with your code, workers and an administrator, each with a session."""

    def __init__(self, connect):
        self._connect = connect
        self._stack = ExitStack()
        self._workers = {}
        self.masters = Masters()
        self.accessor = self._session()
        self.admin = ZKHelixAdmin(self.accessor)
        self.admin.add_cluster([MASTER_SLAVE])
        controller = GenericHelixController(self._session(), "controller")
        controller.start()
        self._stack.callback(controller.shutdown)

    def _session(self):
        zk = ZooKeeperClient(self._connect, 30_000, 30_000)
        zk.create_chroot()
        zk.connect()
        self._stack.callback(zk.close)
        return ZKHelixDataAccessor(zk, PATHS)

    def add_resource(self, lists):
        """``add_resource({"0": ["w1", "w2"]})``: the preference list of each partition."""
        replicas = max(map(len, lists.values()))
        self.admin.add_resource(
            IdealState.automatic(RebalanceMode.SEMI_AUTO, "t", "MasterSlave", lists, replicas=replicas)
        )

    def view(self):
        """The states of each partition in the external view of t, None without one."""
        record = self.accessor.get(PATHS.external_view("t"))
        return None if record is None else {name: dict(states) for name, states in record.map_fields.items()}

    def join(self, name):
        engine, accessor = StateMachineEngine(), self._session()
        engine.register("MasterSlave", lambda _topic, number: Replica(self.masters, name, number), "OFFLINE")
        worker = ParticipantManager(accessor, name, engine)
        worker.start()
        self._stack.callback(worker.shutdown)
        self._workers[name] = worker, accessor, engine

    def die(self, name):
        worker, accessor, engine = self._workers.pop(name)
        worker.shutdown()
        engine.reset()
        accessor.zk.close()

    def close(self):
        self._stack.close()


@pytest.fixture
def cluster_of_helix(broker, zookeeper_port, request):
    """A cluster of Helix for each test."""
    assert broker.is_running, broker.log_tail()
    cluster = Cluster(f"127.0.0.1:{zookeeper_port}/{request.node.name}")
    yield cluster
    cluster.close()
