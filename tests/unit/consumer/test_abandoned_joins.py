"""A member that leaves while its JoinGroup is in progress, and joins again before the response."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from kafka_lite.clients import client_utils
from kafka_lite.common.errors import Errors
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.group.member_state import MemberState
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_11_join_group import JoinGroupResponse
from tests.support.scripted_broker import KAFKA_0_10_2, TODAY, ScriptedBroker
from tests.unit.consumer.conftest import ConsumerFactory


class ParkingBroker(ScriptedBroker):
    """Gives each member an id. Holds back the response to JoinGroup, and later ones on its connection, until told."""

    def __init__(self, time: MockTime, versions: dict[ApiKey, tuple[int, int]]) -> None:
        super().__init__(time, versions)
        self._numbers = count(1)
        self._held: list[Callable[[], None]] | None = []
        self._parked: str | None = None
        self.parks_refusals = True
        self.released_at_ms = float("inf")
        self.create("t", 2)

    def answer(self, node: str, correlation_id: int, response: Any, version: int) -> None:
        if isinstance(response, JoinGroupResponse) and (self.parks_refusals or response.error_code == Errors.NONE.code):
            self._parked = node
        if self._held is not None and node == self._parked:
            self._held.append(lambda: super(ParkingBroker, self).answer(node, correlation_id, response, version))
        else:
            super().answer(node, correlation_id, response, version)

    def connect(self, connection_id: str, host: str, port: int, *sizes: int) -> None:
        self._parked = None if self._parked == connection_id else self._parked
        super().connect(connection_id, host, port, *sizes)

    def poll(self, timeout_ms: float) -> None:
        super().poll(timeout_ms)
        if self._time.hi_res_ms() >= self.released_at_ms:
            self.release()

    def park(self) -> None:
        self._held, self._parked = [], None

    def release(self) -> None:
        held, self._held = self._held or [], None
        for answer in held:
            answer()

    def join_group(self, request: Any, version: int) -> Any:
        response: Any = super().join_group(request, version)
        member_id = request.member_id or f"member-{next(self._numbers)}"
        response.member_id = member_id
        if response.error_code == Errors.NONE.code:
            response.leader = response.members[0].member_id = member_id
        return response

    def sync_group(self, request: Any, version: int) -> Any:
        response: Any = super().sync_group(request, version)
        response.assignment = self.assignments.get(request.member_id, b"")
        return response

    def leavers(self) -> list[str]:
        return [each.member_id or each.members[0].member_id for each in self.of(ApiKey.LEAVE_GROUP)]


def poll(consumer: KafkaConsumer, times: int) -> None:
    for _ in range(times):
        consumer.poll(50)


@pytest.mark.parametrize("versions", [TODAY, KAFKA_0_10_2], ids=["an id first", "0.10.2"])
def test_the_response_to_an_abandoned_join_makes_that_member_leave_but_not_its_successor(
    time: MockTime,
    new_consumer: ConsumerFactory,
    monkeypatch: pytest.MonkeyPatch,
    versions: dict[ApiKey, tuple[int, int]],
) -> None:
    parking = ParkingBroker(time, versions)
    monkeypatch.setattr(client_utils, "Selector", lambda **_: parking)
    consumer = new_consumer("g")
    coordinator = consumer._coordinator
    assert coordinator is not None
    for _ in range(2):
        consumer.unsubscribe()
        consumer.subscribe(["t"])
        poll(consumer, 5)
        assert coordinator.state is MemberState.REBALANCING
    assert len(parking.of(ApiKey.JOIN_GROUP)) == 2
    parking.release()
    poll(consumer, 10)
    assert (coordinator.state, coordinator.generation.member_id) == (MemberState.STABLE, "member-2")
    assert len(consumer.assignment) == 2
    assert parking.leavers() == ["member-1"]
    assert [each.member_id for each in parking.of(ApiKey.SYNC_GROUP)] == ["member-2"]


def test_a_generation_that_was_reset_during_the_join_makes_the_member_join_again(
    time: MockTime, new_consumer: ConsumerFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    parking = ParkingBroker(time, KAFKA_0_10_2)
    monkeypatch.setattr(client_utils, "Selector", lambda **_: parking)
    consumer = new_consumer("g")
    consumer.subscribe(["t"])
    poll(consumer, 5)
    coordinator = consumer._coordinator
    assert coordinator is not None
    coordinator.reset_generation("a late answer to a commit says that the member is unknown")
    parking.release()
    poll(consumer, 10)
    assert (coordinator.state, coordinator.generation.member_id) == (MemberState.STABLE, "member-2")
    assert parking.leavers() == ["member-1"]


def test_a_consumer_that_closes_during_a_join_does_not_wait_for_the_other_members(
    time: MockTime, new_consumer: ConsumerFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    parking = ParkingBroker(time, TODAY)
    parking.parks_refusals = False
    monkeypatch.setattr(client_utils, "Selector", lambda **_: parking)
    consumer = new_consumer("g")
    consumer.subscribe(["t"])
    poll(consumer, 5)
    began = time.hi_res_ms()
    consumer.close(30_000)
    assert time.hi_res_ms() - began < 1_000
    assert parking.leavers() == ["member-1"]


def test_a_member_that_closes_during_a_later_join_has_committed_and_leaves(
    time: MockTime, new_consumer: ConsumerFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    parking = ParkingBroker(time, TODAY)
    monkeypatch.setattr(client_utils, "Selector", lambda **_: parking)
    parking.release()
    parking.append(TopicPartition("t", 0), b"a", b"b")
    consumer = new_consumer("g")
    consumer.subscribe(["t"])
    poll(consumer, 10)
    coordinator = consumer._coordinator
    assert coordinator is not None
    assert coordinator.state is MemberState.STABLE
    parking.park()
    coordinator.request_rejoin("another member joins")
    poll(consumer, 5)
    assert coordinator.state is MemberState.REBALANCING
    began = time.hi_res_ms()
    consumer.close(30_000)
    assert time.hi_res_ms() - began < 1_000
    assert parking.leavers() == ["member-1"]
    assert parking.committed[TopicPartition("t", 0)] == (2, "")


def test_a_member_that_stays_closes_during_a_join_without_waiting(
    time: MockTime, new_consumer: ConsumerFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    parking = ParkingBroker(time, KAFKA_0_10_2)
    monkeypatch.setattr(client_utils, "Selector", lambda **_: parking)
    consumer = new_consumer("g", **{"internal.leave.group.on.close": False})
    consumer.subscribe(["t"])
    poll(consumer, 5)
    began = time.hi_res_ms()
    consumer.close(30_000)
    assert time.hi_res_ms() - began < 1_000
    assert parking.leavers() == []


def test_a_member_without_an_id_waits_for_it_to_leave(
    time: MockTime, new_consumer: ConsumerFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    parking = ParkingBroker(time, KAFKA_0_10_2)
    monkeypatch.setattr(client_utils, "Selector", lambda **_: parking)
    consumer = new_consumer("g")
    consumer.subscribe(["t"])
    poll(consumer, 5)
    parking.released_at_ms = time.hi_res_ms() + 5_000
    consumer.close(30_000)
    assert time.hi_res_ms() - parking.released_at_ms < 1_000
    assert parking.leavers() == ["member-1"]
