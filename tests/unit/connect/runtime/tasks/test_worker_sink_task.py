import re
import threading
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.connect.api.errors import ConnectError, IllegalWorkerStateError, RetriableError
from kafka_lite.connect.api.sink_record import SinkRecord
from kafka_lite.connect.api.sink_task import SinkTask
from kafka_lite.connect.api.transformation import Transformation
from kafka_lite.connect.converters.simple_header_converter import SimpleHeaderConverter
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.errors.error_handling_config import ErrorHandlingConfig
from kafka_lite.connect.runtime.errors.processing_context import Stage
from kafka_lite.connect.runtime.errors.retry_with_tolerance_operator import RetryWithToleranceOperator
from kafka_lite.connect.runtime.errors.worker_errant_record_reporter import WorkerErrantRecordReporter
from kafka_lite.connect.runtime.target_state import TargetState
from kafka_lite.connect.runtime.tasks.worker_sink_task import WorkerSinkTask
from kafka_lite.connect.runtime.transformation_chain import TransformationChain
from kafka_lite.consumer.consumer_errors import WakeupError
from kafka_lite.consumer.consumer_record import ConsumerRecords
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from tests.support.connect_stores import PlainJson
from tests.support.connect_tasks import FakeConsumer, Kept, Reports, record
from tests.support.patience import patient_s

P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)


