"""Our brokers beside Kafka 2.8.2 and 3.9.1 in ZooKeeper mode, with inter-broker protocols of 0.10.2 to 2.6."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.mixed_cluster import (
    OURS,
    MixedCluster,
    assert_nothing_lost,
    assert_replicas_are_equal,
    mixed_cluster,
    read_all,
    replicated_over,
)
from tests.support.produce_load import A_FEW_PER_S, Load
from tests.support.real_kafka import LAST_OF_2, TODAYS

pytestmark = [pytest.mark.jvm, pytest.mark.timeout(240)]

TOPIC, PARTITIONS = "load", 4
STOPPED = (2, 4)
"""One of ours and one of theirs."""


def run_load(folder: Path, version: str, protocol: str, killed: Sequence[int], *, idempotent: bool) -> None:
    """Stop two brokers and kill the other two, the controller last, each under load; check what Kafka promises."""
    settings = {"inter.broker.protocol.version": protocol, "log.message.format.version": protocol}
    with mixed_cluster(folder, {1: OURS, 2: OURS, 3: version, 4: version}, settings) as cluster:
        controller = killed[-1]
        cluster.start_broker(controller)
        cluster.start_broker(*(set(cluster.ids) - {controller}))
        assert cluster.zk.get_controller_id() == controller
        cluster.create_assigned(TOPIC, replicated_over(1, 3, 2, 4, partitions=PARTITIONS))
        load = Load(cluster.bootstrap_servers, TOPIC, PARTITIONS, idempotent=idempotent, per_s=A_FEW_PER_S)
        load.run(1)
        with load.running():
            for broker_id in STOPPED:
                cluster.stop_broker(broker_id)
                assert not cluster.led_by(broker_id, TOPIC)
                return_to(cluster, broker_id)
            for broker_id in killed:
                cluster.brokers[broker_id].kill()
                return_to(cluster, broker_id)
        assert_nothing_lost(cluster, TOPIC, load)
        assert_replicas_are_equal(cluster, TOPIC)
        if idempotent:
            assert read_all(cluster.bootstrap_servers, TOPIC, range(PARTITIONS)).keys() == load.acknowledged.keys()


def return_to(cluster: MixedCluster, broker_id: int) -> None:
    """Start a broker again, and wait until it has caught up."""
    cluster.start_broker(broker_id)
    cluster.await_in_sync(TOPIC)


OUR_CONTROLLER, THEIR_CONTROLLER = (3, 1), (1, 3)


# Each version as controller and under ours; each protocol beside each version.
@pytest.mark.parametrize(
    ("version", "protocol", "killed"),
    [
        # In each run a later version is the controller in test_mixed_cluster_tools.py.
        pytest.param(LAST_OF_2, "0.10.2", THEIR_CONTROLLER, marks=pytest.mark.nightly),
        # 2.1: the newest without broker epochs (KIP-380)
        pytest.param(LAST_OF_2, "2.1", OUR_CONTROLLER, marks=pytest.mark.nightly),
        (TODAYS, "0.10.2", OUR_CONTROLLER),
        pytest.param(TODAYS, "2.6", THEIR_CONTROLLER, marks=pytest.mark.nightly),
    ],
)
def test_nothing_acknowledged_is_lost(tmp_path: Path, version: str, protocol: str, killed: Sequence[int]) -> None:
    random.seed(f"{version} {protocol}")
    # Format v2, of 0.11 and later, knows producers: there, nothing may be written twice either.
    run_load(tmp_path, version, protocol, killed, idempotent=protocol != "0.10.2")
