"""What is committed is what was returned, record by record, and nothing of what others own."""

from __future__ import annotations

import logging

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.consumer.consumer_errors import CommitFailedError
from kafka_lite.mirror.maker.mirror_maker_base_consumer import PartitionProgress
from kafka_lite.mirror.maker.mirror_maker_commits import MirrorMakerCommits
from kafka_lite.mirror.maker.mirror_maker_new_consumer import MirrorMakerNewConsumer
from kafka_lite.mirror.maker.mirror_maker_state import MirrorMakerState
from kafka_lite.old_consumer.consumer_iterator import ConsumerTimeoutError
from kafka_lite.old_consumer.topic_filter import InvalidRegexError
from tests.support.mirrors import P0, P1, FakeKafkaConsumer, a_record


class NothingToFlush:
    def flush(self) -> None:
        pass


def mirror(consumer: FakeKafkaConsumer, whitelist: str = "t") -> MirrorMakerNewConsumer:
    commits = MirrorMakerCommits(NothingToFlush(), MirrorMakerState(), MockTime())
    return MirrorMakerNewConsumer(consumer, commits, whitelist)


def test_the_whitelist_becomes_the_subscriptions_pattern() -> None:
    kafka = FakeKafkaConsumer()
    mirror(kafka, ' "a,b.*" ').init()
    assert kafka.pattern is not None
    assert [bool(kafka.pattern.fullmatch(topic)) for topic in ("a", "b1", "ab")] == [True, True, False]


def test_an_invalid_whitelist_is_named(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR), pytest.raises(InvalidRegexError):
        mirror(FakeKafkaConsumer(), "a[").init()
    assert "Invalid expression syntax: a[" in caplog.text


def test_only_what_was_returned_is_committed_and_only_once() -> None:
    kafka = FakeKafkaConsumer([a_record(5), a_record(6), a_record(9, P1)])
    consumer = mirror(kafka)
    assert [consumer.receive().offset for _ in range(2)] == [5, 6]
    consumer.commit()
    assert consumer.receive().offset == 9
    consumer.commit()
    consumer.commit()
    assert kafka.committed == [{P0: 7}, {P1: 10}, {}]


def test_a_refused_commit_is_part_of_the_next_one() -> None:
    kafka = FakeKafkaConsumer([a_record(5), a_record(0, P1)])
    consumer = mirror(kafka)
    consumer.receive()
    kafka.commit_error = CommitFailedError()
    with pytest.raises(CommitFailedError):
        consumer.commit()
    kafka.commit_error = None
    consumer.receive()
    consumer.commit()
    assert kafka.committed == [{P0: 6, P1: 1}]


def test_a_poll_without_records_is_a_timeout_and_the_next_one_may_have_some() -> None:
    consumer = mirror(FakeKafkaConsumer([], [a_record(1)]))
    assert consumer.has_data
    with pytest.raises(ConsumerTimeoutError):
        consumer.receive()
    assert consumer.receive().offset == 1


def test_revoked_partitions_are_committed_once_and_not_with_a_later_generation() -> None:
    kafka = FakeKafkaConsumer([a_record(5), a_record(0, P1)])
    consumer = mirror(kafka)
    consumer.init()
    consumer.receive()
    kafka.commit_error = CommitFailedError()
    kafka.listener.on_partitions_revoked([P0])
    kafka.commit_error = None
    consumer.receive()
    consumer.commit()
    assert kafka.committed == [{P1: 1}]


def test_offsets_of_a_deleted_topic_do_not_block_those_of_others(caplog: pytest.LogCaptureFixture) -> None:
    gone = a_record(5, P0._replace(topic="gone"))
    kafka = FakeKafkaConsumer([gone, a_record(0, P1)])
    consumer = mirror(kafka)
    consumer.receive()
    consumer.receive()
    consumer.forget_missing_topics()
    consumer.commit()
    assert kafka.committed == [{P1: 1}]
    assert "gone-0, which does not exist any more" in caplog.text
    caplog.clear()
    consumer.forget_missing_topics()
    assert caplog.text == ""


def test_progress_shows_positions_before_and_after_commits_and_ends_as_of_the_fetch() -> None:
    kafka = FakeKafkaConsumer([a_record(5), a_record(6)], [a_record(0, P1)])
    kafka.lag = 10
    consumer = mirror(kafka)
    consumer.receive()
    assert consumer.progress() == [PartitionProgress(P0, 6, 17)]
    consumer.receive()
    consumer.commit()
    kafka.lag = None
    consumer.receive()
    assert consumer.progress() == [PartitionProgress(P0, 7, 17), PartitionProgress(P1, 1, None)]
    consumer.forget([P0])
    assert consumer.progress() == [PartitionProgress(P1, 1, None)]


def test_stop_wakes_the_consumer_up_and_cleanup_closes_it() -> None:
    kafka = FakeKafkaConsumer()
    consumer = mirror(kafka)
    consumer.stop()
    assert kafka.woken
    consumer.cleanup()
    assert kafka.closed
    assert not consumer.commit_requested
