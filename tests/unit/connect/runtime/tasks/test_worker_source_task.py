from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.time import MockTime
from kafka_lite.connect.api.errors import ConnectError, RetriableError
from kafka_lite.connect.api.headers import NO_HEADERS
from kafka_lite.connect.api.source_record import SourceRecord
from kafka_lite.connect.api.source_task import SourceTask
from kafka_lite.connect.api.transformation import Transformation
from kafka_lite.connect.converters.simple_header_converter import SimpleHeaderConverter
from kafka_lite.connect.converters.string_converter import StringConverter
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.errors.error_handling_config import ErrorHandlingConfig
from kafka_lite.connect.runtime.errors.processing_context import Stage
from kafka_lite.connect.runtime.errors.retry_with_tolerance_operator import RetryWithToleranceOperator
from kafka_lite.connect.runtime.storage.memory_offset_backing_store import MemoryOffsetBackingStore
from kafka_lite.connect.runtime.storage.offset_storage_reader_impl import OffsetStorageReaderImpl
from kafka_lite.connect.runtime.storage.offset_storage_writer import OffsetStorageWriter
from kafka_lite.connect.runtime.target_state import TargetState
from kafka_lite.connect.runtime.tasks.worker_source_task import WorkerSourceTask
from kafka_lite.connect.runtime.transformation_chain import TransformationChain
from tests.support.connect_stores import PlainJson
from tests.support.connect_tasks import FakeProducer, Kept, Reports

RETRIABLE, FATAL = ApiError(Errors.REQUEST_TIMED_OUT), ApiError(Errors.TOPIC_AUTHORIZATION_FAILED)


class Lines(SourceTask):
    """Returns what the test puts into ``batches``; when they are used up it calls ``at_end``."""

    def __init__(self) -> None:
        self.batches: list[Any] = []
        self.calls: list[str] = []
        self.at_end: Callable[[], object] = lambda: None
        self.committed: list[str] = []
        self.stop_error: Exception | None = None

    def start(self, props: Mapping[str, str]) -> None:
        self.calls.append(f"start {dict(props)}")

    def stop(self) -> None:
        self.calls.append("stop")
        if self.stop_error is not None:
            raise self.stop_error

    def poll(self) -> Sequence[SourceRecord] | None:
        if not self.batches:
            self.at_end()
            return None
        batch = self.batches.pop(0)
        if isinstance(batch, Exception):
            raise batch
        return [_line(number) for number in batch]

    def commit(self) -> None:
        self.calls.append("commit")

    def commit_record(self, record: SourceRecord, metadata: Any) -> None:
        self.committed.append(record.value)


def _line(number: int) -> SourceRecord:
    return SourceRecord(
        topic="lines", value=f"line {number}", timestamp=number, source_partition={"f": "a"},
        source_offset={"position": number}, headers=NO_HEADERS.add("n", number),
    )  # fmt: skip


class DropOdd(Transformation):
    """Drops every second line."""

    def apply(self, record: Any) -> Any:
        return None if int(record.value[-1]) % 2 else record.new_record(topic="even")


class Rig:
    """A worker task whose thread the test runs itself."""

    def __init__(
        self,
        *transformations: Transformation,
        target: TargetState = TargetState.STARTED,
        errors: ErrorHandlingConfig = ErrorHandlingConfig(),  # noqa: B008  it is frozen
    ) -> None:
        self.reported = Kept()
        self.operator = RetryWithToleranceOperator(errors, reporters=[self.reported])
        self.task, self.reports, self.producer = Lines(), Reports(), FakeProducer()
        self.store, self.time = MemoryOffsetBackingStore(), MockTime()
        stored = (self.store, "src", PlainJson(), PlainJson())
        strings = StringConverter()
        strings.configure({}, False)
        self.worker = WorkerSourceTask(
            ConnectorTaskId("src", 0), self.task, self.reports, target,
            config={"topic": "lines"},
            key_converter=strings,
            value_converter=strings,
            header_converter=SimpleHeaderConverter(),
            transformations=TransformationChain(transformations, self.operator),
            operator=self.operator,
            producer=self.producer,
            offset_reader=OffsetStorageReaderImpl(*stored),
            offset_writer=OffsetStorageWriter(*stored),
            flush_timeout_ms=5000,
            time=self.time,
        )  # fmt: skip
        self.task.at_end = self.worker.initiate_shutdown

    @property
    def stored(self) -> dict[str, Any] | None:
        return OffsetStorageReaderImpl(self.store, "src", PlainJson(), PlainJson()).offset({"f": "a"})

    @property
    def sent(self) -> list[str]:
        return [record.value.decode() for record in self.producer.sent]


@pytest.fixture
def rig() -> Rig:
    return Rig()


