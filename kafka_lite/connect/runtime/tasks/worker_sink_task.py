"""Runs a sink task: reads topics, gives it the records, commits its offsets.

Kafka 0.10.2: connect/runtime/.../connect/runtime/WorkerSinkTask.java · book 8.3.7
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.java.java_pattern import java_pattern
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.connect.api.converter import Converter, HeaderConverter
from kafka_lite.connect.api.errors import ConnectError, RetriableError
from kafka_lite.connect.api.headers import NO_HEADERS, Headers
from kafka_lite.connect.api.sink_record import SinkRecord
from kafka_lite.connect.api.sink_task import SinkTask
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.errors.processing_context import ProcessingContext, Stage
from kafka_lite.connect.runtime.errors.retry_with_tolerance_operator import RetryWithToleranceOperator
from kafka_lite.connect.runtime.errors.worker_errant_record_reporter import WorkerErrantRecordReporter, sink_record
from kafka_lite.connect.runtime.metrics.connect_metrics import ConnectMetrics
from kafka_lite.connect.runtime.metrics.task_metrics import SinkTaskMetrics
from kafka_lite.connect.runtime.status_listener import StatusListener
from kafka_lite.connect.runtime.target_state import TargetState
from kafka_lite.connect.runtime.tasks.sink_offsets import Offsets, SinkOffsets
from kafka_lite.connect.runtime.tasks.worker_sink_task_context import WorkerSinkTaskContext
from kafka_lite.connect.runtime.tasks.worker_task import WorkerTask
from kafka_lite.connect.runtime.transformation_chain import TransformationChain
from kafka_lite.consumer.consumer_errors import WakeupError
from kafka_lite.consumer.consumer_rebalance_listener import ConsumerRebalanceListener
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.consumer.kafka_consumer import KafkaConsumer

logger = logging.getLogger(__name__)

_OF_KEYS: Final = Stage.KEY_CONVERTER
_OF_VALUES: Final = Stage.VALUE_CONVERTER
_OF_HEADERS: Final = Stage.HEADER_CONVERTER
"""Bound once: in Python 3.11, looking up a member of an enum takes as long as a call."""


class WorkerSinkTask(WorkerTask):
    """The tasks of a connector are one consumer group, which divides the partitions among them.

    ::

        commit if it is due ─▶ rewind if the task asked for it ─▶ poll ─▶ convert ─▶ transform ─▶ put
                                                                             ▲                     │
                                       all partitions paused, the same batch └── RetriableError ───┘

    A pause, a resume and the stop wake the consumer up. The task stays in its group while it is paused.
    """

    def __init__(
        self,
        task_id: ConnectorTaskId,
        task: SinkTask,
        listener: StatusListener,
        target: TargetState,
        *,
        config: Mapping[str, str],
        key_converter: Converter,
        value_converter: Converter,
        header_converter: HeaderConverter,
        transformations: TransformationChain,
        operator: RetryWithToleranceOperator,
        reporter: WorkerErrantRecordReporter | None,
        consumer: KafkaConsumer,
        commit_interval_ms: float,
        commit_timeout_ms: float,
        metrics: SinkTaskMetrics | None = None,
        time: Time = SYSTEM_TIME,
    ) -> None:
        """The consumer returns bytes. The task closes it, and the operator."""
        self._metrics = metrics or SinkTaskMetrics(ConnectMetrics(time), task_id, operator.metrics)
        self._metrics.count_active = self._count_active
        super().__init__(task_id, listener, target, self._metrics)
        self._task = task
        self._config = config
        self._key_converter = key_converter
        self._value_converter = value_converter
        self._header_converter = header_converter
        self._transformations = transformations
        self._operator = operator
        self._reporter = reporter
        self._consumer = consumer
        self._commit_interval_ms = commit_interval_ms
        self._commit_timeout_ms = commit_timeout_ms
        self._time = time
        self._context = WorkerSinkTaskContext(consumer, lambda: self.should_pause, config, reporter)
        self._offsets = SinkOffsets()
        self._batch: list[SinkRecord] = []
        self._paused_for_redelivery = False
        self._stopped = False
        self._rebalance_error: Exception | None = None
        self._next_commit_ms = time.hi_res_ms() + commit_interval_ms
        self._commit_began_ms = 0.0

    # ── the thread ────────────────────────────────────────────────────────────────────────────────────────────────

    def start_task(self) -> None:
        """Subscribe to the topics, and start the task."""
        self._consumer.subscribe(self._topics(), listener=_HandleRebalance(self))
        self._task.initialize(self._context)
        self._task.start(dict(self._config))
        logger.info("Sink task %s finished initialization and start", self.id)

    def _topics(self) -> list[str] | re.Pattern[str]:
        """The topics of the configuration, or the pattern of their names. Raises ConnectError."""
        topics = [topic.strip() for topic in self._config.get(SinkTask.TOPICS_CONFIG, "").split(",") if topic.strip()]
        if topics:
            return topics
        regex = self._config.get(SinkTask.TOPICS_REGEX_CONFIG)
        if not regex:
            raise ConnectError("Sink tasks require a list of topics.")
        return java_pattern(regex)

    def do_work(self) -> None:
        """Commit if it is due, then poll and put."""
        try:
            now_ms = self._time.hi_res_ms()
            if not self._offsets.committing and (self._context.commit_requested or now_ms >= self._next_commit_ms):
                self._commit(closing=False)
                self._next_commit_ms += self._commit_interval_ms
                self._context.commit_requested = False
            if self._offsets.is_overdue(now_ms, self._commit_timeout_ms):
                logger.warning("Commit of %s offsets timed out", self.id)
                self._offsets.give_up()
            self._poll(max(self._next_commit_ms - now_ms, 0))
        except WakeupError:
            self._woken_up()

    def _woken_up(self) -> None:
        if not self.is_running:
            return
        if self.should_pause:
            self._consumer.pause(self._consumer.assignment)
            self.report_paused()
            self._context.request_commit()
        elif not self._paused_for_redelivery:
            self._resume_all()
            self.report_resumed()

    def finish(self) -> None:
        """Commit what the task has written."""
        self._commit(closing=True)

    def close(self) -> None:
        """Stop the task, and leave the group."""
        self._stopped = True
        for what, close in (
            ("task", self._task.stop),
            ("consumer", self._consumer.close),
            ("transformations", self._transformations.close),
            ("error handling", self._operator.close),
        ):
            try:
                close()
            except Exception:
                logger.exception("Task %s: could not close its %s", self.id, what)

    def transition_to(self, target: TargetState) -> None:
        """Pause or resume, soon."""
        super().transition_to(target)
        self._consumer.wakeup()

    def wake_up(self) -> None:
        """Make ``poll`` return, and end retries."""
        super().wake_up()
        self._operator.trigger_stop()
        self._consumer.wakeup()

    # ── records ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _poll(self, timeout_ms: float) -> None:
        self._rewind()
        retry_ms = self._context.take_timeout()
        records = self._consumer.poll(min(timeout_ms, retry_ms) if retry_ms > 0 else timeout_ms)
        error, self._rebalance_error = self._rebalance_error, None
        if error is not None:
            raise error
        self._metrics.read += len(records)
        for partition in sorted(records.partitions):
            self._convert(partition, records.records(partition))
        self._deliver()

    def _convert(self, partition: TopicPartition, consumed: Sequence[ConsumerRecord]) -> None:
        """Add the records to the batch, unless they are dropped. Either way they count as consumed."""
        of_keys, of_values = self._key_converter, self._value_converter
        key_data, value_data = of_keys.to_connect_data, of_values.to_connect_data
        execute, transform, add = self._operator.execute, self._transformations.apply, self._batch.append
        topic, converted = partition.topic, False
        for each in consumed:
            context = ProcessingContext(each)
            key = execute(context, _OF_KEYS, of_keys, key_data, topic, each.key)
            value = execute(context, _OF_VALUES, of_values, value_data, topic, each.value)
            headers: Headers | None = NO_HEADERS
            if each.headers:
                headers = execute(context, _OF_HEADERS, self._header_converter, self._headers, each)
            if key is None or value is None or headers is None:
                continue  # it has failed, which is tolerated
            converted = True
            record = transform(context, sink_record(each, key, value, headers, context))
            if record is not None:
                add(record)
        self._offsets.consumed(partition, consumed[-1].offset)
        if converted:
            self._listener.on_topic(self.id, topic)

    def _headers(self, consumed: ConsumerRecord) -> Headers:
        headers = NO_HEADERS
        for name, value in consumed.headers:
            data = self._header_converter.to_connect_header(consumed.topic, name, value)
            headers = headers.add(name, data.value, data.schema)
        return headers

    def _deliver(self) -> None:
        """Give the task its batch, which may be empty."""
        began_ms = self._time.hi_res_ms()
        try:
            self._task.put(list(self._batch))
        except RetriableError:
            logger.exception("RetriableError from sink task %s", self.id)
            self._paused_for_redelivery = True
            self._consumer.pause(self._consumer.assignment)  # polls continue, and return nothing
            return
        except Exception as error:
            raise ConnectError("Exiting WorkerSinkTask due to unrecoverable exception.") from error
        if self._reporter is not None:
            self._reporter.raise_if_not_tolerated()
        self._metrics.batch_put(len(self._batch), self._time.hi_res_ms() - began_ms)
        self._batch.clear()
        self._offsets.delivered()
        if self._paused_for_redelivery:
            self._paused_for_redelivery = False
            if not self.should_pause:
                self._resume_all()

    def _resume_all(self) -> None:
        self._consumer.resume(
            [each for each in self._consumer.assignment if each not in self._context.paused_partitions]
        )

    def _rewind(self) -> None:
        """Seek to where the task wants to continue."""
        for partition, offset in self._context.take_offsets().items():
            self._consumer.seek(partition, offset)
            self._offsets.rewound(partition, offset)

    # ── offsets ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _commit(self, closing: bool) -> None:
        """Ask the task which offsets may be committed, and commit them; when ``closing``, close its partitions
        first."""
        if not self._offsets.current:
            return
        self._operator.await_reports()
        self._commit_began_ms = self._time.hi_res_ms()
        number = self._metrics.commit_number = self._offsets.begin_commit(self._commit_began_ms)
        try:
            provided: Offsets = self._task.pre_commit(dict(self._offsets.current))
        except Exception as error:  # noqa: BLE001  logged there
            self._commit_refused(number, error, closing)
            return
        finally:
            if closing:
                self._task.close(set(self._offsets.current))
        wanted = self._offsets.committable(provided)
        if wanted is None:
            self._end_commit(number, None, None)
        elif closing:
            self._commit_sync(wanted, number)
        else:
            self._consumer.commit_async(wanted, lambda committed, error: self._end_commit(number, error, committed))

    def _end_commit(self, number: int, error: BaseException | None, committed: Offsets | None) -> None:
        self._offsets.end_commit(number, error, committed)
        if number != self._metrics.commit_number:
            self._metrics.commits_skipped += 1
            return
        if error is None:
            self._metrics.commits_completed += 1
        self._metrics.commit_ended(self._time.hi_res_ms() - self._commit_began_ms, succeeded=error is None)

    def _count_active(self) -> int:
        """Records that were put, but are not committed."""
        committed = dict(self._offsets.committed)
        return sum(
            position.offset - committed[partition].offset
            for partition, position in dict(self._offsets.current).items()
            if partition in committed
        )

    def _commit_refused(self, number: int, error: Exception, closing: bool) -> None:
        """The task could not finish writing: read again what was not committed."""
        logger.error("Task %s: offset commit failed%s", self.id, "" if closing else ", rewinding", exc_info=error)
        if not closing:
            for partition, committed in self._offsets.rewind_to_committed().items():
                self._consumer.seek(partition, committed.offset)
        self._end_commit(number, error, None)

    def _commit_sync(self, offsets: Offsets, number: int) -> None:
        try:
            self._consumer.commit_sync(offsets)
            self._end_commit(number, None, offsets)
        except WakeupError:
            self._commit_sync(offsets, number)  # so that they are committed, before poll learns of it
            raise
        except KafkaError as error:
            self._end_commit(number, error, None)

    # ── rebalances of the consumer group ──────────────────────────────────────────────────────────────────────────

    def partitions_assigned(self, partitions: Collection[TopicPartition]) -> None:
        """Open the partitions. What the task raises ends it, after the rebalance."""
        self._offsets.assigned({partition: self._consumer.position(partition) for partition in partitions})
        self._metrics.partitions = len(partitions)
        self._paused_for_redelivery = False
        self._context.paused_partitions.intersection_update(partitions)
        to_pause = partitions if self.should_pause else self._context.paused_partitions
        if to_pause:
            self._consumer.pause(list(to_pause))
        if self._rebalance_error is None or isinstance(self._rebalance_error, WakeupError):
            try:
                self._task.open(partitions)
                self._rewind()
            except Exception as error:  # noqa: BLE001  poll raises it
                self._rebalance_error = error

    def partitions_revoked(self) -> None:
        """Commit, and close the partitions. Records that were not put yet are read again by their next owner."""
        if self._stopped:  # the consumer that is being closed says so; all was committed before
            return
        try:
            self._commit(closing=True)
        except Exception as error:  # noqa: BLE001  poll raises it
            self._rebalance_error = error
        self._batch.clear()
        self._offsets.dropped()
        self._metrics.partitions = 0


class _HandleRebalance(ConsumerRebalanceListener):
    def __init__(self, task: WorkerSinkTask) -> None:
        self._task = task

    def on_partitions_assigned(self, partitions: Collection[TopicPartition]) -> None:
        self._task.partitions_assigned(partitions)

    def on_partitions_revoked(self, partitions: Collection[TopicPartition]) -> None:  # noqa: ARG002  always all of them
        self._task.partitions_revoked()
