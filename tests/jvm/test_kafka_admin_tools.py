"""Kafka's own command-line tools and ours, with our broker: the same output."""

import json
import logging

import pytest

from kafka_lite.common.errors import ApiError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.testing.cluster import Cluster
from kafka_lite.tools.main import main
from tests.support.eventually import eventually
from tests.support.kafka_tools import KafkaTools
from tests.support.patient_clients import flush

pytestmark = pytest.mark.jvm


@pytest.fixture(scope="module")
def cluster():
    with Cluster({"num.partitions": "2"}) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def modern():
    """Run a tool of Kafka 3.9; returns its output."""
    with KafkaTools("3.9.1") as tools:
        yield tools


@pytest.fixture(scope="module")
def old():
    """Run a tool of Kafka 0.10.2.2; returns its output."""
    with KafkaTools("0.10.2.2") as tools:
        yield tools


@pytest.fixture
def ours(cluster, capsys):
    """Run one of our tools; returns its output."""

    def run(tool, *arguments):
        capsys.readouterr()
        assert main([tool, *arguments]) == 0
        return capsys.readouterr().out

    return run


TOPICS = "org.apache.kafka.tools.TopicCommand"
CONFIGS = "kafka.admin.ConfigCommand"


def told_lines(text):
    """The lines of a tool, without those of its logger."""
    return [line for line in text.splitlines() if line.strip() and "ERROR StatusLogger" not in line]


def test_topics_are_described_the_same(cluster, modern, ours):
    where = ("--bootstrap-server", cluster.bootstrap_servers)
    settings = ("--config", "retention.ms=5000", "--config", "cleanup.policy=compact")
    assert "Created topic theirs." in modern(
        TOPICS, *where, "--create", "--topic", "theirs", "--partitions", "3", "--replication-factor", "1", *settings
    )
    for arguments in (
        ("--describe", "--topic", "theirs"),
        ("--list",),
        ("--describe", "--topic", "theirs", "--topics-with-overrides"),
        ("--describe", "--topic", "theirs", "--at-min-isr-partitions"),
    ):
        their_lines = told_lines(modern(TOPICS, *where, *arguments))
        our_lines = told_lines(ours("topics", *where, *arguments))
        assert [normal(line) for line in their_lines] == [normal(line) for line in our_lines], arguments
    modern(TOPICS, *where, "--alter", "--topic", "theirs", "--partitions", "4")
    assert len(ours("topics", *where, "--describe", "--topic", "theirs").splitlines()) == 5
    modern(TOPICS, *where, "--delete", "--topic", "theirs")
    assert "theirs" not in ours("topics", *where, "--list").splitlines()


def normal(line):
    """Fields of a line, without what only newer versions print, configs in any order."""
    fields = [field.strip() for field in line.split("\t") if field.strip()]
    fields = [f for f in fields if not f.startswith(("Elr:", "LastKnownElr:"))]
    return [
        ",".join(sorted(f.removeprefix("Configs:").strip().split(","))) if f.startswith("Configs:") else f
        for f in fields
    ]


def test_configs_are_described_the_same(cluster, modern, ours):
    where = ("--bootstrap-server", cluster.bootstrap_servers)
    ours("topics", *where, "--create", "--topic", "configured")
    done = modern(CONFIGS, *where, "--alter", "--topic", "configured", "--add-config", "retention.ms=9,segment.ms=8")
    assert done.strip() == "Completed updating config for topic configured."
    for arguments in (("--topic", "configured"), ("--topic", "configured", "--all"), ("--broker", "0", "--all")):
        theirs = modern(CONFIGS, *where, "--describe", *arguments).splitlines()
        assert sorted(ours("configs", *where, "--describe", *arguments).splitlines()) == sorted(theirs), arguments
    modern(CONFIGS, *where, "--alter", "--topic", "configured", "--delete-config", "segment.ms")
    assert len(ours("configs", *where, "--describe", "--topic", "configured").splitlines()) == 2


