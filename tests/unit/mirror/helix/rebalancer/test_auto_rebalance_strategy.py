"""FULL_AUTO's lists are even, keep what they can, and are those of a real Helix 0.6.9; the other modes beside it."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.mirror.helix.model.built_in_state_models import MASTER_SLAVE, ONLINE_OFFLINE
from kafka_lite.mirror.helix.rebalancer.auto_rebalance_strategy import AutoRebalanceStrategy, Replica
from kafka_lite.mirror.helix.rebalancer.custom_rebalancer import customized_states
from kafka_lite.mirror.helix.rebalancer.partition_replicas import PartitionReplicas
from kafka_lite.mirror.helix.rebalancer.semi_auto_rebalancer import semi_automatic_states

PARTITIONS = ["ls_0", "ls_1", "ls_2"]
COUNTS = {"LEADER": 1, "STANDBY": 1}


def lists(partitions, instances, live, mapping, counts=COUNTS, limit=None):
    return AutoRebalanceStrategy(partitions, counts, limit).preference_lists(instances, live, mapping)


def test_a_new_resource_is_spread_as_a_real_helix_spread_it():
    """w2 was dead. The real view: ls_0 w1 leads, ls_1 w3 leads, ls_2 w1 leads."""
    made = lists(PARTITIONS, ["w1", "w2", "w3"], ["w1", "w3"], {})
    assert made == {"ls_0": ["w1", "w3"], "ls_1": ["w3", "w1"], "ls_2": ["w1", "w3"]}


def test_nobody_lives():
    assert lists(PARTITIONS, ["w1"], [], {}) == {}


def test_an_instance_takes_no_more_than_its_limit():
    made = lists(["0", "1", "2"], ["w1"], ["w1"], {}, {"ONLINE": 1}, limit=2)
    assert sum(map(len, made.values())) == 2


def test_a_replica_starts_its_search_where_javas_hash_says():
    assert Replica("a", 0).start_index(100) == (97 * 31 * 31 + 124 * 31 + 48) % 100


CLUSTERS = st.integers(1, 5).flatmap(
    lambda n: st.tuples(st.just([f"w{i}" for i in range(n)]), st.integers(1, 6), st.integers(1, n))
)


@given(CLUSTERS)
def test_each_partition_has_all_replicas_on_different_instances_and_instances_are_even(cluster):
    instances, number, replicas = cluster
    partitions = [str(i) for i in range(number)]
    made = lists(partitions, instances, instances, {}, {"MASTER": 1, "SLAVE": replicas - 1})
    assert all(len(set(names)) == len(names) == replicas for names in made.values())
    load = Counter(name for names in made.values() for name in names)
    assert max(load.values()) - min(load[name] for name in instances) <= 1
    again = lists(partitions, instances, instances, made, {"MASTER": 1, "SLAVE": replicas - 1})
    assert {p: set(names) for p, names in again.items()} == {p: set(names) for p, names in made.items()}


# --------------------------------------------------------------------------------------------------------- other modes


def master_slave(states, live="123", disabled="", enabled=True):
    return PartitionReplicas(MASTER_SLAVE, states, list(live), list(disabled), enabled)


@pytest.mark.parametrize(
    ("states", "live", "disabled", "expected"),
    [
        ({}, "123", "", {"1": "MASTER", "2": "SLAVE", "3": "SLAVE"}),
        ({}, "23", "", {"2": "MASTER", "3": "SLAVE"}),
        ({"1": "MASTER"}, "123", "1", {"1": "OFFLINE", "2": "SLAVE", "3": "SLAVE"}),
        ({"1": "ERROR"}, "123", "", {"2": "MASTER", "3": "SLAVE"}),
        ({"2": "MASTER", "3": "SLAVE"}, "123", "", {"1": "SLAVE", "2": "MASTER", "3": "SLAVE"}),
        ({"1": "SLAVE", "2": "MASTER", "3": "SLAVE"}, "123", "", {"1": "MASTER", "2": "SLAVE", "3": "SLAVE"}),
        ({"9": "SLAVE"}, "1239", "9", {"1": "MASTER", "2": "SLAVE", "3": "SLAVE", "9": "DROPPED"}),
    ],
)
def test_semi_auto_walks_the_list_and_lets_a_master_serve_until_another_is_near(states, live, disabled, expected):
    assert semi_automatic_states(master_slave(states, live, disabled), ["1", "2", "3"]) == expected


def test_a_partition_that_is_not_in_the_ideal_state_is_dropped():
    replicas = PartitionReplicas(ONLINE_OFFLINE, {"w1": "ONLINE"}, ["w1"])
    assert customized_states(replicas, None) == semi_automatic_states(replicas, None) == {"w1": "DROPPED"}


@pytest.mark.parametrize(
    ("states", "disabled", "enabled", "expected"),
    [
        ({}, "", True, {"1": "MASTER", "2": "SLAVE"}),
        ({"1": "MASTER", "3": "SLAVE"}, "", True, {"1": "MASTER", "2": "SLAVE", "3": "DROPPED"}),
        ({"1": "MASTER"}, "1", True, {"1": "OFFLINE", "2": "SLAVE"}),
        ({"3": "SLAVE"}, "3", True, {"1": "MASTER", "2": "SLAVE", "3": "OFFLINE"}),
        ({"1": "ERROR"}, "", True, {"2": "SLAVE"}),
        ({"1": "MASTER", "2": "ERROR"}, "", False, {"1": "OFFLINE"}),
    ],
)
def test_customized_takes_the_states_of_the_ideal_state(states, disabled, enabled, expected):
    replicas = master_slave(states, disabled=disabled, enabled=enabled)
    assert customized_states(replicas, {"1": "MASTER", "2": "SLAVE", "7": "SLAVE"}) == expected
