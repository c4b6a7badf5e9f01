from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.admin.replica_assignment import BrokerMetadata, assign_replicas_to_brokers, rack_alternated
from kafka_lite.common.errors import ApiError, Errors

RACKS = {0: "rack1", 1: "rack3", 2: "rack3", 3: "rack2", 4: "rack2", 5: "rack1"}


def brokers(count, racks=None):
    return [BrokerMetadata(number, racks[number] if racks else None) for number in range(count)]


def test_assignment_matches_kafkas_example():
    assert assign_replicas_to_brokers(brokers(5), 10, 3, 0) == {
        0: [0, 1, 2],
        1: [1, 2, 3],
        2: [2, 3, 4],
        3: [3, 4, 0],
        4: [4, 0, 1],
        5: [0, 2, 3],
        6: [1, 3, 4],
        7: [2, 4, 0],
        8: [3, 0, 1],
        9: [4, 1, 2],
    }


def test_the_broker_list_alternates_between_racks():
    assert rack_alternated(RACKS) == [0, 3, 1, 5, 4, 2]
    assert rack_alternated({1: "a", 2: "a", 3: "b"}) == [1, 3, 2]


def test_rack_aware_assignment_matches_kafkas_example():
    assignment = assign_replicas_to_brokers(brokers(6, RACKS), 7, 3, 0, 0)
    assert assignment == {
        0: [0, 3, 1],
        1: [3, 1, 5],
        2: [1, 5, 4],
        3: [5, 4, 2],
        4: [4, 2, 0],
        5: [2, 0, 3],
        6: [0, 4, 2],
    }


def test_new_partitions_continue_the_existing_assignment():
    whole = assign_replicas_to_brokers(brokers(5), 10, 3, 0)
    assert assign_replicas_to_brokers(brokers(5), 4, 3, 0, 0).items() <= whole.items()
    assert set(assign_replicas_to_brokers(brokers(5), 6, 3, 0, 4)) == set(range(4, 10))


@given(st.integers(1, 8), st.integers(1, 30), st.data())
def test_replicas_are_on_different_brokers_and_leaders_are_balanced(count, partitions, data):
    factor = data.draw(st.integers(1, count))
    racks = data.draw(st.none() | st.fixed_dictionaries({n: st.sampled_from("abc") for n in range(count)}))
    assignment = assign_replicas_to_brokers(brokers(count, racks), partitions, factor)
    assert list(assignment) == list(range(partitions))
    leaders = Counter(replicas[0] for replicas in assignment.values())
    assert max(leaders.values()) - min([leaders[n] for n in range(count)]) <= 1
    for replicas in assignment.values():
        assert len(set(replicas)) == len(replicas) == factor
        if racks:
            assert len({racks[replica] for replica in replicas}) == min(factor, len(set(racks.values())))


@pytest.mark.parametrize(
    ("count", "partitions", "factor", "error", "says"),
    [
        (1, 0, 1, Errors.INVALID_PARTITIONS, "larger than 0"),
        (1, 1, 0, Errors.INVALID_REPLICATION_FACTOR, "larger than 0"),
        (1, 1, 2, Errors.INVALID_REPLICATION_FACTOR, "Replication factor: 2 larger than available brokers: 1."),
        (0, 1, 1, Errors.INVALID_REPLICATION_FACTOR, "available brokers: 0"),
    ],
)
def test_invalid_partition_counts_and_replication_factors_are_rejected(count, partitions, factor, error, says):
    with pytest.raises(ApiError, match=says) as caught:
        assign_replicas_to_brokers(brokers(count), partitions, factor)
    assert caught.value.error is error


def test_rack_aware_assignment_needs_the_rack_of_every_broker():
    with pytest.raises(ApiError, match="Not all brokers have rack"):
        assign_replicas_to_brokers([BrokerMetadata(1, "a"), BrokerMetadata(2)], 1, 1)
