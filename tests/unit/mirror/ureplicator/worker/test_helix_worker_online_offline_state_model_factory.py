"""What the transitions of Helix do with the worker's connector, and what becomes of one that fails."""

from __future__ import annotations

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.helix.model.message import Message
from kafka_lite.mirror.helix.model.state_model_definition import ERROR
from kafka_lite.mirror.helix.participant.state_model import StateMachineEngine, StateModel
from kafka_lite.mirror.helix.participant.state_transition_handler import TransitionResult, run_transition
from kafka_lite.mirror.ureplicator.helix_names import OFFLINE, ONLINE, STATE_MODEL
from kafka_lite.mirror.ureplicator.worker.helix_worker_online_offline_state_model_factory import (
    HelixWorkerOnlineOfflineStateModelFactory,
)


class FakeConnector:
    def __init__(self) -> None:
        self.calls: list[tuple[str, TopicPartition]] = []
        self.error: Exception | None = None

    def add_topic_partition(self, partition: TopicPartition) -> None:
        self._call("add", partition)

    def delete_topic_partition(self, partition: TopicPartition) -> None:
        self._call("delete", partition)

    def _call(self, name: str, partition: TopicPartition) -> None:
        self.calls.append((name, partition))
        if self.error is not None:
            raise self.error


@pytest.fixture
def connector() -> FakeConnector:
    return FakeConnector()


@pytest.fixture
def engine(connector: FakeConnector) -> StateMachineEngine:
    engine = StateMachineEngine()
    engine.register(STATE_MODEL, HelixWorkerOnlineOfflineStateModelFactory(connector), OFFLINE)
    return engine


def a_message(start: str, to: str, partition: str = "3") -> Message:
    return Message.transition(
        *("id", 0), source=("controller", "1"), target=("w", "2"), resource="t", partition=partition,
        from_state=start, to_state=to, state_model=STATE_MODEL,
    )  # fmt: skip


def go(engine: StateMachineEngine, start: str, to: str, partition: str = "3") -> TransitionResult:
    message = a_message(start, to, partition)
    replica = engine.replica_for(message)
    assert isinstance(replica, StateModel)
    return run_transition(replica, message)


def test_online_adds_offline_deletes_dropped_does_nothing(engine: StateMachineEngine, connector: FakeConnector) -> None:
    states = [go(engine, *step).state for step in ((OFFLINE, ONLINE), (ONLINE, OFFLINE), (OFFLINE, "DROPPED"))]
    assert states == [ONLINE, OFFLINE, "DROPPED"]
    assert connector.calls == [("add", TopicPartition("t", 3)), ("delete", TopicPartition("t", 3))]


def test_a_failure_is_an_error_and_a_reset_leads_out_of_it(
    engine: StateMachineEngine, connector: FakeConnector
) -> None:
    connector.error = OSError("no offset")
    assert go(engine, OFFLINE, ONLINE).state == ERROR
    connector.error = None
    assert go(engine, ERROR, OFFLINE).state == OFFLINE
    assert go(engine, OFFLINE, ONLINE).state == ONLINE
    assert [name for name, _ in connector.calls] == ["add", "delete", "add"]


def test_a_partition_without_a_number_is_an_error(engine: StateMachineEngine, connector: FakeConnector) -> None:
    result = go(engine, OFFLINE, ONLINE, "t_3")
    assert (result.state, str(result.error)) == (ERROR, "t/t_3: a partition of Kafka has a number")
    assert connector.calls == []


def test_a_lost_session_stops_what_is_online(
    engine: StateMachineEngine, connector: FakeConnector, caplog: pytest.LogCaptureFixture
) -> None:
    go(engine, OFFLINE, ONLINE, "0")
    go(engine, OFFLINE, ONLINE, "1")
    go(engine, ONLINE, OFFLINE, "1")
    connector.calls.clear()
    connector.error = OSError("no ZooKeeper")
    engine.reset()
    assert connector.calls == [("delete", TopicPartition("t", 0))]
    assert "t-0 was stopped without a commit" in caplog.text
    assert {replica.current_state for _, _, replica in engine} == {OFFLINE}
