"""Elections of the controller: who wins, who waits, and who has to withdraw."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import pytest

from kafka_lite.controller.controller_context import ControllerContext
from kafka_lite.controller.controller_event_thread import ControllerEvent
from kafka_lite.controller.zookeeper_leader_elector import ELECTION_BACKOFF_MS, ZookeeperLeaderElector
from kafka_lite.zookeeper.zk_errors import FencedError, ZkConnectionError
from kafka_lite.zookeeper.znode_json import ZnodeDataError

US, OTHER = 1, 2


class Candidate:
    """Broker 1 and ZooKeeper, in which nobody is the controller at first, after four epochs."""

    def __init__(self) -> None:
        self.context = ControllerContext()
        self.controller: int | None = None
        self.epoch = 4
        self.is_epoch_readable = True
        self.owns_znode = True
        self.is_active = False
        self.failover_error: Exception | None = None
        self.steps: list[object] = []
        self.events: list[ControllerEvent] = []
        us = cast(Any, self)
        self.elector = ZookeeperLeaderElector(
            US, self.context, us, us, lambda: self.is_active, self.take_over, self.resign
        )

    # the controller

    def take_over(self) -> None:
        self.steps.append(f"take over in epoch {self.context.epoch}")
        if self.failover_error is not None:
            raise self.failover_error
        self.is_active = True

    def resign(self) -> None:
        self.steps.append("resign")
        self.is_active = False

    # its thread

    def pause(self, duration_ms: float) -> None:
        self.steps.append(("pause", duration_ms))

    def put(self, event: ControllerEvent) -> None:
        self.events.append(event)

    # ZooKeeper

    def get_controller_id(self) -> int | None:
        return self.controller

    def register_controller_and_increment_epoch(self, broker_id: int) -> tuple[int, int] | None:
        if not self.is_epoch_readable:
            raise ZnodeDataError("rubbish")
        if self.controller is not None:
            return None
        self.controller = broker_id
        self.epoch += 1
        return self.epoch, self.epoch * 10

    @contextmanager
    def fenced_by_controller_epoch(self, version: int) -> Iterator[None]:
        if version != self.epoch * 10:
            raise FencedError
        yield

    def owns_controller(self) -> bool:
        return self.owns_znode

    def delete_own_controller(self) -> None:
        self.steps.append("delete /controller")
        self.controller = None


@pytest.fixture
def candidate() -> Candidate:
    return Candidate()


def test_the_first_broker_takes_over_in_the_next_epoch(candidate: Candidate) -> None:
    candidate.elector.elect()
    assert candidate.steps == ["take over in epoch 5"]
    assert (candidate.controller, candidate.context.epoch, candidate.context.epoch_zk_version) == (US, 5, 50)


def test_a_broker_that_is_too_late_waits(candidate: Candidate) -> None:
    candidate.controller = OTHER
    candidate.elector.elect()
    assert (candidate.steps, candidate.events) == ([], [])


def test_a_broker_that_loses_at_the_last_moment_waits(candidate: Candidate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidate, "register_controller_and_increment_epoch", lambda _broker_id: None)
    candidate.elector.elect()
    assert (candidate.steps, candidate.context.epoch) == ([], 0)


def test_the_active_controller_is_not_elected_again(candidate: Candidate) -> None:
    candidate.elector.elect()
    candidate.elector.elect()
    assert candidate.steps == ["take over in epoch 5"]


def test_an_epoch_that_cannot_be_read_is_tried_again_after_a_pause(candidate: Candidate) -> None:
    candidate.is_epoch_readable = False
    candidate.elector.elect()
    assert candidate.steps == [("pause", ELECTION_BACKOFF_MS)]
    candidate.is_epoch_readable = True
    (again,) = candidate.events
    again.process()
    assert candidate.steps[1:] == ["take over in epoch 5"]


def test_a_broker_that_cannot_take_over_lets_others_try(candidate: Candidate) -> None:
    candidate.failover_error = LookupError("no topics")
    candidate.elector.elect()
    assert candidate.steps == ["take over in epoch 5", "resign", "delete /controller"]
    assert candidate.controller is None


def test_without_zookeeper_there_is_nothing_to_delete(candidate: Candidate) -> None:
    candidate.failover_error = ZkConnectionError("gone")
    with pytest.raises(ZkConnectionError):
        candidate.elector.elect()
    assert candidate.steps == ["take over in epoch 5", "resign"]


def test_a_controller_that_was_replaced_resigns_and_is_no_candidate(candidate: Candidate) -> None:
    candidate.elector.elect()
    candidate.controller = OTHER
    candidate.elector.process_controller_change()
    assert candidate.steps[1:] == ["resign"]


def test_the_end_of_another_controller_is_an_election(candidate: Candidate) -> None:
    candidate.elector.process_controller_change()
    assert candidate.steps == ["take over in epoch 5"]


def test_an_expired_session_ends_the_office_and_begins_an_election(candidate: Candidate) -> None:
    candidate.elector.elect()
    candidate.owns_znode = False
    candidate.elector.process_session_expired()
    assert candidate.steps[1:] == ["resign", "delete /controller", "take over in epoch 6"]


def test_a_controller_that_was_already_elected_in_the_new_session_stays(candidate: Candidate) -> None:
    candidate.elector.elect()
    candidate.elector.process_session_expired()
    assert candidate.steps == ["take over in epoch 5"]


def test_an_event_of_a_controller_whose_epoch_is_over_writes_nothing(candidate: Candidate) -> None:
    candidate.elector.elect()
    assert candidate.elector.process_as_leader(lambda: "done") == "done"
    candidate.epoch += 1
    with pytest.raises(FencedError):
        candidate.elector.process_as_leader(lambda: pytest.fail("it must not write"))
    assert candidate.steps[1:] == ["resign", "delete /controller"]
