"""Commits: by the user and on a timer, retried, refused, timed out, in order."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.time import MockTime
from kafka_lite.consumer.consumer_errors import (
    CommitFailedError,
    ConsumerTimeoutError,
    RetriableCommitFailedError,
)
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.protocol.api_key import ApiKey
from tests.support.scripted_broker import ScriptedBroker
from tests.support.scripted_members import T0, T1, member, poll, reading
from tests.unit.consumer.conftest import ConsumerFactory


def test_a_commit_stores_the_position_where_the_next_consumer_continues(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    consumer = reading(broker, new_consumer("g", enable_auto_commit=False))
    consumer.commit_sync()
    assert broker.committed[T0] == (2, "")
    assert consumer.committed([T0, T1]) == {T0: OffsetAndMetadata(2), T1: OffsetAndMetadata(0)}
    consumer.close()
    broker.append(T0, b"c")
    second = new_consumer("g")
    second.subscribe(["t"])
    assert poll(second, 20) == [b"c"]


def test_offsets_and_metadata_of_the_user_are_committed(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    consumer = reading(broker, new_consumer("g", enable_auto_commit=False))
    consumer.commit_sync({T0: OffsetAndMetadata(1, "half")})
    assert consumer.committed([T0]) == {T0: OffsetAndMetadata(1, "half")}


@pytest.mark.parametrize(
    "error", [Errors.NOT_COORDINATOR, Errors.COORDINATOR_NOT_AVAILABLE, Errors.COORDINATOR_LOAD_IN_PROGRESS]
)
def test_a_synchronous_commit_is_retried(broker: ScriptedBroker, new_consumer: ConsumerFactory, error: Errors) -> None:
    consumer = reading(broker, new_consumer("g", enable_auto_commit=False))
    broker.fail_next(ApiKey.OFFSET_COMMIT, error, error)
    consumer.commit_sync()
    assert broker.committed[T0] == (2, "")
    assert len(broker.of(ApiKey.OFFSET_COMMIT)) == 3


@pytest.mark.parametrize("isolation_level", ["read_committed", "read_uncommitted"])
def test_a_consumer_does_not_begin_before_an_open_transaction_that_commits_its_offsets(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, isolation_level: str
) -> None:
    broker.committed[T0] = (1, "")
    broker.fail_next(ApiKey.OFFSET_FETCH, Errors.UNSTABLE_OFFSET_COMMIT, Errors.UNSTABLE_OFFSET_COMMIT)
    broker.append(T0, b"a", b"b")
    consumer = new_consumer("g", isolation_level=isolation_level)
    consumer.subscribe(["t"])
    assert poll(consumer, 20)
    assert [each.require_stable for each in broker.of(ApiKey.OFFSET_FETCH)] == [True, True, True]


@pytest.mark.parametrize("error", [Errors.UNKNOWN_MEMBER_ID, Errors.ILLEGAL_GENERATION])
def test_a_commit_outside_of_the_generation_is_refused(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, error: Errors
) -> None:
    consumer = reading(broker, new_consumer("g", enable_auto_commit=False))
    broker.fail_next(ApiKey.OFFSET_COMMIT, error)
    with pytest.raises(CommitFailedError):
        consumer.commit_sync()
    assert member(consumer).rejoin_needed()


def test_fatal_commit_errors_are_raised(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    consumer = reading(broker, new_consumer("g", enable_auto_commit=False))
    for error in (Errors.OFFSET_METADATA_TOO_LARGE, Errors.GROUP_AUTHORIZATION_FAILED, Errors.REBALANCE_IN_PROGRESS,
                  Errors.TOPIC_AUTHORIZATION_FAILED):  # fmt: skip
        broker.fail_next(ApiKey.OFFSET_COMMIT, error)
        with pytest.raises(ApiError) as raised:
            consumer.commit_sync()
        assert raised.value.error is error


def test_a_commit_without_a_response_times_out(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    consumer = reading(broker, new_consumer("g", enable_auto_commit=False))
    answer = broker.handlers[ApiKey.OFFSET_COMMIT]
    broker.handlers[ApiKey.OFFSET_COMMIT] = lambda _request, _version: None
    with pytest.raises(ConsumerTimeoutError):
        consumer.commit_sync(timeout_ms=500)
    broker.handlers[ApiKey.OFFSET_COMMIT] = answer


def test_callbacks_of_asynchronous_commits_are_called_in_order(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    consumer = reading(broker, new_consumer("g", enable_auto_commit=False))
    heard: list[tuple[int, type | None]] = []
    broker.fail_next(ApiKey.OFFSET_COMMIT, Errors.NONE, Errors.COORDINATOR_LOAD_IN_PROGRESS, Errors.ILLEGAL_GENERATION)
    for offset in (1, 2, 3):
        consumer.commit_async(
            {T0: OffsetAndMetadata(offset)},
            lambda offsets, error: heard.append((offsets[T0].offset, None if error is None else type(error))),
        )
    poll(consumer, 3)
    assert heard == [(1, None), (2, RetriableCommitFailedError), (3, CommitFailedError)]
    assert broker.committed[T0] == (1, "")


def test_a_synchronous_commit_waits_for_the_asynchronous_ones_before_it(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    consumer = reading(broker, new_consumer("g", enable_auto_commit=False))
    heard: list[str] = []
    consumer.commit_async({T0: OffsetAndMetadata(1)}, lambda _offsets, _error: heard.append("asynchronous"))
    consumer.commit_sync()
    assert heard == ["asynchronous"]
    assert broker.committed[T0] == (2, "")


def test_positions_are_auto_committed_once_per_interval(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, time: MockTime
) -> None:
    consumer = reading(broker, new_consumer("g", auto_commit_interval_ms=100_000))
    assert broker.of(ApiKey.OFFSET_COMMIT) == []
    time.sleep(100_001)
    poll(consumer, 3)
    assert broker.committed[T0] == (2, "")
    assert len(broker.of(ApiKey.OFFSET_COMMIT)) == 1


def test_records_of_the_last_poll_are_not_committed_before_the_next_poll(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, time: MockTime
) -> None:
    """At least once: a consumer that crashes while processing records has not committed them."""
    broker.append(T0, b"a", b"b")
    consumer = new_consumer("g", max_poll_records=1, auto_commit_interval_ms=0)
    consumer.subscribe(["t"])
    seen = 0
    while not seen:
        seen = len(consumer.poll(50))
    assert broker.committed.get(T0, (0, ""))[0] == 0
    consumer.poll(50)
    assert broker.committed[T0][0] == 1


def test_partitions_assigned_by_the_user_are_committed_to_the_group(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    broker.append(T0, b"a", b"b")
    broker.committed[T0] = (1, "")
    consumer = new_consumer("g", enable_auto_commit=False)
    consumer.assign([T0])
    assert poll(consumer) == [b"b"]
    consumer.commit_sync()
    assert broker.committed[T0] == (2, "")
    assert broker.of(ApiKey.OFFSET_COMMIT)[-1].generation_id_or_member_epoch == -1
    assert broker.of(ApiKey.JOIN_GROUP) == []


def test_committed_offsets_are_requested_until_the_coordinator_responds(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    broker.committed[T0] = (5, "note")
    broker.fail_next(ApiKey.OFFSET_FETCH, Errors.COORDINATOR_LOAD_IN_PROGRESS, Errors.NOT_COORDINATOR)
    consumer = new_consumer("g")
    assert consumer.committed([T0, T1]) == {T0: OffsetAndMetadata(5, "note"), T1: None}
    broker.fail_next(ApiKey.OFFSET_FETCH, Errors.GROUP_AUTHORIZATION_FAILED)
    with pytest.raises(ApiError):
        consumer.committed([T0])
