"""The administration tools against a running broker, as scripts use them: plain text, exit codes."""

import argparse
import json
import logging
import re

import pytest

from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_00_produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.testing.cluster import Cluster
from kafka_lite.tools.main import TOOLS
from tests.support.eventually import eventually


@pytest.fixture(scope="module")
def cluster():
    with Cluster({"num.partitions": "2"}) as cluster:
        yield cluster


class Tools:
    def __init__(self, cluster, capsys):
        self.cluster = cluster
        self.capsys = capsys

    def __call__(self, tool, *arguments, zookeeper=False):
        """(exit code, stdout, stderr) of a tool."""
        (module,) = (each.load() for each in TOOLS if each.name == tool)
        parser = argparse.ArgumentParser()
        module.add_arguments(parser)
        where = (
            ["--zookeeper", self.cluster.zookeeper_connect]
            if zookeeper
            else ["--bootstrap-server", self.cluster.bootstrap_servers]
        )
        self.capsys.readouterr()
        code = module.run(parser.parse_args([*where, *arguments]))
        out, err = self.capsys.readouterr()
        return code, out, err


@pytest.fixture
def tool(cluster, capsys):
    return Tools(cluster, capsys)


def test_create_list_alter_describe_and_delete_a_topic(tool):
    name = "life"
    assert tool(
        "topics",
        "--create",
        "--topic",
        name,
        "--partitions",
        "2",
        "--replication-factor",
        "1",
        "--config",
        "retention.ms=5",
        "--config",
        "cleanup.policy=compact,delete",
    ) == (0, "Created topic life.\n", "")
    code, out, _ = tool("topics", "--list")
    assert code == 0
    assert name in out.splitlines()
    code, out, _ = tool("topics", "--describe", "--topic", name)
    head, first, second = out.splitlines()
    assert re.match(r"Topic: life\tTopicId: \S{22}\tPartitionCount: 2\tReplicationFactor: 1\tConfigs: ", head)
    assert "retention.ms=5" in head
    assert "cleanup.policy=compact,delete" in head
    assert first == "\tTopic: life\tPartition: 0\tLeader: 0\tReplicas: 0\tIsr: 0"
    assert second == "\tTopic: life\tPartition: 1\tLeader: 0\tReplicas: 0\tIsr: 0"
    assert tool("topics", "--alter", "--topic", name, "--partitions", "3")[0] == 0
    assert len(tool("topics", "--describe", "--topic", name)[1].splitlines()) == 4
    assert tool("topics", "--delete", "--topic", name) == (0, "", "")
    assert name not in tool("topics", "--list")[1].splitlines()


def test_a_topic_through_zookeeper(tool, cluster):
    create = ("topics", "--create", "--topic", "zk.life", "--replica-assignment", "0,0")
    code, out, _ = tool(*create, zookeeper=True)
    assert code == 0
    assert out.splitlines()[0].startswith("WARNING: Due to limitations in metric names")
    assert out.splitlines()[1] == "Created topic zk.life."
    assert tool("configs", "--alter", "--topic", "zk.life", "--add-config", "retention.ms=5", zookeeper=True)[0] == 0
    head, *partitions = tool("topics", "--describe", "--topic", "zk.life", zookeeper=True)[1].splitlines()
    assert re.sub(r"TopicId: \S{22}\t", "", head) == (
        "Topic: zk.life\tPartitionCount: 2\tReplicationFactor: 1\tConfigs: retention.ms=5"
    )
    assert len(partitions) == 2
    tool("topics", "--alter", "--topic", "zk.life", "--partitions", "3", zookeeper=True)
    assert len(cluster.server.zk_client.get_topic_assignment("zk.life").partitions) == 3
    code, out, _ = tool("topics", "--delete", "--topic", "zk.life", zookeeper=True)
    assert code == 0
    assert "Topic zk.life is marked for deletion." in out


