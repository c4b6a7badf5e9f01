"""The producer tools without a broker: flags become configurations, numbers become the lines that Kafka prints."""

from __future__ import annotations

import argparse
import io
import json
import math
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.time import MockTime
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.stats import MetricConfig
from kafka_lite.producer import KafkaProducer, ProducerRecord
from kafka_lite.producer.producer_record import RecordMetadata
from kafka_lite.tools.common.client_properties import client_properties, parse_key_value_args
from kafka_lite.tools.common.tool_errors import ToolError
from kafka_lite.tools.console import console_producer, replay_log_producer
from kafka_lite.tools.perf import producer_perf_test
from kafka_lite.tools.perf.payloads import monotonic, random_letters, read_payloads
from kafka_lite.tools.perf.performance_stats import Stats, percentiles, rate_text
from kafka_lite.tools.perf.print_metrics import metric_lines, sorted_metrics, value_text
from kafka_lite.tools.verifiable import verifiable_producer
from kafka_lite.tools.verifiable.verifiable_producer import VerifiableProducer

SERVER = ("--bootstrap-server", "broker:9092")


def options(tool: ModuleType, *arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    tool.add_arguments(parser)
    return parser.parse_args(arguments)


def console(*arguments: str) -> argparse.Namespace:
    return options(console_producer, "--topic", "t", *SERVER, *arguments)


# ── console-producer ──────────────────────────────────────────────────────────────────────────────────────────────


def test_defaults_of_the_new_producer_match_kafkas_tool() -> None:
    assert console_producer.new_producer_configs(console()) == {
        "bootstrap.servers": "broker:9092", "client.id": "console-producer", "compression.type": "none", "acks": "-1",
        "linger.ms": 1000, "request.timeout.ms": 1500, "retries": 3, "retry.backoff.ms": 100,
        "send.buffer.bytes": 102_400, "buffer.memory": 33_554_432, "batch.size": 16_384, "max.block.ms": 60_000,
        "metadata.max.age.ms": 300_000,
    }  # fmt: skip


def test_defaults_of_the_old_producer_match_kafkas_tool() -> None:
    assert console_producer.old_producer_configs(console("--old-producer")) == {
        "metadata.broker.list": "broker:9092", "client.id": "console-producer", "compression.codec": "none",
        "producer.type": "async", "request.required.acks": "1", "request.timeout.ms": 1500,
        "message.send.max.retries": 3, "retry.backoff.ms": 100, "batch.num.messages": 200,
        "queue.buffering.max.ms": 1000, "queue.buffering.max.messages": 10_000, "send.buffer.bytes": 102_400,
        "queue.enqueue.timeout.ms": 0x7FFFFFFF, "topic.metadata.refresh.interval.ms": 300_000,
        "serializer.class": "kafka_lite.old_producer.encoder.DefaultEncoder",
        "key.serializer.class": "kafka_lite.old_producer.encoder.DefaultEncoder",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "key", "value"),
    [
        (["--compression-codec"], "compression.type", "gzip"),
        (["--compression-codec", "zstd"], "compression.type", "zstd"),
        (["--batch-size", "10"], "batch.size", 10),
        (["--batch-size", "10", "--max-partition-memory-bytes", "20"], "batch.size", 20),
        (["--max-memory-bytes", "1000"], "buffer.memory", 1000),
        (["--timeout", "5"], "linger.ms", 5),
        (["--sync"], "linger.ms", 0),
        (["--sync", "--timeout", "5"], "linger.ms", 5),
        (["--request-required-acks", "all"], "acks", "all"),
        (["--producer-property", "linger.ms=7"], "linger.ms", "7"),
        (["--producer-property", "linger.ms=7", "--timeout", "5"], "linger.ms", 5),
        (["--producer-property", "compression.type=lz4"], "compression.type", "lz4"),
        (["--producer-property", "client.id=me"], "client.id", "me"),
        (["--producer-property", "sasl.jaas.config=a=b"], "sasl.jaas.config", "a=b"),
    ],
)
def test_flags_override_properties_and_properties_override_defaults(
    arguments: list[str], key: str, value: object
) -> None:
    assert console_producer.new_producer_configs(console(*arguments))[key] == value


def test_configuration_is_read_from_a_properties_file(tmp_path: Path) -> None:
    file = tmp_path / "producer.properties"
    file.write_text("acks=0\nlinger.ms=3\nbootstrap.servers=elsewhere:9092\n")
    configs = console_producer.new_producer_configs(
        console("--producer.config", str(file), "--producer-property", "linger.ms=4")
    )
    assert (configs["acks"], configs["linger.ms"], configs["bootstrap.servers"]) == ("0", "4", "broker:9092")


