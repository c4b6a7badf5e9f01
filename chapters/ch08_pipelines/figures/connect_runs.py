"""Recorded runs of Connect's tasks: a flush beside running sends, a sink task that rewinds. Book 8.3.7.

The clients are held by hand: an acknowledgement comes when the run says so.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from kafka_learn.recording.recorded_run import Detail, Kind, RecordedRun
from kafka_learn.recording.recorder import Call, Recording, Watch
from kafka_learn.recording.run_brokers import in_thread, wait_until
from kafka_learn.recording.watches import watch
from kafka_lite.connect.api import Schema, SourceRecord, SourceTask
from kafka_lite.connect.converters.simple_header_converter import SimpleHeaderConverter
from kafka_lite.connect.json.json_converter import JsonConverter
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.errors.error_handling_config import ErrorHandlingConfig
from kafka_lite.connect.runtime.errors.retry_with_tolerance_operator import RetryWithToleranceOperator
from kafka_lite.connect.runtime.storage.memory_offset_backing_store import MemoryOffsetBackingStore
from kafka_lite.connect.runtime.storage.offset_storage_reader_impl import OffsetStorageReaderImpl
from kafka_lite.connect.runtime.storage.offset_storage_writer import OffsetStorageWriter
from kafka_lite.connect.runtime.target_state import TargetState
from kafka_lite.connect.runtime.tasks.worker_source_task import WorkerSourceTask
from kafka_lite.connect.runtime.transformation_chain import TransformationChain
from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.producer.producer_record import ProducerRecord

PARTITION = {"file": "a"}
CONNECTOR = "lines"
SOURCE_TASK, WORKER_TASK, WRITER, STORE, PRODUCER = (
    "SourceTask",
    "WorkerSourceTask",
    "OffsetStorageWriter",
    "offset store",
    "producer",
)
Acknowledge = Callable[[Any, Exception | None], None]


class Quiet:
    """A status listener that is not what the run is about."""

    def on_startup(self, of: str | ConnectorTaskId) -> None:
        """Ignored."""

    def on_pause(self, of: str | ConnectorTaskId) -> None:
        """Ignored."""

    def on_stop(self, of: str) -> None:
        """Ignored."""

    def on_resume(self, of: str | ConnectorTaskId) -> None:
        """Ignored."""

    def on_restart(self, of: str | ConnectorTaskId) -> None:
        """Ignored."""

    def on_shutdown(self, of: str | ConnectorTaskId) -> None:
        """Ignored."""

    def on_failure(self, of: str | ConnectorTaskId, error: BaseException) -> None:  # noqa: ARG002
        """Fail the run."""
        raise error

    def on_topic(self, task: ConnectorTaskId, topic: str) -> None:
        """Ignored."""


class Lines(SourceTask):
    """Returns the batches that the run puts into its queue; each record is a number, and so is its offset."""

    def __init__(self) -> None:
        self.batches: queue.Queue[list[int]] = queue.Queue()

    def start(self, props: Mapping[str, str]) -> None:
        """Nothing to do."""

    def poll(self) -> Sequence[SourceRecord]:
        """The next batch."""
        return [
            SourceRecord(
                topic="lines", value_schema=Schema.INT32_SCHEMA, value=number,
                source_partition=PARTITION, source_offset={"line": number},
            )
            for number in self.batches.get()
        ]  # fmt: skip

    def commit(self) -> None:
        """Nothing to do: the run shows when it is called."""

    def stop(self) -> None:
        """End the wait in ``poll``."""
        self.batches.put([])


class HeldProducer:
    """Sends nothing. ``acknowledge`` completes the oldest record."""

    def __init__(self) -> None:
        self.held: list[Acknowledge] = []

    def send(self, record: ProducerRecord, callback: Acknowledge) -> None:  # noqa: ARG002
        """Keep the callback."""
        self.held.append(callback)

    def acknowledge(self) -> None:
        """Complete the oldest record."""
        self.held.pop(0)(None, None)

    def close(self, timeout_ms: float = 0) -> None:  # noqa: ARG002
        """Complete what is left."""
        while self.held:
            self.acknowledge()


@contextmanager
def running_task(task: Lines, producer: HeldProducer) -> Iterator[WorkerSourceTask]:
    """The task in its thread."""
    plain = JsonConverter()
    plain.configure({"schemas.enable": "false"}, is_key=False)
    store = MemoryOffsetBackingStore()
    running = WorkerSourceTask(
        ConnectorTaskId(CONNECTOR, 0), task, Quiet(), TargetState.STARTED,
        config={}, key_converter=plain, value_converter=plain, header_converter=SimpleHeaderConverter(),
        transformations=TransformationChain(), operator=RetryWithToleranceOperator(ErrorHandlingConfig()),
        producer=cast(KafkaProducer, producer),
        offset_reader=OffsetStorageReaderImpl(store, CONNECTOR, plain, plain),
        offset_writer=OffsetStorageWriter(store, CONNECTOR, plain, plain),
        flush_timeout_ms=60_000,
    )  # fmt: skip
    running.start()
    try:
        yield running
    finally:
        running.initiate_shutdown()
        producer.close()
        running.await_stop(60_000)


def flush_beside_sends() -> RecordedRun:
    """Records 1 and 2 are on their way when a flush begins; 3 is sent while it waits."""
    task, producer = Lines(), HeldProducer()
    with (
        Recording(*_flush_watches(), title="A flush beside running sends", paused=True) as recording,
        running_task(task, producer) as running,
        recording.running(),
    ):
        task.batches.put([1, 2])
        wait_until(lambda: len(producer.held) == 2)
        committer = threading.Thread(target=running.commit_offsets, name="committer")
        committer.start()
        wait_until(lambda: running._flushing)
        task.batches.put([3])
        wait_until(lambda: len(producer.held) == 3)
        for _ in range(2):
            in_thread(PRODUCER, producer.acknowledge)
        committer.join()
    lanes = (SOURCE_TASK, WORKER_TASK, WRITER, STORE, PRODUCER)
    return recording.run.recorded_in(__name__, "flush_beside_sends", lanes=lanes)


# ── what is watched ───────────────────────────────────────────────────────────────────────────────────────────────────


def _flush_watches() -> list[Watch]:
    return [
        *watch(HeldProducer.send, show=_record, who=PRODUCER),
        *watch(WorkerSourceTask.commit_offsets, show=()),
        *watch(WorkerSourceTask._acknowledged, show=_acknowledged),
        *watch(OffsetStorageWriter.offset, show=lambda call: {"line": call.argument("offset")["line"]}),
        *watch(OffsetStorageWriter.begin_flush, OffsetStorageWriter.do_flush, show=()),
        *watch(MemoryOffsetBackingStore.set, show=_stored, who=STORE),
        *watch(Lines.commit, show=(), who=SOURCE_TASK),
        *_watch_sets(),
    ]


def _record(call: Call) -> Detail:
    return {"record": int(call.argument("record").value)}


def _acknowledged(call: Call) -> Detail:
    return {"record": int(call.argument("context").original.value)}


def _stored(call: Call) -> Detail:
    return {"offsets": ", ".join(value.decode() for value in call.argument("values").values())}


def _watch_sets() -> list[Watch]:
    """The sets of records that are not acknowledged, after each change: their numbers count from 1."""
    shown = {"outstanding": "–", "backlog": "–"}

    def after(call: Call) -> None:
        task: WorkerSourceTask = call.subject
        for name, numbers in (("outstanding", task._outstanding), ("backlog", task._backlog)):
            now = " ".join(str(number + 1) for number in sorted(numbers)) or "–"
            if now != shown[name]:
                call.emit(Kind.STATE, WORKER_TASK, name, {"before": shown[name], "after": now})
                shown[name] = now

    changing = (
        WorkerSourceTask._note_outstanding,
        WorkerSourceTask._remove_outstanding,
        WorkerSourceTask.commit_offsets,
    )
    return [Watch.of(each, after=after) for each in changing]


RUNS: dict[str, Callable[[], RecordedRun]] = {"flush-beside-sends": flush_beside_sends}
