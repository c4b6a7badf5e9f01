"""The numbers of a task.

Kafka 1.0: connect/runtime/.../connect/runtime/WorkerTask.java (TaskMetricsGroup), WorkerSourceTask.java
(SourceTaskMetricsGroup), WorkerSinkTask.java (SinkTaskMetricsGroup), errors/ErrorHandlingMetrics.java · book 8.3.7
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import partial

from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.errors.error_handling_metrics import ErrorHandlingMetrics
from kafka_lite.connect.runtime.metrics.connect_metrics import ConnectMetrics, MetricGroup
from kafka_lite.connect.runtime.metrics.state_tracker import StateTracker
from kafka_lite.metrics.mbean_server import MBeanServer
from kafka_lite.metrics.stats import Avg, Max


class TaskMetrics:
    """``connector-task-metrics`` and ``task-error-metrics``, which sources and sinks have."""

    def __init__(self, metrics: ConnectMetrics, task: ConnectorTaskId, errors: ErrorHandlingMetrics) -> None:
        self._metrics = metrics
        self._task = task
        self._groups: list[MetricGroup] = []
        self.states = StateTracker("unassigned", metrics.time)
        group = self._group("connector-task-metrics")
        group.gauge("status", lambda: self.states.state)
        group.gauge("running-ratio", lambda: self.states.ratio("running"))
        group.gauge("pause-ratio", lambda: self.states.ratio("paused"))
        self._sizes = group.window({"batch-size-avg": Avg(), "batch-size-max": Max()})
        self._commits = group.times("offset-commit")
        self._successes = group.window({"offset-commit-success-percentage": Avg()})
        self._failures = group.window({"offset-commit-failure-percentage": Avg()})
        errors_group = self._group("task-error-metrics")
        for field in fields(errors):
            errors_group.gauge(field.name.replace("_", "-"), partial(getattr, errors, field.name))

    def _group(self, kind: str) -> MetricGroup:
        group = self._metrics.group(kind, connector=self._task.connector, task=str(self._task.task))
        self._groups.append(group)
        return group

    @property
    def beans(self) -> MBeanServer:
        """Where the numbers are shown."""
        return self._metrics.beans

    def commit_ended(self, took_ms: float, *, succeeded: bool) -> None:
        """A commit of offsets has ended."""
        if succeeded:
            self._commits.record(took_ms)
        self._successes.record(succeeded)
        self._failures.record(not succeeded)

    def close(self) -> None:
        """Show nothing of this task any more."""
        for group in self._groups:
            group.close()


class SourceTaskMetrics(TaskMetrics):
    """``source-task-metrics``, too. ``count_active`` says how many records are not acknowledged."""

    def __init__(self, metrics: ConnectMetrics, task: ConnectorTaskId, errors: ErrorHandlingMetrics) -> None:
        super().__init__(metrics, task, errors)
        self.polled = 0
        self.written = 0
        """Records that the broker has acknowledged."""
        self.count_active: Callable[[], int] = lambda: 0
        group = self._group("source-task-metrics")
        group.counter("source-record-poll", lambda: self.polled)
        group.counter("source-record-write", lambda: self.written)
        group.gauge("source-record-active-count", lambda: self.count_active())
        self._polls = group.times("poll-batch")

    def batch_polled(self, records: int, took_ms: float) -> None:
        """The task has returned a batch that is not empty."""
        self.polled += records
        self._sizes.record(records)
        self._polls.record(took_ms)


class SinkTaskMetrics(TaskMetrics):
    """``sink-task-metrics``, too. ``count_active`` says how many records were put, but are not committed."""

    def __init__(self, metrics: ConnectMetrics, task: ConnectorTaskId, errors: ErrorHandlingMetrics) -> None:
        super().__init__(metrics, task, errors)
        self.read = 0
        self.sent = 0
        self.partitions = 0
        self.commits_completed = self.commits_skipped = self.commit_number = 0
        self.count_active: Callable[[], int] = lambda: 0
        group = self._group("sink-task-metrics")
        group.counter("sink-record-read", lambda: self.read)
        group.counter("sink-record-send", lambda: self.sent)
        group.gauge("sink-record-active-count", lambda: self.count_active())
        group.gauge("partition-count", lambda: self.partitions)
        group.gauge("offset-commit-seq-no", lambda: self.commit_number)
        group.counter("offset-commit-completion", lambda: self.commits_completed)
        group.counter("offset-commit-skip", lambda: self.commits_skipped)
        self._puts = group.times("put-batch")

    def batch_put(self, records: int, took_ms: float) -> None:
        """The task has taken a batch."""
        self.sent += records
        if records:
            self._sizes.record(records)
        self._puts.record(took_ms)