def test_a_warning_names_the_flags_of_the_other_producer() -> None:
    old_only = ["--queue-size", "5", "--key-serializer", "a.B"]
    new_only = ["--max-block-ms", "5", "--max-memory-bytes", "5"]
    assert console_producer.flags_without_effect(console(*old_only, *new_only)) == ["--queue-size", "--key-serializer"]
    of_the_new = console_producer.flags_without_effect(console("--old-producer", *old_only, *new_only))
    assert of_the_new == ["--max-memory-bytes", "--max-block-ms"]


def test_sync_makes_the_old_producer_synchronous() -> None:
    assert console_producer.old_producer_configs(console("--old-producer", "--sync"))["producer.type"] == "sync"


@pytest.mark.parametrize("entry", ["linger.ms", "=5", ""])
def test_malformed_properties_are_rejected(entry: str) -> None:
    with pytest.raises(ToolError, match=r"--property .*: must be of the form key=value"):
        parse_key_value_args("--property", [entry])


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        client_properties(tmp_path / "none", "--producer-property", [])


# ── producer-perf-test ────────────────────────────────────────────────────────────────────────────────────────────


def test_lines_match_those_of_kafka() -> None:
    time = MockTime()
    stats = Stats(4, 5000, time)
    lines = []
    for number in range(4):
        begin_ms = time.hi_res_ms()
        time.sleep(2000 + number)
        lines.append(stats.record(begin_ms, 1024 * 1024))
    assert lines == [
        None,
        None,
        "3 records sent, 0.5 records/sec (0.50 MB/sec), 2001.0 ms avg latency, 2002.0 ms max latency.",
        None,
    ]
    assert stats.total_line() == (
        "4 records sent, 0.499625 records/sec (0.50 MB/sec), 2001.50 ms avg latency, 2003.00 ms max latency, "
        "2002 ms 50th, 2003 ms 95th, 2003 ms 99th, 2003 ms 99.9th."
    )


def test_totals_without_any_record() -> None:
    time = MockTime()
    assert Stats(1, 5000, time).total_line().startswith("0 records sent, 0.000000 records/sec (0.00 MB/sec), NaN")


def test_only_every_nth_latency_is_kept() -> None:
    stats = Stats(1_500_000, 5000, MockTime())
    for _ in range(30):
        stats.record(0, 1)
    assert len(stats._latencies) == 10


def test_percentiles() -> None:
    assert percentiles(list(range(1000, 0, -1)), (0.5, 0.95, 0.99, 0.999)) == [501, 951, 991, 1000]
    assert percentiles([], (0.5, 0.99)) == [0, 0]
    assert percentiles([7], (0.5, 0.999)) == [7, 7]


def test_rate_without_elapsed_time() -> None:
    assert rate_text(0, 0, 0) == "0 records sent, 0.0 records/sec (0.00 MB/sec)"


def test_payloads_are_reproducible(tmp_path: Path) -> None:
    make = random_letters(1000)
    one, other = make(0), make(1)
    assert one != other
    assert one.isalpha()
    assert one.isupper()
    assert len(one) == 1000
    assert random_letters(1000)(0) == one, "two runs send the same payloads"
    assert monotonic()(17) == b"17"
    file = tmp_path / "payloads"
    file.write_text("a\nb,ü\n\n")
    assert read_payloads(file, "\\n") == [b"a", "b,ü".encode()]
    assert read_payloads(file, ",") == [b"a\nb", "ü\n\n".encode()]
    file.write_text("")
    with pytest.raises(ToolError, match="no payloads found"):
        read_payloads(file, "\\n")
    file.write_bytes(b"\xff")
    with pytest.raises(ToolError, match="UTF-8"):
        read_payloads(file, "\\n")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--num-records", "0", "--record-size", "1", "--throughput", "-1"], "--num-records should be greater"),
        (["--num-records", "1", "--record-size", "0", "--throughput", "-1"], "--record-size should be greater"),
        (["--num-records", "1", "--record-size", "1", "--throughput", "0"], "would never finish"),
    ],
)
def test_numbers_that_would_send_nothing_are_rejected(arguments: list[str], says: str) -> None:
    with pytest.raises(ToolError, match=says):
        producer_perf_test.check_numbers(options(producer_perf_test, "--topic", "t", *arguments))


