"""The user's arguments are checked where they enter the consumer: what is accepted, and the error for the rest."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import consumer_arguments as arguments
from kafka_lite.consumer.consumer_rebalance_listener import ConsumerRebalanceListener
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata

T0 = TopicPartition("t", 0)
MAX_LONG = 2**63 - 1


def test_topics_are_any_iterable_of_names() -> None:
    assert arguments.topic_names(["a", "b", "a"]) == {"a", "b"}
    assert arguments.topic_names(name for name in ("a", "b")) == {"a", "b"}
    assert arguments.topic_names([]) == set()


@pytest.mark.parametrize(
    ("topics", "error"),
    [("t", TypeError), (b"t", TypeError), (7, TypeError), ([7], TypeError), ([None], ValueError), ([" "], ValueError)],
)
def test_what_is_no_list_of_topics_is_refused(topics: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        arguments.topic_names(topics)


def test_a_name_that_no_topic_can_have_is_an_invalid_topic() -> None:
    with pytest.raises(ApiError) as raised:
        arguments.topic_name("x" * 40_000)
    assert raised.value.error is Errors.INVALID_TOPIC_EXCEPTION


def test_a_pattern_is_compiled_from_text() -> None:
    assert arguments.topic_pattern(re.compile("a.*")).pattern == "a.*"
    with pytest.raises(TypeError, match="remove the b"):
        arguments.topic_pattern(re.compile(b"a.*"))
    with pytest.raises(ValueError, match="cannot be empty"):
        arguments.topic_pattern(re.compile(""))


class Duck:
    """It has a listener's methods, and is derived from nothing."""

    def on_partitions_revoked(self, partitions: object) -> None: ...

    def on_partitions_assigned(self, partitions: object) -> None: ...

    def on_partitions_lost(self, partitions: object) -> None: ...


def test_a_listener_is_an_object_with_the_three_methods() -> None:
    duck = Duck()
    assert arguments.rebalance_listener(duck) is duck
    with pytest.raises(TypeError, match="a type is a class"):
        arguments.rebalance_listener(ConsumerRebalanceListener)
    with pytest.raises(TypeError, match="a str has no on_partitions_revoked, on_partitions_assigned"):
        arguments.rebalance_listener("loud")


def test_a_pair_of_name_and_number_is_a_partition() -> None:
    assert arguments.topic_partitions([("t", 0), T0], "assign") == [T0, T0]
    assert type(arguments.topic_partitions([("t", 0)], "assign")[0]) is TopicPartition


@pytest.mark.parametrize("partitions", ["t-0", T0, 7, [("t", "0")], ["t"], [("t", 0, 0)]])
def test_what_is_no_list_of_partitions_names_the_call(partitions: Any) -> None:
    with pytest.raises(TypeError, match="pause"):
        arguments.topic_partitions(partitions, "pause")


@pytest.mark.parametrize("partition", [("t", -1), ("t", 2**31), ("", 0), (" ", 0)])
def test_a_partition_has_a_name_and_a_number_that_fits(partition: tuple[str, int]) -> None:
    with pytest.raises(ValueError, match="seek"):
        arguments.topic_partition(partition, "seek")


@pytest.mark.parametrize("offset", [0, MAX_LONG])
def test_positions_reach_from_zero_to_the_largest_long(offset: int) -> None:
    assert arguments.position(offset) == offset
    assert arguments.position(OffsetAndMetadata(offset)) == offset


@pytest.mark.parametrize(
    ("offset", "error"), [(-1, ValueError), (MAX_LONG + 1, ValueError), ("1", TypeError), (None, TypeError)]
)
def test_other_positions_are_refused(offset: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        arguments.position(offset)


def test_offsets_to_commit_are_checked_one_by_one() -> None:
    good = OffsetAndMetadata(7, metadata="m" * 32_767)
    assert arguments.offsets_to_commit({("t", 0): good}) == {T0: good}
    for offsets in ([T0], {T0: 7}, {T0: OffsetAndMetadata("7")}, {"t": good}):  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            arguments.offsets_to_commit(offsets)
    for offset in (OffsetAndMetadata(-1), OffsetAndMetadata(MAX_LONG + 1), OffsetAndMetadata(7, leader_epoch=-2)):
        with pytest.raises(ValueError, match="t-0"):
            arguments.offsets_to_commit({T0: offset})


def test_metadata_to_commit_is_text_that_fits_into_a_string() -> None:
    with pytest.raises(ApiError, match="32768 bytes") as raised:
        arguments.offsets_to_commit({T0: OffsetAndMetadata(7, metadata="m" * 32_768)})
    assert raised.value.error is Errors.OFFSET_METADATA_TOO_LARGE
    for metadata in (None, "\ud800"):
        with pytest.raises(ValueError, match="is text"):
            arguments.offsets_to_commit({T0: OffsetAndMetadata(7, metadata=metadata)})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("timestamps", "error"),
    [([T0], TypeError), ({T0: "now"}, TypeError), ({T0: 1.5}, TypeError), ({T0: -1}, ValueError),
     ({T0: MAX_LONG + 1}, ValueError), ({"t": 1}, TypeError)],
)  # fmt: skip
def test_times_to_search_for_are_milliseconds_by_partition(timestamps: Any, error: type[Exception]) -> None:
    arguments.ensure_timestamps({T0: 0, ("t", 1): MAX_LONG})
    with pytest.raises(error):
        arguments.ensure_timestamps(timestamps)


def test_a_callback_is_callable_or_none() -> None:
    arguments.callback_of_commit(None)
    arguments.callback_of_commit(print)
    with pytest.raises(TypeError, match="a str is not callable"):
        arguments.callback_of_commit("print")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("timeout_ms", "error"), [(-1, ValueError), (float("nan"), ValueError), ("1", TypeError), (None, TypeError)]
)
def test_a_timeout_is_a_number_that_is_not_negative(timeout_ms: Any, error: type[Exception]) -> None:
    assert arguments.timeout(0) == 0
    assert arguments.timeout(1.5) == 1.5
    with pytest.raises(error):
        arguments.timeout(timeout_ms)