def test_configs_of_a_topic_are_altered_through_zookeeper(tool, cluster):
    """As in 0.10.2; through a broker, that is what ``configs`` is for."""
    tool("topics", "--create", "--topic", "zk-configs", "--config", "retention.ms=5", "--config", "segment.ms=7")
    alter = ("topics", "--alter", "--topic", "zk-configs")
    code, out, _ = tool(*alter, "--config", "cleanup.policy=compact", "--delete-config", "segment.ms", zookeeper=True)
    assert code == 0
    assert out.startswith("WARNING: Altering topic configuration from this script has been deprecated")
    assert out.endswith("Updated config for topic zk-configs.\n")
    expected = {"retention.ms": "5", "cleanup.policy": "compact"}
    assert cluster.server.zk_client.get_entity_config("topics/zk-configs") == expected
    code, _, err = tool(*alter, "--config", "no.such=1", zookeeper=True)
    assert (code, "Unknown topic config name: no.such" in err) == (1, True)
    code, _, err = tool(*alter, "--config", "retention.ms=6")
    assert code == 1
    assert "use `kafka-lite configs --alter`" in err
    assert cluster.server.zk_client.get_entity_config("topics/zk-configs") == expected


def test_the_topic_of_offsets_keeps_its_partitions(tool):
    """Otherwise groups would look for their offsets in other partitions."""
    alter = ("topics", "--alter", "--topic", "__consumer_offsets", "--partitions", "99")
    tool("topics", "--create", "--topic", "__consumer_offsets", "--partitions", "1", "--replication-factor", "1",
         zookeeper=True)  # fmt: skip
    code, _, err = tool(*alter, zookeeper=True)
    assert code == 1
    assert "The number of partitions for the offsets topic cannot be changed" in err


@pytest.mark.parametrize(
    ("action", "flags"),
    [
        ("alter", ["--partitions", "2", "--replication-factor", "2"]),
        ("delete", ["--partitions", "2"]),
        ("list", ["--config", "a=b"]),
        ("describe", ["--if-not-exists"]),
        ("create", ["--under-replicated-partitions"]),
        ("create", ["--delete-config", "a"]),
        ("delete", ["--exclude-internal"]),
    ],
)
def test_a_flag_that_an_action_does_not_use_is_refused(tool, action, flags):
    """Whoever raises the replication factor by ``--alter`` must not believe that it has worked."""
    code, _, err = tool("topics", f"--{action}", "--topic", "any", *flags)
    assert code == 1
    assert f'Option "[{flags[-2 if len(flags) > 1 else -1][2:]}]" can\'t be used with option "[{action}]"' in err


def test_defaults_of_the_broker_apply(tool):
    assert tool("topics", "--create", "--topic", "by-default")[0] == 0
    assert len(tool("topics", "--describe", "--topic", "by-default")[1].splitlines()) == 3


def test_topics_are_selected_by_patterns(tool):
    for name in ("pat-a", "pat-b", "other"):
        tool("topics", "--create", "--topic", name)
    assert tool("topics", "--list", "--topic", "pat-.*")[1].split() == ["pat-a", "pat-b"]
    assert tool("topics", "--list", "--topic", "pat-a,other")[1].split() == ["other", "pat-a"]
    tool("topics", "--delete", "--topic", "pat-.*")
    assert tool("topics", "--list", "--topic", "pat-.*")[1].split() == []


