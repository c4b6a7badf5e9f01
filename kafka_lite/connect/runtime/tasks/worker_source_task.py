"""Runs a source task: polls it, produces its records, stores its offsets.

Kafka 0.10.2: connect/runtime/.../connect/runtime/WorkerSourceTask.java, WorkerSourceTaskContext.java · book 8.3.7
"""

from __future__ import annotations

import concurrent.futures
import logging
import threading
from collections.abc import Mapping
from functools import partial
from itertools import count
from typing import Final

from kafka_lite.common.errors import ApiError, KafkaError
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.connect.api.converter import Converter, HeaderConverter
from kafka_lite.connect.api.errors import ConnectError, RetriableError
from kafka_lite.connect.api.offset_storage_reader import OffsetStorageReader
from kafka_lite.connect.api.source_record import SourceRecord
from kafka_lite.connect.api.source_task import SourceTask, SourceTaskContext
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.errors.processing_context import ProcessingContext, Stage
from kafka_lite.connect.runtime.errors.retry_with_tolerance_operator import RetryWithToleranceOperator
from kafka_lite.connect.runtime.metrics.connect_metrics import ConnectMetrics
from kafka_lite.connect.runtime.metrics.task_metrics import SourceTaskMetrics
from kafka_lite.connect.runtime.status_listener import StatusListener
from kafka_lite.connect.runtime.storage.offset_storage_writer import OffsetStorageWriter
from kafka_lite.connect.runtime.target_state import TargetState
from kafka_lite.connect.runtime.tasks.worker_task import WorkerTask
from kafka_lite.connect.runtime.transformation_chain import TransformationChain
from kafka_lite.metrics.mbean_server import MBeanServer
from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.producer.producer_record import ProducerRecord, RecordMetadata

logger = logging.getLogger(__name__)

RETRY_BACKOFF_MS = 100
CLOSE_TIMEOUT_MS = 30_000
_OF_KEYS: Final = Stage.KEY_CONVERTER
_OF_VALUES: Final = Stage.VALUE_CONVERTER
"""Bound once: in Python 3.11, looking up a member of an enum takes as long as a call."""


