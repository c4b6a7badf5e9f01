"""A member finds its coordinator, and the next one when the first has moved, is silent or gone."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.time import MockTime
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.protocol.api_key import ApiKey
from tests.support.scripted_broker import ScriptedBroker
from tests.support.scripted_members import T0, joined, member, poll, reading
from tests.unit.consumer.conftest import ConsumerFactory


@pytest.mark.parametrize("error", [Errors.NOT_COORDINATOR, Errors.COORDINATOR_NOT_AVAILABLE])
@pytest.mark.parametrize(
    "key", [ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP, ApiKey.OFFSET_FETCH, ApiKey.OFFSET_COMMIT], ids=lambda key: key.name
)
def test_a_coordinator_that_has_moved_is_looked_up_again(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, key: ApiKey, error: Errors
) -> None:
    broker.fail_next(key, error)
    reading(broker, new_consumer("g", enable_auto_commit=False)).commit_sync()
    assert broker.committed[T0] == (2, "")
    assert len(broker.of(ApiKey.FIND_COORDINATOR)) == 2


def test_a_silent_coordinator_is_looked_up_again(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, time: MockTime
) -> None:
    consumer = new_consumer("g", session_timeout_ms=6000)
    consumer.subscribe(["t"])
    joined(consumer)
    broker.handlers[ApiKey.HEARTBEAT] = lambda _request, _version: None
    for _ in range(4):
        time.sleep(3001)
        member(consumer).heartbeat_turn()
    assert len(broker.of(ApiKey.FIND_COORDINATOR)) >= 2


def test_a_lookup_that_fails_between_polls_is_raised(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    consumer = new_consumer("g")
    consumer.subscribe(["t"])
    joined(consumer)
    answer = broker.handlers[ApiKey.FIND_COORDINATOR]

    def refuse(request: Any, version: int) -> Any:
        response: Any = answer(request, version)
        response.error_code = Errors.GROUP_AUTHORIZATION_FAILED.code
        return response

    broker.handlers[ApiKey.FIND_COORDINATOR] = refuse
    finder = member(consumer).finder
    finder.mark_unknown("test")
    finder.lookup()
    consumer.list_topics()  # this poll also receives the response to the lookup
    assert len(broker.of(ApiKey.FIND_COORDINATOR)) == 2
    with pytest.raises(ApiError) as raised:
        consumer.poll(0)
    assert raised.value.error is Errors.GROUP_AUTHORIZATION_FAILED
    broker.handlers[ApiKey.FIND_COORDINATOR] = answer


def test_a_lost_connection_to_the_coordinator_is_replaced(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    consumer = new_consumer("g")
    consumer.subscribe(["t"])
    joined(consumer)
    coordinator = member(consumer).finder.coordinator
    assert coordinator is not None
    broker.lose(coordinator.id_string)
    poll(consumer, 5)
    consumer.commit_sync({T0: OffsetAndMetadata(1)})
    assert broker.connections[coordinator.id_string] == 2
    assert broker.generation == 1