def test_the_life_of_a_task(rig: Rig) -> None:
    rig.task.batches = [[1, 2], [3]]
    rig.task.at_end = lambda: (rig.producer.acknowledge(), rig.worker.initiate_shutdown())
    rig.worker.run()
    assert rig.sent == ["line 1", "line 2", "line 3"]
    first = rig.producer.sent[0]
    assert (first.topic, first.key, first.timestamp, first.partition) == ("lines", None, 1, None)
    assert list(first.headers) == [("n", b"1")]
    assert rig.task.committed == rig.sent
    assert rig.stored == {"position": 3}
    assert rig.task.calls == ["start {'topic': 'lines'}", "stop", "commit"]
    assert rig.reports.told == ["src-0 startup", "src-0 shutdown"]
    assert rig.reports.topics == {("src-0", "lines")}
    assert rig.producer.closed


def test_what_a_task_polls_and_writes_can_be_seen(rig: Rig) -> None:
    metrics = rig.worker._metrics
    active: list[int] = []
    rig.task.batches = [[1, 2], [], [3]]
    rig.task.at_end = lambda: (
        active.append(metrics.count_active()), rig.producer.acknowledge(), rig.worker.initiate_shutdown()
    )  # fmt: skip
    rig.worker.run()
    assert (metrics.polled, metrics.written, active, metrics.count_active()) == (3, 3, [3], 0)
    assert metrics.states.state == "unassigned"


def test_a_dropped_record_counts_and_has_no_offset() -> None:
    rig = Rig(DropOdd())
    rig.task.batches = [[1, 2, 3]]
    rig.task.at_end = lambda: (rig.producer.acknowledge(), rig.worker.initiate_shutdown())
    rig.worker.run()
    assert [(record.topic, record.value) for record in rig.producer.sent] == [("even", b"line 2")]
    assert sorted(rig.task.committed) == ["line 1", "line 2", "line 3"]
    assert rig.stored == {"position": 2}


def test_an_error_of_the_task_fails_it_and_keeps_what_was_produced(rig: Rig) -> None:
    rig.task.batches = [[1], ConnectError("the table is gone")]
    rig.producer.send = lambda record, callback: callback(None, None)  # type: ignore[method-assign]
    rig.worker.run()
    assert rig.reports.told == ["src-0 startup", "src-0 failure"]
    assert str(rig.reports.errors[0]) == "the table is gone"
    assert rig.stored == {"position": 1}
    assert rig.task.calls[-1] == "stop"


def test_a_task_that_was_abandoned_reports_nothing(rig: Rig) -> None:
    rig.task.at_end = lambda: (rig.worker.cancel(), rig.worker.initiate_shutdown())
    rig.worker.run()
    assert rig.reports.told == ["src-0 startup"]


def test_the_rest_of_a_batch_is_sent_again_after_a_retriable_error(rig: Rig) -> None:
    rig.worker.start_task()
    rig.task.batches = [[1, 2, 3]]
    rig.producer.errors = [RETRIABLE]
    rig.worker.pause = lambda ms: False  # type: ignore[method-assign]
    rig.worker.do_work()
    assert rig.sent == []
    rig.worker.do_work()
    assert rig.sent == ["line 1", "line 2", "line 3"]


def test_another_error_of_the_producer_fails_the_task(rig: Rig) -> None:
    rig.task.batches = [[1]]
    rig.producer.errors = [FATAL]
    rig.worker.run()
    assert str(rig.reports.errors[0]) == "Unrecoverable exception trying to send"


def test_a_record_that_is_lost_later_fails_the_task_and_keeps_its_offset_back(rig: Rig) -> None:
    rig.task.batches = [[1], [2]]
    rig.task.at_end = lambda: rig.producer.acknowledge(FATAL)
    rig.worker.run()
    assert "producer send callback" in str(rig.reports.errors[0])
    assert (rig.stored, rig.reports.topics) == (None, set())


def test_a_flush_waits_for_acknowledgements(rig: Rig) -> None:
    rig.worker.start_task()
    rig.task.batches = [[1, 2]]
    rig.worker.do_work()
    assert not rig.worker.commit_offsets()  # MockTime's wait lets the time-out pass
    assert rig.time.hi_res_ms() == 5000
    assert rig.stored is None
    assert "commit" not in rig.task.calls

    rig.producer.acknowledge()
    assert rig.worker.commit_offsets()
    assert (rig.stored, rig.task.calls[-1]) == ({"position": 2}, "commit")
    assert rig.worker.commit_offsets()  # nothing to store: only the task's commit
    assert rig.task.calls[-2:] == ["commit", "commit"]


def test_what_is_sent_during_a_flush_belongs_to_the_next_one(rig: Rig) -> None:
    rig.worker.start_task()
    rig.task.batches = [[1], [2]]
    rig.worker.do_work()

    def send_more_then_acknowledge(condition: Any, timeout_ms: float) -> bool:
        first = list(rig.producer.callbacks)
        rig.worker.do_work()
        for callback in first:
            rig.producer.callbacks.remove(callback)
            callback(None, None)
        return True

    rig.time.wait = send_more_then_acknowledge  # type: ignore[method-assign]
    assert rig.worker.commit_offsets()
    assert rig.stored == {"position": 1}
    rig.producer.acknowledge()
    assert rig.worker.commit_offsets()
    assert rig.stored == {"position": 2}


