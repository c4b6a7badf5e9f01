"""A consumer whose user assigns its partitions: positions, polls, errors."""

from __future__ import annotations

import threading
from typing import Any, ClassVar

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.errors import ApiError, Errors, KafkaError
from kafka_lite.common.serialization import StringDeserializer
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import (
    ConcurrentModificationError,
    ConsumerTimeoutError,
    IllegalConsumerStateError,
    InvalidGroupIdError,
    NoOffsetForPartitionError,
    OffsetOutOfRangeError,
    RecordDeserializationError,
    RecordTooLargeError,
    WakeupError,
)
from kafka_lite.consumer.consumer_interceptors import ConsumerInterceptor
from kafka_lite.consumer.consumer_record import ConsumerRecords
from kafka_lite.consumer.fetcher import SHORT_WAIT_MS
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_01_fetch import FetchableTopicResponse, FetchResponse, PartitionData
from kafka_lite.record.default_record_batch import RECORD_BATCH_OVERHEAD
from tests.support.scripted_broker import KAFKA_0_10_2, TODAY, ScriptedBroker
from tests.unit.consumer.conftest import ConsumerFactory

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def poll_all(consumer: KafkaConsumer, polls: int = 10) -> list[Any]:
    return [record for _ in range(polls) for record in consumer.poll(50)]


def values(records: Any) -> list[Any]:
    return [record.value for record in records]


