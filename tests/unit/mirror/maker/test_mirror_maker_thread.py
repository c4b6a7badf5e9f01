"""The loop: receive, handle, send; flush and commit when it is due, and at the end."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.time import MockTime
from kafka_lite.consumer.consumer_errors import WakeupError
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.mirror.maker.mirror_maker_commits import MirrorMakerCommits
from kafka_lite.mirror.maker.mirror_maker_message_handler import (
    DefaultMirrorMakerMessageHandler,
    MirrorMakerMessageHandler,
)
from kafka_lite.mirror.maker.mirror_maker_producer import MirrorMakerProducer
from kafka_lite.mirror.maker.mirror_maker_state import MirrorMakerState
from kafka_lite.mirror.maker.mirror_maker_thread import MirrorMakerThread
from kafka_lite.old_consumer.consumer_iterator import ConsumerTimeoutError
from kafka_lite.producer.producer_record import ProducerRecord
from tests.support.mirrors import FakeConsumer, FakeProducer, a_record

INTERVAL_MS = 60_000


class World:
    """A thread whose loop the test runs itself, in ``run``."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.time, self.state = MockTime(), MirrorMakerState()
        self.fake = FakeProducer(self.calls)
        self.consumer = FakeConsumer(self.calls)
        self.handler: MirrorMakerMessageHandler = DefaultMirrorMakerMessageHandler()
        self.ended = 0

    def thread(self, *, abort: bool = True) -> MirrorMakerThread:
        producer = MirrorMakerProducer(self.fake, self.state, sync=False, abort_on_send_failure=abort)
        commits = MirrorMakerCommits(producer, self.state, self.time)

        def end() -> None:
            self.ended += 1

        return MirrorMakerThread(
            *(7, self.consumer, producer, self.handler, commits, self.state, INTERVAL_MS, end, self.time)
        )


@pytest.fixture
def world() -> World:
    return World()


def test_a_stop_flushes_commits_and_leaves_the_group(world: World) -> None:
    thread = world.thread()
    world.consumer.script = [a_record(0), a_record(1), thread.initiate_shutdown]
    thread.run()
    assert thread.name == "mirrormaker-thread-7"
    assert world.calls == ["init", "send 0", "send 1", "stop", "flush", "commit 2", "cleanup"]
    assert world.ended == 1
    assert not world.state.exiting_on_send_failure


def test_records_that_were_fetched_but_not_received_are_neither_sent_nor_committed(world: World) -> None:
    thread = world.thread()

    class Stopping(DefaultMirrorMakerMessageHandler):
        def handle(self, record: ConsumerRecord) -> Sequence[ProducerRecord]:
            thread.initiate_shutdown()
            return super().handle(record)

    thread._handler = Stopping()
    world.consumer.script = [a_record(0), a_record(1)]
    thread.run()
    assert world.calls == ["init", "stop", "send 0", "flush", "commit 1", "cleanup"]


def test_a_commit_is_due_after_the_interval_and_not_before(world: World) -> None:
    thread = world.thread()
    world.consumer.script = [
        a_record(0),
        lambda: world.time.sleep(INTERVAL_MS),
        a_record(1),
        lambda: world.time.sleep(1),
        a_record(2),
        a_record(3),
    ]
    thread.do_work()
    assert world.calls == ["send 0", "send 1", "send 2", "flush", "commit 3", "send 3"]


def test_a_commit_is_due_without_new_records_too(world: World) -> None:
    thread = world.thread()
    world.consumer.script = [a_record(0), ConsumerTimeoutError("none")]
    thread.do_work()
    assert world.calls == ["send 0"]
    world.time.sleep(INTERVAL_MS + 1)
    world.consumer.script = [ConsumerTimeoutError("none")]
    thread.do_work()
    assert world.calls == ["send 0", "flush", "commit 1"]


def test_a_waiting_rebalance_is_answered_after_flush_and_commit(world: World) -> None:
    thread = world.thread()
    world.consumer.commit_requested = True
    world.consumer.script = [a_record(0), a_record(1)]
    thread.do_work()
    assert world.calls == ["send 0", "flush", "commit 1", "notify", "send 1"]


def test_a_handler_may_send_several_records_or_none(world: World) -> None:
    class Odd(MirrorMakerMessageHandler):
        def handle(self, record: ConsumerRecord) -> Sequence[ProducerRecord]:
            return [ProducerRecord("t", b"%d%c" % (record.offset, letter)) for letter in b"ab"[: record.offset]]

    world.handler = Odd()
    world.consumer.script = [a_record(0), a_record(2)]
    world.thread().do_work()
    assert world.calls == ["send 2a", "send 2b"]


def test_an_error_of_the_handler_ends_the_mirror_without_a_commit(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    class Failing(MirrorMakerMessageHandler):
        def handle(self, record: ConsumerRecord) -> Sequence[ProducerRecord]:
            raise ZeroDivisionError("of the user")

    world.handler = Failing()
    world.consumer.script = [a_record(0)]
    with caplog.at_level(logging.INFO):
        world.thread().run()
    assert world.calls == ["init", "flush", "cleanup"]
    assert world.state.exiting_on_send_failure
    assert world.ended == 1
    assert "Mirror maker thread failure due to" in caplog.text
    assert "of the user" in caplog.text
    assert "Exiting on send failure, skip committing offsets." in caplog.text


def test_a_lost_record_ends_all_threads_without_a_commit(world: World) -> None:
    first, second = world.thread(), world.thread()
    world.fake.failures = {b"1": Errors.MESSAGE_TOO_LARGE.exception()}
    world.consumer.script = [a_record(0), a_record(1), lambda: world.time.sleep(INTERVAL_MS + 1), a_record(2)]
    first.run()
    assert world.calls == ["init", "send 0", "send 1", "send 2", "flush", "close producer", "flush", "cleanup"]
    del world.calls[:]
    second.run()
    assert world.calls == ["init", "flush", "cleanup"]


def test_without_abort_the_offset_of_a_lost_record_is_committed(world: World) -> None:
    thread = world.thread(abort=False)
    world.fake.failures = {b"0": Errors.MESSAGE_TOO_LARGE.exception()}
    world.consumer.script = [a_record(0), thread.initiate_shutdown]
    thread.run()
    assert world.calls == ["init", "send 0", "stop", "flush", "commit 1", "cleanup"]
    assert world.state.num_dropped_messages == 1


def test_a_subscription_that_fails_ends_the_mirror(world: World) -> None:
    world.consumer.init_error = ValueError("no such pattern")
    world.thread().run()
    assert world.calls == ["init", "flush", "cleanup"]
    assert world.state.exiting_on_send_failure


@pytest.mark.parametrize("where", ["receive", "commit"])
def test_a_wakeup_only_ends_the_wait(world: World, where: str) -> None:
    thread = world.thread()
    if where == "receive":
        world.consumer.script = [WakeupError()]
        thread.do_work()
    else:
        world.consumer.commit_errors = [WakeupError()]
        world.time.sleep(INTERVAL_MS + 1)
        thread.do_work()
        assert world.calls == ["flush", "commit 0", "commit 0"]
    assert not world.state.exiting_on_send_failure
    assert thread.is_running


def test_the_last_commit_may_be_woken_up_and_an_error_in_it_does_not_keep_it_in_the_group(world: World) -> None:
    thread = world.thread()
    thread._stopping.set()
    world.consumer.commit_errors = [WakeupError()]
    world.consumer.cleanup_error = OSError("gone")
    thread.run()
    assert world.calls == ["init", "flush", "commit 0", "commit 0", "cleanup"]
    assert world.ended == 1
