"""How often a broker that stops asks the controller, and what it takes for success."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kafka_lite.common.api_version import ApiVersion
from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_07_controlled_shutdown import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
)
from kafka_lite.server.replication.controlled_shutdown import (
    ControlledShutdown,
    ControllerFinder,
    ShutdownCallback,
    controlled_shutdown_response,
)

Outcome = ControlledShutdownResponse | Exception
DONE = controlled_shutdown_response(Errors.NONE, ())
SOME_LEFT = controlled_shutdown_response(Errors.NONE, [TopicPartition("orders", 1)])
NO_CONTROLLER = controlled_shutdown_response(Errors.STALE_CONTROLLER_EPOCH, ())


class Controller:
    def __init__(self, *outcomes: Outcome) -> None:
        self.outcomes = list(outcomes)
        self.asked: list[ControlledShutdownRequest] = []

    def ask(self, request: ControlledShutdownRequest) -> ControlledShutdownResponse:
        self.asked.append(request)
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def shut_down(controller: Controller, time: MockTime) -> bool:
    return ControlledShutdown(7, controller.ask, max_retries=2, retry_backoff_ms=5000, time=time).run()


def test_one_request_is_enough_if_everything_was_moved() -> None:
    controller, time = Controller(DONE), MockTime()
    began_ms = time.hi_res_ms()
    assert shut_down(controller, time)
    assert [request.broker_id for request in controller.asked] == [7]
    assert time.hi_res_ms() == began_ms


@pytest.mark.parametrize(
    "failure", [SOME_LEFT, NO_CONTROLLER, KafkaError("there is no controller"), ConnectionError("lost")]
)
def test_a_failure_is_repeated_after_the_backoff(failure: Outcome) -> None:
    controller, time = Controller(failure, DONE), MockTime()
    began_ms = time.hi_res_ms()
    assert shut_down(controller, time)
    assert len(controller.asked) == 2
    assert time.hi_res_ms() - began_ms == 5000


def test_the_broker_stops_all_the_same_once_the_retries_are_used_up() -> None:
    controller, time = Controller(SOME_LEFT, NO_CONTROLLER, SOME_LEFT), MockTime()
    began_ms = time.hi_res_ms()
    assert not shut_down(controller, time)
    assert len(controller.asked) == 3
    assert time.hi_res_ms() - began_ms == 10_000, "no pause after the last one"


def finder(controller_id: int | None, ask_own: Callable[[int, ShutdownCallback], None]) -> ControllerFinder:
    """Of broker 7, whose controller has no registration."""
    zk = SimpleNamespace(get_controller_id=lambda: controller_id, get_broker=lambda _broker_id: None)
    return ControllerFinder(7, cast(Any, zk), ask_own, "PLAINTEXT", ApiVersion.KAFKA_3_9_IV0, timeout_ms=0)


def test_a_broker_that_is_the_controller_asks_itself() -> None:
    left = TopicPartition("orders", 1)
    own = finder(7, lambda broker_id, respond: respond(Errors.NONE, [left] if broker_id == 7 else []))
    assert own.ask(ControlledShutdownRequest(broker_id=7)) == SOME_LEFT


def test_a_controller_of_its_own_that_does_not_respond_in_time_is_an_error() -> None:
    with pytest.raises(KafkaError, match="does not respond"):
        finder(7, lambda _broker_id, _respond: None).ask(ControlledShutdownRequest(broker_id=7))


@pytest.mark.parametrize("controller_id", [None, 8])
def test_without_a_controller_that_is_registered_there_is_nobody_to_ask(controller_id: int | None) -> None:
    def fail(_broker_id: int, _respond: ShutdownCallback) -> None:
        raise AssertionError("this broker is not the controller")

    with pytest.raises(KafkaError, match="no controller"):
        finder(controller_id, fail).ask(ControlledShutdownRequest(broker_id=7))
