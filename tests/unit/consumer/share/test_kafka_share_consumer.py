"""The share consumer against a scripted broker: acknowledgements of both modes, callbacks, errors, and the end."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import IllegalConsumerStateError, RecordDeserializationError, WakeupError
from kafka_lite.consumer.share.acknowledgements import AcknowledgeType
from kafka_lite.consumer.share.kafka_share_consumer import KafkaShareConsumer
from kafka_lite.consumer.share.share_in_flight_batch import ShareConsumerRecord
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.record.record import CorruptRecordError
from tests.support.share_broker import ShareBroker
from tests.unit.consumer.share.conftest import NewShareConsumer

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
ACCEPT, RELEASE, REJECT = AcknowledgeType.ACCEPT, AcknowledgeType.RELEASE, AcknowledgeType.REJECT


def beat(consumer: KafkaShareConsumer) -> None:
    """Turns of the heartbeat thread, until its request is answered."""
    for _ in range(6):
        with consumer._membership.lock:
            consumer._membership.heartbeat_turn()
        consumer._client.poll_no_wakeup()


def subscribed(consumer: KafkaShareConsumer) -> KafkaShareConsumer:
    consumer.subscribe(["t"])
    for _ in range(3):
        consumer._client.poll_no_wakeup()
        beat(consumer)
    assert len(consumer._membership.assignment) == 2
    return consumer


def test_implicitly_a_poll_accepts_the_records_of_the_last_one(
    broker: ShareBroker, new_share: NewShareConsumer
) -> None:
    broker.append(T0, b"a", b"b")
    consumer = subscribed(new_share())
    records = list(consumer.poll(1000))
    assert [(r.offset, r.value) for r in records] == [(0, b"a"), (1, b"b")]
    assert all(isinstance(r, ShareConsumerRecord) and r.delivery_count == 1 for r in records)
    assert broker.fate(0) is None
    broker.append(T1, b"c")
    assert [r.value for r in consumer.poll(1000)] == [b"c"]
    assert (broker.fate(0), broker.fate(1)) == (1, 1)
    assert len(broker.of(ApiKey.SHARE_ACKNOWLEDGE)) == 0, "they went with the fetch"


def test_a_commit_waits_for_the_broker(broker: ShareBroker, new_share: NewShareConsumer) -> None:
    broker.append(T0, b"a")
    consumer = subscribed(new_share())
    consumer.poll(1000)
    assert consumer.commit_sync() == {T0: None}
    assert broker.fate(0) == 1
    assert consumer.commit_sync() == {}


def test_explicitly_each_record_has_its_fate(broker: ShareBroker, new_share: NewShareConsumer) -> None:
    broker.append(T0, b"a", b"b", b"c")
    consumer = subscribed(new_share(share_acknowledgement_mode="explicit"))
    first, second, third = consumer.poll(1000)
    consumer.acknowledge(first)
    consumer.acknowledge(second, RELEASE)
    with pytest.raises(IllegalConsumerStateError, match="must be acknowledged"):
        consumer.poll(0)
    consumer.acknowledge(third, RELEASE)
    consumer.acknowledge(third, REJECT)
    (again,) = consumer.poll(1000)
    assert (broker.fate(0), broker.fate(2)) == (1, 3)
    assert isinstance(again, ShareConsumerRecord)
    assert (again.offset, again.delivery_count) == (1, 2)
    with pytest.raises(IllegalConsumerStateError, match="cannot be acknowledged"):
        consumer.acknowledge(first)
    with pytest.raises(ValueError, match="no gap"):
        consumer.acknowledge(again, AcknowledgeType.GAP)


def test_a_part_of_the_records_may_be_committed(broker: ShareBroker, new_share: NewShareConsumer) -> None:
    broker.append(T0, b"a", b"b")
    consumer = subscribed(new_share(share_acknowledgement_mode="explicit"))
    first, second = consumer.poll(1000)
    consumer.acknowledge(first)
    assert consumer.commit_sync() == {T0: None}
    assert (broker.fate(0), broker.fate(1)) == (1, None)
    consumer.acknowledge(second)
    consumer.commit_async()
    assert consumer.commit_sync() == {T0: None}


def test_in_implicit_mode_there_is_no_acknowledge(broker: ShareBroker, new_share: NewShareConsumer) -> None:
    broker.append(T0, b"a")
    consumer = subscribed(new_share())
    (record,) = consumer.poll(1000)
    with pytest.raises(IllegalConsumerStateError, match="Implicit"):
        consumer.acknowledge(record)


def test_the_callback_is_told_of_outcomes(broker: ShareBroker, new_share: NewShareConsumer) -> None:
    told: list[tuple[Mapping[TopicPartition, frozenset[int]], Exception | None]] = []
    broker.append(T0, b"a", b"b")
    consumer = subscribed(new_share())
    consumer.set_acknowledgement_commit_callback(lambda offsets, error: told.append((offsets, error)))
    consumer.poll(1000)
    broker.records[T0][0].is_acquired = False  # its lock has timed out
    outcome = consumer.commit_sync()[T0]
    assert isinstance(outcome, ApiError)
    assert outcome.error is Errors.INVALID_RECORD_STATE
    assert [(offsets, error is outcome) for offsets, error in told] == [({T0: frozenset({0, 1})}, True)]


def test_a_lost_session_fails_acknowledgements_and_is_opened_again(
    broker: ShareBroker, new_share: NewShareConsumer
) -> None:
    broker.append(T0, b"a")
    consumer = subscribed(new_share())
    consumer.poll(1000)
    broker.session_epoch = None
    broker.records[T0][0].is_acquired = False
    outcome = consumer.commit_sync()[T0]
    assert isinstance(outcome, ApiError)
    assert outcome.error is Errors.SHARE_SESSION_NOT_FOUND
    (again,) = consumer.poll(1000)
    assert isinstance(again, ShareConsumerRecord)
    assert again.delivery_count == 2


def test_a_lost_connection_fails_acknowledgements(broker: ShareBroker, new_share: NewShareConsumer) -> None:
    broker.append(T0, b"a")
    consumer = subscribed(new_share())
    consumer.poll(1000)
    broker.handlers[ApiKey.SHARE_ACKNOWLEDGE] = lambda _request, _version: None
    assert consumer.commit_sync(100) == {}
    broker.lose("0")
    outcome = consumer.commit_sync(1000)[T0]
    assert isinstance(outcome, ApiError)
    broker.records[T0][0].is_acquired = False
    assert [r.offset for r in consumer.poll(5000)] == [0]


def test_a_record_that_cannot_be_deserialized_is_released(broker: ShareBroker, new_share: NewShareConsumer) -> None:
    broker.append(T0, b"a", b"\xff", b"c")
    consumer = subscribed(new_share(value_deserializer="kafka_lite.common.serialization.StringDeserializer"))
    assert [r.value for r in consumer.poll(1000)] == ["a", "c"]
    with pytest.raises(RecordDeserializationError):
        consumer.poll(1000)
    assert consumer.commit_sync() == {T0: None}
    assert (broker.fate(0), broker.fate(1), broker.fate(2)) == (1, None, 1)
    assert not broker.records[T0][1].is_acquired


def test_a_corrupt_batch_is_rejected(broker: ShareBroker, new_share: NewShareConsumer) -> None:
    broker.append(T0, b"a")
    broker.logs[T0][0] = broker.logs[T0][0][:-1] + b"x"
    broker.append(T0, b"b")
    consumer = subscribed(new_share())
    assert [r.value for r in consumer.poll(1000)] == [b"b"]
    with pytest.raises(CorruptRecordError):
        consumer.poll(1000)
    consumer.commit_sync()
    assert (broker.fate(0), broker.fate(1)) == (3, 1)


def test_what_was_not_acknowledged_is_released_at_the_end(broker: ShareBroker, new_share: NewShareConsumer) -> None:
    broker.append(T0, b"a", b"b")
    consumer = subscribed(new_share(share_acknowledgement_mode="explicit"))
    first, _ = consumer.poll(1000)
    consumer.acknowledge(first)
    consumer.close()
    assert (broker.fate(0), broker.fate(1)) == (1, None)
    assert not broker.records[T0][1].is_acquired
    assert broker.session_epoch is None
    assert broker.of(ApiKey.SHARE_GROUP_HEARTBEAT)[-1].member_epoch == -1
    with pytest.raises(IllegalConsumerStateError, match="closed"):
        consumer.poll(0)


def test_implicitly_a_close_accepts(broker: ShareBroker, new_share: NewShareConsumer) -> None:
    broker.append(T0, b"a")
    consumer = subscribed(new_share())
    consumer.poll(1000)
    consumer.close()
    assert broker.fate(0) == 1


def test_a_poll_needs_a_subscription(new_share: NewShareConsumer) -> None:
    consumer = new_share()
    with pytest.raises(IllegalConsumerStateError, match="not subscribed"):
        consumer.poll(0)
    subscribed(consumer)
    assert consumer.subscription() == {"t"}
    consumer.subscribe([])
    assert consumer.subscription() == frozenset()
    with pytest.raises(IllegalConsumerStateError, match="not subscribed"):
        consumer.poll(0)


def test_a_wakeup_ends_the_poll(new_share: NewShareConsumer) -> None:
    consumer = subscribed(new_share())
    consumer.wakeup()
    with pytest.raises(WakeupError):
        consumer.poll(1000)
    assert list(consumer.poll(10)) == []


def test_errors_of_the_group_are_raised_by_a_poll(broker: ShareBroker, new_share: NewShareConsumer) -> None:
    broker.fail_next(ApiKey.SHARE_GROUP_HEARTBEAT, Errors.GROUP_AUTHORIZATION_FAILED)
    consumer = new_share()
    consumer.subscribe(["t"])
    for _ in range(3):
        consumer._client.poll_no_wakeup()
        beat(consumer)
    with pytest.raises(ApiError) as raised:
        consumer.poll(0)
    assert raised.value.error is Errors.GROUP_AUTHORIZATION_FAILED


def test_a_broker_without_share_groups_is_an_error(broker: ShareBroker, new_share: NewShareConsumer) -> None:
    broker.fail_next(ApiKey.SHARE_GROUP_HEARTBEAT, Errors.UNSUPPORTED_VERSION)
    consumer = new_share()
    consumer.subscribe(["t"])
    for _ in range(3):
        consumer._client.poll_no_wakeup()
        beat(consumer)
    with pytest.raises(ApiError) as raised:
        consumer.poll(0)
    assert raised.value.error is Errors.UNSUPPORTED_VERSION


def test_a_share_consumer_needs_a_group(new_share: NewShareConsumer) -> None:
    with pytest.raises(ConfigError, match="group"):
        new_share(group_id="")
