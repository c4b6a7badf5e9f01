from kafka_lite.common.time import MockTime
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.errors.error_handling_metrics import ErrorHandlingMetrics
from kafka_lite.connect.runtime.metrics.connect_metrics import ConnectMetrics
from kafka_lite.connect.runtime.metrics.task_metrics import SinkTaskMetrics, SourceTaskMetrics
from kafka_lite.connect.runtime.metrics.worker_metrics import RebalanceMetrics, WorkerMetrics

TASK = ConnectorTaskId("a", 1)


def _beans(metrics: ConnectMetrics) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = {}
    for name, attributes in metrics.beans.query().items():
        assert dict(name.tags) in ({}, {"connector": "a", "task": "1"})
        found[name.type] = dict(attributes)
    return found


def test_a_source_task_has_the_attributes_of_kafka() -> None:
    metrics, errors = ConnectMetrics(MockTime()), ErrorHandlingMetrics()
    task = SourceTaskMetrics(metrics, TASK, errors)
    task.states.change_to("running")
    task.batch_polled(3, 7)
    task.written += 2
    task.count_active = lambda: 1
    task.commit_ended(5, succeeded=True)
    task.commit_ended(9, succeeded=False)
    errors.total_records_skipped = 4
    beans = _beans(metrics)
    assert beans["source-task-metrics"] == {
        "source-record-poll-total": 3, "source-record-poll-rate": 0.1,
        "source-record-write-total": 2, "source-record-write-rate": 2 / 30,
        "source-record-active-count": 1, "poll-batch-avg-time-ms": 7, "poll-batch-max-time-ms": 7,
    }  # fmt: skip
    assert beans["connector-task-metrics"] == {
        "status": "running", "running-ratio": 0, "pause-ratio": 0, "batch-size-avg": 3, "batch-size-max": 3,
        "offset-commit-avg-time-ms": 5, "offset-commit-max-time-ms": 5,
        "offset-commit-success-percentage": 0.5, "offset-commit-failure-percentage": 0.5,
    }  # fmt: skip
    assert beans["task-error-metrics"] == {
        "total-record-failures": 0, "total-record-errors": 0, "total-records-skipped": 4, "total-retries": 0,
        "total-errors-logged": 0, "deadletterqueue-produce-requests": 0, "deadletterqueue-produce-failures": 0,
        "last-error-timestamp": 0,
    }  # fmt: skip
    task.close()
    assert _beans(metrics) == {}


def test_a_sink_task_has_the_attributes_of_kafka() -> None:
    metrics = ConnectMetrics(MockTime())
    task = SinkTaskMetrics(metrics, TASK, ErrorHandlingMetrics())
    task.read, task.partitions, task.commit_number, task.commits_completed, task.commits_skipped = 5, 2, 4, 3, 1
    task.batch_put(5, 8)
    task.batch_put(0, 2)
    assert _beans(metrics)["sink-task-metrics"] == {
        "sink-record-read-total": 5, "sink-record-read-rate": 5 / 30,
        "sink-record-send-total": 5, "sink-record-send-rate": 5 / 30,
        "sink-record-active-count": 0, "partition-count": 2, "offset-commit-seq-no": 4,
        "offset-commit-completion-total": 3, "offset-commit-completion-rate": 0.1,
        "offset-commit-skip-total": 1, "offset-commit-skip-rate": 1 / 30,
        "put-batch-avg-time-ms": 5, "put-batch-max-time-ms": 8,
    }  # fmt: skip
    assert _beans(metrics)["connector-task-metrics"]["batch-size-avg"] == 5


def test_a_worker_counts_what_it_starts() -> None:
    metrics = ConnectMetrics(MockTime())
    worker = WorkerMetrics(metrics, lambda: 2, lambda: 3)
    for succeeded in (True, True, True, False):
        worker.tasks.add(succeeded=succeeded)
    read = _beans(metrics)["connect-worker-metrics"]
    assert (read["connector-count"], read["task-count"]) == (2, 3)
    assert [read[f"task-startup-{each}-total"] for each in ("attempts", "success", "failure")] == [4, 3, 1]
    assert [read[f"task-startup-{each}-percentage"] for each in ("success", "failure")] == [0.75, 0.25]
    assert read["connector-startup-success-percentage"] == 0


def test_a_worker_times_its_rebalances() -> None:
    time = MockTime()
    metrics = ConnectMetrics(time)
    rebalances = RebalanceMetrics(metrics, lambda: "http://w:1/", lambda: 7)

    def read(name: str) -> object:
        return _beans(metrics)["connect-worker-rebalance-metrics"][name]

    assert read("time-since-last-rebalance-ms") == float("inf")
    rebalances.end()  # the first assignment: nothing was stopped for it
    rebalances.begin()
    time.sleep(100)
    rebalances.begin()  # once more, before the first one has ended
    assert read("rebalancing") == 1
    time.sleep(200)
    rebalances.end()
    time.sleep(50)
    assert (read("rebalancing"), read("completed-rebalances-total"), read("rebalance-max-time-ms")) == (0, 2, 300)
    assert (read("time-since-last-rebalance-ms"), read("leader-name"), read("epoch")) == (50, "http://w:1/", 7)
    assert read("connect-protocol") == "eager"