def test_describe_reports(tool):
    tool("topics", "--create", "--topic", "healthy")
    for report in ("under-replicated", "unavailable", "under-min-isr"):
        assert tool("topics", "--describe", "--topic", "healthy", f"--{report}-partitions") == (0, "", "")
    _, out, _ = tool("topics", "--describe", "--topic", "healthy", "--at-min-isr-partitions")
    assert len(out.splitlines()) == 2
    assert tool("topics", "--create", "--topic", "special", "--config", "retention.ms=5")[0] == 0
    _, out, _ = tool("topics", "--describe", "--topic", "special", "--topics-with-overrides")
    assert len(out.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--create", "--topic", "bad name"), "Topic name is invalid"),
        (("--create", "--topic", "t", "--partitions", "0"), "--partitions 0"),
        (("--create", "--topic", "t", "--replication-factor", "3"), "larger than available brokers: 1"),
        (("--create", "--topic", "t", "--config", "retention.ms"), "name=value"),
        (("--create", "--topic", "t", "--config", "retention.ms=x"), "retention.ms"),
        (("--create", "--topic", "t", "--replica-assignment", "a"), "0:1,1:0"),
        (("--create", "--topic", "t", "--replica-assignment", "0,7"), "partition 1 would have no leader"),
        (
            ("--create", "--topic", "t", "--replica-assignment", "0", "--partitions", "1"),
            "cannot be combined with --partitions",
        ),
        (("--create",), "--topic is required"),
        (("--describe", "--topic", "never"), "Topic 'never' does not exist as expected"),
        (("--delete", "--topic", "never"), "does not exist"),
        (("--alter", "--topic", "here"), "--partitions"),
        (("--alter", "--topic", "here", "--partitions", "1"), "would not be an increase"),
        (("--list", "--topic", "("), "invalid regular expression"),
    ],
)
def test_an_error_is_one_line_that_says_what_to_do(tool, arguments, says):
    tool("topics", "--create", "--topic", "here", "--if-not-exists")
    code, out, err = tool("topics", *arguments)
    assert code == 1
    assert out == ""
    assert says in err
    assert len(err.splitlines()) == 1


def test_if_exists_and_if_not_exists(tool):
    tool("topics", "--create", "--topic", "twice", "--if-not-exists")
    assert tool("topics", "--create", "--topic", "twice", "--if-not-exists") == (0, "", "")
    code, _, err = tool("topics", "--create", "--topic", "twice")
    assert (code, err) == (1, "Topic 'twice' already exists.\n")
    assert tool("topics", "--delete", "--topic", "never", "--if-exists") == (0, "", "")


def test_an_unreachable_broker_is_reported(capsys, cluster):
    tool = Tools(cluster, capsys)
    tool.cluster = type("Nowhere", (), {"bootstrap_servers": "127.0.0.1:1", "zookeeper_connect": "x"})
    code, _, err = tool("topics", "--list")
    assert code == 1
    assert "cannot connect to 127.0.0.1:1" in err


# ------------------------------------------------------------------------------------------------------------- configs


def test_configs_of_a_topic(tool):
    tool("topics", "--create", "--topic", "set")
    assert tool("configs", "--describe", "--topic", "set") == (0, "Dynamic configs for topic set are:\n", "")
    changed = "retention.ms=5,cleanup.policy=[compact,delete]"
    assert tool("configs", "--alter", "--entity-type", "topics", "--entity-name", "set", "--add-config", changed) == (
        0,
        "Completed updating config for topic set.\n",
        "",
    )
    _, out, _ = tool("configs", "--describe", "--topic", "set")
    assert sorted(out.splitlines()[1:]) == [
        "  cleanup.policy=compact,delete sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:cleanup.policy=compact,delete, "
        "DEFAULT_CONFIG:log.cleanup.policy=delete}",
        "  retention.ms=5 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:retention.ms=5}",
    ]
    assert tool("configs", "--alter", "--topic", "set", "--delete-config", "retention.ms")[0] == 0
    assert len(tool("configs", "--describe", "--topic", "set")[1].splitlines()) == 2
    assert len(tool("configs", "--describe", "--all", "--topic", "set")[1].splitlines()) > 20
    _, out, _ = tool("configs", "--describe", "--topic", "set", zookeeper=True)
    assert out == "Configs for topic set are cleanup.policy=compact,delete\n"


