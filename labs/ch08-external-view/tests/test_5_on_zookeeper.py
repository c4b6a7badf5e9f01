"""Task 5: participants, a controller and a spectator on the ZooKeeper of a broker."""

import time

import pytest

PATIENCE_S = 30


def settle(cluster, topic, expected):
    """The controller writes after each change: wait for the view."""
    deadline_s = time.monotonic() + PATIENCE_S

    def found():
        view = cluster.spectator.view.get(topic)
        return None if view is None else {partition: dict(states) for partition, states in view.items()}

    while found() != expected and time.monotonic() < deadline_s:
        time.sleep(0.02)
    assert found() == expected, f"a spectator should see {expected}; yours: {found()}"


@pytest.mark.points(5, task=5)
def test_a_worker_joins(cluster_of_helix, helix):
    """A topic, and then a worker"""
    cluster_of_helix.admin.add_resource(helix.ideal("t", p0="w1", p1="w1"))
    cluster_of_helix.join("w1")
    settle(cluster_of_helix, "t", {"0": {"w1": "ONLINE"}, "1": {"w1": "ONLINE"}})


@pytest.mark.points(5, task=5)
def test_a_worker_dies(cluster_of_helix, helix):
    """Its states are history"""
    for name in ("w1", "w2"):
        cluster_of_helix.join(name)
    cluster_of_helix.admin.add_resource(helix.ideal("t", p0="w1", p1="w2"))
    settle(cluster_of_helix, "t", {"0": {"w1": "ONLINE"}, "1": {"w2": "ONLINE"}})
    cluster_of_helix.die("w2")
    settle(cluster_of_helix, "t", {"0": {"w1": "ONLINE"}})
    cluster_of_helix.admin.add_resource(helix.ideal("t", p0="w1", p1="w1"))
    settle(cluster_of_helix, "t", {"0": {"w1": "ONLINE"}, "1": {"w1": "ONLINE"}})


@pytest.mark.points(5, task=5)
def test_a_topic_is_dropped(cluster_of_helix, helix):
    """The view goes with the last replica"""
    cluster_of_helix.join("w1")
    cluster_of_helix.admin.add_resource(helix.ideal("t", p0="w1"))
    settle(cluster_of_helix, "t", {"0": {"w1": "ONLINE"}})
    cluster_of_helix.admin.drop_resource("t")
    settle(cluster_of_helix, "t", None)
