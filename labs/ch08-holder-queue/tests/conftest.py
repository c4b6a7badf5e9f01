"""Maps from partition to worker, written as texts."""

import http.client
import json
from contextlib import closing
from types import SimpleNamespace

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.helix.manager.zk_helix_data_accessor import ZKHelixDataAccessor
from kafka_lite.mirror.helix.model.live_instance import LiveInstance
from kafka_lite.mirror.helix.property_paths import PropertyPaths
from kafka_lite.mirror.ureplicator.controller.controller_conf import ControllerConf
from kafka_lite.mirror.ureplicator.controller.controller_starter import ControllerStarter
from kafka_lite.mirror.ureplicator.controller.ideal_state_builder import ideal_state_of
from kafka_lite.mirror.ureplicator.controller.instance_topic_partition_holder import (
    HolderQueue,
    InstanceTopicPartitionHolder,
)
from kafka_lite.server.broker_process import free_port
from kafka_lite.zookeeper.zookeeper_client import ZooKeeperClient

PATHS = PropertyPaths("ur")


@pytest.fixture(scope="session")
def mirror():
    """Texts for ideal states: ``t="12-"`` says that t/0 is with w1, t/1 with w2, and nobody has t/2."""

    def states(**topics):
        return {
            topic: ideal_state_of(
                topic, {str(n): {f"w{w}": "ONLINE"} for n, w in enumerate(text) if w != "-"}, len(text)
            )
            for topic, text in topics.items()
        }

    def text(ideal_state):
        owners = (ideal_state.instance_states(str(number)) for number in range(ideal_state.num_partitions))
        return "".join("".join(name.removeprefix("w") for name in owner or ()) or "-" for owner in owners)

    def partitions(names):
        """``partitions("t0 t1")``."""
        return {TopicPartition(name[0], int(name[1:])) for name in names.split()}

    def queue(**loads):
        return HolderQueue(
            InstanceTopicPartitionHolder(name, (TopicPartition(f"of-{name}", number) for number in range(load)))
            for name, load in loads.items()
        )

    def shares(holders):
        """``{"w1": "t0 t1"}``"""
        return {
            each.instance_name: " ".join(f"{topic}{number}" for topic, number in sorted(each.topic_partitions))
            for each in sorted(holders, key=lambda each: each.instance_name)
        }

    return SimpleNamespace(states=states, text=text, partitions=partitions, queue=queue, shares=shares)


@pytest.fixture(scope="session")
def zookeeper_port():
    """The port of the broker's ZooKeeper."""
    return free_port()


@pytest.fixture(scope="session")
def broker_settings(zookeeper_port):
    """Its ZooKeeper listens where the controller finds it."""
    return {"zookeeper.embedded.port": str(zookeeper_port)}


class Mirror:
    """A controller with your code, whose source is the broker, and workers that only live and die."""

    def __init__(self, connect, helix, folder):
        self.helix = f"{connect}/{helix}"
        self._workers = {}
        self.starter = ControllerStarter(
            ControllerConf(
                "ur", self.helix, 0, "c1", auto_rebalance_delay_s=0, backup=folder,
                enable_src_kafka_validation=True, src_kafka_zk_path=connect,
            )
        )  # fmt: skip
        self.starter.start()
        self.accessor = self._session()

    def _session(self):
        zk = ZooKeeperClient(self.helix, 30_000, 30_000)
        zk.connect()
        return ZKHelixDataAccessor(zk, PATHS)

    def live(self, *names):
        for name in names:
            self._workers[name] = accessor = self._session()
            record = LiveInstance.of(name, accessor.session, "1@lab").record
            accessor.create_ephemeral(PATHS.live_instance(name), record)

    def die(self, name):
        self._workers.pop(name).zk.close()

    def post(self, path, body=None):
        with closing(http.client.HTTPConnection("127.0.0.1", self.starter.port, timeout=30)) as rest:
            rest.request("POST", path, json.dumps(body) if body else None)
            return rest.getresponse().read().decode()

    def records(self):
        return self.accessor.child_records(PATHS.ideal_states)

    def close(self):
        self.starter.stop()
        for accessor in (self.accessor, *self._workers.values()):
            accessor.zk.close()


@pytest.fixture
def controller(broker, zookeeper_port, tmp_path, request):
    """A controller with your code. Each test has its own Helix cluster."""
    assert broker.is_running, broker.log_tail()
    mirror = Mirror(f"127.0.0.1:{zookeeper_port}", request.node.name, tmp_path)
    yield mirror
    mirror.close()
