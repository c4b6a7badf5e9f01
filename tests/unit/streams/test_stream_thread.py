"""What a stream thread does in a turn of its loop."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.streams.errors import InvalidStateStoreError
from kafka_lite.streams.kafka_streams import KafkaStreams
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.processor.internals.stream_thread import StreamThread
from kafka_lite.streams.processor.internals.stream_thread_state import StreamThreadState
from kafka_lite.streams.processor.topology_builder import AutoOffsetReset


def test_the_next_commit_is_an_interval_after_the_end_of_the_last_one() -> None:
    """Otherwise a thread whose commits take longer than the interval would do little else."""
    time, commits = MockTime(), []
    thread: Any = SimpleNamespace(name="StreamThread-1", _time=time, _commit_interval_ms=100)
    thread._last_commit_ms = time.hi_res_ms()

    def commit_all() -> None:
        time.sleep(250)
        commits.append(time.hi_res_ms())

    thread._tasks = SimpleNamespace(commit_all=commit_all)
    time.sleep(101)
    for _ in range(21):  # a turn takes 10 ms
        StreamThread._maybe_commit(thread, time.hi_res_ms())
        time.sleep(10)
    assert len(commits) == 2


@pytest.mark.parametrize(
    ("generation", "calls"),
    [(3, ["assign"]), (4, ["assign"]), (5, ["close suspended", "assign"]), (1, ["close suspended", "assign"])],
    ids=["the same generation", "the next one", "one was missed", "the group was new"],
)
def test_tasks_go_on_only_if_nobody_else_can_have_had_their_partitions(generation: int, calls: list[str]) -> None:
    found: list[str] = []
    thread: Any = SimpleNamespace(_kept_error=nullcontext, _set_state=lambda _: None, _time=MockTime(), _generation=3)
    thread._context = SimpleNamespace(generation=generation, active_tasks={}, standby_tasks={})
    thread._tasks = SimpleNamespace(
        assign=lambda *_: found.append("assign"), close_suspended=lambda: found.append("close suspended")
    )
    StreamThread.partitions_assigned(thread)
    assert found == calls
    assert thread._generation == generation


@pytest.fixture
def rebalancing() -> Any:
    """A thread whose directories may be cleaned ten milliseconds after a rebalance. It notes what it does."""
    thread: Any = SimpleNamespace(_kept_error=nullcontext, _set_state=lambda _: None, _time=MockTime(), _generation=0)
    thread._context = SimpleNamespace(generation=1, active_tasks={}, standby_tasks={})
    thread.calls = []
    thread._tasks = SimpleNamespace(
        assign=lambda *_: None, suspend=lambda commit: thread.calls.append(f"suspend, commit={commit}")
    )
    thread._directory = SimpleNamespace(clean_removed_tasks=lambda: thread.calls.append("clean"))
    thread._cleanup_delay_ms, thread._last_clean_ms = 10, 0.0
    return thread


def test_no_directory_is_deleted_during_a_rebalance_or_soon_after_it(rebalancing: Any) -> None:
    """The tasks that look removed may be about to come back."""
    thread = rebalancing
    StreamThread.partitions_revoked(thread, lost=False)
    StreamThread._maybe_clean(thread, thread._time.hi_res_ms() + 99)
    StreamThread.partitions_assigned(thread)
    StreamThread._maybe_clean(thread, thread._time.hi_res_ms() + 10)
    assert "clean" not in thread.calls
    StreamThread._maybe_clean(thread, thread._time.hi_res_ms() + 11)
    assert thread.calls[-1] == "clean"


@pytest.mark.parametrize("lost", [False, True])
def test_what_is_processed_is_committed_unless_the_partitions_are_lost(rebalancing: Any, lost: bool) -> None:
    StreamThread.partitions_revoked(rebalancing, lost)
    assert rebalancing.calls == [f"suspend, commit={not lost}"]


def test_a_source_without_an_offset_begins_where_it_says_or_where_the_application_says() -> None:
    seeks: list[tuple[str, str]] = []
    resets = {"t": AutoOffsetReset.EARLIEST, "u": None}
    thread: Any = SimpleNamespace(_config=SimpleNamespace(auto_offset_reset="latest"))
    thread._builder = SimpleNamespace(reset_of=resets.get)
    thread._consumer = SimpleNamespace(
        seek_to_beginning=lambda partitions: seeks.append((partitions[0].topic, "beginning")),
        seek_to_end=lambda partitions: seeks.append((partitions[0].topic, "end")),
    )
    error: Any = SimpleNamespace(partitions=[TopicPartition("t", 0), TopicPartition("u", 0)])
    StreamThread._reset_invalid_offsets(thread, error)
    assert seeks == [("t", "beginning"), ("u", "end")]


def test_stores_cannot_be_queried_while_the_thread_rebalances() -> None:
    thread: Any = SimpleNamespace(name="StreamThread-1", _state=StreamThreadState.PARTITIONS_REVOKED)
    with pytest.raises(InvalidStateStoreError, match=r"Counts, is currently unavailable: .* is PARTITIONS_REVOKED"):
        StreamThread.stores_of(thread, "Counts")


def test_the_threads_of_an_instance_share_its_caches(tmp_path: Path) -> None:
    configs: dict[str, object] = {
        "application.id": "app",
        "bootstrap.servers": "127.0.0.1:1",
        "state.dir": str(tmp_path),
    }
    configs |= {"num.stream.threads": 2, "cache.max.bytes.buffering": 1001}
    builder = KStreamBuilder()
    builder.stream("a")
    with KafkaStreams(builder, configs) as streams:
        assert [thread._cache._max_cache_size_bytes for thread in streams._threads] == [500, 500]
