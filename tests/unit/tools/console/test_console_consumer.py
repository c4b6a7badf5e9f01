"""The console consumer's options, its formatters, and the two tools of old consumers, without a broker."""

from __future__ import annotations

import argparse
import io
import logging
from pathlib import Path

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.protocol.messages.api_03_metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kafka_lite.protocol.schema_error import SchemaError
from kafka_lite.record.message_set import encode_message
from kafka_lite.record.record import Header, TimestampType
from kafka_lite.record.records import records
from kafka_lite.tools.common.tool_errors import ToolError
from kafka_lite.tools.console import console_consumer as tool
from kafka_lite.tools.console.formatter_registry import create_formatter
from kafka_lite.tools.console.simple_consumer_shell import find_replica
from tests.support.samples import hex_sample

NEW, OLD = ["--bootstrap-server", "b:9092"], ["--zookeeper", "z:2181"]


def parse(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    tool.add_arguments(parser)
    return parser.parse_args(arguments)


# ── Options ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--topic", "t"], "Missing required argument --bootstrap-server"),
        ([*NEW, *OLD, "--topic", "t"], "[bootstrap-server] is not valid with [zookeeper]"),
        ([*OLD, "--new-consumer", "--topic", "t"], "[new-consumer] is not valid with [zookeeper]"),
        (NEW, "Exactly one of --include/--topic is required"),
        ([*NEW, "--topic", "t", "--include", "u"], "Exactly one of --include/--topic is required"),
        ([*NEW, "--blacklist", "t"], "Exactly one of --include/--topic is required"),
        ([*OLD, "--topic", "t", "--blacklist", "u"], "Exactly one of --include/--blacklist/--topic is required"),
        ([*OLD, "--topic", "t", "--partition", "0"], "supported in the new consumer only"),
        ([*NEW, "--include", "t", "--partition", "0"], "The topic is required when partition is specified"),
        ([*NEW, "--topic", "t", "--offset", "0"], "The partition is required when offset is specified"),
        (
            [*NEW, "--topic", "t", "--partition", "0", "--offset", "0", "--from-beginning"],
            "Options from-beginning and offset cannot be specified together",
        ),
    ],
)
def test_contradictory_options_are_rejected(arguments: list[str], error: str) -> None:
    with pytest.raises(ToolError) as caught:
        tool.check(parse(*arguments))
    assert error in str(caught.value)


def test_a_warning_names_the_options_of_the_other_consumer(capsys: pytest.CaptureFixture[str]) -> None:
    tool.check(parse(*NEW, "--topic", "t", "--delete-consumer-offsets", "--csv-reporter-enabled"))
    tool.check(parse(*OLD, "--whitelist", "t", "--isolation-level", "read_committed"))
    lines = capsys.readouterr().err.splitlines()
    flags = ["--csv-reporter-enabled", "--delete-consumer-offsets", "--isolation-level"]
    assert lines == [f"{flag} has no effect with this consumer" for flag in flags]


@pytest.mark.parametrize(
    ("arguments", "offset"),
    [
        ([], -1), (["--from-beginning"], -2), (["--offset", "Earliest"], -2), (["--offset", "latest"], -1),
        (["--offset", "7"], 7),
    ],
)  # fmt: skip
def test_offset_option_is_parsed(arguments: list[str], offset: int) -> None:
    assert tool.parse_offset(parse(*arguments)) == offset


@pytest.mark.parametrize("text", ["-3", "x", "1.5"])
def test_malformed_offset_option_is_rejected(text: str) -> None:
    with pytest.raises(ToolError, match=f"The provided offset value '{text}' is incorrect"):
        tool.parse_offset(parse(f"--offset={text}"))