def test_configs_of_running_brokers(cluster, modern, ours):
    where, key = ("--bootstrap-server", cluster.bootstrap_servers), "log.cleaner.threads"
    cleaner = cluster.server.log_manager.cleaner
    modern(CONFIGS, *where, "--alter", "--broker-defaults", "--add-config", f"{key}=2")
    eventually(lambda: len(cleaner.cleaners) == 2)
    modern(CONFIGS, *where, "--alter", "--broker", "0", "--add-config", f"{key}=4,log.cleaner.backoff.ms=9")
    eventually(lambda: len(cleaner.cleaners) == 4)
    for arguments in (("--broker", "0"), ("--broker", "0", "--all"), ("--broker-defaults",)):
        theirs = modern(CONFIGS, *where, "--describe", *arguments).splitlines()
        assert sorted(ours("configs", *where, "--describe", *arguments).splitlines()) == sorted(theirs), arguments
    assert (
        f"  {key}=4 sensitive=false synonyms={{DYNAMIC_BROKER_CONFIG:{key}=4, DYNAMIC_DEFAULT_BROKER_CONFIG:"
        in ours("configs", *where, "--describe", "--broker", "0")
    )
    modern(CONFIGS, *where, "--alter", "--broker", "0", "--delete-config", f"{key},log.cleaner.backoff.ms")
    eventually(lambda: len(cleaner.cleaners) == 2)


def test_dynamic_topic_defaults_are_described_the_same(cluster, modern, ours):
    """Set for all brokers and for one, overridden by a topic, and removed; both tools describe them the same."""
    where = ("--bootstrap-server", cluster.bootstrap_servers)
    ours("topics", *where, "--create", "--topic", "by-default", "--partitions", "1")
    ours("topics", *where, "--create", "--topic", "with-its-own", "--config", "max.message.bytes=2000")
    get_log = cluster.server.log_manager.get_log
    logs = {topic: get_log(TopicPartition(topic, 0)) for topic in ("by-default", "with-its-own")}
    of_all, of_one = "message.max.bytes=300,log.retention.ms=7000", "message.max.bytes=200,num.io.threads=5"
    modern(CONFIGS, *where, "--alter", "--broker-defaults", "--add-config", of_all)
    modern(CONFIGS, *where, "--alter", "--broker", "0", "--add-config", of_one)
    eventually(lambda: logs["by-default"].config.max_message_bytes == 200)
    assert logs["by-default"].config.retention_ms == logs["with-its-own"].config.retention_ms == 7000
    assert logs["with-its-own"].config.max_message_bytes == 2000
    with pytest.raises(ApiError, match="is larger than"):
        cluster.produce("by-default", b"v" * 300)
    cluster.produce("with-its-own", b"v" * 300)
    for arguments in (("--broker", "0"), ("--broker-defaults",), ("--topic", "by-default", "--all")):
        theirs = modern(CONFIGS, *where, "--describe", *arguments).splitlines()
        assert sorted(ours("configs", *where, "--describe", *arguments).splitlines()) == sorted(theirs), arguments
    described = ours("configs", *where, "--describe", "--topic", "with-its-own", "--all")
    assert (
        "  max.message.bytes=2000 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:max.message.bytes=2000, "
        "DYNAMIC_BROKER_CONFIG:message.max.bytes=200, DYNAMIC_DEFAULT_BROKER_CONFIG:message.max.bytes=300, "
        "DEFAULT_CONFIG:message.max.bytes=1048588}"
    ) in described
    modern(CONFIGS, *where, "--alter", "--broker", "0", "--delete-config", "message.max.bytes,num.io.threads")
    modern(CONFIGS, *where, "--alter", "--broker-defaults", "--delete-config", "message.max.bytes,log.retention.ms")
    eventually(lambda: logs["by-default"].config.max_message_bytes == 1048588)
    eventually(lambda: logs["by-default"].config.retention_ms == 7 * 24 * 3600 * 1000)
    cluster.produce("by-default", b"v" * 300)


def test_offsets_sizes_and_versions_are_printed_the_same(cluster, modern, ours):
    where = ("--bootstrap-server", cluster.bootstrap_servers)
    ours("topics", *where, "--create", "--topic", "measured", "--partitions", "3")
    for time in ("latest", "earliest"):
        asked = (*where, "--topic", "measured", "--time", time)
        assert modern("org.apache.kafka.tools.GetOffsetShell", *asked) == ours("get-offsets", *asked)
    asked = (*where, "--describe", "--topic-list", "measured")
    theirs = modern("org.apache.kafka.tools.LogDirsCommand", *asked).splitlines()
    mine = ours("log-dirs", *asked).splitlines()
    assert mine[:2] == theirs[:2]
    assert sizes(mine[2]) == sizes(theirs[2])
    theirs = modern("kafka.admin.BrokerApiVersionsCommand", *where)
    served = {
        line.strip().split(" [")[0] for line in ours("broker-api-versions", *where).splitlines() if "usable" in line
    }
    before_4_1 = {line.replace("ListConfigResources(", "ListClientMetricsResources(") for line in served}
    assert before_4_1 <= {line.strip().split(" [")[0] for line in theirs.splitlines()}
    assert len(served) >= 16


