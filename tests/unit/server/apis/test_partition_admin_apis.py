"""Reassignments and elections, between the wire and the controller."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.replica_assignment import ReplicaAssignment
from kafka_lite.controller.replica_leader_election import ElectionType
from kafka_lite.protocol.messages import api_43_elect_leaders as elect_leaders
from kafka_lite.protocol.messages import api_45_alter_partition_reassignments as alter_reassignments
from kafka_lite.protocol.messages import api_46_list_partition_reassignments as list_reassignments
from kafka_lite.server.apis import partition_admin_apis
from kafka_lite.server.apis.partition_admin_apis import MANY_PARTITIONS, PartitionAdminApis

T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)
BROKER_ID = 4321
NOT_NEEDED = ApiError(Errors.ELECTION_NOT_NEEDED)
LOST = ApiError(Errors.PREFERRED_LEADER_NOT_AVAILABLE, "it is gone")


class Controller:
    """Answers what the test has put in; None: another broker is the controller."""

    def __init__(self) -> None:
        self.results: dict[TopicPartition, Any] | None = {}
        self.asked: Any = ()
        self.may_resize: bool | None = None

    def alter_partition_reassignments(self, targets: Any, callback: Any, *, may_resize: bool) -> None:
        self.asked, self.may_resize = dict(targets), may_resize
        callback(self.results)

    def list_partition_reassignments(self, wanted: Any, callback: Any) -> None:
        self.asked = wanted
        callback(self.results)

    def elect_leaders(self, partitions: Any, election_type: ElectionType, callback: Any) -> None:
        self.asked = (set(partitions), election_type)
        callback(self.results)


class Apis:
    """The broker knows that t-0, t-1 and u-0 are led by 1."""

    def __init__(self) -> None:
        self.controller = Controller()
        self.leaders = {T0: 1, T1: 1, U0: 1}
        cache = SimpleNamespace(
            get_all_topics=lambda: ["t", "u"],
            get_partitions=lambda topic: [tp.partition for tp in self.leaders if tp.topic == topic],
            get_partition_info=lambda tp: SimpleNamespace(leader=self.leaders[tp]),
        )
        self.apis = PartitionAdminApis(BROKER_ID, cast(Any, self.controller), cast(Any, cache))
        self.responses: list[Any] = []

    def handle(self, name: str, body: Any, version: int = 0) -> Any:
        getattr(self.apis, f"handle_{name}")(cast(Any, None), body, self.responses.append)
        return self.response(version) if self.responses else None

    def response(self, version: int = 0) -> Any:
        (response,) = self.responses
        response.encode(version)
        self.responses.clear()
        return response

    def elect(self, *partitions: TopicPartition, election_type: int = 0, timeout_ms: int = 0) -> Any:
        """The errors of the partitions, or None as long as there is no response; without partitions: of all."""
        topics = [elect_leaders.TopicPartitions(topic=tp.topic, partitions=[tp.partition]) for tp in partitions]
        body = elect_leaders.ElectLeadersRequest(
            election_type=election_type, topic_partitions=topics or None, timeout_ms=timeout_ms
        )
        response = self.handle("elect_leaders", body, 1)
        return None if response is None else elected(response)


def elected(response: Any) -> dict[TopicPartition, Errors]:
    return {
        TopicPartition(topic.topic, each.partition_id): Errors.for_code(each.error_code)
        for topic in response.replica_election_results
        for each in topic.partition_result
    }


@pytest.fixture
def apis() -> Iterator[Apis]:
    apis = Apis()
    yield apis
    apis.apis.shutdown()


def test_reassignments_are_started_and_cancelled(apis: Apis) -> None:
    apis.controller.results = {U0: ApiError(Errors.NO_REASSIGNMENT_IN_PROGRESS, "none"), T1: None, T0: None}
    partition = alter_reassignments.ReassignablePartition
    body = alter_reassignments.AlterPartitionReassignmentsRequest(
        topics=[
            alter_reassignments.ReassignableTopic(
                name="t", partitions=[partition(partition_index=index, replicas=[2, 3]) for index in (1, 0)]
            ),
            alter_reassignments.ReassignableTopic(name="u", partitions=[partition(partition_index=0, replicas=None)]),
        ]
    )
    response = apis.handle("alter_partition_reassignments", body)
    assert apis.controller.asked == {T0: [2, 3], T1: [2, 3], U0: None}
    assert response.error_code == 0
    assert [
        (topic.name, [(each.partition_index, Errors.for_code(each.error_code)) for each in topic.partitions])
        for topic in response.responses
    ] == [("t", [(1, Errors.NONE), (0, Errors.NONE)]), ("u", [(0, Errors.NO_REASSIGNMENT_IN_PROGRESS)])]
    assert response.responses[1].partitions[0].error_message == "none"


@pytest.mark.parametrize("may_resize", [True, False])
def test_the_number_of_replicas_may_be_kept(apis: Apis, may_resize: bool) -> None:
    body = alter_reassignments.AlterPartitionReassignmentsRequest(allow_replication_factor_change=may_resize)
    response = apis.handle("alter_partition_reassignments", body)
    assert (apis.controller.may_resize, response.allow_replication_factor_change) == (may_resize, may_resize)


@pytest.mark.parametrize(("topics", "asked"), [(None, None), ([("t", [0, 1])], [T0, T1]), ([], [])])
def test_reassignments_in_progress_are_listed(
    apis: Apis, topics: list[tuple[str, list[int]]] | None, asked: list[TopicPartition] | None
) -> None:
    apis.controller.results = {T0: ReplicaAssignment([4, 1, 2], [4], [2])}
    wanted = list_reassignments.ListPartitionReassignmentsTopics
    body = list_reassignments.ListPartitionReassignmentsRequest(
        topics=None if topics is None else [wanted(name=name, partition_indexes=indexes) for name, indexes in topics]
    )
    response = apis.handle("list_partition_reassignments", body)
    assert apis.controller.asked == asked
    (topic,) = response.topics
    (found,) = topic.partitions
    assert (response.error_code, topic.name, found.partition_index) == (0, "t", 0)
    assert (found.replicas, found.adding_replicas, found.removing_replicas) == ([4, 1, 2], [4], [2])


def test_another_broker_than_the_controller_refuses(apis: Apis) -> None:
    apis.controller.results = None
    not_controller = Errors.NOT_CONTROLLER
    for name, body in [
        ("alter_partition_reassignments", alter_reassignments.AlterPartitionReassignmentsRequest()),
        ("list_partition_reassignments", list_reassignments.ListPartitionReassignmentsRequest()),
    ]:
        assert apis.handle(name, body).error_code == not_controller.code
    assert apis.elect(T0, U0) == {T0: not_controller, U0: not_controller}


@pytest.mark.parametrize(("number", "election_type"), [(0, ElectionType.PREFERRED), (1, ElectionType.UNCLEAN)])
def test_an_election_that_waits_for_nothing_is_answered_at_once(
    apis: Apis, number: int, election_type: ElectionType
) -> None:
    apis.controller.results = {T0: 1, U0: LOST}
    assert apis.elect(T0, U0, election_type=number, timeout_ms=60_000) == {T0: Errors.NONE, U0: LOST.error}
    assert apis.controller.asked == ({T0, U0}, election_type)


class Slow:
    """A controller that answers when it is told to, in a thread of its own."""

    def __init__(self) -> None:
        self.may_answer = threading.Event()
        self.threads: list[threading.Thread] = []

    def later(self, *arguments: Any, **_: Any) -> None:
        def answer() -> None:
            self.may_answer.wait()
            arguments[-1](None)

        self.threads.append(threading.Thread(target=answer))
        self.threads[-1].start()

    elect_leaders = list_partition_reassignments = later

    def alter_partition_reassignments(self, _targets: Any, callback: Any, *, may_resize: bool) -> None:
        self.later(callback)


def requests_about(count: int) -> list[tuple[str, Any]]:
    """One of each API."""
    topics = [elect_leaders.TopicPartitions(topic="t", partitions=list(range(count)))]
    reassigned = [alter_reassignments.ReassignablePartition(partition_index=index) for index in range(count)]
    altered = [alter_reassignments.ReassignableTopic(name="t", partitions=reassigned)]
    listed = [list_reassignments.ListPartitionReassignmentsTopics(name="t", partition_indexes=list(range(count)))]
    return [
        ("elect_leaders", elect_leaders.ElectLeadersRequest(topic_partitions=topics)),
        ("alter_partition_reassignments", alter_reassignments.AlterPartitionReassignmentsRequest(topics=altered)),
        ("list_partition_reassignments", list_reassignments.ListPartitionReassignmentsRequest(topics=listed)),
    ]


@pytest.mark.parametrize(("count", "waits"), [(MANY_PARTITIONS - 1, False), (MANY_PARTITIONS, True)])
@pytest.mark.parametrize("number", range(3))
def test_a_handler_waits_for_the_controller_with_a_large_request(number: int, count: int, waits: bool) -> None:
    controller, responses = Slow(), list[Any]()
    apis = PartitionAdminApis(BROKER_ID, cast(Any, controller), cast(Any, None))
    name, body = requests_about(count)[number]
    handler = threading.Thread(target=getattr(apis, f"handle_{name}"), args=(None, body, responses.append))
    handler.start()
    handler.join(0.05 if waits else None)
    assert handler.is_alive() is waits
    controller.may_answer.set()
    handler.join()
    for thread in controller.threads:
        thread.join()
    apis.shutdown()
    assert len(responses) == 1


def test_a_handler_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition_admin_apis, "MAX_WAIT_S", 0.01)
    apis = PartitionAdminApis(BROKER_ID, cast(Any, SimpleNamespace(elect_leaders=lambda *_: None)), cast(Any, None))
    apis.handle_elect_leaders(cast(Any, None), requests_about(MANY_PARTITIONS)[0][1], pytest.fail)
    apis.shutdown()


def test_a_response_that_fails_ends_the_wait_too(apis: Apis) -> None:
    def respond(_response: Any) -> None:
        raise KeyError

    with pytest.raises(KeyError):
        apis.apis.handle_elect_leaders(cast(Any, None), requests_about(MANY_PARTITIONS)[0][1], respond)


def test_an_election_of_an_unknown_kind_is_refused(apis: Apis) -> None:
    assert apis.elect(T0, election_type=7) == {T0: Errors.INVALID_REQUEST}
    assert apis.controller.asked == ()


@pytest.mark.parametrize(("asked", "is_refused"), [(None, True), ([], False), ([T0], True)])
def test_the_response_as_a_whole_tells_of_an_unknown_kind(
    apis: Apis, asked: list[TopicPartition] | None, is_refused: bool
) -> None:
    topics = None if asked is None else [elect_leaders.TopicPartitions(topic=tp.topic, partitions=[0]) for tp in asked]
    body = elect_leaders.ElectLeadersRequest(election_type=7, topic_partitions=topics, timeout_ms=0)
    response = apis.handle("elect_leaders", body, 1)
    assert response.error_code == (Errors.INVALID_REQUEST.code if is_refused else 0)
    assert len(response.replica_election_results) == len(asked or [])


def test_an_election_waits_until_this_broker_knows_all_leaders(apis: Apis) -> None:
    apis.controller.results = {T0: 2, U0: 3}
    assert apis.elect(T0, U0, timeout_ms=10**9) is None
    apis.leaders[T0] = 2
    apis.apis.try_complete_delayed_elections("t")
    assert apis.responses == []
    apis.leaders[U0] = 3
    apis.apis.try_complete_delayed_elections("u")
    assert elected(apis.response(1)) == {T0: Errors.NONE, U0: Errors.NONE}


def test_without_a_timeout_leaders_that_are_not_known_yet_are_late(apis: Apis) -> None:
    apis.controller.results = {T0: 1, T1: 2}
    assert apis.elect(T0, T1) == {T0: Errors.NONE, T1: Errors.REQUEST_TIMED_OUT}


def test_an_election_for_all_partitions_tells_what_was_done(apis: Apis) -> None:
    apis.controller.results = {T0: 1, T1: NOT_NEEDED, U0: LOST}
    assert apis.elect() == {T0: Errors.NONE, U0: LOST.error}
    assert apis.controller.asked == ({T0, T1, U0}, ElectionType.PREFERRED)
    assert apis.elect(T1) == {T0: Errors.NONE, T1: Errors.ELECTION_NOT_NEEDED, U0: LOST.error}


def test_a_shutdown_ends_the_thread_that_waits_for_elections() -> None:
    def names() -> list[str]:
        return [thread.name for thread in threading.enumerate() if str(BROKER_ID) in thread.name]

    apis = Apis()
    assert len(names()) == 1
    apis.apis.shutdown()
    assert names() == []