def test_performance_test_needs_bootstrap_servers() -> None:
    base = ["--topic", "t", "--num-records", "1", "--record-size", "1", "--throughput", "-1"]
    with pytest.raises(ToolError, match="no brokers given"):
        producer_perf_test.producer_configs(options(producer_perf_test, *base))
    given = options(producer_perf_test, *base, "--producer-props", "bootstrap.servers=b:1", "acks=1")
    assert producer_perf_test.producer_configs(given) == {
        "client.id": "perf-producer-client", "bootstrap.servers": "b:1", "acks": "1"
    }  # fmt: skip


# ── verifiable-producer ───────────────────────────────────────────────────────────────────────────────────────────


class FakeProducer:
    """Acknowledges every other record and fails the rest."""

    def __init__(self) -> None:
        self.records: list[ProducerRecord] = []

    def send(self, record: ProducerRecord, callback: Callable[..., None]) -> None:
        offset = len(self.records)
        self.records.append(record)
        if offset % 2:
            callback(None, Errors.NOT_LEADER_OR_FOLLOWER.exception("not here"))
        else:
            callback(RecordMetadata(record.topic, 0, offset), None)

    def close(self) -> None:
        pass


def events(*arguments: str) -> tuple[list[ProducerRecord], list[dict[str, Any]]]:
    producer, out, time = FakeProducer(), io.StringIO(), MockTime(start_ms=1000)
    given = options(verifiable_producer, "--topic", "t", *SERVER, *arguments)
    tool = VerifiableProducer(cast(KafkaProducer, producer), given, out, time)
    tool.send_all()
    time.sleep(1000)
    tool.close()
    return producer.records, [json.loads(line) for line in out.getvalue().splitlines()]


def test_one_event_per_line() -> None:
    records, lines = events("--max-messages", "2")
    assert [record.value for record in records] == ["0", "1"]
    assert lines == [
        {"timestamp": 1000, "name": "startup_complete"},
        {"timestamp": 1000, "name": "producer_send_success", "key": None, "value": "0", "topic": "t", "partition": 0,
         "offset": 0},
        {"timestamp": 1000, "name": "producer_send_error", "key": None, "value": "1", "topic": "t",
         "exception": "class kafka_lite.common.errors.ApiError", "message": "not here"},
        {"timestamp": 2000, "name": "shutdown_complete"},
        {"timestamp": 2000, "name": "tool_data", "sent": 2, "acked": 1, "target_throughput": -1,
         "avg_throughput": 1.0},
    ]  # fmt: skip


def test_prefix_keys_and_timestamps() -> None:
    records, _ = events(
        *("--max-messages", "3", "--value-prefix", "7", "--repeating-keys", "2", "--message-create-time", "500")
    )
    assert [(record.key, record.value) for record in records] == [("0", "7.0"), ("1", "7.1"), ("0", "7.2")]
    assert [record.timestamp for record in records] == [500, 500, 500]


def test_retries_are_disabled_unless_a_file_enables_them(tmp_path: Path) -> None:
    given = options(verifiable_producer, "--topic", "t", *SERVER, "--acks", "1")
    assert verifiable_producer.producer_configs(given) == {
        "bootstrap.servers": "broker:9092", "acks": "1", "retries": "0"
    }  # fmt: skip
    file = tmp_path / "file"
    file.write_text("retries=5\n")
    given.producer_config = file
    assert verifiable_producer.producer_configs(given)["retries"] == "5"


# ── the rest ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_metrics_are_printed_as_kafka_prints_them() -> None:
    metrics = Metrics(MetricConfig(tags=(("client-id", "me"),)), time=MockTime())
    metrics.add_metric(metrics.metric_name("rate", "group", tags={"topic": "t"}), lambda _config, _now: 1 / 3)
    rows = [(name, value_text(value)) for name, value in sorted_metrics(metrics.metrics)]
    assert metric_lines(rows) == [
        "",
        "Metric Name                                Value",
        "group:rate:{client-id=me, topic=t}       : 0.333",
        "kafka-metrics-count:count:{client-id=me} : 2.000",
    ]


@pytest.mark.parametrize(
    ("value", "text"), [(1.0, "1.000"), (math.nan, "NaN"), (-math.inf, "-Infinity"), ("text", "text"), (3, "3")]
)
def test_values_are_printed_as_java_prints_them(value: float | str, text: str) -> None:
    assert value_text(value) == text


def test_replay_starts_at_the_smallest_offset() -> None:
    configs = replay_log_producer.consumer_configs("zk:2181")
    assert configs["auto.offset.reset"] == "smallest"
    assert configs["group.id"] == "replay-log-producer"
