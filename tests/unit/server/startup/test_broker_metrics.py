"""A broker's registries and reporters, from the configuration to the beans."""

from __future__ import annotations

import urllib.request
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar
from unittest.mock import MagicMock

import pytest

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.metrics.metric import AttributeValue
from kafka_lite.metrics.metrics_reporter import MetricsReporter
from kafka_lite.metrics.sensor import KafkaMetric
from kafka_lite.server.broker_states import BrokerState
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.startup.broker_metrics import BrokerMetrics
from kafka_lite.zookeeper.zookeeper_session import SessionEvent


class Noting(MetricsReporter):
    """Notes its calls."""

    heard: ClassVar[list[str]] = []

    def configure(self, configs: Mapping[str, object]) -> None:
        self.heard.append(f"configure {configs['my.key']} {configs['broker.id']!r}")

    def init(self, metrics: Sequence[KafkaMetric]) -> None:
        self.heard.append("init")

    def metric_change(self, metric: KafkaMetric) -> None:
        self.heard.append(f"change {metric.metric_name.name}")

    def metric_removal(self, metric: KafkaMetric) -> None: ...

    def close(self) -> None:
        self.heard.append("close")


def broker_metrics(time: MockTime | None = None, **keys: str) -> BrokerMetrics:
    given = {key.replace("_", "."): value for key, value in keys.items()}
    config = KafkaConfig({"zookeeper.connect": "zk", "broker.id": "3", **given}, do_log=False)
    return BrokerMetrics(config, time or MockTime())


def bean(metrics: BrokerMetrics, name: str) -> Mapping[str, AttributeValue]:
    return {str(each): attributes for each, attributes in metrics.beans.query().items()}[name]


def test_both_registries_and_single_beans_are_shown_together() -> None:
    metrics = broker_metrics()
    metrics.group("kafka.server", "X").new_gauge("Y", lambda: 7)
    metrics.metrics.add_metric(metrics.metrics.metric_name("rate", "socket"), lambda _config, _now: 2.0)
    metrics.register_app_info(3)
    assert bean(metrics, "kafka.server:type=X,name=Y") == {"Value": 7}
    assert bean(metrics, "kafka.server:type=socket") == {"rate": 2.0}
    assert set(bean(metrics, "kafka.server:type=app-info,id=3")) == {"Version", "CommitId"}


def test_the_state_of_the_server_is_read_when_it_is_asked_for() -> None:
    metrics = broker_metrics()
    state = [BrokerState.STARTING]
    metrics.measure_server(lambda: state[0], lambda: "cluster-1")
    for state[0] in (BrokerState.STARTING, BrokerState.RUNNING_AS_BROKER):
        assert bean(metrics, "kafka.server:type=KafkaServer,name=BrokerState") == {"Value": state[0].value}
    assert bean(metrics, "kafka.server:type=KafkaServer,name=ClusterId") == {"Value": "cluster-1"}
    assert bean(metrics, "kafka.server:type=KafkaServer,name=yammer-metrics-count") == {"Value": 3}


def test_each_event_of_the_zookeeper_session_has_a_meter() -> None:
    metrics, zk_client = broker_metrics(), MagicMock()
    metrics.measure_zookeeper(zk_client)
    [((listener,), _)] = zk_client.zookeeper.add_event_listener.call_args_list
    happen: Callable[[SessionEvent], None] = listener
    for event in (SessionEvent.EXPIRED, SessionEvent.DISCONNECTED, SessionEvent.EXPIRED):
        happen(event)
    counts = {
        name: bean(metrics, f"kafka.server:type=SessionExpireListener,name=ZooKeeper{name}PerSec")
        for name in ("Expires", "Disconnects", "SyncConnects", "AuthFailures")
    }
    assert [attributes["Count"] for attributes in counts.values()] == [2, 1, 0, 0]
    assert counts["Expires"]["EventType"] == "expires"


def test_a_reporter_gets_the_configuration_the_metrics_and_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Noting, "heard", [])
    metrics = broker_metrics(metric_reporters=f"{__name__}.Noting", my_key="own")
    metrics.metrics.add_metric(metrics.metrics.metric_name("rate", "socket"), lambda _config, _now: 2.0)
    metrics.shutdown()
    assert [Noting.heard[0], Noting.heard[-2], Noting.heard[-1]] == ["configure own 3", "change rate", "close"]
    assert "init" in Noting.heard


@pytest.mark.parametrize("key", ["metric_reporters", "kafka_metrics_reporters"])
def test_a_reporter_that_does_not_exist_stops_the_start(key: str) -> None:
    with pytest.raises(KafkaError, match=r"Class no\.such\.Reporter cannot be found"):
        broker_metrics(**{key: "no.such.Reporter"})


def test_rates_move_once_the_broker_has_started() -> None:
    time = MockTime()
    metrics = broker_metrics(time)
    meter = metrics.group("kafka.server", "X").new_meter("Y", "events")
    meter.mark(500)
    metrics.start(MockScheduler(time))
    time.sleep(5_000)
    assert meter.one_minute_rate == pytest.approx(100)
    assert metrics.http_server is None, "no port is configured"
    metrics.shutdown()


def test_the_http_server_runs_from_start_to_shutdown() -> None:
    time = MockTime()
    metrics = broker_metrics(time, metrics_http_port="0")
    metrics.group("kafka.server", "X").new_gauge("Y", lambda: 7)
    metrics.start(MockScheduler(time))
    assert metrics.http_server is not None
    url = f"{metrics.http_server.url}/metrics"
    with urllib.request.urlopen(url) as response:
        assert b" 7" in response.read()
    metrics.shutdown()
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(url)