def test_configuration_of_the_new_consumer(tmp_path: Path) -> None:
    file = tmp_path / "consumer.properties"
    file.write_text("client.id=file\nmax.poll.records=7\n")
    configs = tool.new_consumer_configs(
        parse(*NEW, "--consumer.config", str(file), "--consumer-property", "client.id=flag", "--from-beginning")
    )
    assert configs.pop("group.id").startswith("console-consumer-")
    assert configs == {
        "bootstrap.servers": "b:9092", "client.id": "flag", "max.poll.records": "7", "auto.offset.reset": "earliest",
        "enable.auto.commit": "false", "allow.auto.create.topics": "false",
    }  # fmt: skip
    named = tool.new_consumer_configs(parse(*NEW, "--group", "g", "--isolation-level", "read_committed"))
    assert named == {
        "bootstrap.servers": "b:9092", "client.id": "console-consumer", "auto.offset.reset": "latest", "group.id": "g",
        "isolation.level": "read_committed", "allow.auto.create.topics": "false",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--group", "g", "--consumer-property", "group.id=h"], "Detected group ids: 'g', 'h'"),
        (["--group", "g", "--partition", "0"], "Options group and partition cannot be specified together"),
        (["--from-beginning", "--consumer-property", "auto.offset.reset=latest"], "please remove one option"),
    ],
)
def test_contradictory_configurations_are_rejected(arguments: list[str], error: str) -> None:
    with pytest.raises(ToolError, match=error):
        tool.new_consumer_configs(parse(*NEW, *arguments))


def test_configuration_of_the_old_consumer() -> None:
    configs, has_group = tool.old_consumer_configs(
        parse(
            *OLD, "--from-beginning", "--timeout-ms", "5", "--csv-reporter-enabled", "--consumer-property", "group.id=g"
        )
    )
    assert has_group
    assert configs["auto.offset.reset"] == "smallest"
    assert (configs["zookeeper.connect"], configs["consumer.timeout.ms"]) == ("z:2181", "5")
    assert configs["kafka.csv.metrics.dir"] == "kafka_metrics"
    configs, has_group = tool.old_consumer_configs(parse(*OLD))
    assert not has_group
    assert configs["auto.offset.reset"] == "largest"


# ── Formatters ────────────────────────────────────────────────────────────────────────────────────────────────────────


def record(**fields: object) -> ConsumerRecord:
    plain = ConsumerRecord("t", 3, 7, 1_500_000_000_000, TimestampType.CREATE_TIME, b"k", b"v")
    return plain._replace(**fields)


def shown(name: str, *shown_records: ConsumerRecord, **properties: str) -> str:
    output = io.BytesIO()
    formatter = create_formatter(name, {key.replace("_", "."): value for key, value in properties.items()})
    for each in shown_records:
        formatter.write_to(each, output)
    formatter.close()
    return output.getvalue().decode()


@pytest.mark.parametrize("name", ["DefaultMessageFormatter", "kafka.tools.DefaultMessageFormatter",
                                  "org.apache.kafka.tools.consumer.DefaultMessageFormatter",
                                  "kafka_lite.tools.console.message_formatters.DefaultMessageFormatter"])  # fmt: skip
def test_default_formatter_prints_values(name: str) -> None:
    assert shown(name, record(), record(value=None), record(value=b"")) == "v\nnull\n\n"


def test_default_formatter_prints_every_column_on_request() -> None:
    wanted = dict.fromkeys(("timestamp", "partition", "offset", "epoch", "headers", "key", "value"), " TRUE ")
    properties = {f"print_{column}": value for column, value in wanted.items()}
    headers = (Header("a", b"1"), Header("b", None))
    full = record(headers=headers, leader_epoch=4, timestamp_type=TimestampType.LOG_APPEND_TIME)
    bare = record(key=None, timestamp=-1, timestamp_type=TimestampType.NO_TIMESTAMP_TYPE)
    assert shown(
        "DefaultMessageFormatter", full, bare, key_separator="|", line_separator=".", null_literal="-", **properties
    ) == (
        "LogAppendTime:1500000000000|Partition:3|Offset:7|Epoch:4|a:1,b:-|k|v."
        "NO_TIMESTAMP|Partition:3|Offset:7|Epoch:NOT_PRESENT|NO_HEADERS|-|v."
    )
    assert shown("DefaultMessageFormatter", full, print_value="false", print_key="true") == "k\n"


def test_default_formatter_uses_deserializers() -> None:
    long = "org.apache.kafka.common.serialization.LongDeserializer"
    properties = {"print_key": "true", "key_deserializer": long, "value_deserializer": "StringDeserializer"}
    properties["value.deserializer.value.deserializer.encoding"] = "latin-1"
    assert shown("DefaultMessageFormatter", record(key=b"\0" * 7 + b"\x05", value=b"\xe4"), **properties) == "5\tä\n"
    assert shown("DefaultMessageFormatter", record(value=None), value_deserializer=long) == "null\n"
    with pytest.raises(KafkaError, match="1 bytes are not 8"):
        shown("DefaultMessageFormatter", record(), value_deserializer=long)
    with pytest.raises(ConfigError, match="NoSuchDeserializer"):
        shown("DefaultMessageFormatter", record(), value_deserializer="NoSuchDeserializer")


