"""The controller's lines in the state-change log, as Kafka 0.10.2 writes them."""

from __future__ import annotations

import logging

import pytest

from kafka_lite.common.process.log_levels import TRACE
from kafka_lite.controller.partition_state_machine import PartitionState
from kafka_lite.controller.replica_state_machine import ReplicaState
from kafka_lite.zookeeper.data import LeaderAndIsr, LeaderIsrAndControllerEpoch


def test_states_have_kafkas_names() -> None:
    assert [str(state) for state in PartitionState] == [
        "NewPartition",
        "OnlinePartition",
        "OfflinePartition",
        "NonExistentPartition",
    ]
    assert [str(state) for state in ReplicaState] == [
        "NewReplica",
        "OnlineReplica",
        "OfflineReplica",
        "ReplicaDeletionStarted",
        "ReplicaDeletionSuccessful",
        "ReplicaDeletionIneligible",
        "NonExistentReplica",
    ]


def test_leadership_is_written_as_kafka_writes_it() -> None:
    state = LeaderIsrAndControllerEpoch(LeaderAndIsr(1, [1, 2], leader_epoch=4), 7)
    assert str(state) == "(Leader:1,ISR:1,2,LeaderEpoch:4,ControllerEpoch:7)"


def test_nothing_is_formatted_if_the_log_is_off(caplog: pytest.LogCaptureFixture) -> None:
    from kafka_lite.common.state_change_logger import state_change_logger

    class Unprintable:
        def __str__(self) -> str:
            raise AssertionError("formatted though the level is off")

    with caplog.at_level(logging.DEBUG, "state.change.logger"):
        state_change_logger.trace("%s", Unprintable())
    assert not caplog.records
    with caplog.at_level(TRACE, "state.change.logger"):
        state_change_logger.trace("Broker %d", 3)
    assert caplog.messages == ["Broker 3"]