def test_configs_of_a_group(tool, cluster):
    key, group = "consumer.session.timeout.ms", "readers/of-it"
    default = "DEFAULT_CONFIG:group.consumer.session.timeout.ms=45000"
    assert tool("configs", "--describe", "--group", group) == (0, f"Dynamic configs for group {group} are:\n", "")
    assert tool("configs", "--alter", "--group", group, "--add-config", f"{key}=50000") == (
        0,
        f"Completed updating config for group {group}.\n",
        "",
    )
    shown = (
        f"Dynamic configs for group {group} are:\n"
        f"  {key}=50000 sensitive=false synonyms={{DYNAMIC_GROUP_CONFIG:{key}=50000, {default}}}\n"
    )
    assert tool("configs", "--describe", "--group", group) == (0, shown, "")
    assert tool("configs", "--describe", "--entity-type", "groups") == (0, shown, "")
    configs = cluster.server.groups.consumer_groups.group_configs
    eventually(lambda: configs.config_of(group).session_timeout_ms == 50_000)
    code, _, err = tool("configs", "--alter", "--group", group, "--add-config", f"{key}=1")
    assert code == 1
    assert "group.consumer.min.session.timeout.ms" in err
    assert tool("configs", "--alter", "--group", group, "--delete-config", key)[0] == 0
    eventually(lambda: configs.config_of(group).session_timeout_ms == 45_000)
    assert tool("configs", "--describe", "--group", "..")[0] in (0, 1), "answered"
    for flags in (("--entity-type", "groups", "--entity-default"), ("--entity-type", "groups")):
        assert tool("configs", "--alter", *flags, "--add-config", f"{key}=50000")[0] == 1
    assert "needs --bootstrap-server" in tool("configs", "--describe", "--group", group, zookeeper=True)[2]


def test_configs_from_a_file(tool, tmp_path):
    tool("topics", "--create", "--topic", "filed")
    file = tmp_path / "topic.properties"
    file.write_text("retention.ms=7\nsegment.bytes=1000\n")
    assert tool("configs", "--alter", "--topic", "filed", "--add-config-file", str(file))[0] == 0
    _, out, _ = tool("configs", "--describe", "--topic", "filed", zookeeper=True)
    assert out == "Configs for topic filed are retention.ms=7,segment.bytes=1000\n"


def test_configs_of_brokers(tool, cluster):
    rate = "leader.replication.throttled.rate"
    assert tool("configs", "--alter", "--broker", "0", "--add-config", f"{rate}=1000")[0] == 0
    assert tool("configs", "--alter", "--broker-defaults", "--add-config", f"{rate}=2000") == (
        0,
        "Completed updating config for default brokers in the cluster.\n",
        "",
    )
    dynamic = cluster.server.dynamic_broker_config
    eventually(lambda: dynamic.broker_configs and dynamic.default_configs)
    _, out, _ = tool("configs", "--describe", "--broker", "0")
    assert out.splitlines()[1].startswith(f"  {rate}=1000 sensitive=false synonyms={{DYNAMIC_BROKER_CONFIG:{rate}=1000")
    assert tool("configs", "--alter", "--broker", "0", "--delete-config", rate)[0] == 0
    eventually(lambda: not dynamic.broker_configs)
    code, out, _ = tool("configs", "--describe", "--entity-type", "brokers", "--all", "--entity-name", "0")
    assert code == 0
    assert "  num.partitions=2 sensitive=false synonyms={STATIC_BROKER_CONFIG:num.partitions=2" in out
    code, out, _ = tool("configs", "--describe", "--broker-defaults")
    assert out.splitlines()[0] == "Default configs for brokers in the cluster are:"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ("--alter", "--broker", "0", "--add-config", "num.network.threads=2"),
            "Cannot update these configs dynamically",
        ),
        (("--alter", "--broker", "7", "--add-config", "num.io.threads=9"), "id of a live broker: 0"),
        (("--alter", "--topic", "never", "--add-config", "retention.ms=9"), "does not exist"),
        (("--alter", "--topic", "conf", "--add-config", "retention.ms"), "key=val"),
        (("--alter", "--topic", "conf", "--add-config", "retention.ms=x"), "retention.ms"),
        (("--alter", "--topic", "conf", "--delete-config", "retention.ms"), "Invalid config(s): retention.ms"),
        (("--alter", "--topic", "conf"), "--add-config"),
        (("--alter", "--entity-type", "topics", "--add-config", "a=b"), "--entity-name"),
        (("--describe",), "--entity-type is missing"),
        (("--describe", "--entity-type", "topics", "--entity-default"), "use the brokers' defaults"),
    ],
)
def test_invalid_configs_are_rejected(tool, arguments, says):
    tool("topics", "--create", "--topic", "conf", "--if-not-exists")
    code, _, err = tool("configs", *arguments)
    assert code == 1
    assert says in err
    assert len(err.splitlines()) == 1


