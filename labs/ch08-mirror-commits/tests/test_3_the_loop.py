"""Task 3: receive, send, and now and then a commit."""

import contextlib
from types import SimpleNamespace

import pytest

from kafka_lite.mirror.maker.mirror_maker_message_handler import DefaultMirrorMakerMessageHandler
from kafka_lite.mirror.maker.mirror_maker_thread import MirrorMakerThread
from kafka_lite.old_consumer.consumer_iterator import ConsumerTimeoutError

INTERVAL_MS = 60_000


@pytest.fixture
def thread(steps, commits):
    """A thread whose loop the test calls."""
    handler = DefaultMirrorMakerMessageHandler()
    return MirrorMakerThread(0, steps, steps, handler, commits, steps.state, INTERVAL_MS, time=steps.time)


def turn(thread):
    """What do_work does, without its handling of other errors."""
    with contextlib.suppress(ConsumerTimeoutError):
        thread._copy_records()
    thread.maybe_flush_and_commit_offsets()


@pytest.mark.points(6, task=3)
def test_records_are_sent(thread, steps, a_record, monkeypatch):
    """Two records, no commit due"""
    steps.script = [a_record(0), a_record(1)]
    turn(thread)
    assert steps.done == ["send 0", "send 1"], f"send each record, and commit when a minute is over: {steps.done}"
    steps.done.clear()
    thread._handler = SimpleNamespace(handle=lambda record: [record, a_record(9)])
    steps.script = [a_record(2)]
    turn(thread)
    assert steps.done == ["send 2", "send 9"], f"a handler may make two records of one: send both; yours: {steps.done}"
    steps.done.clear()
    steps.script = [a_record(3)]
    monkeypatch.setattr(type(steps), "has_data", False)
    turn(thread)
    assert steps.done == [], f"the consumer has no data: do not receive, which may wait for ever; yours: {steps.done}"


@pytest.mark.points(5, task=3)
def test_a_commit_is_due(thread, steps, a_record):
    """The interval is over after the first record; then another one begins"""
    steps.script = [a_record(0), lambda: steps.time.sleep(INTERVAL_MS + 1), a_record(1), a_record(2)]
    turn(thread)
    assert steps.done == ["send 0", "send 1", "flush", "commit", "send 2"], (
        f"after record 1 a commit is due, after record 2 none, since the interval begins again: {steps.done}"
    )


@pytest.mark.points(5, task=3)
def test_a_rebalance_waits(thread, steps, a_record):
    """A rebalance of the old consumer asks for a commit"""
    steps.commit_requested = True
    steps.script = [a_record(0), a_record(1)]
    turn(thread)
    assert steps.done == ["send 0", "flush", "commit", "notify", "send 1"], (
        f"a rebalance waits: commit after the next record, then notify it, once. You do {steps.done}"
    )


@pytest.mark.points(2, task=3)
def test_a_request_during_the_commit(thread, steps, a_record):
    """The request comes while the thread commits"""
    steps.time.sleep(INTERVAL_MS + 1)
    steps.script = [a_record(0), a_record(1)]
    commit = steps.commit

    def commit_with_a_request():
        commit()
        steps.commit_requested = len(steps.done) == 3

    steps.commit = commit_with_a_request
    turn(thread)
    assert steps.done == ["send 0", "flush", "commit", "send 1", "flush", "commit", "notify"], (
        f"the request came after the offsets were taken: it needs a commit of its own. You do {steps.done}"
    )


@pytest.mark.points(2, task=3)
def test_the_end(thread, steps, a_record):
    """A stop, with a consumer that has nothing and would block"""
    steps.script = [a_record(0), thread.initiate_shutdown, a_record(1), "block"]
    turn(thread)
    assert steps.done == ["send 0", "send 1"], f"record 1 was received, so it is sent: {steps.done}"
