"""The thread of global stores: where it begins, when it flushes, and what an error leaves."""

from __future__ import annotations

from threading import Event
from types import SimpleNamespace
from typing import Any

from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import OffsetOutOfRangeError
from kafka_lite.consumer.consumer_record import ConsumerRecords
from kafka_lite.streams.threads.global_stream_thread import GlobalStreamThread, GlobalStreamThreadState

FIRST = TopicPartition("cities", 0)


class FakeThread(SimpleNamespace):
    """A thread whose global topic is restored up to offset 7. It notes the calls of its parts."""

    def __init__(self, *polls: Exception | None) -> None:
        calls: list[str] = []
        super().__init__(name="GlobalStreamThread", calls=calls, polls=list(polls), _time=MockTime(), is_running=True)
        self._config = {"poll.ms": 5, "commit.interval.ms": 100}
        self._state, self._clean_run, self._last_flush_ms = GlobalStreamThreadState.CREATED, True, 0.0
        self._restored, self._stopping, self._startup_error = Event(), Event(), None
        self._topology = SimpleNamespace(state_stores=())
        self._state_manager = SimpleNamespace(
            initialize=lambda _: None,
            offsets={FIRST: 7},
            forget_offsets=lambda partitions, _: calls.append(f"forget {partitions}"),
        )
        self._consumer = SimpleNamespace(
            assign=lambda partitions: calls.append(f"assign {partitions[0]}"),
            seek=lambda partition, offset: calls.append(f"seek {partition} {offset}"),
            close=lambda: calls.append("close consumer"),
            poll=self.poll,
        )
        self._task = SimpleNamespace(
            initialize=lambda: calls.append("initialize"),
            flush_state=lambda: calls.append("flush"),
            close=lambda write_checkpoint: calls.append(f"close task, checkpoint={write_checkpoint}"),
        )
        self._metrics = SimpleNamespace(close=lambda: calls.append("close metrics"))

    def poll(self, timeout_ms: float) -> ConsumerRecords:
        assert timeout_ms == 5
        error = self.polls.pop(0)
        self.is_running = bool(self.polls)
        self._time.sleep(40)
        if error is not None:
            raise error
        return ConsumerRecords({})

    def _on_state_change(self, new: GlobalStreamThreadState) -> None:
        self.calls.append(new.name)

    def _on_error(self, _: object, error: Exception) -> None:
        self.calls.append(f"error {error}")

    def __getattr__(self, name: str) -> Any:
        return getattr(GlobalStreamThread, name).__get__(self)


STARTED = ["initialize", "assign cities-0", "seek cities-0 7", "RUNNING"]


def ended(checkpoint: bool) -> list[str]:
    return [
        "PENDING_SHUTDOWN",
        "close consumer",
        f"close task, checkpoint={checkpoint}",
        "close metrics",
        "DEAD",
    ]


def test_the_thread_goes_on_where_restoring_has_ended_and_flushes_at_each_interval() -> None:
    thread: Any = FakeThread(*[None] * 7)
    thread._last_flush_ms = thread._time.hi_res_ms()
    GlobalStreamThread.run(thread)
    assert thread.calls == [*STARTED, "flush", "flush", *ended(checkpoint=True)], "after 120 and 240 ms of 280"


def test_a_negative_interval_never_flushes() -> None:
    thread: Any = FakeThread(None)
    thread._config["commit.interval.ms"] = -1
    GlobalStreamThread.run(thread)
    assert "flush" not in thread.calls


def test_an_error_of_the_thread_is_reported_and_leaves_no_new_checkpoint() -> None:
    thread: Any = FakeThread(ValueError("no"))

    def fail() -> None:
        thread.calls.append("close consumer")
        raise OSError("a consumer that cannot be closed keeps no store open")

    thread._consumer.close = fail
    GlobalStreamThread.run(thread)
    assert thread.calls == [*STARTED, "error no", *ended(checkpoint=False)]


def test_a_store_that_falls_out_of_its_topic_while_the_thread_runs_is_rebuilt_by_the_next_start() -> None:
    """Streams read it, so it cannot be emptied under them: the thread dies, as Kafka's does."""
    thread: Any = FakeThread(OffsetOutOfRangeError({FIRST: 7}))
    GlobalStreamThread.run(thread)
    assert thread.calls[len(STARTED)] == f"forget {frozenset({FIRST})}"
    assert thread.calls[-5:] == ended(checkpoint=False)


def test_an_error_while_stores_are_restored_is_kept_for_the_start_which_waits_no_longer() -> None:
    thread: Any = FakeThread()
    thread._task.initialize = lambda: 1 / 0
    GlobalStreamThread.run(thread)
    assert thread._restored.is_set()
    assert isinstance(thread._startup_error, ZeroDivisionError)
    assert thread.calls == ended(checkpoint=False)