# ------------------------------------------------------------------------------------------- offsets, sizes, versions


KEPT = ("--config", "retention.ms=-1")
"""For records of long ago, which would be deleted 30 s after the start of the broker."""


def produce(cluster, topic, partition, count, timestamp=1_000):
    builder = MemoryRecordsBuilder(2, CompressionType.NONE)
    for number in range(count):
        builder.append(timestamp + number, None, b"value")
    data = PartitionProduceData(index=partition, records=builder.build())
    request = ProduceRequest(acks=1, timeout_ms=5000, topic_data=[TopicProduceData(name=topic, partition_data=[data])])
    host, port = cluster.bootstrap_servers.split(":")
    with BlockingChannel(host, int(port)) as channel:
        response = channel.exchange(request, 7)
    assert response.responses[0].partition_responses[0].error_code == 0


def test_get_offsets(tool, cluster):
    tool("topics", "--create", "--topic", "offs", "--partitions", "3", *KEPT)
    produce(cluster, "offs", 1, 5)
    assert tool("get-offsets", "--topic", "offs") == (0, "offs:0:0\noffs:1:5\noffs:2:0\n", "")
    assert tool("get-offsets", "--topic", "offs", "--time", "earliest")[1] == "offs:0:0\noffs:1:0\noffs:2:0\n"
    assert tool("get-offsets", "--topic", "offs", "--partitions", "1,2")[1] == "offs:1:5\noffs:2:0\n"
    assert tool("get-offsets", "--topic", "offs", "--time", "1003")[1] == "offs:1:3\n"
    assert tool("get-offsets", "--topic", "offs", "--time", "-3")[1] == "offs:1:4\n"
    assert tool("get-offsets", "--topic-partitions", "offs:0-2")[1] == "offs:0:0\noffs:1:5\n"
    assert tool("get-offsets", "--topic-partitions", "offs:2,offs:1")[1] == "offs:1:5\noffs:2:0\n"
    assert tool("get-offsets", "--topic-partitions", "offs:1-")[1] == "offs:1:5\noffs:2:0\n"
    assert tool("get-offsets", "--topic-partitions", "offs:-1")[1] == "offs:0:0\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--topic", "never"), "Could not match any topic-partitions"),
        (("--time", "soon"), "Malformed time argument soon"),
        (("--partitions", "x"), "numeric partition ids"),
        (("--topic", "a", "--topic-partitions", "a"), "cannot be used"),
        (("--topic-partitions", "a:b:c"), "Invalid topic-partition pattern"),
    ],
)
def test_invalid_arguments_of_get_offsets_are_rejected(tool, arguments, says):
    code, out, err = tool("get-offsets", *arguments)
    assert (code, out) == (1, "")
    assert says in err


def test_log_dirs_prints_sizes(tool, cluster):
    tool("topics", "--create", "--topic", "sized", "--partitions", "1", *KEPT)
    produce(cluster, "sized", 0, 3)
    code, out, _ = tool("log-dirs", "--describe", "--topic-list", "sized")
    assert code == 0
    querying, received, text = out.splitlines()
    assert querying == "Querying brokers for log directories information"
    assert received == "Received log directory information from brokers 0"
    (broker,) = json.loads(text)["brokers"]
    (directory,) = broker["logDirs"]
    assert directory["logDir"] == str(cluster.data_dir / "logs")
    assert directory["error"] is None
    (partition,) = directory["partitions"]
    assert partition["partition"] == "sized-0"
    assert partition["size"] > 60
    assert (partition["offsetLag"], partition["isFuture"]) == (0, False)
    code, _, err = tool("log-dirs", "--describe", "--broker-list", "5")
    assert (code, err) == (
        1,
        "ERROR: The given brokers do not exist from --broker-list: 5. Current existent brokers: 0\n",
    )


