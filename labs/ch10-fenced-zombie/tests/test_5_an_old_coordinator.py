"""Task 5: coordinators can be zombies, too."""

import pytest

from kafka_lite.common.errors import ApiError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.log.producers.producer_append_info import ProducerAppendInfo
from kafka_lite.log.producers.producer_state_entry import ProducerStateEntry


@pytest.mark.points(6, task=5)
def test_its_markers(partition):
    """A coordinator that was replaced sends a marker late"""
    partition.produce(epoch=3)
    assert partition.mark(epoch=3, commit=True, coordinator_epoch=6) == "NONE", "the coordinator with epoch 6 commits"
    partition.produce(epoch=3, sequence=1)
    found = partition.mark(epoch=3, coordinator_epoch=5)
    assert found == "TRANSACTION_COORDINATOR_FENCED", (
        "the coordinator with epoch 5 was replaced, and would abort the next transaction: "
        f"TRANSACTION_COORDINATOR_FENCED, not {found}"
    )
    found = partition.mark(epoch=3, commit=True, coordinator_epoch=6)
    assert found == "NONE", f"6 is still the current coordinator epoch: NONE, not {found}"
    partition.produce(epoch=3, sequence=2)
    found = partition.mark(epoch=3, commit=True, coordinator_epoch=7)
    assert found == "NONE", f"7 is a newer coordinator: NONE, not {found}"


@pytest.mark.points(4, task=5)
def test_a_follower_accepts_what_its_leader_has():
    """The same marker, from a leader"""
    append = ProducerAppendInfo(TopicPartition("a", 0), ProducerStateEntry(7, 3, 6), AppendOrigin.REPLICATION)
    try:
        append._check_coordinator_epoch(5, 40)
    except ApiError as failure:
        pytest.fail(
            f"a follower must have what its leader has, so it only logs a line; yours raises {failure.error.name}"
        )
    for epoch in (5, 7):
        append._check_coordinator_epoch(epoch, 40)
        known = append.updated_entry.coordinator_epoch
        assert known == 6, (
            f"a check changes nothing: the entry keeps epoch 6 until the marker is appended (end_transaction); {known}"
        )
