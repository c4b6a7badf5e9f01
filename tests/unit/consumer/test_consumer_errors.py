"""The consumer's exceptions say which partitions they mean, in words and as values."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import ApiError, Errors, KafkaError
from kafka_lite.common.serialization import SerializationError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import consumer_errors as errors

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def test_partitions_without_an_offset_are_named_in_order() -> None:
    error = errors.NoOffsetForPartitionError([T1, T0])
    assert str(error) == "Undefined offset with no reset policy for partitions: t-0, t-1"
    assert error.partitions == {T0, T1}


def test_positions_out_of_range_are_named_with_their_offsets() -> None:
    error = errors.OffsetOutOfRangeError({T0: 7, T1: 9})
    assert "t-0: 7, t-1: 9" in str(error)
    assert (error.offsets, error.partitions) == ({T0: 7, T1: 9}, {T0, T1})


@pytest.mark.parametrize("error", [errors.NoOffsetForPartitionError([T0]), errors.OffsetOutOfRangeError({T0: 7})])
def test_one_handler_catches_every_invalid_offset(error: Exception) -> None:
    assert isinstance(error, errors.InvalidOffsetError)
    assert isinstance(error, KafkaError)


def test_a_record_that_is_too_large_says_what_to_raise() -> None:
    error = errors.RecordTooLargeError({T0: 7}, 1024)
    assert "t-0: 7 whose size is larger than the fetch size 1024" in str(error)
    assert "Increase max.partition.fetch.bytes" in str(error)
    assert error.offsets == {T0: 7}


def test_a_deserializer_that_fails_says_where_to_seek() -> None:
    error = errors.RecordDeserializationError(T0, 7, ValueError("no number"))
    assert "for partition t-0 at offset 7" in str(error)
    assert str(error).endswith("(no number)")
    assert (error.partition, error.offset) == (T0, 7)
    assert isinstance(error, SerializationError)


@pytest.mark.parametrize(("reason", "end"), [("", "max.poll.records."), ("fenced", "max.poll.records. (fenced)")])
def test_a_refused_commit_explains_the_rebalance(reason: str, end: str) -> None:
    error = errors.CommitFailedError(reason)
    assert "max.poll.interval.ms" in str(error)
    assert str(error).endswith(end)


def test_errors_of_the_protocol_have_their_code() -> None:
    timed_out, nameless = errors.ConsumerTimeoutError("too late"), errors.InvalidGroupIdError()
    assert (timed_out.error, nameless.error) == (Errors.REQUEST_TIMED_OUT, Errors.INVALID_GROUP_ID)
    assert isinstance(timed_out, ApiError)
    assert "group.id" in str(nameless)
    assert str(errors.RetriableCommitFailedError(timed_out)).count("too late") == 1