def test_broker_api_versions(tool, cluster):
    code, out, _ = tool("broker-api-versions")
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == f"{cluster.bootstrap_servers} (id: 0 rack: null) -> ("
    assert lines[1].startswith("\tProduce(0): 0 to ")
    assert "[usable: " in lines[1]
    assert any(line.startswith("\tOffsetForLeaderEpoch(23): 0 to ") for line in lines)
    not_served = [line.strip().rstrip(",") for line in lines if "UNSUPPORTED" in line]
    # Nobody has subscribed to metrics of clients, and there are no share groups.
    names = [line.partition("(")[0] for line in not_served]
    assert [name for name in names if "Share" not in name] == ["GetTelemetrySubscriptions", "PushTelemetry"]
    assert lines[-1] == ")"


# ------------------------------------------------------------------------------------------------------ broker-loggers


def test_logger_levels_are_described_and_altered(tool, logger_levels):
    name = "kafka.request.logger"
    where = ("--entity-type", "broker-loggers", "--entity-name", "0")
    assert tool("configs", "--alter", *where, "--add-config", f"{name}=DEBUG,kafka_lite.controller=TRACE") == (
        0,
        "Completed updating config for broker-logger 0.\n",
        "",
    )
    assert logging.getLogger(name).isEnabledFor(logging.DEBUG)
    _, out, _ = tool("configs", "--describe", *where)
    assert out.splitlines()[0] == "Dynamic configs for broker-logger 0 are:"
    assert f"  {name}=DEBUG sensitive=false synonyms={{}}" in out.splitlines()
    assert "  kafka_lite.controller.kafka_controller=TRACE sensitive=false synonyms={}" in out.splitlines()
    assert tool("configs", "--alter", "--broker-logger", "0", "--delete-config", name)[0] == 0
    assert logging.getLogger(name).level == logging.NOTSET


@pytest.fixture
def logger_levels():
    """Restores the levels of the loggers that a test changes."""
    yield
    for name in ("kafka.request.logger", "kafka_lite.controller"):
        logging.getLogger(name).setLevel(logging.NOTSET)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--alter", "--broker-logger", "0", "--add-config", "no.such=INFO"), "Logger no.such does not exist!"),
        (("--alter", "--broker-logger", "0", "--add-config", "root=LOUD"), "Valid log levels are DEBUG, ERROR, FATAL"),
        (("--alter", "--broker-logger", "0", "--delete-config", "root"), "is not allowed"),
        (("--alter", "--broker-logger", "0", "--delete-config", "no.such"), "Invalid config(s): no.such"),
        (("--describe", "--broker-logger", "7"), "id of a live broker: 0"),
        (("--describe", "--entity-type", "broker-loggers"), "needs --entity-name"),
        (("--describe", "--entity-type", "broker-loggers", "--entity-default"), "name the broker with --entity-name"),
    ],
)
def test_invalid_logger_levels_are_rejected(tool, arguments, says):
    code, _, err = tool("configs", *arguments)
    assert (code, len(err.splitlines())) == (1, 1)
    assert says in err


def test_logger_levels_are_not_stored_in_zookeeper(tool):
    code, _, err = tool("configs", "--describe", "--broker-logger", "0", zookeeper=True)
    assert code == 1
    assert "needs --bootstrap-server" in err


# ------------------------------------------------------------------------------------------------------ delete-records


