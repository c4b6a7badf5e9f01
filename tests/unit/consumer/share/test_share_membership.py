"""The membership of a share consumer: what its heartbeats say, and what it makes of the responses."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.time import MockTime
from kafka_lite.consumer.share.kafka_share_consumer import KafkaShareConsumer
from kafka_lite.consumer.share.share_membership import VALID_PREVIOUS_STATES, ShareMemberState
from kafka_lite.protocol.api_key import ApiKey
from tests.support.share_broker import ShareBroker
from tests.unit.consumer.share.conftest import NewShareConsumer
from tests.unit.consumer.share.test_kafka_share_consumer import beat, subscribed


def epochs(broker: ShareBroker) -> list[int]:
    return [each.member_epoch for each in broker.of(ApiKey.SHARE_GROUP_HEARTBEAT)]


def later(consumer: KafkaShareConsumer, time: MockTime, ms: float) -> None:
    time.sleep(ms)
    beat(consumer)


def test_every_state_can_be_left_and_entered_as_the_table_says() -> None:
    assert VALID_PREVIOUS_STATES.keys() == set(ShareMemberState)
    assert ShareMemberState.FATAL not in VALID_PREVIOUS_STATES[ShareMemberState.JOINING]


def test_a_member_says_its_topics_once(broker: ShareBroker, new_share: NewShareConsumer, time: MockTime) -> None:
    consumer = subscribed(new_share(client_rack="r"))
    later(consumer, time, 5_000)
    first, *others = broker.of(ApiKey.SHARE_GROUP_HEARTBEAT)
    assert (first.member_epoch, first.subscribed_topic_names, first.rack_id) == (0, ["t"], "r")
    assert [(each.subscribed_topic_names, each.rack_id) for each in others] == [(None, None)] * len(others)
    assert first.member_id == consumer.client_instance_id
    broker.create("u")
    consumer.subscribe(["t", "u"])
    beat(consumer)
    assert broker.of(ApiKey.SHARE_GROUP_HEARTBEAT)[-1].subscribed_topic_names == ["t", "u"]
    assert len(consumer._membership.assignment) == 3


def test_heartbeats_come_as_often_as_the_coordinator_says(
    broker: ShareBroker, new_share: NewShareConsumer, time: MockTime
) -> None:
    consumer = subscribed(new_share())
    count = len(epochs(broker))
    later(consumer, time, 4_000)
    assert len(epochs(broker)) == count
    later(consumer, time, 1_500)
    assert len(epochs(broker)) == count + 1


@pytest.mark.parametrize("error", [Errors.FENCED_MEMBER_EPOCH, Errors.UNKNOWN_MEMBER_ID])
def test_a_fenced_member_joins_again(
    broker: ShareBroker, new_share: NewShareConsumer, time: MockTime, error: Errors
) -> None:
    consumer = subscribed(new_share())
    broker.fail_next(ApiKey.SHARE_GROUP_HEARTBEAT, error)
    later(consumer, time, 5_000)
    later(consumer, time, 200)
    assert epochs(broker)[-2:] == [1, 0] or epochs(broker)[-3:-1] == [1, 0]
    assert len(consumer._membership.assignment) == 2


@pytest.mark.parametrize("error", [Errors.NOT_COORDINATOR, Errors.COORDINATOR_NOT_AVAILABLE])
def test_a_coordinator_that_has_moved_is_looked_up(
    broker: ShareBroker, new_share: NewShareConsumer, time: MockTime, error: Errors
) -> None:
    consumer = subscribed(new_share())
    lookups = len(broker.of(ApiKey.FIND_COORDINATOR))
    broker.fail_next(ApiKey.SHARE_GROUP_HEARTBEAT, error)
    later(consumer, time, 5_000)
    for _ in range(3):
        later(consumer, time, 200)
    assert len(broker.of(ApiKey.FIND_COORDINATOR)) == lookups + 1
    assert consumer._membership.state is ShareMemberState.STABLE
    assert epochs(broker)[-1] == 1, "the same member"


def test_a_loading_coordinator_is_asked_again(broker: ShareBroker, new_share: NewShareConsumer, time: MockTime) -> None:
    consumer = subscribed(new_share())
    broker.fail_next(ApiKey.SHARE_GROUP_HEARTBEAT, Errors.COORDINATOR_LOAD_IN_PROGRESS)
    count = len(epochs(broker))
    later(consumer, time, 5_000)
    later(consumer, time, 200)
    assert len(epochs(broker)) == count + 2
    assert len(consumer._membership.assignment) == 2


def test_a_member_that_does_not_poll_leaves_until_it_does(
    broker: ShareBroker, new_share: NewShareConsumer, time: MockTime
) -> None:
    consumer = subscribed(new_share(max_poll_interval_ms=10_000))
    consumer.poll(0)
    later(consumer, time, 10_001)
    assert epochs(broker)[-1] == -1
    assert consumer._membership.state is ShareMemberState.STALE
    consumer.poll(0)
    beat(consumer)
    assert epochs(broker)[-1] == 0
    assert consumer._membership.state is ShareMemberState.STABLE
