"""The thread of global stores: where it begins, when it flushes, and what an error leaves."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from kafka_lite.clients.cluster import PartitionInfo
from kafka_lite.common.serdes import Serdes
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import OffsetOutOfRangeError
from kafka_lite.consumer.consumer_record import ConsumerRecord, ConsumerRecords
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.record.record import TimestampType
from kafka_lite.streams.errors import StreamsError
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.processor.state_store import ROCKS_DB
from kafka_lite.streams.state.offset_checkpoint import OffsetCheckpoint
from kafka_lite.streams.streams_config import StreamsConfig
from kafka_lite.streams.threads.global_stream_thread import GlobalStreamThread

CITIES = TopicPartition("cities", 0)
POLL_MS, POLL_TAKES_MS = 5, 40


class Consumer:
    """A consumer of the topic ``cities``, which has two records. Each poll after them ends with a step of the test."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self.position_ = -1
        self.close_error: Exception | None = None

    def partitions_for(self, topic: str) -> list[PartitionInfo]:
        return [PartitionInfo(topic, 0, None)] if self._application.has_topic else []

    def beginning_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        return dict.fromkeys(partitions, 0)

    def end_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        return dict.fromkeys(partitions, 2)

    def assign(self, partitions: Iterable[TopicPartition]) -> None:
        assert list(partitions) == [CITIES]

    def unsubscribe(self) -> None:
        self.position_ = -1

    def seek_to_beginning(self, _: object) -> None:
        self.position_ = 0

    def seek(self, _: TopicPartition, offset: int) -> None:
        self.position_ = offset

    def position(self, _: TopicPartition) -> int:
        return self.position_

    def poll(self, timeout_ms: float) -> ConsumerRecords:
        offset = self.position_
        if offset >= 2:
            assert timeout_ms == POLL_MS
            self._application.polled(offset)
        self.position_ += 1
        record = ConsumerRecord("cities", 0, offset, 1, TimestampType.CREATE_TIME, b"%d" % offset, b"city")
        return ConsumerRecords({CITIES: [record]})

    def close(self) -> None:
        self._application.events.append("consumer closed")
        if self.close_error is not None:
            raise self.close_error


class Application:
    """A global thread with a table on disk. It runs until all ``steps`` are taken: an error, or None for a record."""

    def __init__(self, state_dir: Path, *steps: Exception | None, has_topic: bool = True, **configs: object) -> None:
        self.has_topic, self._steps = has_topic, list(steps)
        self.events: list[str] = []
        self.checkpoints: list[int | None] = []
        """What the checkpoint said at each poll."""
        self._file = OffsetCheckpoint(state_dir / "app" / "global" / ".checkpoint")
        self.time = MockTime()
        self.metrics = Metrics(time=self.time)
        self.consumer = Consumer(self)
        builder = KStreamBuilder().set_application_id("app").set_dsl_store(ROCKS_DB)
        builder.global_table("cities", "Cities", Serdes.string(), Serdes.string())
        topology = builder.build_global_state_topology()
        assert topology is not None
        [self.store] = topology.state_stores
        given: dict[str, object] = {"application.id": "app", "bootstrap.servers": "127.0.0.1:1", "poll.ms": POLL_MS}
        config = StreamsConfig({**given, "commit.interval.ms": 100, "state.dir": str(state_dir), **configs})
        clients: Any = self
        self.thread = GlobalStreamThread(
            topology,
            config,
            "app",
            lambda state: self.events.append(state.name),
            lambda _, error: self.events.append(f"error {error}"),
            self.time,
            self.metrics,
            clients,
        )

    def get_restore_consumer(self, config: dict[str, object]) -> Consumer:
        assert config["client.id"] == "app-global-restore-consumer"
        return self.consumer

    def polled(self, offset: int) -> None:
        if not self._steps:
            raise AssertionError(f"a poll at {offset} after the last step")
        step = self._steps.pop(0)
        self.checkpoints.append(self.checkpoint())
        self.time.sleep(POLL_TAKES_MS)
        if not self._steps:
            self.thread.initiate_shutdown()
        if step is not None:
            raise step

    def checkpoint(self) -> int | None:
        return self._file.read().get(CITIES)

    def run(self) -> list[str]:
        self.thread.run()
        assert not self.store.is_open
        return self.events


CLOSED = ["PENDING_SHUTDOWN", "consumer closed", "DEAD"]


def test_the_thread_continues_where_restoring_has_ended_and_flushes_at_each_interval(tmp_path: Path) -> None:
    application = Application(tmp_path, *[None] * 7)
    assert application.run() == ["RUNNING", *CLOSED]
    assert application.checkpoints == [None, None, None, 5, 5, 5, 8], "after 120 and 240 ms"
    assert application.checkpoint() == 9, "a clean end writes it, too"


def test_a_negative_interval_never_flushes(tmp_path: Path) -> None:
    application = Application(tmp_path, *[None] * 9, **{"commit.interval.ms": -1})
    application.run()
    assert application.checkpoints == [None] * 9


def test_an_error_of_the_thread_is_reported_and_leaves_no_new_checkpoint(tmp_path: Path) -> None:
    application = Application(tmp_path, None, ValueError("no"))
    application.consumer.close_error = OSError("a consumer that cannot be closed keeps no store open")
    assert application.run() == ["RUNNING", "error no", *CLOSED]
    assert application.checkpoint() is None


def test_a_store_that_falls_out_of_its_topic_while_the_thread_runs_is_rebuilt_by_the_next_start(tmp_path: Path) -> None:
    """Streams read it, so it cannot be emptied under them: the thread dies, as Kafka's does."""
    Application(tmp_path, None).run()
    application = Application(tmp_path, OffsetOutOfRangeError({CITIES: 2}))
    assert application.checkpoint() == 3
    application.run()
    assert application.events[0] == "RUNNING"
    assert application.events[-3:] == CLOSED
    assert application.checkpoint() is None, "so the next start reads everything"


def test_an_error_while_stores_are_restored_is_raised_by_the_start(tmp_path: Path) -> None:
    application = Application(tmp_path, has_topic=False)
    with pytest.raises(StreamsError, match="Exception caught during initialization of GlobalStreamThread") as raised:
        application.thread.start()
    application.thread.shutdown()
    assert "no partitions available for topic cities" in str(raised.value.__cause__)
    assert application.events == CLOSED, "the handler is for threads that ran"


def test_a_thread_that_never_started_closes_its_consumer_and_removes_its_metrics(tmp_path: Path) -> None:
    application = Application(tmp_path)
    application.thread.close_unstarted()
    assert application.events == CLOSED
    assert not [name for name in application.metrics.metrics if name.group.startswith("stream-")]