def offsets_file(tmp_path, *entries, version=1):
    """An --offset-json-file of (topic, partition, offset)."""
    file = tmp_path / "offsets.json"
    partitions = [{"topic": topic, "partition": partition, "offset": offset} for topic, partition, offset in entries]
    file.write_text(json.dumps({"version": version, "partitions": partitions}), encoding="utf-8")
    return str(file)


def test_records_are_deleted(tool, cluster, tmp_path):
    tool("topics", "--create", "--topic", "shortened", "--partitions", "2", *KEPT)
    produce(cluster, "shortened", 0, 5)
    produce(cluster, "shortened", 1, 4)
    file = offsets_file(tmp_path, ("shortened", 0, 3), ("shortened", 1, -1))
    assert tool("delete-records", "--offset-json-file", file) == (
        0,
        "Executing records delete operation\n"
        "Records delete operation completed:\n"
        "partition: shortened-0\tlow_watermark: 3\n"
        "partition: shortened-1\tlow_watermark: 4\n",
        "",
    )
    _, out, _ = tool("get-offsets", "--topic", "shortened", "--time", "earliest")
    assert out == "shortened:0:3\nshortened:1:4\n"


def test_each_partition_has_its_own_error(tool, cluster, tmp_path):
    tool("topics", "--create", "--topic", "half", "--partitions", "1", *KEPT)
    produce(cluster, "half", 0, 2)
    file = offsets_file(tmp_path, ("half", 0, 9), ("half", 1, 0), ("nowhere", 0, 0))
    code, out, _ = tool("delete-records", "--offset-json-file", file)
    assert code == 1
    assert [line.split(":")[:3] for line in out.splitlines()[2:]] == [
        ["partition", " half-0\terror", " OFFSET_OUT_OF_RANGE"],
        ["partition", " half-1\terror", " UNKNOWN_TOPIC_OR_PARTITION"],
        ["partition", " nowhere-0\terror", " UNKNOWN_TOPIC_OR_PARTITION"],
    ]


def test_a_missing_offsets_file_is_reported(tool, tmp_path):
    file = tmp_path / "none.json"
    code, out, err = tool("delete-records", "--offset-json-file", str(file))
    assert (code, out) == (1, "")
    assert err.startswith(f"{file}: No such file or directory")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "not a valid JSON"),
        ("[]", "not a JSON object"),
        ('{"version": 2, "partitions": []}', "Not supported version field value 2"),
        ('{"version": 1}', "Missing partitions field"),
        ('{"partitions": [{"topic": "t", "partition": "0", "offset": 1}]}', "has no topic"),
        ('{"partitions": [{"topic": "t", "partition": 0, "offset": 9223372036854775808}]}', "has no topic"),
        (
            '{"partitions":[{"topic": "t", "partition": 0, "offset": 1}, {"topic": "t", "partition": 0, "offset": 2}]}',
            "duplicate topic partitions: t-0",
        ),
    ],
)
def test_malformed_offsets_files_are_rejected(tool, tmp_path, text, says):
    file = tmp_path / "offsets.json"
    file.write_text(text, encoding="utf-8")
    code, out, err = tool("delete-records", "--offset-json-file", str(file))
    assert (code, out, len(err.splitlines())) == (1, "", 1)
    assert says in err


# ------------------------------------------------------------------------------------------------------ command-config


def test_command_config_configures_the_client(tool, tmp_path):
    file = tmp_path / "client.properties"
    file.write_text("client.id=me\nbootstrap.servers=elsewhere:1\nretries=3\n", encoding="utf-8")
    code, _, err = tool("log-dirs", "--describe", "--command-config", str(file))
    assert code == 0
    assert err == "The configuration 'retries' was supplied but isn't a known config.\n"
    file.write_text("security.protocol=SSL\n", encoding="utf-8")
    code, _, err = tool("get-offsets", "--command-config", str(file))
    assert code == 1
    assert "SSL handshake failed" in err  # the broker speaks plain text
    code, _, err = tool("topics", "--list", "--command-config", str(tmp_path / "none"))
    assert code == 1
    assert "No such file" in err
