"""Kafka 3.9.1's own command-line tools administer, fill and read our broker."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from kafka_lite.server.apis.api_version_manager import OF_TELEMETRY
from kafka_lite.server.apis.share.share_group_switch import OF_SHARE_GROUPS
from kafka_lite.server.kafka_apis import SERVED_VERSIONS
from kafka_lite.testing.cluster import Cluster
from tests.support.kafka_tools import KafkaTools, Outcome

pytestmark = pytest.mark.jvm

TOPICS = "org.apache.kafka.tools.TopicCommand"
CONFIGS = "kafka.admin.ConfigCommand"
GET_OFFSETS = "org.apache.kafka.tools.GetOffsetShell"
API_VERSIONS = "kafka.admin.BrokerApiVersionsCommand"
LOG_DIRS = "org.apache.kafka.tools.LogDirsCommand"
DELETE_RECORDS = "org.apache.kafka.tools.DeleteRecordsCommand"
CONSOLE_PRODUCER = "kafka.tools.ConsoleProducer"
CONSOLE_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
PERFORMANCE = "org.apache.kafka.tools.ProducerPerformance"
TRANSACTIONS = "org.apache.kafka.tools.TransactionsCommand"

COUNT = 30
LINES = "".join(f"key-{i}:value-{i}\n" for i in range(COUNT))
PRODUCER_OPTIONS = (
    "--property", "parse.key=true", "--property", "key.separator=:", "--producer-property", "enable.idempotence=false",
)  # fmt: skip
CONSUMER_OPTIONS = ("--offset", "earliest", "--timeout-ms", "2000", "--property", "print.key=true")
PERFORMANCE_OPTIONS = ("--topic", "perf", "--num-records", "20000", "--record-size", "100", "--throughput", "-1")


class Tools:
    """Commands that run in one JVM, once all of them are known."""

    def __init__(self) -> None:
        self._commands: dict[str, list[str]] = {}

    def add(self, name: str, tool: str, *arguments: str, stdin: str = "") -> None:
        """Add a command; its outcome gets a name."""
        self._commands[name] = [stdin, tool, *arguments]

    def run(self) -> dict[str, Outcome]:
        """The outcome of each command."""
        with KafkaTools("3.9.1", with_errors=True) as tools:
            return {name: tools.run(*words, stdin=stdin) for name, (stdin, *words) in self._commands.items()}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Outcome]]:
    deletion = tmp_path_factory.mktemp("tools") / "delete.json"
    deletion.write_text(json.dumps({"version": 1, "partitions": [{"topic": "tools", "partition": 0, "offset": 1}]}))
    with Cluster() as cluster:
        broker = ("--bootstrap-server", cluster.bootstrap_servers)
        topic = (*broker, "--topic", "tools")
        entity = (*broker, "--entity-type", "topics", "--entity-name", "tools")
        tools = Tools()
        tools.add("create", TOPICS, "--create", *topic, "--partitions", "1", "--config", "retention.ms=1000000")
        tools.add("create again", TOPICS, "--create", *topic)
        tools.add("create if not exists", TOPICS, "--create", *topic, "--if-not-exists")
        tools.add("alter", TOPICS, "--alter", *topic, "--partitions", "2")
        tools.add("describe", TOPICS, "--describe", *topic)
        tools.add("list", TOPICS, "--list", *broker)
        tools.add("add config", CONFIGS, "--alter", *entity, "--add-config", "max.message.bytes=5000")
        tools.add("delete config", CONFIGS, "--alter", *entity, "--delete-config", "retention.ms")
        tools.add("bad config", CONFIGS, "--alter", *entity, "--add-config", "retention.ms=soon")
        tools.add("describe config", CONFIGS, "--describe", *entity)
        tools.add("produce", CONSOLE_PRODUCER, *topic, *PRODUCER_OPTIONS, stdin=LINES)
        tools.add("offsets", GET_OFFSETS, *topic)
        for partition in ("0", "1"):
            tools.add(f"consume {partition}", CONSOLE_CONSUMER, *topic, "--partition", partition, *CONSUMER_OPTIONS)
        tools.add("delete records", DELETE_RECORDS, *broker, "--offset-json-file", str(deletion))
        tools.add("earliest", GET_OFFSETS, *topic, "--time", "earliest")
        tools.add("log dirs", LOG_DIRS, "--describe", *broker, "--topic-list", "tools")
        tools.add("api versions", API_VERSIONS, *broker)
        props = (f"bootstrap.servers={cluster.bootstrap_servers}", "enable.idempotence=false", "compression.type=lz4")
        tools.add("performance", PERFORMANCE, *PERFORMANCE_OPTIONS, "--producer-props", *props)
        tools.add("performance offsets", GET_OFFSETS, *broker, "--topic", "perf")
        tools.add("produce with an id", CONSOLE_PRODUCER, *topic, *PRODUCER_OPTIONS[:4], stdin=LINES)
        tools.add("producers", TRANSACTIONS, *broker, "describe-producers", "--topic", "tools", "--partition", "0")
        tools.add("delete", TOPICS, "--delete", *topic)
        tools.add("list afterwards", TOPICS, "--list", *broker)
        yield tools.run()


def output(outcomes: dict[str, Outcome], name: str) -> str:
    """The output of a successful command."""
    code, text = outcomes[name]
    assert code == 0, text
    return text


def test_topics_are_created_described_and_deleted(outcomes: dict[str, Outcome]) -> None:
    assert "Created topic tools." in output(outcomes, "create")
    code, text = outcomes["create again"]
    assert code == 1
    assert "Topic 'tools' already exists." in text
    output(outcomes, "create if not exists")
    output(outcomes, "alter")
    described = output(outcomes, "describe")
    assert re.search(r"PartitionCount: 2\s+ReplicationFactor: 1\s+Configs: \S*retention.ms=1000000\b", described)
    assert len(re.findall(r"Partition: \d\s+Leader: 0\s+Replicas: 0\s+Isr: 0", described)) == 2
    assert output(outcomes, "list").split() == ["tools"]
    output(outcomes, "delete")
    assert output(outcomes, "list afterwards").split() == ["perf"]


def test_configs_are_altered_and_described(outcomes: dict[str, Outcome]) -> None:
    for name in ("add config", "delete config"):
        assert "Completed updating config for topic tools." in output(outcomes, name)
    code, text = outcomes["bad config"]
    assert code != 0
    assert "Invalid value soon for configuration retention.ms" in text
    lines = [line.strip() for line in output(outcomes, "describe config").splitlines() if "=" in line]
    assert lines == [
        "max.message.bytes=5000 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:max.message.bytes=5000, "
        "DEFAULT_CONFIG:message.max.bytes=1048588}"
    ]


def test_records_are_produced_and_consumed(outcomes: dict[str, Outcome]) -> None:
    output(outcomes, "produce")
    ends = dict(re.findall(r"tools:(\d):(\d+)", output(outcomes, "offsets")))
    assert sum(map(int, ends.values())) == COUNT
    for partition, end in ends.items():
        keys = re.findall(r"key-(\d+)\tvalue-\1\n", output(outcomes, f"consume {partition}") + "\n")
        assert len(keys) == int(end) > 1
        assert sorted(keys, key=int) == keys
    assert re.search(r"partition: tools-0\s+low_watermark: 1", output(outcomes, "delete records"))
    assert output(outcomes, "earliest").split() == ["tools:0:1", "tools:1:0"]
    assert "20000 records sent" in output(outcomes, "performance")
    assert output(outcomes, "performance offsets").split() == ["perf:0:20000"]


def test_brokers_are_described(outcomes: dict[str, Outcome]) -> None:
    log_dirs = json.loads(output(outcomes, "log dirs").strip().splitlines()[-1])
    ((directory,),) = (broker["logDirs"] for broker in log_dirs["brokers"])
    assert directory["error"] is None
    assert {found["partition"] for found in directory["partitions"]} == {"tools-0", "tools-1"}
    assert all(found["size"] > 0 for found in directory["partitions"])
    versions = output(outcomes, "api versions")
    for key, served in SERVED_VERSIONS.items():
        if key in OF_TELEMETRY | OF_SHARE_GROUPS:  # nobody has subscribed, and share groups are off
            continue
        written = re.search(rf"\({int(key)}\): (\d+)(?: to (\d+))? \[usable: \d+\]", versions)
        assert written, key
        assert (int(written[1]), int(written[2] or written[1])) == (served.min_version, served.max_version)


def test_the_producers_of_a_partition_are_described(outcomes: dict[str, Outcome]) -> None:
    assert outcomes["produce with an id"].code == 0
    header, *rows = (
        line.split() for line in output(outcomes, "producers").splitlines() if "Producer" in line or line[:1].isdigit()
    )
    assert header == [
        "ProducerId",
        "ProducerEpoch",
        "LatestCoordinatorEpoch",
        "LastSequence",
        "LastTimestamp",
        "CurrentTransactionStartOffset",
    ]
    ((_producer_id, epoch, coordinator_epoch, last_sequence, _timestamp, transaction),) = rows
    assert (epoch, coordinator_epoch, transaction) == ("0", "-1", "None")
    assert 0 <= int(last_sequence) < COUNT
