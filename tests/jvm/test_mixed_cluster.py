"""Two of our brokers and two of Kafka's in one cluster, on a real ZooKeeper."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.mixed_cluster import (
    OURS,
    MixedCluster,
    assert_dumps_are_equal,
    assert_nothing_lost,
    assert_replicas_are_equal,
    mixed_cluster,
    replicated_over,
)
from tests.support.produce_load import A_FEW_PER_S, Load

pytestmark = [pytest.mark.jvm, pytest.mark.timeout(240)]

OLD = "0.10.2.2"
VERSIONS = {1: OURS, 2: OURS, 3: OLD, 4: OLD}
TOPIC, PARTITIONS = "load", 4


def start(cluster: MixedCluster, controller: int) -> None:
    """Start all brokers, ``controller`` first, and create the topic."""
    cluster.start_broker(controller)
    cluster.start_broker(*(set(cluster.ids) - {controller}))
    assert cluster.zk.get_controller_id() == controller
    cluster.create_assigned(TOPIC, replicated_over(1, 3, 2, 4, partitions=PARTITIONS))


# The controller dies last, so that each of the others dies, and returns, under one of ours or of theirs. Each CI run
# has kills under our controller; its clean stops are those of test_rolling_replacement. The night has the other three.
@pytest.mark.parametrize(
    "victims",
    [
        pytest.param((3, 2, 4, 1), id="our-controller"),
        pytest.param((1, 4, 2, 3), id="their-controller", marks=pytest.mark.nightly),
    ],
)
def test_nothing_acknowledged_is_lost_when_brokers_are_killed(tmp_path: Path, victims: Sequence[int]) -> None:
    random.seed(str(victims))
    with mixed_cluster(tmp_path, VERSIONS) as cluster:
        start(cluster, controller=victims[-1])
        load = Load(cluster.bootstrap_servers, TOPIC, PARTITIONS, idempotent=False, per_s=A_FEW_PER_S)
        load.run(1)
        for victim in victims:
            with load.running():
                cluster.brokers[victim].kill()
                cluster.start_broker(victim)
                cluster.await_in_sync(TOPIC)
        assert_nothing_lost(cluster, TOPIC, load)
        assert_replicas_are_equal(cluster, TOPIC)
        assert_dumps_are_equal(cluster, TOPIC, 0)


@pytest.mark.nightly
@pytest.mark.parametrize("controller", [pytest.param(1, id="our-controller"), pytest.param(3, id="their-controller")])
def test_brokers_hand_their_leaderships_over_before_they_stop(tmp_path: Path, controller: int) -> None:
    random.seed(controller)
    with mixed_cluster(tmp_path, VERSIONS) as cluster:
        start(cluster, controller)
        load = Load(cluster.bootstrap_servers, TOPIC, PARTITIONS, idempotent=False, per_s=A_FEW_PER_S)
        others = sorted(set(cluster.ids) - {controller})
        for stopping in (*others, controller):
            with load.running():
                cluster.stop_broker(stopping)
                assert not cluster.led_by(stopping, TOPIC)
                cluster.start_broker(stopping)
                cluster.await_in_sync(TOPIC)
        assert_nothing_lost(cluster, TOPIC, load)
        assert_replicas_are_equal(cluster, TOPIC)