def sizes(text):
    document = json.loads(text)
    for broker in document["brokers"]:
        for directory in broker["logDirs"]:
            directory["partitions"].sort(key=lambda partition: partition["partition"])
    return document


def test_the_tools_of_0_10_2_through_zookeeper(cluster, old, ours):
    where = ("--zookeeper", cluster.zookeeper_connect)
    done = old(
        "kafka.admin.TopicCommand",
        *where,
        "--create",
        "--topic",
        "old-tool",
        "--partitions",
        "2",
        "--replication-factor",
        "1",
        "--config",
        "retention.ms=5000",
    )
    assert 'Created topic "old-tool".' in done
    eventually(lambda: cluster.topics.get("old-tool") == 2)  # both tools read the leaders that the controller elects
    theirs = old("kafka.admin.TopicCommand", *where, "--describe", "--topic", "old-tool")
    assert theirs.splitlines()[0] == "Topic:old-tool\tPartitionCount:2\tReplicationFactor:1\tConfigs:retention.ms=5000"
    mine = ours("topics", *where, "--describe", "--topic", "old-tool")
    assert theirs.splitlines()[1:] == mine.splitlines()[1:]
    done = old(
        CONFIGS,
        *where,
        "--alter",
        "--entity-type",
        "topics",
        "--entity-name",
        "old-tool",
        "--add-config",
        "segment.ms=9",
    )
    assert "Completed Updating config for entity: topic 'old-tool'." in done
    assert "segment.ms=9" in ours("configs", *where, "--describe", "--topic", "old-tool")
    old("kafka.admin.TopicCommand", *where, "--alter", "--topic", "old-tool", "--partitions", "3")
    assert len(ours("topics", *where, "--describe", "--topic", "old-tool").splitlines()) == 4
    done = old("kafka.admin.TopicCommand", *where, "--delete", "--topic", "old-tool")
    assert "marked for deletion" in done


DELETE_RECORDS = "org.apache.kafka.tools.DeleteRecordsCommand"


def test_records_are_deleted(cluster, modern, ours, tmp_path):
    where = ("--bootstrap-server", cluster.bootstrap_servers)
    printed = []
    for run, topic in ((ours, "by-ours"), (modern, "by-kafkas")):
        ours("topics", *where, "--create", "--topic", topic, "--partitions", "1")
        produce(cluster, topic, 5)
        file = tmp_path / f"{topic}.json"
        partitions = [{"topic": topic, "partition": 0, "offset": 3}]
        file.write_text(json.dumps({"partitions": partitions, "version": 1}), encoding="utf-8")
        tool = "delete-records" if run is ours else DELETE_RECORDS
        printed.append(run(tool, *where, "--offset-json-file", str(file)).replace(topic, "topic"))
        assert ours("get-offsets", *where, "--topic", topic, "--time", "earliest") == f"{topic}:0:3\n"
    assert printed[0] == printed[1]
    assert "partition: topic-0\tlow_watermark: 3\n" in printed[0]


def produce(cluster, topic, count):
    """Produce messages into partition 0, with a separate client."""
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    for number in range(count):
        producer.produce(topic, str(number).encode(), partition=0)
    flush(producer)


def test_logger_levels_are_described_the_same(cluster, modern, ours):
    where = ("--bootstrap-server", cluster.bootstrap_servers, "--entity-type", "broker-loggers", "--entity-name", "0")
    change = ("--alter", "--add-config", "kafka.request.logger=ERROR,kafka_lite.controller=DEBUG")
    try:
        assert modern(CONFIGS, *where, *change) == ours("configs", *where, *change)
        theirs = modern(CONFIGS, *where, "--describe").splitlines()
        assert ours("configs", *where, "--describe").splitlines() == theirs
        assert "  kafka.request.logger=ERROR sensitive=false synonyms={}" in theirs
        done = modern(CONFIGS, *where, "--alter", "--delete-config", "kafka.request.logger")
        assert done == "Completed updating config for broker-logger 0.\n"
        assert logging.getLogger("kafka.request.logger").level == logging.NOTSET
    finally:
        for name in ("kafka.request.logger", "kafka_lite.controller"):
            logging.getLogger(name).setLevel(logging.NOTSET)
