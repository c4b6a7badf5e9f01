"""Task 4: masters and slaves on the ZooKeeper of a broker."""

import time

import pytest

PATIENCE_S = 30


def settle(cluster, expected):
    """The controller works after each change: wait for the view."""
    deadline_s = time.monotonic() + PATIENCE_S
    while (found := cluster.view()) != expected and time.monotonic() < deadline_s:
        time.sleep(0.02)
    assert found == expected, f"the external view should be {expected}; yours: {found}"
    twice = cluster.masters.two_at_a_time
    assert not twice, f"two workers were master of a partition at the same time; yours: {twice}"


@pytest.mark.points(5, task=4)
def test_a_master_and_its_slaves(cluster_of_helix):
    """Two partitions with three replicas each"""
    for name in ("w1", "w2", "w3"):
        cluster_of_helix.join(name)
    cluster_of_helix.add_resource({"0": ["w1", "w2", "w3"], "1": ["w2", "w3", "w1"]})
    settle(
        cluster_of_helix,
        {
            "0": {"w1": "MASTER", "w2": "SLAVE", "w3": "SLAVE"},
            "1": {"w1": "SLAVE", "w2": "MASTER", "w3": "SLAVE"},
        },
    )


@pytest.mark.points(5, task=4)
def test_a_master_dies_and_returns(cluster_of_helix):
    """Its slave takes over, and gives the partition back"""
    for name in ("w1", "w2"):
        cluster_of_helix.join(name)
    cluster_of_helix.add_resource({"0": ["w1", "w2"]})
    settle(cluster_of_helix, {"0": {"w1": "MASTER", "w2": "SLAVE"}})
    cluster_of_helix.die("w1")
    settle(cluster_of_helix, {"0": {"w2": "MASTER"}})
    cluster_of_helix.join("w1")
    settle(cluster_of_helix, {"0": {"w1": "MASTER", "w2": "SLAVE"}})


@pytest.mark.points(5, task=4)
def test_a_resource_is_dropped(cluster_of_helix):
    """No replica remains"""
    for name in ("w1", "w2"):
        cluster_of_helix.join(name)
    cluster_of_helix.add_resource({"0": ["w1", "w2"]})
    settle(cluster_of_helix, {"0": {"w1": "MASTER", "w2": "SLAVE"}})
    cluster_of_helix.admin.drop_resource("t")
    settle(cluster_of_helix, None)