class Keeper(SinkTask):
    """Keeps what it is given, and raises what the test wants."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.calls: list[str] = []
        self.put_errors: list[Exception] = []
        self.flush_errors: list[Exception] = []
        self.open_errors: list[Exception] = []
        self.rewinds: dict[TopicPartition, int] = {}
        self.refused: list[Any] = []
        self.catches = False

    def start(self, props: Mapping[str, str]) -> None:
        self.calls.append("start")

    def stop(self) -> None:
        self.calls.append("stop")

    def open(self, partitions: Collection[TopicPartition]) -> None:
        self.calls.append(f"open {sorted(each.partition for each in partitions)}")
        if self.open_errors:
            raise self.open_errors.pop(0)
        self.context.offset(self.rewinds)

    def close(self, partitions: Collection[TopicPartition]) -> None:
        self.calls.append(f"close {sorted(each.partition for each in partitions)}")

    def put(self, records: Sequence[SinkRecord]) -> None:
        if self.put_errors:
            raise self.put_errors.pop(0)
        for each in records:
            if each.value in self.refused:
                self._report(each)
            else:
                self.values.append(each.value)

    def _report(self, record: SinkRecord) -> None:
        reporter = self.context.errant_record_reporter
        assert reporter is not None
        try:
            reporter.report(record, ValueError("refused"))
        except ConnectError:
            if not self.catches:
                raise

    def flush(self, current_offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        self.calls.append("flush")
        if self.flush_errors:
            raise self.flush_errors.pop(0)


class DropNull(Transformation):
    def apply(self, record: Any) -> Any:
        return None if record.value is None else record


class Rig:
    """A worker task whose thread the test runs itself. It is started, and owns a partition."""

    def __init__(
        self,
        target: TargetState = TargetState.STARTED,
        topics: str | re.Pattern[str] = "t",
        errors: ErrorHandlingConfig = ErrorHandlingConfig(),  # noqa: B008  it is frozen
    ) -> None:
        self.reported = Kept()
        self.operator = RetryWithToleranceOperator(errors, reporters=[self.reported])
        self.errant = WorkerErrantRecordReporter(self.operator, PlainJson(), PlainJson(), SimpleHeaderConverter())
        self.task, self.reports, self.consumer, self.time = Keeper(), Reports(), FakeConsumer(), MockTime()
        self.worker = WorkerSinkTask(
            ConnectorTaskId("snk", 0), self.task, self.reports, target,
            config={"topics": topics} if isinstance(topics, str) else {"topics.regex": topics.pattern},
            key_converter=PlainJson(),
            value_converter=PlainJson(),
            header_converter=SimpleHeaderConverter(),
            transformations=TransformationChain([DropNull()], self.operator),
            operator=self.operator,
            reporter=self.errant,
            consumer=self.consumer,
            commit_interval_ms=10_000,
            commit_timeout_ms=5000,
            time=self.time,
        )  # fmt: skip

    def start(self) -> None:
        self.worker.start_task()
        self.consumer.positions = {P0: 5}
        self.consumer.rebalance(P0)

    def read(self, *values: bytes | None) -> None:
        """One turn with a batch that begins at offset 5."""
        self.consumer.records.append([record(value, 5 + index) for index, value in enumerate(values)])
        self.worker.do_work()


@pytest.fixture
def rig() -> Rig:
    rig = Rig()
    rig.start()
    return rig


def test_records_are_converted_transformed_and_put(rig: Rig) -> None:
    rig.read(b'{"a":1}', None, b"[2]")
    assert rig.task.values == [{"a": 1}, [2]]
    assert rig.consumer.topics == ["t"]
    assert rig.task.calls == ["start", "open [0]"]
    assert rig.reports.topics == {("snk-0", "t")}
    rig.worker.do_work()  # an empty batch is put, too
    assert rig.task.values == [{"a": 1}, [2]]


def test_offsets_are_committed_at_each_interval(rig: Rig) -> None:
    rig.read(b"1", None)
    assert rig.consumer.timeouts[-1] == 10_000
    assert rig.consumer.commits == []
    rig.time.sleep(10_000)
    rig.worker.do_work()
    offsets, done = rig.consumer.commits[-1]
    assert offsets == {P0: 7}  # the record that was dropped counts
    assert rig.task.calls[-1] == "flush"
    done()
    rig.time.sleep(10_000)
    rig.worker.do_work()
    assert len(rig.consumer.commits) == 1  # nothing has changed


def test_what_a_task_reads_puts_and_commits_can_be_seen(rig: Rig) -> None:
    metrics = rig.worker._metrics
    rig.read(b"1", None, b"2")  # one is dropped
    assert (metrics.read, metrics.sent, metrics.partitions, metrics.count_active()) == (3, 2, 1, 3)
    rig.task.context.request_commit()
    rig.worker.do_work()
    _, late = rig.consumer.commits[-1]
    rig.time.sleep(5000)
    rig.worker.do_work()  # gives up
    rig.task.context.request_commit()
    rig.worker.do_work()
    _, done = rig.consumer.commits[-1]
    late()
    assert (metrics.commits_skipped, metrics.commits_completed, metrics.count_active()) == (1, 0, 3)
    done()
    assert (metrics.commit_number, metrics.commits_completed, metrics.count_active()) == (2, 1, 0)
    assert rig.worker.metrics is metrics


def test_a_requested_commit_comes_with_the_next_turn(rig: Rig) -> None:
    rig.read(b"1")
    rig.task.context.request_commit()
    rig.worker.do_work()
    rig.worker.do_work()
    assert [offsets for offsets, _ in rig.consumer.commits] == [{P0: 6}]


def test_a_commit_that_is_not_answered_is_given_up(rig: Rig) -> None:
    rig.read(b"1")
    rig.task.context.request_commit()
    rig.worker.do_work()
    rig.time.sleep(5000)
    rig.task.context.request_commit()
    rig.worker.do_work()  # gives up
    rig.worker.do_work()  # commits again
    assert len(rig.consumer.commits) == 2


def test_a_task_that_cannot_flush_reads_again_from_what_is_committed(rig: Rig) -> None:
    rig.read(b"1")
    rig.task.flush_errors = [ConnectError("disk full")]
    rig.task.context.request_commit()
    rig.worker.do_work()
    assert rig.consumer.seeks == [(P0, 5)]
    assert rig.consumer.commits == []


def test_a_batch_is_put_again_after_a_retriable_error(rig: Rig) -> None:
    rig.task.put_errors = [RetriableError("busy")]
    rig.task.context.timeout(300)
    rig.read(b"1", b"2")
    assert rig.consumer.timeouts[-1] == 300
    assert (rig.task.values, rig.consumer.paused) == ([], {P0})
    rig.worker.do_work()
    assert (rig.task.values, rig.consumer.paused) == ([1, 2], set())
    assert rig.consumer.timeouts[-1] == 10_000


def test_another_error_of_put_ends_the_task(rig: Rig) -> None:
    rig.task.put_errors = [ValueError("cannot write")]
    with pytest.raises(ConnectError, match="Exiting WorkerSinkTask due to unrecoverable exception") as raised:
        rig.read(b"1")
    assert isinstance(raised.value.__cause__, ValueError)


def test_a_record_that_cannot_be_converted_ends_the_task(rig: Rig) -> None:
    with pytest.raises(ConnectError):
        rig.read(b"not json")


def test_a_pause_keeps_the_place_in_the_group(rig: Rig) -> None:
    rig.read(b"1")
    rig.worker.transition_to(TargetState.PAUSED)
    rig.worker.do_work()
    assert (rig.consumer.paused, rig.reports.told) == ({P0}, ["snk-0 pause"])
    rig.worker.do_work()  # a pause commits
    assert [offsets for offsets, _ in rig.consumer.commits] == [{P0: 6}]
    rig.worker.transition_to(TargetState.STARTED)
    rig.worker.do_work()
    assert (rig.consumer.paused, rig.reports.told) == (set(), ["snk-0 pause", "snk-0 resume"])


def test_a_resume_leaves_paused_what_the_task_has_paused(rig: Rig) -> None:
    rig.consumer.rebalance(P0, P1)
    rig.task.context.pause(P1)
    assert rig.consumer.paused == {P1}
    rig.worker.transition_to(TargetState.PAUSED)
    rig.worker.do_work()
    rig.task.context.pause(P0)
    rig.task.context.resume(P0)
    assert rig.consumer.paused == {P0, P1}  # the connector is paused: the task's wish is noted only
    rig.worker.transition_to(TargetState.STARTED)
    rig.worker.do_work()
    assert rig.consumer.paused == {P1}
    rig.consumer.rebalance(P0)  # a pause ends with the ownership
    rig.consumer.rebalance(P0, P1)
    assert rig.consumer.paused == set()


def test_only_owned_partitions_can_be_paused(rig: Rig) -> None:
    assert rig.task.context.assignment() == {P0}
    with pytest.raises(IllegalWorkerStateError, match="may not pause partitions"):
        rig.task.context.pause(P1)
    with pytest.raises(IllegalWorkerStateError, match="may not resume partitions"):
        rig.task.context.resume(P1)


def test_a_rebalance_closes_and_commits_then_opens(rig: Rig) -> None:
    rig.read(b"1", b"2")
    rig.consumer.rebalance(P0, P1)
    assert rig.consumer.commits == [({P0: 7}, None)]
    assert rig.task.calls == ["start", "open [0]", "flush", "close [0]", "open [0, 1]"]


def test_a_batch_in_redelivery_is_dropped_by_a_rebalance(rig: Rig) -> None:
    rig.task.put_errors = [RetriableError("busy")]
    rig.read(b"1")
    rig.consumer.rebalance(P1)
    rig.worker.do_work()
    assert (rig.task.values, rig.consumer.paused) == ([], set())
    assert rig.consumer.commits == []


def test_a_task_that_cannot_open_its_partitions_ends(rig: Rig) -> None:
    rig.task.open_errors = [ValueError("no such table")]
    rig.consumer.rebalance(P1)
    with pytest.raises(ValueError, match="no such table"):
        rig.worker.do_work()


def test_a_task_continues_where_its_own_store_says(rig: Rig) -> None:
    rig.task.rewinds = {P1: 42}
    rig.consumer.rebalance(P1)
    assert rig.consumer.seeks == [(P1, 42)]
    rig.task.context.request_commit()
    rig.worker.do_work()
    assert rig.consumer.commits == []  # it counts as committed


def test_the_end_commits_and_closes() -> None:
    rig = Rig()
    rig.task.put_errors = []

    def poll(timeout_ms: float) -> ConsumerRecords:
        if not rig.consumer.assigned:
            rig.consumer.rebalance(P0)
            return ConsumerRecords({P0: [record(b"1", 5)]})
        rig.worker.initiate_shutdown()
        raise WakeupError

    rig.consumer.poll = poll  # type: ignore[method-assign]
    rig.worker.run()
    assert rig.task.values == [1]
    assert rig.consumer.commits == [({P0: 6}, None)]
    assert rig.task.calls[-3:] == ["flush", "close [0]", "stop"]
    assert rig.consumer.closed
    assert rig.reports.told == ["snk-0 startup", "snk-0 shutdown"]


def test_a_wake_up_during_the_last_commit_does_not_prevent_it(rig: Rig) -> None:
    rig.read(b"1")
    rig.consumer.commit_errors = [WakeupError()]
    with pytest.raises(WakeupError):
        rig.worker.finish()
    assert rig.consumer.commits == [({P0: 6}, None)]


def test_a_last_commit_that_fails_is_logged(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    rig.read(b"1")
    rig.consumer.commit_errors = [ApiError(Errors.REBALANCE_IN_PROGRESS)]
    rig.worker.finish()
    assert "Commit of offsets failed" in caplog.text
    rig.task.flush_errors = [ConnectError("disk full")]
    rig.worker.finish()
    assert "disk full" in caplog.text
    assert rig.consumer.seeks == []


def test_a_sink_needs_topics() -> None:
    rig = Rig(topics=" , ")
    rig.worker.run()
    assert rig.reports.told == ["snk-0 startup", "snk-0 failure"]
    assert str(rig.reports.errors[0]) == "Sink tasks require a list of topics."
    assert rig.task.calls == ["stop"]


def test_topics_may_be_found_by_a_pattern() -> None:
    rig = Rig(topics=re.compile("shop-.*"))
    rig.worker.start_task()
    assert isinstance(rig.consumer.topics, re.Pattern)
    assert rig.consumer.topics.fullmatch("shop-orders")
    assert not rig.consumer.topics.fullmatch("a-shop-orders")


def test_the_configuration_is_in_the_context(rig: Rig) -> None:
    assert rig.task.context.configs() == {"topics": "t"}
    assert rig.task.context.errant_record_reporter is rig.errant


def test_a_task_that_has_stopped_is_not_asked_to_flush_by_the_consumer_that_leaves(rig: Rig) -> None:
    rig.read(b"1")
    rig.worker.finish()
    rig.worker.close()
    assert rig.consumer.closed
    assert rig.task.calls == ["start", "open [0]", "flush", "close [0]", "stop"]
    assert [offsets for offsets, _ in rig.consumer.commits] == [{P0: 6}]


# ── errors of single records ──────────────────────────────────────────────────────────────────────────────────────

ALL = ErrorHandlingConfig(tolerates_all=True, dead_letter_topic="dead")


def test_without_tolerance_the_first_bad_record_ends_the_task(rig: Rig) -> None:
    with pytest.raises(ConnectError, match="Tolerance exceeded in error handler"):
        rig.read(b"1", b"{", b"3")
    (context,) = rig.reported.contexts
    assert (context.original.offset, context.stage) == (6, Stage.VALUE_CONVERTER)
    assert rig.task.values == []


def test_a_tolerated_record_is_skipped_reported_and_committed() -> None:
    rig = Rig(errors=ALL)
    rig.start()
    rig.read(b"1", b"{", b"3")
    assert rig.task.values == [1, 3]
    assert [context.original.value for context in rig.reported.contexts] == [b"{"]
    rig.time.sleep(10_000)
    rig.worker.do_work()
    assert rig.consumer.commits[-1][0] == {P0: 8}


def test_offsets_are_committed_after_the_dead_letter_queue_has_the_records() -> None:
    rig = Rig(errors=ALL)
    rig.reported.is_slow = True
    rig.start()
    rig.read(b"{")
    rig.time.sleep(10_000)
    committing = threading.Thread(target=rig.worker.do_work, daemon=True)
    committing.start()
    committing.join(0.05)
    assert rig.consumer.commits == []
    rig.reported.pending[0].set_result(None)
    committing.join(patient_s(60))
    assert rig.consumer.commits[-1][0] == {P0: 6}


def test_a_task_reports_the_bytes_of_a_record_that_it_cannot_write() -> None:
    rig = Rig(errors=ALL)
    rig.task.refused = [2]
    rig.start()
    rig.read(b"1", b"2")
    assert rig.task.values == [1]
    (context,) = rig.reported.contexts
    assert (context.original.value, context.stage, str(context.error)) == (b"2", Stage.TASK_PUT, "refused")


def test_a_report_that_is_not_tolerated_ends_the_task_though_it_caught_the_error(rig: Rig) -> None:
    rig.task.refused = [2]
    rig.task.catches = True
    with pytest.raises(ConnectError, match="Tolerance exceeded in error handler"):
        rig.read(b"2")


def test_the_end_of_a_task_ends_retries_and_closes_the_reporters(rig: Rig) -> None:
    rig.worker.wake_up()
    assert rig.operator._stopping
    rig.worker.close()
    assert rig.reported.closed
