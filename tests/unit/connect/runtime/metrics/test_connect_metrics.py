import math

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.connect.runtime.metrics.connect_metrics import ConnectMetrics
from kafka_lite.connect.runtime.metrics.state_tracker import StateTracker
from kafka_lite.metrics.metric_name import MetricName

NAME = MetricName.of("kafka.connect", "sink-task-metrics", tags={"connector": "a", "task": "0"})


@pytest.fixture
def time() -> MockTime:
    return MockTime()


def test_a_group_is_a_bean_until_it_is_closed(time: MockTime) -> None:
    metrics = ConnectMetrics(time)
    group = metrics.group("sink-task-metrics", connector="a", task="0")
    group.gauge("status", lambda: "running")
    assert NAME.mbean_name == "kafka.connect:type=sink-task-metrics,connector=a,task=0"
    assert metrics.beans.query() == {NAME: {"status": "running"}}
    group.close()
    assert metrics.beans.query() == {}


def test_a_new_task_takes_the_name_from_one_that_was_abandoned(time: MockTime) -> None:
    metrics = ConnectMetrics(time)
    old = metrics.group("sink-task-metrics", connector="a", task="0")
    new = metrics.group("sink-task-metrics", connector="a", task="0")
    new.gauge("x", lambda: 1)
    old.close()
    assert metrics.beans.query() == {NAME: {"x": 1}}


def test_a_counter_has_a_total_and_a_rate(time: MockTime) -> None:
    metrics = ConnectMetrics(time)
    total = 0.0
    group = metrics.group("g")
    group.counter("record-read", lambda: total)
    assert group.read() == {"record-read-total": 0, "record-read-rate": 0}
    total = 600.0
    time.sleep(30_000)
    assert group.read() == {"record-read-total": 600, "record-read-rate": 20}  # of two windows of 30 s
    time.sleep(120_000)
    assert group.read()["record-read-rate"] == 0


def test_times_are_those_of_the_last_windows(time: MockTime) -> None:
    group = ConnectMetrics(time).group("g")
    times = group.times("put-batch")
    assert group.read() == {"put-batch-avg-time-ms": 0, "put-batch-max-time-ms": 0}
    for took_ms in (2, 4):
        times.record(took_ms)
    assert group.read() == {"put-batch-avg-time-ms": 3, "put-batch-max-time-ms": 4}
    time.sleep(120_000)
    assert group.read() == {"put-batch-avg-time-ms": 0, "put-batch-max-time-ms": 0}


def test_how_long_a_task_was_in_its_states(time: MockTime) -> None:
    states = StateTracker("unassigned", time)
    assert states.ratio("running") == 0
    time.sleep(1000)
    states.change_to("running")
    time.sleep(2000)
    states.change_to("paused")
    time.sleep(1000)
    assert (states.state, states.ratio("running"), states.ratio("paused")) == ("paused", 0.5, 0.25)
    assert math.isclose(sum(states.ratio(state) for state in ("unassigned", "running", "paused")), 1)