def test_records_of_assigned_partitions_are_returned_in_order(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    broker.append(T0, b"a", b"b")
    broker.append(T1, b"x")
    broker.append(T0, b"c")
    consumer = new_consumer()
    consumer.assign([T0, T1])
    records = poll_all(consumer)
    assert [(each.offset, each.value) for each in records if each.topic_partition == T0] == [
        (0, b"a"), (1, b"b"), (2, b"c"),
    ]  # fmt: skip
    assert values(each for each in records if each.topic_partition == T1) == [b"x"]
    assert (consumer.position(T0), consumer.position(T1)) == (3, 1)


def test_a_poll_returns_no_more_than_max_poll_records(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    broker.append(T0, *[b"%d" % i for i in range(7)])
    broker.append(T0, *[b"%d" % i for i in range(7, 10)])
    consumer = new_consumer(max_poll_records=4)
    consumer.assign([T0])
    counts = [len(consumer.poll(1000)) for _ in range(3)]
    assert counts == [4, 4, 2]
    assert consumer.position(T0) == 10


def test_the_next_fetch_is_sent_before_the_records_are_returned(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    broker.append(T0, b"a")
    consumer = new_consumer()
    consumer.assign([T0])
    assert len(consumer.poll(1000)) == 1
    assert [each.topics[0].partitions[0].fetch_offset for each in broker.of(ApiKey.FETCH)] == [0, 1]


def test_a_fetch_waits_shortly_while_another_partition_of_its_leader_has_buffered_records(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    broker.append(T0, b"a")
    broker.append(T1, b"x", b"y", b"z")
    consumer = new_consumer(max_poll_records=2, fetch_max_wait_ms=400)
    consumer.assign([T0, T1])
    assert values(consumer.poll(1000)) == [b"a", b"x"]
    consumer.pause([T1])
    assert waits(broker) == [(400, [0, 1]), (SHORT_WAIT_MS, [0])]
    consumer.poll(SHORT_WAIT_MS)
    consumer.resume([T1])
    assert values(poll_all(consumer)) == [b"y", b"z"]
    assert waits(broker)[-1] == (400, [0, 1])


def test_a_paused_partition_without_records_does_not_shorten_fetches(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    consumer = new_consumer(fetch_max_wait_ms=400)
    consumer.assign([T0, T1])
    consumer.poll(0)
    consumer.pause([T1])
    poll_all(consumer)
    assert waits(broker)[-1] == (400, [0])


def waits(broker: ScriptedBroker) -> list[tuple[int, list[int]]]:
    """How long each fetch waits at most, and for which partitions of the topic."""
    fetches = broker.of(ApiKey.FETCH)
    return [(each.max_wait_ms, [part.partition for part in each.topics[0].partitions]) for each in fetches]


def test_a_batch_that_starts_before_the_position_is_read_from_the_position(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    broker.append(T0, *[b"%d" % i for i in range(20)])
    consumer = new_consumer()
    consumer.assign([T0])
    consumer.seek(T0, 17)
    assert values(consumer.poll(1000)) == [b"17", b"18", b"19"]


def test_keys_and_values_are_deserialized(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    broker.append(T0, "ä".encode())
    deserializer = "kafka_lite.common.serialization.StringDeserializer"
    consumer = new_consumer(key_deserializer=deserializer, value_deserializer=deserializer)
    consumer.assign([T0])
    (record,) = consumer.poll(1000)
    assert (record.key, record.value, record.serialized_key_size, record.serialized_value_size) == ("k", "ä", 1, 2)


def test_a_deserialization_error_is_raised_until_the_user_seeks_past_it(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    broker.append(T0, b"good", b"\xff", b"better")
    consumer = new_consumer(value_deserializer=f"{StringDeserializer.__module__}.StringDeserializer")
    consumer.assign([T0])
    assert values(consumer.poll(1000)) == ["good"]
    for _ in range(2):
        with pytest.raises(RecordDeserializationError, match="seek past") as raised:
            consumer.poll(1000)
        assert (raised.value.partition, raised.value.offset) == (T0, 1)
    consumer.seek(T0, 2)
    assert values(consumer.poll(1000)) == ["better"]


def test_a_batch_with_a_wrong_checksum_is_an_error_unless_checks_are_off(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    broker.append(T0, b"good")
    broker.append(T0, b"damaged")
    damaged = bytearray(broker.logs[T0][1])
    damaged[-3] ^= 1
    broker.logs[T0][1] = bytes(damaged)
    consumer = new_consumer()
    consumer.assign([T0])
    assert values(consumer.poll(1000)) == [b"good"]
    with pytest.raises(KafkaError, match="t-0 at offset 1 is invalid"):
        consumer.poll(1000)
    careless = new_consumer(check_crcs=False)
    careless.assign([T0])
    assert len(poll_all(careless, 3)) == 2


def test_without_a_policy_a_missing_offset_is_raised(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    consumer = new_consumer(auto_offset_reset="none")
    consumer.assign([T0, T1])
    consumer.seek(T1, 0)
    with pytest.raises(NoOffsetForPartitionError) as raised:
        consumer.poll(10)
    assert raised.value.partitions == {T0}


def test_a_position_that_is_out_of_range_is_reset(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    broker.append(T0, b"a")
    consumer = new_consumer()
    consumer.assign([T0])
    consumer.seek(T0, 77)
    assert values(poll_all(consumer)) == [b"a"]


def test_a_position_that_is_out_of_range_is_raised_without_a_policy(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    consumer = new_consumer(auto_offset_reset="none")
    consumer.assign([T0])
    consumer.seek(T0, 77)
    with pytest.raises(OffsetOutOfRangeError) as raised:
        poll_all(consumer)
    assert raised.value.offsets == {T0: 77}


def test_a_leader_that_was_replaced_without_noticing_resets_no_position(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    """It still lists itself as leader, and its log ends before the position."""
    broker.append(T0, b"a")
    broker.leader_epoch = 1
    before = broker.logs[T0][:], broker.ends[T0]
    consumer = new_consumer()
    consumer.assign([T0])
    assert values(poll_all(consumer)) == [b"a"]
    broker.leader_epoch = 2
    broker.append(T0, b"b")
    assert values(poll_all(consumer)) == [b"b"]
    newest = broker.logs[T0], broker.ends[T0]

    broker.leader_epoch = 1
    broker.logs[T0], broker.ends[T0] = before
    broker.fail_next(ApiKey.FETCH, Errors.NOT_LEADER_OR_FOLLOWER)
    asked = len(broker.of(ApiKey.METADATA))
    assert poll_all(consumer) == []
    assert len(broker.of(ApiKey.METADATA)) > asked
    assert consumer.position(T0) == 2
    with pytest.raises(ConsumerTimeoutError):
        consumer.end_offsets([T0], 300)

    broker.leader_epoch = 3
    broker.logs[T0], broker.ends[T0] = newest
    broker.append(T0, b"c")
    assert values(poll_all(consumer)) == [b"c"]
    assert consumer.end_offsets([T0]) == {T0: 3}


def test_leader_epochs_of_old_brokers_are_not_relied_on(
    broker: ScriptedBroker, time: MockTime, new_consumer: ConsumerFactory
) -> None:
    old = ScriptedBroker(time, TODAY | {ApiKey.METADATA: (0, 8)})
    old.leader_epoch = 5
    broker.__dict__.update(old.__dict__)
    broker.create("t")
    broker.append(T0, b"a")
    consumer = new_consumer()
    consumer.assign([T0])
    assert values(poll_all(consumer)) == [b"a"]
    asked = [each for fetch in broker.of(ApiKey.FETCH) for topic in fetch.topics for each in topic.partitions]
    assert {each.current_leader_epoch for each in asked} == {-1}


def test_seek_discards_fetched_records(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    broker.append(T0, b"a", b"b", b"c")
    consumer = new_consumer(max_poll_records=1)
    consumer.assign([T0])
    assert values(consumer.poll(1000)) == [b"a"]
    consumer.seek(T0, 2)
    assert values(consumer.poll(1000)) == [b"c"]
    consumer.seek(T0, OffsetAndMetadata(1))
    assert values(consumer.poll(1000)) == [b"b"]
    consumer.seek_to_beginning([T0])
    assert values(consumer.poll(1000)) == [b"a"]
    consumer.seek_to_end()
    assert consumer.position(T0) == 3


def test_paused_partitions_return_nothing_and_lose_nothing(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    broker.append(T0, b"a", b"b")
    broker.append(T1, b"x")
    consumer = new_consumer(max_poll_records=1)
    consumer.assign([T0, T1])
    first = consumer.poll(1000)
    assert len(first) == 1
    consumer.pause([T0])
    assert consumer.paused == {T0}
    rest = poll_all(consumer, 5)
    assert all(record.topic_partition == T1 for record in rest)
    fetches = len(broker.of(ApiKey.FETCH))
    consumer.resume([T0])
    seen = [*first, *rest, *poll_all(consumer, 5)]
    assert sorted(values(seen)) == [b"a", b"b", b"x"]
    assert fetches


def test_retriable_partition_errors_refresh_the_metadata(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    broker.append(T0, b"a")
    broker.fail_next(ApiKey.FETCH, Errors.NOT_LEADER_OR_FOLLOWER, Errors.LEADER_NOT_AVAILABLE)
    consumer = new_consumer()
    consumer.assign([T0])
    before = len(broker.of(ApiKey.METADATA))
    assert values(poll_all(consumer)) == [b"a"]
    assert len(broker.of(ApiKey.METADATA)) > before


def test_an_unauthorized_topic_is_raised(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    broker.fail_next(ApiKey.FETCH, Errors.TOPIC_AUTHORIZATION_FAILED)
    consumer = new_consumer()
    consumer.assign([T0])
    with pytest.raises(ApiError, match="Not authorized") as raised:
        poll_all(consumer)
    assert raised.value.error is Errors.TOPIC_AUTHORIZATION_FAILED


def test_partitions_and_topics_are_fetched(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    consumer = new_consumer()
    assert [each.partition for each in consumer.partitions_for("t")] == [0, 1]
    assert consumer.partitions_for("nowhere") == ()
    assert list(consumer.list_topics()) == ["t"]


@pytest.mark.parametrize("allowed", [True, False])
def test_a_question_about_a_topic_creates_it_only_if_that_is_allowed(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, allowed: bool
) -> None:
    new_consumer(allow_auto_create_topics=allowed).partitions_for("nowhere")
    assert {each.allow_auto_topic_creation for each in broker.of(ApiKey.METADATA) if each.topics} == {allowed}


def test_calls_without_a_response_time_out(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, time: MockTime
) -> None:
    for key in (ApiKey.LIST_OFFSETS, ApiKey.METADATA):
        broker.handlers[key] = lambda _request, _version: None
    consumer = new_consumer(default_api_timeout_ms=700)
    started = time.hi_res_ms()
    with pytest.raises(ConsumerTimeoutError):
        consumer.end_offsets([T0])
    with pytest.raises(ConsumerTimeoutError):
        consumer.partitions_for("u")
    consumer.assign([T0])
    with pytest.raises(ConsumerTimeoutError):
        consumer.position(T0, 300)
    assert 1700 <= time.hi_res_ms() - started < 4000


def test_lag_is_that_of_the_last_fetch(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    broker.append(T0, b"a", b"b", b"c")
    consumer = new_consumer(max_poll_records=1)
    consumer.assign([T0])
    assert consumer.current_lag(T0) is None
    consumer.poll(1000)
    assert consumer.current_lag(T0) == 2
    found = {name.name: metric.value for name, metric in consumer.metrics().items() if "partition" in dict(name.tags)}
    assert found.keys() - {"preferred-read-replica"} == {
        f"records-{what}" for what in ("lag", "lag-avg", "lag-max", "lead", "lead-avg", "lead-min")
    }
    assert (found["records-lag"], found["records-lead"]) == (2, 1)


def test_subscribe_and_assign_exclude_each_other(new_consumer: ConsumerFactory) -> None:
    consumer = new_consumer(group="g")
    with pytest.raises(IllegalConsumerStateError, match="not subscribed"):
        consumer.poll(0)
    consumer.assign([T0])
    with pytest.raises(IllegalConsumerStateError, match="mutually exclusive"):
        consumer.subscribe(["t"])
    consumer.unsubscribe()
    consumer.subscribe(["t"])
    assert consumer.subscription == {"t"}
    with pytest.raises(IllegalConsumerStateError):
        consumer.assign([T0])


def test_group_calls_are_refused_without_a_group(new_consumer: ConsumerFactory) -> None:
    consumer = new_consumer()
    for call in (lambda: consumer.subscribe(["t"]), consumer.commit_sync, consumer.commit_async,
                 lambda: consumer.committed([T0])):  # fmt: skip
        with pytest.raises(InvalidGroupIdError):
            call()
    with pytest.raises(ConfigError):
        new_consumer(enable_auto_commit=True)


def test_a_wakeup_ends_a_poll_once(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    broker.append(T0, b"a")
    consumer = new_consumer()
    consumer.assign([T0])
    consumer.wakeup()
    with pytest.raises(WakeupError):
        consumer.poll(1000)
    assert values(consumer.poll(1000)) == [b"a"]


def test_a_second_thread_is_refused(new_consumer: ConsumerFactory) -> None:
    consumer = new_consumer()
    consumer.assign([T0])
    errors: list[BaseException] = []

    class Intruder(ConsumerInterceptor):
        def on_consume(self, records: ConsumerRecords) -> ConsumerRecords:
            return records

    def intrude() -> None:
        try:
            consumer.poll(0)
        except ConcurrentModificationError as error:
            errors.append(error)

    with consumer._guard:
        thread = threading.Thread(target=intrude)
        thread.start()
        thread.join()
    assert len(errors) == 1


def test_a_closed_consumer_refuses_calls(new_consumer: ConsumerFactory) -> None:
    consumer = new_consumer()
    consumer.close()
    consumer.close()
    with pytest.raises(IllegalConsumerStateError, match="closed"):
        consumer.poll(0)


def test_invalid_arguments_are_rejected(new_consumer: ConsumerFactory) -> None:
    consumer = new_consumer(group="g")
    with pytest.raises(ValueError):
        consumer.assign([TopicPartition("", 0)])
    with pytest.raises(TypeError):
        consumer.subscribe("t")
    with pytest.raises(ValueError):
        consumer.subscribe([" "])
    consumer.assign([T0])
    with pytest.raises(ValueError):
        consumer.seek(T0, -1)
    with pytest.raises(ValueError):
        consumer.commit_sync({T0: OffsetAndMetadata(-1)})
    with pytest.raises(IllegalConsumerStateError):
        consumer.seek(T1, 0)


class Loud(ConsumerInterceptor):
    seen: ClassVar[list[Any]] = []

    def on_consume(self, records: ConsumerRecords) -> ConsumerRecords:
        Loud.seen.extend(values(records))
        return ConsumerRecords({T0: [record for record in records if record.value != b"hide"]})


class Broken(ConsumerInterceptor):
    def on_consume(self, records: ConsumerRecords) -> ConsumerRecords:
        raise RuntimeError("of the user")


def test_interceptors_see_records_and_may_change_them(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    Loud.seen.clear()
    broker.append(T0, b"a", b"hide")
    consumer = new_consumer(interceptor_classes=f"{__name__}.Broken,{__name__}.Loud")
    consumer.assign([T0])
    assert values(consumer.poll(1000)) == [b"a"]
    assert Loud.seen == [b"a", b"hide"]


def test_a_truncated_first_batch_raises(broker: ScriptedBroker, time: MockTime, new_consumer: ConsumerFactory) -> None:
    """Before Fetch v3, a broker truncates a batch that is too large; later brokers must not."""
    broker.append(T0, b"a")
    batch = broker.logs[T0][0][: RECORD_BATCH_OVERHEAD + 3]

    def cut_off(request: Any, _version: int) -> FetchResponse:
        data = PartitionData(partition_index=0, high_watermark=1, records=batch)
        return FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=[data])])

    broker.handlers[ApiKey.FETCH] = cut_off
    consumer = new_consumer()
    consumer.assign([T0])
    with pytest.raises(KafkaError, match="Failed to make progress"):
        poll_all(consumer)
    consumer.close()
    old = ScriptedBroker(time, KAFKA_0_10_2 | {ApiKey.FETCH: (0, 2)})
    broker.__dict__.update(old.__dict__)
    broker.create("t")
    broker.handlers[ApiKey.FETCH] = cut_off
    consumer = new_consumer()
    consumer.assign([T0])
    with pytest.raises(RecordTooLargeError) as raised:
        poll_all(consumer)
    assert raised.value.offsets == {T0: 0}


def test_lag_metrics_of_revoked_partitions_are_removed(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    broker.append(T0, b"a")
    broker.append(T1, b"b")
    consumer = new_consumer()
    consumer.assign([T0, T1])
    poll_all(consumer, 4)

    def measured() -> set[str]:
        return {dict(name.tags).get("partition", "") for name in consumer.metrics() if name.name == "records-lag"}

    assert measured() == {"0", "1"}
    consumer.assign([T1])
    assert measured() == {"1"}
    assert "kafka.consumer:type=consumer-metrics" in {str(bean).split(",")[0] for bean in consumer.beans()}