class WorkerSourceTask(WorkerTask):
    """Two threads meet here: the task's own, which polls and sends, and the committer's, which flushes.

    ::

        poll ─▶ transform ─▶ convert ─▶ [outstanding] ─▶ producer ─▶ acknowledged: removed
                                  │
                                  └ offset ─▶ OffsetStorageWriter

    A flush stores only offsets whose records are acknowledged. It sets the offsets aside, waits until nothing is
    outstanding, and then stores them. What is sent meanwhile goes into a backlog, the next outstanding set.
    """

    def __init__(
        self,
        task_id: ConnectorTaskId,
        task: SourceTask,
        listener: StatusListener,
        target: TargetState,
        *,
        config: Mapping[str, str],
        key_converter: Converter,
        value_converter: Converter,
        header_converter: HeaderConverter,
        transformations: TransformationChain,
        operator: RetryWithToleranceOperator,
        producer: KafkaProducer,
        offset_reader: OffsetStorageReader,
        offset_writer: OffsetStorageWriter,
        flush_timeout_ms: float,
        metrics: SourceTaskMetrics | None = None,
        time: Time = SYSTEM_TIME,
    ) -> None:
        """The producer takes bytes. The task closes it, and the operator."""
        self._metrics = metrics or SourceTaskMetrics(ConnectMetrics(time), task_id, operator.metrics)
        self._metrics.count_active = lambda: len(self._outstanding) + len(self._backlog)
        super().__init__(task_id, listener, target, self._metrics)
        self._task = task
        self._config = config
        self._key_converter = key_converter
        self._value_converter = value_converter
        self._header_converter = header_converter
        self._transformations = transformations
        self._operator = operator
        self._producer = producer
        self._offset_reader = offset_reader
        self._offset_writer = offset_writer
        self._flush_timeout_ms = flush_timeout_ms
        self._time = time
        self._to_send: list[SourceRecord] = []
        self._retries_first = False  # its offset is noted already
        self._numbers = count()
        self._outstanding: set[int] = set()
        self._backlog: set[int] = set()
        self._flushing = False
        self._flushes = threading.Lock()  # one flush at a time: the committer's, or the last one
        self._send_error: Exception | None = None
        self._is_started = self._task_stopped = False

    # ── the thread ────────────────────────────────────────────────────────────────────────────────────────────────

    def start_task(self) -> None:
        """Initialize and start the task. If it was to be stopped meanwhile, it is stopped here."""
        self._task.initialize(WorkerSourceTaskContext(self._offset_reader, self._config, self._metrics.beans))
        self._task.start(dict(self._config))
        with self.lock:
            self._is_started = True
            if not self.is_running:
                self._stop_task()
        logger.info("Source task %s finished initialization and start", self.id)

    def do_work(self) -> None:
        """Wait while the connector is paused, or poll and send."""
        if self.should_pause:
            self.report_paused()
            if self.await_unpause():
                self.report_resumed()
            return
        self._raise_send_error()
        if not self._to_send and not self._poll():
            self.pause(RETRY_BACKOFF_MS)
        if self._to_send and not self._send_records():
            self.pause(RETRY_BACKOFF_MS)

    def _poll(self) -> bool:
        """False if the task has to be polled again, a little later."""
        began_ms = self._time.hi_res_ms()
        try:
            self._to_send = list(self._task.poll() or ())
        except RetriableError as error:
            logger.warning("Task %s failed to poll records, will retry: %s", self.id, error)
            return False
        if self._to_send:
            self._metrics.batch_polled(len(self._to_send), self._time.hi_res_ms() - began_ms)
        return True

    def finish(self) -> None:
        """The records that were produced are to count, even after an error."""
        self.commit_offsets()

    def close(self) -> None:
        """Stop the task unless it is paused, and close the producer."""
        if not self.should_pause:
            self._stop_task()
        for what, close in (
            ("producer", partial(self._producer.close, CLOSE_TIMEOUT_MS)),
            ("transformations", self._transformations.close),
            ("error handling", self._operator.close),
        ):
            try:
                close()
            except Exception:
                logger.exception("Task %s: could not close its %s", self.id, what)

    def wake_up(self) -> None:
        """Stop the task in the caller's thread, so that its ``poll`` returns, and end retries."""
        super().wake_up()
        self._operator.trigger_stop()
        with self.lock:
            if self._is_started:
                self._stop_task()

    def _stop_task(self) -> None:
        with self.lock:
            if self._task_stopped:
                return
            try:
                self._task.stop()
                self._task_stopped = True
            except Exception:
                logger.exception("Could not stop task %s", self.id)

    # ── sending ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _send_records(self) -> bool:
        """Send what was polled. False if the first of the records left has to be sent again, a little later."""
        for index, record in enumerate(self._to_send):
            self._raise_send_error()
            if not self._send(record):
                del self._to_send[:index]
                return False
        self._to_send = []
        return True

    def _send(self, polled: SourceRecord) -> bool:
        context = ProcessingContext(polled)
        record = self._transformations.apply(context, polled)
        to_produce = None if record is None else self._convert(context, record)
        if record is None or to_produce is None:  # dropped, or failed and tolerated
            self._commit_record(polled, None)
            return True
        number = self._note_outstanding(record)
        try:
            self._producer.send(to_produce, partial(self._acknowledged, number, context, record.topic))
        except KafkaError as error:
            if is_retriable(error):
                self._remove_outstanding(number)
                logger.warning("Failed to send a record to %s, backing off before retrying: %s", record.topic, error)
                self._retries_first = True
                return False
            if not self._operator.tolerates_all:
                self._remove_outstanding(number)
                raise ConnectError("Unrecoverable exception trying to send") from error
            self._skip(number, context, error)
        self._retries_first = False
        return True

    def _convert(self, context: ProcessingContext[SourceRecord], record: SourceRecord) -> ProducerRecord | None:
        """None if a converter fails and this is tolerated."""
        execute, of_keys, of_values = self._operator.execute, self._key_converter, self._value_converter
        headers = None
        if record.headers:
            headers = execute(context, Stage.HEADER_CONVERTER, self._header_converter, self._headers, record)
        key = execute(
            context, _OF_KEYS, of_keys, of_keys.from_connect_data,
            record.topic, record.key_schema, record.key,
        )  # fmt: skip
        value = execute(
            context, _OF_VALUES, of_values, of_values.from_connect_data,
            record.topic, record.value_schema, record.value,
        )  # fmt: skip
        if context.failed:
            return None
        return ProducerRecord(record.topic, value, key, record.kafka_partition, record.timestamp, headers or ())

    def _headers(self, record: SourceRecord) -> list[tuple[str, bytes | None]]:
        return [
            (each.key, self._header_converter.from_connect_header(record.topic, each.key, each.schema, each.value))
            for each in record.headers
        ]

    def _note_outstanding(self, record: SourceRecord) -> int:
        """Before it is sent: the acknowledgement may come at once. The offset is noted in the same step."""
        number = next(self._numbers)
        with self.lock:
            (self._backlog if self._flushing else self._outstanding).add(number)
            if record.source_partition is not None and not self._retries_first:
                self._offset_writer.offset(record.source_partition, record.source_offset)
        return number

    def _acknowledged(
        self,
        number: int,
        context: ProcessingContext[SourceRecord],
        topic: str,
        metadata: RecordMetadata | None,
        error: Exception | None,
    ) -> None:
        """The producer's callback. A record that is lost ends the task. (Kafka 0.10.2 only logs it.)"""
        if error is None:
            self._commit_record(context.original, metadata)
            self._metrics.written += 1
            self._listener.on_topic(self.id, topic)
            self._remove_outstanding(number)
            return
        logger.error("Task %s failed to send record to %s: %s", self.id, context.original.topic, error)
        if self._operator.tolerates_all:
            self._skip(number, context, error)
            return
        with self.lock:
            self._send_error = self._send_error or error
            self.lock.notify_all()  # its number stays: no offset may be stored from here on

    def _skip(self, number: int, context: ProcessingContext[SourceRecord], error: Exception) -> None:
        """The producer refuses a record, and this is tolerated. (Kafka: since 3.2.)"""
        self._operator.execute_failed(context, Stage.KAFKA_PRODUCE, type(self._producer), error)
        self._commit_record(context.original, None)
        self._remove_outstanding(number)

    def _remove_outstanding(self, number: int) -> None:
        with self.lock:
            self._outstanding.discard(number)
            self._backlog.discard(number)
            if self._flushing and not self._outstanding:
                self.lock.notify_all()

    def _raise_send_error(self) -> None:
        if self._send_error is not None:
            raise ConnectError("Unrecoverable exception from producer send callback") from self._send_error

    def _commit_record(self, record: SourceRecord, metadata: RecordMetadata | None) -> None:
        try:
            self._task.commit_record(record, metadata)
        except Exception:
            logger.exception("Exception thrown while calling task.commit_record()")

    # ── flushing ──────────────────────────────────────────────────────────────────────────────────────────────────

    def commit_offsets(self) -> bool:
        """Store the offsets of acknowledged records, then call the task's ``commit``. False if that failed or took too
        long: the next flush has the offsets, too."""
        with self._flushes:
            began_ms = self._time.hi_res_ms()
            deadline_ms = began_ms + self._flush_timeout_ms
            with self.lock:
                self._flushing = True
                has_offsets = self._offset_writer.begin_flush()
            if not (self._await_outstanding(deadline_ms) and (not has_offsets or self._store(deadline_ms))):
                self._finish_failed_flush()
                self._metrics.commit_ended(self._time.hi_res_ms() - began_ms, succeeded=False)
                return False
            with self.lock:
                self._outstanding, self._backlog = self._backlog, set()
                self._flushing = False
            self._metrics.commit_ended(self._time.hi_res_ms() - began_ms, succeeded=True)
            try:
                self._task.commit()
            except Exception:
                logger.exception("Exception thrown while calling task.commit()")
            return True

    def _await_outstanding(self, deadline_ms: float) -> bool:
        with self.lock:
            while self._outstanding and self._send_error is None:
                remaining_ms = deadline_ms - self._time.hi_res_ms()
                if remaining_ms <= 0:
                    logger.error(
                        "Failed to flush %s, timed out while waiting for producer to flush outstanding %d messages",
                        self.id, len(self._outstanding),
                    )  # fmt: skip
                    return False
                self._time.wait(self.lock, remaining_ms)
            return self._send_error is None

    def _store(self, deadline_ms: float) -> bool:
        future = self._offset_writer.do_flush(self._flushed)
        if future is None:
            return False
        try:
            future.result(max(deadline_ms - self._time.hi_res_ms(), 0) / 1000)
        except concurrent.futures.TimeoutError:
            logger.error("Timed out waiting to flush %s offsets to storage", self.id)
            return False
        except Exception:  # noqa: BLE001  the callback has logged it
            return False
        return True

    def _flushed(self, error: BaseException | None) -> None:
        if error is not None:
            logger.error("Failed to flush %s offsets to storage: %s", self.id, error)

    def _finish_failed_flush(self) -> None:
        with self.lock:
            self._offset_writer.cancel_flush()
            self._outstanding |= self._backlog
            self._backlog = set()
            self._flushing = False


def is_retriable(error: BaseException) -> bool:
    """Whether the same call may succeed later."""
    return isinstance(error, ApiError) and error.error.retriable


class WorkerSourceTaskContext(SourceTaskContext):
    """The runtime, as a source task may use it."""

    def __init__(
        self, reader: OffsetStorageReader, config: Mapping[str, str], beans: MBeanServer | None = None
    ) -> None:
        self._reader = reader
        self._config = config
        self._beans = beans or MBeanServer()

    @property
    def beans(self) -> MBeanServer:
        """The beans that the worker shows; without one, nobody looks."""
        return self._beans

    @property
    def offset_storage_reader(self) -> OffsetStorageReader:
        """The offsets up to which the task's predecessors have read."""
        return self._reader

    def configs(self) -> dict[str, str]:
        """The task's configuration."""
        return dict(self._config)
