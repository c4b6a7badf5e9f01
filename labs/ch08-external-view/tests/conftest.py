"""Clusters of Helix as values, and one on the ZooKeeper of a broker."""

from contextlib import ExitStack
from types import SimpleNamespace

import pytest

from kafka_lite.mirror.helix.manager.generic_helix_controller import GenericHelixController
from kafka_lite.mirror.helix.manager.participant_manager import ParticipantManager
from kafka_lite.mirror.helix.manager.routing_table_provider import RoutingTableProvider
from kafka_lite.mirror.helix.manager.zk_helix_admin import ZKHelixAdmin
from kafka_lite.mirror.helix.manager.zk_helix_data_accessor import ZKHelixDataAccessor
from kafka_lite.mirror.helix.model.built_in_state_models import ONLINE_OFFLINE
from kafka_lite.mirror.helix.model.current_state import CurrentState
from kafka_lite.mirror.helix.model.ideal_state import IdealState
from kafka_lite.mirror.helix.model.live_instance import LiveInstance
from kafka_lite.mirror.helix.model.message import Message
from kafka_lite.mirror.helix.participant.state_model import StateMachineEngine, StateModel
from kafka_lite.mirror.helix.property_paths import PropertyPaths
from kafka_lite.mirror.helix.stages.cluster_data import ClusterData
from kafka_lite.mirror.helix.stages.resource_computation import compute_resources
from kafka_lite.server.broker_process import free_port
from kafka_lite.zookeeper.zookeeper_client import ZooKeeperClient

PATHS = PropertyPaths("ur")


def ideal(topic, **owners):
    """``ideal("t", p0="w1")``"""
    return IdealState.customized(topic, "OnlineOffline", {p[1:]: {w: "ONLINE"} for p, w in owners.items()})


def current(topic, session="s1", **states):
    """``current("t", p0="ONLINE")``: what an instance has of a topic."""
    record = CurrentState.empty(topic, session, "OnlineOffline")
    for partition, state in states.items():
        record = record.with_state(partition[1:], state)
    return record


def message(topic, partition, instance, session="s1"):
    return Message.transition(
        f"{instance}-{topic}-{partition}", 0, source=("c", None), target=(instance, session), resource=topic,
        partition=partition, from_state="OFFLINE", to_state="ONLINE", state_model="OnlineOffline",
    )  # fmt: skip


@pytest.fixture(scope="session")
def helix():
    """Makes clusters: w1 and w2 live in the session s1, whatever has states or messages."""

    def data(*ideal_states, states=(), messages=(), views=(), live=("w1", "w2")):
        by_instance = {}
        for instance, record in states:
            by_instance.setdefault(instance, {})[record.resource] = record
        for_instance = {}
        for each in messages:
            for_instance.setdefault(each.instance, []).append(each)
        return ClusterData(
            ideal_states={each.resource: each for each in ideal_states},
            live_instances={name: LiveInstance.of(name, "s1", "1@lab") for name in live},
            state_models={"OnlineOffline": ONLINE_OFFLINE},
            messages=for_instance,
            current_states=by_instance,
            external_views={each.id: each for each in views},
        )

    return SimpleNamespace(
        data=data, ideal=ideal, current=current, message=message, resources=compute_resources, paths=PATHS
    )


@pytest.fixture(scope="session")
def zookeeper_port():
    """The port of the broker's ZooKeeper."""
    return free_port()


@pytest.fixture(scope="session")
def broker_settings(zookeeper_port):
    """Its ZooKeeper listens where Helix finds it."""
    return {"zookeeper.embedded.port": str(zookeeper_port)}


class Copying(StateModel):
    """A partition that is copied, or not."""

    def transitions(self):
        return dict.fromkeys((*ONLINE_OFFLINE.transitions,), lambda _message: None)


class Cluster:
    """A controller with your code, an administrator and a spectator, each with a session."""

    def __init__(self, connect):
        self._connect = connect
        self._stack = ExitStack()
        self.workers = {}
        self.admin = ZKHelixAdmin(self.session())
        self.admin.add_cluster([ONLINE_OFFLINE])
        controller = GenericHelixController(self.session(), "controller")
        controller.start()
        self._stack.callback(controller.shutdown)
        self.spectator = RoutingTableProvider(self.session())
        self.spectator.start()
        self._stack.callback(self.spectator.shutdown)

    def session(self):
        zk = ZooKeeperClient(self._connect, 30_000, 30_000)
        zk.create_chroot()
        zk.connect()
        self._stack.callback(zk.close)
        return ZKHelixDataAccessor(zk, PATHS)

    def join(self, name):
        engine = StateMachineEngine()
        engine.register("OnlineOffline", lambda _resource, _partition: Copying("OFFLINE"), "OFFLINE")
        accessor = self.session()
        worker = ParticipantManager(accessor, name, engine)
        worker.start()
        self._stack.callback(worker.shutdown)
        self.workers[name] = worker, accessor

    def die(self, name):
        worker, accessor = self.workers.pop(name)
        worker.shutdown()
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
