"""A broker's metrics compared with what real clients did: equal numbers, Kafka's names, removed with their subjects."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import confluent_kafka
import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from prometheus_client.parser import text_string_to_metric_families

from kafka_lite.admin.admin_utils import AdminUtils
from kafka_lite.common.errors import KafkaError
from kafka_lite.metrics.metric_name import ObjectNamePattern
from kafka_lite.metrics.metrics_reporter import MetricsReporter
from kafka_lite.metrics.sensor import KafkaMetric
from kafka_lite.server.broker_process import BrokerProcess
from kafka_lite.server.metrics.bean_catalogue import BEANS, CLIENT_TELEMETRY
from kafka_lite.server.metrics.bean_declaration import GAUGE, HISTOGRAM, METER, TIMER
from kafka_lite.server.metrics.quota_beans import QUOTA_BEANS
from kafka_lite.testing.cluster import Cluster
from kafka_lite.tools.monitoring.broker_beans import Beans, BrokerBeans
from kafka_lite.tools.server.running_brokers import RunningBrokers
from tests.support.eventually import eventually
from tests.support.patience import patient_s

DATA = Path(__file__).parents[1] / "data"
TOPICS = "kafka.server:type=BrokerTopicMetrics,name="
REQUESTS = "kafka.network:type=RequestMetrics,name="

SEEN_ON_A_BROKER_OF_0_10_2 = (DATA / "jmx-beans-0.10.2.txt").read_text().split()
"""But for those of groups, quotas and replication."""

OF_SHARE_GROUPS = [bean for bean in BEANS if "type=Share" in bean.pattern and "group=*" in bean.pattern]
METER_ATTRIBUTES = {
    "Count", "EventType", "RateUnit", "MeanRate", "OneMinuteRate", "FiveMinuteRate", "FifteenMinuteRate",
}  # fmt: skip
HISTOGRAM_ATTRIBUTES = {
    "Count", "Min", "Max", "Mean", "StdDev", "50thPercentile", "75thPercentile", "95thPercentile", "98thPercentile",
    "99thPercentile", "999thPercentile",
}  # fmt: skip
ATTRIBUTES = {
    GAUGE: {"Value"},
    METER: METER_ATTRIBUTES,
    HISTOGRAM: HISTOGRAM_ATTRIBUTES,
    TIMER: METER_ATTRIBUTES | HISTOGRAM_ATTRIBUTES | {"LatencyUnit"},
}


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[BrokerProcess]:
    """A broker that registers in a state directory of its own."""
    overrides = {"metrics.http.port": "0", "zookeeper.embedded.port": "0", "log.segment.delete.delay.ms": "0"}
    before = os.environ.get("XDG_STATE_HOME")
    os.environ["XDG_STATE_HOME"] = str(tmp_path / "state")
    try:
        with BrokerProcess(tmp_path, overrides) as process:
            yield process
    finally:
        os.environ.pop("XDG_STATE_HOME")
        if before is not None:
            os.environ["XDG_STATE_HOME"] = before


def beans_of(broker: BrokerProcess) -> BrokerBeans:
    def url() -> str:
        found = RunningBrokers().find()
        return found[0].facts.get("metrics.url", "") if found else ""

    eventually(lambda: bool(url()))
    return BrokerBeans(url())


def produce(bootstrap: str, topic: str, values: list[bytes], **config: object) -> None:
    producer = confluent_kafka.Producer({"bootstrap.servers": bootstrap, "linger.ms": 5, **config})
    for value in values:
        producer.produce(topic, value, partition=0)
    assert producer.flush(patient_s(30)) == 0


def consume(bootstrap: str, topic: str, count: int) -> None:
    consumer = confluent_kafka.Consumer({"bootstrap.servers": bootstrap, "group.id": "g", "enable.auto.commit": False})
    consumer.assign([confluent_kafka.TopicPartition(topic, 0, 0)])
    left = count
    while left > 0:
        messages = consumer.consume(left, patient_s(60))
        assert messages
        left -= len(messages)
    consumer.close()


def values_of(beans: Beans, name: str, attribute: str = "Count") -> object:
    return beans.get(name, {}).get(attribute)


def test_counts_equal_what_was_produced_and_consumed(broker: BrokerProcess) -> None:
    beans = beans_of(broker)
    produce(broker.bootstrap_servers, "t", [b"x" * 100] * 1000)
    produce(broker.bootstrap_servers, "u", [b"y" * 10] * 7)
    consume(broker.bootstrap_servers, "t", 1000)
    # A request ends when its response has been sent, which the client may notice before the broker.
    now = eventually(lambda: when_all_requests_have_ended(beans.read()))
    assert values_of(now, f"{TOPICS}MessagesInPerSec,topic=t") == 1000
    assert values_of(now, f"{TOPICS}MessagesInPerSec,topic=u") == 7
    assert values_of(now, f"{TOPICS}MessagesInPerSec") == 1007
    log = "kafka.log:type=Log,name={},topic=t,partition=0"
    assert values_of(now, log.format("LogEndOffset"), "Value") == 1000
    size = values_of(now, log.format("Size"), "Value")
    assert values_of(now, f"{TOPICS}BytesInPerSec,topic=t") == size
    assert values_of(now, f"{TOPICS}BytesOutPerSec,topic=t") == size, "read once, from the beginning to the end"
    requests = values_of(now, f"{REQUESTS}RequestsPerSec,request=Produce")
    assert requests == values_of(now, f"{TOPICS}TotalProduceRequestsPerSec"), "a partition each"
    for phase in ("TotalTimeMs", "LocalTimeMs", "RequestQueueTimeMs", "ResponseSendTimeMs"):
        assert values_of(now, f"{REQUESTS}{phase},request=Produce") == requests
    consumer, fetch = (
        values_of(now, f"{REQUESTS}RequestsPerSec,request={name}") for name in ("FetchConsumer", "Fetch")
    )
    assert consumer == fetch
    # The consumer has looked for its coordinator: partitions of __consumer_offsets may still be being created.
    eventually(lambda: has_a_log_for_each_partition(beans.read()))


def when_all_requests_have_ended(beans: Beans) -> Beans:
    """The beans, or None while requests are in progress."""
    produce, consumer, fetch = (
        values_of(beans, f"{REQUESTS}RequestsPerSec,request={name}") for name in ("Produce", "FetchConsumer", "Fetch")
    )
    ended = consumer == fetch not in (None, 0) and produce == values_of(beans, f"{TOPICS}TotalProduceRequestsPerSec")
    return beans if ended else {}


def has_a_log_for_each_partition(beans: Beans) -> bool:
    logs = sum(name.startswith("kafka.log:type=Log,name=Size") for name in beans)
    return logs >= 2 and values_of(beans, "kafka.server:type=ReplicaManager,name=PartitionCount", "Value") == logs


def test_tools_and_prometheus_read_the_same_values(broker: BrokerProcess) -> None:
    beans = beans_of(broker)
    produce(broker.bootstrap_servers, "t", [b"x" * 100] * 50)
    text = urllib.request.urlopen(f"{beans.url}/metrics", timeout=patient_s(60)).read().decode()
    samples = {
        (sample.name, tuple(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    assert samples[("kafka_server_brokertopicmetrics_messagesin_total", (("topic", "t"),))] == 50
    assert samples[("kafka_controller_kafkacontroller_activecontrollercount", ())] == 1
    assert all(re.fullmatch("[a-z_:][a-z0-9_:]*", name) for name, _ in samples)

    def tool(*arguments: str) -> str:
        command = [sys.executable, "-m", "kafka_lite.tools.main", *arguments]
        return subprocess.run(command, capture_output=True, check=True, text=True, timeout=patient_s(60)).stdout

    port = broker.bootstrap_servers
    assert re.search(r"^ t +1 +0 +50 +[\d.]+ kB", tool("top", "--once", "--bootstrap-server", port), re.MULTILINE)
    header, line = tool("jmx", "--object-name", f"{TOPICS}MessagesInPerSec,topic=t", "--one-time").splitlines()
    assert header.startswith(f'"time","{TOPICS}MessagesInPerSec,topic=t:Count"')
    assert line.split(",")[1] == "50"


def test_a_broker_without_metrics_names_the_key_to_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with BrokerProcess(tmp_path, {"zookeeper.embedded.port": "0"}):
        eventually(lambda: bool(RunningBrokers().find()), what="a running broker's file")
        command = [sys.executable, "-m", "kafka_lite.tools.main", "top", "--once"]
        result = subprocess.run(command, capture_output=True, check=False, text=True, timeout=patient_s(60))
    assert (result.returncode, result.stdout) == (1, "")
    assert "set metrics.http.port=0 in its server.properties" in result.stderr


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster({"metrics.http.port": "0"}) as cluster:
        yield cluster


def names_of(cluster: Cluster) -> set[str]:
    return {name.mbean_name for name in cluster.server.metrics.beans.query()}


def test_every_bean_is_declared_and_every_declared_bean_exists(cluster: Cluster) -> None:
    set_quotas(cluster)
    produce(cluster.bootstrap_servers, "t", [b"x"])
    consume(cluster.bootstrap_servers, "t", 1)
    cluster.server.requests._share_partitions()  # as for the first share group
    declared = {ObjectNamePattern.parse(bean.pattern): bean for bean in BEANS}
    seen: dict[ObjectNamePattern, set[str]] = {}
    for name, attributes in cluster.server.metrics.beans.query().items():
        (pattern,) = [pattern for pattern in declared if pattern.matches(name)]
        seen[pattern] = seen.get(pattern, set()) | set(attributes)
    for pattern, found in seen.items():  # groups of either kind have some states only
        kind = declared[pattern].kind
        assert found == ATTRIBUTES.get(kind, set(kind.split(", "))), pattern
    missing = {declared[pattern].pattern for pattern in declared.keys() - seen.keys()}
    missing -= {bean.pattern for bean in QUOTA_BEANS if bean.tags}  # see test_client_quotas_have_their_beans
    missing.discard(CLIENT_TELEMETRY.pattern)  # see tests/clients/test_client_metrics.py
    missing.discard("kafka.server:type=share-coordinator-metrics,topic=*,partition=*")  # there is no share group
    missing -= {bean.pattern for bean in OF_SHARE_GROUPS}  # see test_share_consumers.py
    # This one needs a follower that is too slow.
    assert missing == {"kafka.server:type=DelayedProduceMetrics,name=ExpiresPerSec,topic=*,partition=*"}
    for pattern in SEEN_ON_A_BROKER_OF_0_10_2:
        parsed = ObjectNamePattern.parse(pattern)
        assert any(parsed.matches(name) for name in cluster.server.metrics.beans.query()), pattern


def set_quotas(cluster: Cluster) -> None:
    rates = {"producer_byte_rate": "1000000", "consumer_byte_rate": "1000000"}
    quotas = {**rates, "request_percentage": "50", "controller_mutation_rate": "5"}
    utils = AdminUtils(cluster.server.zk_client)
    for path in ("clients/slow", "users/alice", "users/bob/clients/app"):
        utils.change_entity_config(path, quotas)
    utils.change_entity_config("ips/127.0.0.1", {"connection_creation_rate": "1000"})
    managers = cluster.server.quotas.clients
    eventually(lambda: managers.produce.quota("bob", "app").bound == 1_000_000)
    eventually(lambda: cluster.server.socket_server.connection_rates.connection_rate_for_ip("127.0.0.1") == 1000)


def test_client_quotas_have_their_beans(cluster: Cluster) -> None:
    """Each pattern of the catalogue once, under the names of 3.9: an empty user or client id is left out."""
    set_quotas(cluster)
    for manager in cluster.server.quotas.clients:
        for user, client_id in (("", "slow"), ("alice", "any"), ("bob", "app")):
            manager.sensors_of(user, client_id)
    produce(cluster.bootstrap_servers, "t", [b"x"])
    names = names_of(cluster)
    assert {
        "kafka.server:type=Produce,client-id=slow",
        "kafka.server:type=Produce,user=alice",
        "kafka.server:type=Produce,user=bob,client-id=app",
        "kafka.server:type=socket-server-metrics,ip=127.0.0.1",
    } <= names
    found = cluster.server.metrics.beans.query()
    for bean in QUOTA_BEANS:
        pattern = ObjectNamePattern.parse(bean.pattern)
        matching = [set(attributes) for name, attributes in found.items() if pattern.matches(name)]
        assert matching, bean.pattern
        assert all(attributes == set(bean.kind.split(", ")) for attributes in matching), bean.pattern


def test_the_beans_of_a_topic_are_removed_with_it(cluster: Cluster) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.create_topics([NewTopic("gone", 3, 1), NewTopic("kept", 1, 1)])["gone"].result(patient_s(30))
    for topic in ("gone", "kept"):
        produce(cluster.bootstrap_servers, topic, [b"x"])
    assert len([name for name in names_of(cluster) if "topic=gone" in name]) == 8 + 3 * (3 + 4)
    admin.delete_topics(["gone"])["gone"].result(patient_s(30))
    eventually(lambda: not [name for name in names_of(cluster) if "topic=gone" in name])
    assert [name for name in names_of(cluster) if "topic=kept" in name]


def test_rejected_and_expired_requests_are_counted(cluster: Cluster) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    config = {"max.message.bytes": "1000"}
    admin.create_topics([NewTopic("small", 1, 1, config=config)])["small"].result(patient_s(30))
    producer = confluent_kafka.Producer({"bootstrap.servers": cluster.bootstrap_servers})
    producer.produce("small", b"x" * 5000)
    producer.flush(patient_s(30))
    consumer = confluent_kafka.Consumer(
        {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "g", "fetch.wait.max.ms": 50}
    )
    consumer.assign([confluent_kafka.TopicPartition("small", 0, 0)])
    expired = "kafka.server:type=DelayedFetchMetrics,name=ExpiresPerSec,fetcherType=consumer"

    def count_of(name: str) -> float:
        (found,) = cluster.server.metrics.beans.query(ObjectNamePattern.parse(name)).values()
        count = found["Count"]
        assert isinstance(count, int)
        return count

    eventually(lambda: consumer.poll(0.1) is None and count_of(expired) >= 2)
    consumer.close()
    assert count_of(f"{TOPICS}BytesRejectedPerSec,topic=small") > 5000
    assert count_of(f"{TOPICS}MessagesInPerSec,topic=small") == 0


def test_a_missing_reporter_class_prevents_a_start() -> None:
    cluster = Cluster({"metric.reporters": "no.such.Reporter"})
    with pytest.raises(KafkaError, match=r"Class no\.such\.Reporter cannot be found"), cluster:
        pass


class NotingReporter(MetricsReporter):
    """Notes the names of its metrics, and a configuration key of its own."""

    heard: ClassVar[list[str]] = []

    def configure(self, configs: Mapping[str, object]) -> None:
        self.heard.append(f"{configs['my.key']} {configs['num.io.threads']!r}")

    def init(self, metrics: Sequence[KafkaMetric]) -> None:
        self.heard.append("init")

    def metric_change(self, metric: KafkaMetric) -> None:
        self.heard.append(metric.metric_name.name)

    def metric_removal(self, metric: KafkaMetric) -> None:
        self.heard.append(f"no {metric.metric_name.name}")

    def close(self) -> None:
        self.heard.append("close")


def test_a_custom_reporter_gets_the_metrics_of_the_network_layer() -> None:
    NotingReporter.heard.clear()
    with Cluster({"metric.reporters": f"{__name__}.NotingReporter", "my.key": "mine", "num.network.threads": "1"}):
        pass
    heard = NotingReporter.heard
    assert heard[:2] == ["mine 4", "init"]
    assert {"count", "io-wait-ratio", "connection-count", "request-rate"} <= set(heard)
    assert heard[-1] == "close"


def test_reporters_get_the_metrics_of_the_broker(tmp_path: Path) -> None:
    settings = {
        "kafka.metrics.reporters": "kafka_lite.metrics.kafka_csv_metrics_reporter.KafkaCSVMetricsReporter",
        "kafka.csv.metrics.reporter.enabled": "true",
        "kafka.csv.metrics.dir": str(tmp_path / "csv"),
        "kafka.metrics.polling.interval.secs": "1",
    }
    with Cluster(settings):
        file = tmp_path / "csv" / "kafka.server.KafkaServer.BrokerState.csv"
        eventually(file.exists)
    assert re.match(r"# time,Value\n\d+,[13]\n", file.read_text())