def test_offsets_that_cannot_be_stored_are_kept(rig: Rig) -> None:
    rig.worker.start_task()
    rig.task.batches = [[1]]
    rig.worker.do_work()
    rig.producer.acknowledge()

    def fail() -> None:
        raise ConnectError("no space left")

    rig.store._save = fail  # type: ignore[method-assign]
    assert not rig.worker.commit_offsets()
    rig.store._save = lambda: None  # type: ignore[method-assign]
    assert rig.worker.commit_offsets()
    assert rig.stored == {"position": 1}


def test_a_paused_task_waits_and_is_not_stopped_at_the_end() -> None:
    rig = Rig(target=TargetState.PAUSED)
    rig.worker.lock.wait = lambda: rig.worker.initiate_shutdown()  # type: ignore[method-assign,assignment,return-value]
    rig.worker.run()
    assert rig.reports.told == ["src-0 pause", "src-0 shutdown"]
    assert rig.task.calls == []


def test_a_task_is_paused_and_resumed(rig: Rig) -> None:
    rig.worker.start_task()
    rig.worker.transition_to(TargetState.PAUSED)
    rig.worker.lock.wait = lambda: rig.worker.transition_to(TargetState.STARTED)  # type: ignore[method-assign,assignment,return-value]
    rig.worker.do_work()
    assert rig.reports.told == ["src-0 pause", "src-0 resume"]


def test_a_task_stopped_before_its_start_is_never_started(rig: Rig) -> None:
    rig.worker.initiate_shutdown()
    rig.worker.transition_to(TargetState.PAUSED)  # ignored
    rig.worker.run()
    assert (rig.task.calls, rig.reports.told) == (["stop"], ["src-0 shutdown"])


def test_a_stop_that_raises_is_logged(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    rig.task.stop_error = ValueError("cannot stop")
    rig.worker.run()
    assert "Could not stop task src-0" in caplog.text
    assert rig.reports.told == ["src-0 startup", "src-0 shutdown"]


def test_the_context_has_offsets_and_configuration(rig: Rig) -> None:
    rig.store.set({b'["src",{"f":"a"}]': b'{"position":7}'})
    rig.worker.start_task()
    assert rig.task.context.offset_storage_reader.offset({"f": "a"}) == {"position": 7}
    assert rig.task.context.configs() == {"topic": "lines"}


# ── errors of single records ──────────────────────────────────────────────────────────────────────────────────────

ALL = ErrorHandlingConfig(tolerates_all=True)


class RefuseTwo(Transformation):
    def apply(self, record: Any) -> Any:
        if record.value == "line 2":
            raise ValueError("two")
        return record


def test_a_record_that_cannot_be_transformed_ends_the_task() -> None:
    rig = Rig(RefuseTwo())
    rig.task.batches = [[1, 2, 3]]
    rig.worker.run()
    assert str(rig.reports.errors[0]) == "Tolerance exceeded in error handler"
    assert rig.sent == ["line 1"]


def test_a_tolerated_record_is_skipped_and_counts_as_committed() -> None:
    rig = Rig(RefuseTwo(), errors=ALL)
    rig.task.batches = [[1, 2, 3]]
    rig.task.at_end = lambda: (rig.producer.acknowledge(), rig.worker.initiate_shutdown())
    rig.worker.run()
    assert rig.sent == ["line 1", "line 3"]
    assert sorted(rig.task.committed) == ["line 1", "line 2", "line 3"]
    (context,) = rig.reported.contexts
    assert (context.original.value, context.stage) == ("line 2", Stage.TRANSFORMATION)
    assert rig.reported.closed


def test_a_record_that_the_producer_refuses_is_skipped_if_that_is_tolerated() -> None:
    rig = Rig(errors=ALL)
    rig.task.batches = [[1]]
    rig.task.at_end = lambda: (rig.producer.acknowledge(FATAL), rig.worker.initiate_shutdown())
    rig.worker.run()
    assert rig.stored == {"position": 1}
    assert rig.reports.told == ["src-0 startup", "src-0 shutdown"]
    assert [context.stage for context in rig.reported.contexts] == [Stage.KAFKA_PRODUCE]


def test_a_record_that_cannot_be_sent_at_all_is_skipped_if_that_is_tolerated() -> None:
    rig = Rig(errors=ALL)
    rig.producer.errors = [FATAL]
    rig.task.batches = [[1, 2]]
    rig.task.at_end = lambda: (rig.producer.acknowledge(), rig.worker.initiate_shutdown())
    rig.worker.run()
    assert rig.sent == ["line 2"]
    assert rig.stored == {"position": 2}


def test_a_retriable_error_of_poll_lets_the_task_be_polled_again(rig: Rig) -> None:
    rig.task.batches = [RetriableError("the database restarts"), [1]]
    rig.task.at_end = lambda: (rig.producer.acknowledge(), rig.worker.initiate_shutdown())
    rig.worker.run()
    assert rig.sent == ["line 1"]
    assert rig.reports.told == ["src-0 startup", "src-0 shutdown"]
