"""Questions find the coordinator of their key, go there together, and are asked again after some errors."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.coordinator.share.persister import (
    PartitionErrorData,
    PartitionStateData,
    PartitionStateSummaryData,
    SharePartitionKey,
)
from kafka_lite.protocol.schema import Request, Response
from kafka_lite.server.share.persister import state_messages
from kafka_lite.server.share.persister.default_state_persister import DefaultStatePersister
from kafka_lite.server.share.persister.persister_state_manager import (
    MAX_ATTEMPTS,
    PersisterStateManager,
    StateQuestion,
    coalesced,
)
from kafka_lite.server.share.persister.state_messages import StateMessages
from tests.support.eventually import eventually
from tests.support.patience import patient_s
from tests.support.share_coordinators import GROUP, P0, P1, P2

HERE, THERE = 0, 1
BY_REQUEST = {
    messages.request: messages
    for messages in (state_messages.INITIALIZE, state_messages.DELETE, state_messages.READ_SUMMARY)
}
DATA = PartitionStateData(0, 0)
Results = Mapping[TopicIdPartition, PartitionErrorData]


class Coordinators:
    """This broker's coordinator and the others', and how a persister reaches them."""

    def __init__(self) -> None:
        self.leaders: dict[TopicIdPartition, int | None] = {P0: HERE, P1: THERE, P2: THERE}
        self.errors: list[Errors] = []
        """What the next partitions are answered with."""
        self.failures: list[Exception] = []
        """What the next exchanges fail with."""
        self.forgets: set[TopicIdPartition] = set()
        self.asked: list[tuple[int, str, list[TopicIdPartition]]] = []
        """Broker, name of the API, and partitions of each request."""
        self.gate = threading.Event()
        self.gate.set()
        self.aborted: list[int] = []
        self.time = MockTime()
        self.manager = PersisterStateManager(
            HERE, self._coordinator_of, self._ask_here, self, MockScheduler(self.time), backoff_ms=100
        )
        self.persister = DefaultStatePersister(self.manager)

    def _coordinator_of(self, key: SharePartitionKey) -> int | None:
        return self.leaders[TopicIdPartition(key.topic_id, key.partition)]

    def _answer(
        self, broker: int, messages: StateMessages[Any, Any], partitions: Mapping[TopicIdPartition, Any]
    ) -> dict[TopicIdPartition, Any]:
        self.asked.append((broker, messages.name, list(partitions)))
        errors = [self.errors.pop(0) if self.errors else Errors.NONE for _ in partitions]
        return {
            partition: messages.failed(PartitionErrorData(error))
            for partition, error in zip(partitions, errors, strict=True)
            if partition not in self.forgets
        }

    def _ask_here(
        self,
        messages: StateMessages[Any, Any],
        group_id: str,
        partitions: Mapping[TopicIdPartition, Any],
        respond: Callable[[Mapping[Any, Any]], None],
    ) -> None:
        assert group_id == GROUP
        respond(self._answer(HERE, messages, partitions))

    def exchange(self, broker_id: int, request: Request, version: int) -> Response:
        assert version == 0
        assert self.gate.wait(patient_s(60))
        if self.failures:
            raise self.failures.pop(0)
        messages = BY_REQUEST[type(request)]
        return messages.to_response(self._answer(broker_id, messages, messages.from_request(request)))

    def abort(self, broker_id: int) -> None:
        self.aborted.append(broker_id)
        self.gate.set()

    def initialize(self, *partitions: TopicIdPartition) -> list[Results]:
        responses: list[Results] = []
        self.persister.initialize_state(GROUP, dict.fromkeys(partitions, DATA), responses.append)
        return responses


@pytest.fixture
def coordinators() -> Iterator[Coordinators]:
    made = Coordinators()
    yield made
    made.persister.stop()


def test_this_broker_s_coordinator_is_asked_directly(coordinators: Coordinators) -> None:
    assert coordinators.initialize(P0) == [{P0: PartitionErrorData()}]
    assert coordinators.asked == [(HERE, "initialize state", [P0])]


def test_another_one_is_asked_over_the_wire(coordinators: Coordinators) -> None:
    responses = coordinators.initialize(P1, P0)
    eventually(lambda: bool(responses))
    assert responses == [{P1: PartitionErrorData(), P0: PartitionErrorData()}]
    assert (THERE, "initialize state", [P1]) in coordinators.asked


def test_what_waits_for_a_broker_goes_together(coordinators: Coordinators) -> None:
    coordinators.gate.clear()
    first = coordinators.initialize(P1)
    coordinators.time.sleep(0)
    eventually(lambda: not coordinators.manager._senders.get(THERE)._waiting)  # type: ignore[union-attr]
    later = coordinators.initialize(P1, P2)
    summaries: list[Mapping[TopicIdPartition, PartitionStateSummaryData]] = []
    coordinators.persister.read_summary(GROUP, {P1: -1, P2: -1}, summaries.append)
    coordinators.gate.set()
    eventually(lambda: bool(first and later and summaries))
    assert coordinators.asked == [
        (THERE, "initialize state", [P1]),
        (THERE, "initialize state", [P1, P2]),
        (THERE, "read state summary", [P1, P2]),
    ]


@pytest.mark.parametrize(
    "error", [Errors.NOT_COORDINATOR, Errors.COORDINATOR_LOAD_IN_PROGRESS, Errors.COORDINATOR_NOT_AVAILABLE]
)
def test_a_coordinator_that_has_moved_is_looked_up_again(coordinators: Coordinators, error: Errors) -> None:
    coordinators.errors = [error, error]
    responses = coordinators.initialize(P0)
    assert responses == []
    coordinators.time.sleep(120)
    assert responses == []
    coordinators.leaders[P0] = THERE
    coordinators.time.sleep(240)
    eventually(lambda: bool(responses))
    assert responses == [{P0: PartitionErrorData()}]
    assert [broker for broker, _, _ in coordinators.asked] == [HERE, HERE, THERE]


def test_other_errors_are_final(coordinators: Coordinators) -> None:
    coordinators.errors = [Errors.FENCED_STATE_EPOCH]
    assert coordinators.initialize(P0) == [{P0: PartitionErrorData(Errors.FENCED_STATE_EPOCH)}]


def test_in_the_end_it_gives_up(coordinators: Coordinators) -> None:
    coordinators.errors = [Errors.NOT_COORDINATOR] * MAX_ATTEMPTS
    responses = coordinators.initialize(P0)
    for _ in range(MAX_ATTEMPTS):
        assert not responses
        coordinators.time.sleep(2000)
        if responses:
            break
    assert responses == [{P0: PartitionErrorData(Errors.NOT_COORDINATOR)}]
    assert len(coordinators.asked) == MAX_ATTEMPTS


def test_without_a_coordinator_it_waits_for_one(coordinators: Coordinators) -> None:
    coordinators.leaders[P0] = None
    responses = coordinators.initialize(P0)
    assert responses == []
    coordinators.leaders[P0] = HERE
    coordinators.time.sleep(120)
    assert responses == [{P0: PartitionErrorData()}]


def test_a_lost_connection_is_asked_again(coordinators: Coordinators) -> None:
    coordinators.failures = [ConnectionResetError()]
    responses = coordinators.initialize(P1)
    eventually(lambda: not coordinators.failures)
    coordinators.leaders[P1] = HERE

    def is_answered() -> bool:
        coordinators.time.sleep(120)
        return bool(responses)

    eventually(is_answered)
    assert responses == [{P1: PartitionErrorData()}]


def test_a_partition_that_the_response_lacks_has_failed(coordinators: Coordinators) -> None:
    coordinators.forgets = {P2}
    responses = coordinators.initialize(P1, P2)
    eventually(lambda: bool(responses))
    assert {partition: result.error for partition, result in responses[0].items()} == {
        P1: Errors.NONE,
        P2: Errors.UNKNOWN_SERVER_ERROR,
    }


def test_requests_without_a_group_or_with_a_negative_partition_are_refused(coordinators: Coordinators) -> None:
    responses: list[Results] = []
    coordinators.persister.delete_state("", [P0], responses.append)
    coordinators.persister.delete_state(GROUP, [P0._replace(partition=-1)], responses.append)
    coordinators.persister.delete_state(GROUP, [], responses.append)
    errors = [[result.error for result in response.values()] for response in responses]
    assert errors == [[Errors.INVALID_REQUEST], [Errors.INVALID_REQUEST], []]
    assert not coordinators.asked


def test_an_error_of_one_response_does_not_keep_the_others(coordinators: Coordinators) -> None:
    def fail(_results: Results) -> None:
        raise RuntimeError("of the leader")

    coordinators.gate.clear()
    coordinators.persister.delete_state(GROUP, [P1], fail)
    responses = coordinators.initialize(P2)
    coordinators.gate.set()
    eventually(lambda: bool(responses))


def test_a_manager_that_stops_asks_no_more(coordinators: Coordinators) -> None:
    coordinators.errors = [Errors.NOT_COORDINATOR]
    responses = coordinators.initialize(P0)
    coordinators.initialize(P1)
    coordinators.persister.stop()
    coordinators.time.sleep(1000)
    assert responses == []
    assert coordinators.aborted == [THERE]


def test_a_partition_s_second_question_goes_into_another_request() -> None:
    def question(messages: StateMessages[Any, Any], partition: TopicIdPartition, group: str = GROUP) -> StateQuestion:
        return StateQuestion(messages, SharePartitionKey(group, *partition), None, lambda _result: None)

    read, write = state_messages.READ, state_messages.WRITE
    questions = [question(write, P0), question(read, P0), question(write, P0), question(write, P1)]
    questions.append(question(write, P0, "other"))
    w0, r0, again, w1, other = questions
    assert coalesced(questions) == [[w0, w1], [r0], [again], [other]]