def test_logging_and_no_op_formatters(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    assert shown("LoggingMessageFormatter", record(), record(key=None, value=None)) == "v\nnull\n"
    assert caplog.messages == [
        "CreateTime:1500000000000, key:k, value:v",
        "CreateTime:1500000000000, key:null, value:null",
    ]
    assert shown("kafka.tools.NoOpMessageFormatter", record()) == ""


def test_checksum_formatter() -> None:
    v1 = int.from_bytes(encode_message(1, 0, 0, 1_500_000_000_000, b"k", b"v")[12:16], "big")
    v0 = int.from_bytes(encode_message(0, 0, 0, -1, b"k", b"v")[12:16], "big")
    untimed = record(timestamp_type=TimestampType.NO_TIMESTAMP_TYPE, timestamp=-1)
    assert shown("ChecksumMessageFormatter", record(), untimed) == f"checksum:{v1}\nchecksum:{v0}\n"
    assert shown("ChecksumMessageFormatter", record(), topic="t") == f"t:checksum:{v1}\n"


@pytest.mark.parametrize("name", ["kafka.tools.NoSuchFormatter", "NoSuch"])
def test_an_unknown_formatter_is_rejected(name: str) -> None:
    with pytest.raises(ToolError, match=f"Unknown formatter {name}; use one of DefaultMessageFormatter,"):
        create_formatter(name, {})
    with pytest.raises(ConfigError, match="formatter"):
        create_formatter("os.path", {})


def offsets_log() -> list[ConsumerRecord]:
    """Offsets that 0.10.2 has written."""
    return [
        ConsumerRecord("__consumer_offsets", 8, each.offset, each.timestamp, each.timestamp_type, each.key, each.value)
        for each in records(hex_sample("consumer-offsets-8.log.hex"))
    ]


def test_committed_offsets_as_text_and_as_json() -> None:
    lines = shown("kafka.coordinator.GroupMetadataManager$OffsetsMessageFormatter", *offsets_log()).splitlines()
    assert lines
    assert all("]::[OffsetMetadata[" in line or line.endswith("]::NULL") for line in lines)
    as_json = shown("org.apache.kafka.tools.consumer.OffsetsMessageFormatter", *offsets_log()).splitlines()
    assert len(as_json) == len(lines)
    assert all(line.startswith('{"key":{"version":1,"data":{"group":"') for line in as_json)
    groups = shown("kafka.coordinator.GroupMetadataManager$GroupMetadataMessageFormatter", *offsets_log()).splitlines()
    assert len(groups) + len(lines) == len(offsets_log())
    assert any("Some(consumer),Stable,Map(" in line for line in groups)
    with pytest.raises(SchemaError):
        shown("OffsetsMessageFormatter", record(key=b"\0\x01\0"))


# ── The simple consumer's shell ───────────────────────────────────────────────────────────────────────────────────────


def metadata(error: Errors = Errors.NONE) -> MetadataResponse:
    led = MetadataResponsePartition(partition_index=0, leader_id=1, replica_nodes=[1, 2, 3])
    leaderless = MetadataResponsePartition(partition_index=1, leader_id=-1, replica_nodes=[2])
    return MetadataResponse(
        brokers=[MetadataResponseBroker(node_id=n, host=f"b{n}", port=9092) for n in (1, 2)],
        topics=[MetadataResponseTopic(name="t", error_code=error.code, partitions=[led, leaderless])],
    )


def test_simple_consumer_reads_from_the_requested_replica() -> None:
    partition = TopicPartition("t", 0)
    assert find_replica(metadata(), partition, -1).host == "b1"
    assert find_replica(metadata(), partition, 2).host == "b2"
    for asked, replica, error in (
        (partition, 3, "replica 3 does not exist for partition"),  # this broker is not alive
        (TopicPartition("t", 1), -1, "has not been elected yet"),
        (TopicPartition("t", 2), -1, "partition 2 does not exist for topic t"),
        (TopicPartition("u", 0), -1, "topic u does not exist"),
    ):
        with pytest.raises(ToolError, match=error):
            find_replica(metadata(), asked, replica)
    with pytest.raises(ToolError, match="LEADER_NOT_AVAILABLE"):
        find_replica(metadata(Errors.LEADER_NOT_AVAILABLE), partition, -1)
