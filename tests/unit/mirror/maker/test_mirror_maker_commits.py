"""A commit comes after its flush, and never once a record is lost."""

from __future__ import annotations

import logging

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.time import MockTime
from kafka_lite.consumer.consumer_errors import CommitFailedError, ConsumerTimeoutError, WakeupError
from kafka_lite.mirror.maker.mirror_maker_commits import RETRY_BACKOFF_MS, MirrorMakerCommits
from kafka_lite.mirror.maker.mirror_maker_producer import MirrorMakerProducer
from kafka_lite.mirror.maker.mirror_maker_state import MirrorMakerState
from kafka_lite.producer.producer_record import ProducerRecord
from tests.support.mirrors import FakeConsumer, FakeProducer


class Parts:
    def __init__(self) -> None:
        self.calls: list[str] = []
        self.fake = FakeProducer(self.calls)
        self.state, self.time = MirrorMakerState(), MockTime()
        self.producer = MirrorMakerProducer(self.fake, self.state, sync=False, abort_on_send_failure=True)
        self.commits = MirrorMakerCommits(self.producer, self.state, self.time)
        self.consumer = FakeConsumer(self.calls)


@pytest.fixture
def parts() -> Parts:
    return Parts()


def test_the_flush_comes_first(parts: Parts) -> None:
    parts.commits.flush_and_commit(parts.consumer)
    assert parts.calls == ["flush", "commit 0"]


def test_a_record_that_the_flush_finds_lost_is_not_committed(parts: Parts) -> None:
    parts.fake.failures = {b"1": Errors.MESSAGE_TOO_LARGE.exception()}
    parts.producer.send(ProducerRecord("t", b"1"))
    parts.commits.flush_and_commit(parts.consumer)
    assert parts.calls == ["send 1", "flush", "close producer"]


def test_a_wakeup_interrupts_the_loop_but_not_the_commit(parts: Parts) -> None:
    parts.consumer.commit_errors = [WakeupError()]
    with pytest.raises(WakeupError):
        parts.commits.commit_offsets(parts.consumer)
    assert parts.calls == ["commit 0", "commit 0"]


def test_a_refused_commit_is_a_warning_since_the_records_are_only_copied_again(
    parts: Parts, caplog: pytest.LogCaptureFixture
) -> None:
    parts.consumer.commit_errors = [CommitFailedError()]
    with caplog.at_level(logging.WARNING):
        parts.commits.commit_offsets(parts.consumer)
    assert parts.calls == ["commit 0"]
    assert "the consumer group has rebalanced and assigned partitions to another instance" in caplog.text


def test_a_commit_that_times_out_is_repeated_without_the_topics_that_are_gone(parts: Parts) -> None:
    parts.consumer.commit_errors = [ConsumerTimeoutError("1"), ConsumerTimeoutError("2")]
    began_ms = parts.time.hi_res_ms()
    parts.commits.commit_offsets(parts.consumer)
    assert parts.calls == ["commit 0", "forget missing topics"] * 2 + ["commit 0"]
    assert parts.time.hi_res_ms() - began_ms == 2 * RETRY_BACKOFF_MS


def test_a_commit_that_times_out_is_not_repeated_once_a_record_is_lost(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose_a_record() -> None:
        parts.state.exiting_on_send_failure = True
        raise ConsumerTimeoutError("no topics either")

    monkeypatch.setattr(parts.consumer, "forget_missing_topics", lose_a_record)
    parts.consumer.commit_errors = [ConsumerTimeoutError("1")]
    parts.commits.commit_offsets(parts.consumer)
    assert parts.calls == ["commit 0"]
