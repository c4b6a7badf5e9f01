"""The producer tools as processes: pipes, signals and exit codes, against a broker."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.testing.cluster import Cluster
from kafka_lite.tools.main import main
from kafka_lite.tools.zookeeper import zookeeper_session
from tests.support.patience import patient_s

TIMEOUT_S = 60
TOOL = [sys.executable, "-m", "kafka_lite.tools.main"]
NUMBER = r"\d+(\.\d+)?"
TOTAL_LINE = re.compile(
    rf"(?P<count>\d+) records sent, {NUMBER} records/sec \({NUMBER} MB/sec\), {NUMBER} ms avg latency, "
    rf"{NUMBER} ms max latency, \d+ ms 50th, \d+ ms 95th, \d+ ms 99th, \d+ ms 99.9th\."
)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster() as cluster:
        yield cluster


@pytest.fixture
def topic(cluster: Cluster, request: pytest.FixtureRequest) -> str:
    name = re.sub(r"\W", "-", request.node.name)[:100]
    cluster.create_topic(name)
    return name


def run(*arguments: str | Path, stdin: str | bytes = b"") -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [*TOOL, *map(str, arguments)],
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        capture_output=True,
        timeout=patient_s(TIMEOUT_S),
        check=False,
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def console(cluster: Cluster, topic: str, *arguments: str, stdin: str | bytes) -> subprocess.CompletedProcess[str]:
    server = ("--bootstrap-server", cluster.bootstrap_servers)
    # The machine may be slow: whether a response comes within 1.5 s is not tested here.
    patience = ("--timeout", "0", "--request-timeout-ms", "30000")
    return run("console-producer", *server, "--topic", topic, *patience, *arguments, stdin=stdin)


# ── console-producer ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("mode", [[], ["--sync"], ["--old-producer"], ["--old-producer", "--sync"]], ids=" ".join)
def test_lines_become_messages(cluster: Cluster, topic: str, mode: list[str]) -> None:
    done = console(cluster, topic, *mode, stdin="one\ntwo\r\nthree")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert cluster.values(topic) == [b"one", b"two", b"three"]


def test_keys_headers_and_codecs(cluster: Cluster, topic: str) -> None:
    properties = ("--property", "parse.key=true", "--property", "parse.headers=true", "--property", "key.separator=:")
    done = console(cluster, topic, *properties, "--compression-codec", stdin="a:1,b:2\tkey:value\n")
    assert done.returncode == 0, done.stderr
    (record,) = cluster.records(topic)
    assert (record.key, record.value) == (b"key", b"value")
    assert list(record.headers) == [("a", b"1"), ("b", b"2")]


def test_a_line_without_a_key_ends_it_after_the_previous_lines_are_sent(cluster: Cluster, topic: str) -> None:
    done = console(cluster, topic, "--property", "parse.key=true", stdin="k\tv\nnothing\nk\tw\n")
    assert done.returncode == 1
    assert "No key separator found on line number 2: 'nothing'" in done.stderr
    assert cluster.values(topic) == [b"v"]


@pytest.mark.parametrize("mode", [[], ["--old-producer"]], ids=" ".join)
def test_a_failed_send_is_reported_and_sets_the_exit_code(cluster: Cluster, topic: str, mode: list[str]) -> None:
    with cluster.inject("Produce", Errors.TOPIC_AUTHORIZATION_FAILED).always():
        done = console(cluster, topic, *mode, "--message-send-max-retries", "0", stdin="secret\n")
    assert done.returncode == 1
    assert topic in done.stderr
    assert "Some messages were not sent; the errors above say why." in done.stderr
    assert cluster.values(topic) == []


def test_unreachable_brokers_are_reported() -> None:
    arguments = ("console-producer", "--bootstrap-server", "127.0.0.1:1", "--topic", "t")
    done = run(*arguments, "--max-block-ms", "300", stdin="v\n")
    assert done.returncode == 1
    warning = "Connection to node -1 (127.0.0.1:1) could not be established. Is a broker running there? Trying again."
    assert done.stderr.count(warning) == 1
    assert "after 300 ms. No broker has responded yet: is one running at 127.0.0.1:1?" in done.stderr
    done = run(*arguments, "--old-producer", "--sync", "--message-send-max-retries", "0", stdin="v\n")
    assert done.returncode == 1
    assert "cannot connect to 127.0.0.1:1" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--compression-codec", "zip"], "must be one of: none, gzip"),
        (["--producer-property", "linger"], "must be of the form key=value"),
        (["--producer.config", "/no/such/file"], "/no/such/file: No such file or directory"),
        (["--line-reader", "no.such.Reader"], "package.module.Class"),
        (["--old-producer", "--property", "parse.headers=true"], "cannot send headers"),
    ],
)
def test_contradictory_flags_are_rejected(cluster: Cluster, topic: str, arguments: list[str], says: str) -> None:
    done = console(cluster, topic, *arguments, stdin="h:1\tv\n")
    assert done.returncode == 1
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_a_custom_record_reader_is_used(cluster: Cluster, topic: str, tmp_path: Path) -> None:
    (tmp_path / "my_reader.py").write_text(
        "from kafka_lite.producer import ProducerRecord\n"
        "from kafka_lite.tools.console.record_reader import RecordReader\n"
        "class Words(RecordReader):\n"
        "    def configure(self, properties):\n"
        "        self.topic, self.prefix = properties['topic'], properties['prefix'].encode()\n"
        "    def read_records(self, stream):\n"
        "        return (ProducerRecord(self.topic, self.prefix + word) for word in stream.read().split())\n"
    )
    arguments = ("--line-reader", "my_reader.Words", "--property", "prefix=>")
    server = ("--bootstrap-server", cluster.bootstrap_servers, "--topic", topic)
    done = subprocess.run(
        [*TOOL, "console-producer", *server, *arguments], input=b"a b\nc", capture_output=True, check=False,
        timeout=patient_s(TIMEOUT_S), env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert cluster.values(topic) == [b">a", b">b", b">c"]


def test_prompts_on_a_terminal(cluster: Cluster, topic: str) -> None:
    """A prompt, a message as soon as its line is entered, and Ctrl-C, after which everything is sent."""
    server = ("--bootstrap-server", cluster.bootstrap_servers, "--topic", topic, "--timeout", "0")
    shown = bytearray()
    terminal, its_side = pty.openpty()
    command = [*TOOL, "console-producer", *server]
    with subprocess.Popen(command, stdin=its_side, stdout=its_side, stderr=its_side) as process:
        os.close(its_side)
        watchdog = threading.Timer(patient_s(TIMEOUT_S), process.kill)
        watchdog.start()
        await_output(terminal, shown, b">")
        os.write(terminal, b"first\n")
        cluster.wait_for_records(topic, 1, timeout_s=patient_s(TIMEOUT_S))
        os.write(terminal, b"second\n")
        await_output(terminal, shown, b"second\r\n>")
        process.send_signal(signal.SIGINT)
        await_end(terminal, shown)
        watchdog.cancel()
    os.close(terminal)
    assert process.returncode == 130
    assert b"Ctrl-D ends" in shown
    assert cluster.values(topic) == [b"first", b"second"]


def await_output(terminal: int, shown: bytearray, expected: bytes) -> None:
    while expected not in shown:
        shown += os.read(terminal, 4096)


def await_end(terminal: int, shown: bytearray) -> None:
    try:
        while part := os.read(terminal, 4096):
            shown += part
    except OSError:
        pass  # how Linux reports that no process has the terminal open any more


# ── producer-perf-test ────────────────────────────────────────────────────────────────────────────────────────────


def test_the_performance_test_prints_its_figures(cluster: Cluster, topic: str) -> None:
    arguments = ("--topic", topic, "--num-records", "2000", "--record-size", "100", "--throughput", "-1")
    done = run(
        "producer-perf-test", *arguments, "--producer-props", f"bootstrap.servers={cluster.bootstrap_servers}",
        "linger.ms=5", "--print-metrics",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    total, _, header, *metrics = done.stdout.splitlines()
    matched = TOTAL_LINE.fullmatch(total)
    assert matched is not None, total
    assert matched["count"] == "2000"
    assert header.split() == ["Metric", "Name", "Value"]
    values = dict(line.rsplit(" : ", 1) for line in metrics)
    sent = {name.strip(): value for name, value in values.items()}
    assert sent["producer-metrics:record-send-total:{client-id=perf-producer-client}"] == "2000.000"
    assert (
        sent[f"producer-topic-metrics:record-send-total:{{client-id=perf-producer-client, topic={topic}}}"]
        == "2000.000"
    )
    payloads = cluster.values(topic)
    assert len(payloads) == 2000
    assert all(value is not None and len(value) == 100 and value.isalpha() and value.isupper() for value in payloads)


def test_payloads_are_read_from_a_file(cluster: Cluster, topic: str, tmp_path: Path) -> None:
    file = tmp_path / "payloads.txt"
    file.write_text("a;b;c")
    done = run(
        "producer-perf-test", "--topic", topic, "--num-records", "50", "--payload-file", file,
        "--payload-delimiter", ";", "--throughput", "1000", "--bootstrap-server", cluster.bootstrap_servers,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    reading, read, total = done.stdout.splitlines()
    assert reading == f"Reading payloads from: {file}"
    assert read == "Number of messages read: 3"
    assert TOTAL_LINE.fullmatch(total)
    assert set(cluster.values(topic)) == {b"a", b"b", b"c"}


def test_a_failing_performance_test_reports_errors(cluster: Cluster, topic: str) -> None:
    arguments = ("--topic", topic, "--num-records", "5", "--payload-monotonic", "--throughput", "-1")
    with cluster.inject("Produce", Errors.TOPIC_AUTHORIZATION_FAILED).always():
        done = run("producer-perf-test", *arguments, "--bootstrap-server", cluster.bootstrap_servers)
    assert done.returncode == 1
    assert done.stdout.startswith("0 records sent")
    assert "5 records were not sent: TOPIC_AUTHORIZATION_FAILED" in done.stderr


# ── verifiable-producer ───────────────────────────────────────────────────────────────────────────────────────────


def verifiable(cluster: Cluster, topic: str, *arguments: str) -> list[str]:
    return [*TOOL, "verifiable-producer", "--broker-list", cluster.bootstrap_servers, "--topic", topic, *arguments]


def test_the_verifiable_producer_prints_an_event_per_record(cluster: Cluster, topic: str) -> None:
    done = run(*verifiable(cluster, topic, "--max-messages", "20", "--value-prefix", "3")[3:])
    assert (done.returncode, done.stderr) == (0, "")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["name"] for event in (events[0], *events[-2:])] == [
        "startup_complete", "shutdown_complete", "tool_data"
    ]  # fmt: skip
    successes = events[1:-2]
    assert all(event["name"] == "producer_send_success" for event in successes)
    assert [event["value"] for event in successes] == [f"3.{number}" for number in range(20)]
    assert [event["offset"] for event in successes] == list(range(20))
    assert (events[-1]["sent"], events[-1]["acked"]) == (20, 20)
    assert cluster.values(topic) == [event["value"].encode() for event in successes]


def test_errors_are_events(cluster: Cluster, topic: str) -> None:
    with cluster.inject("Produce", Errors.NOT_LEADER_OR_FOLLOWER).times(1):
        done = run(*verifiable(cluster, topic, "--max-messages", "1")[3:])
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["name"] for event in events] == [
        "startup_complete", "producer_send_error", "shutdown_complete", "tool_data"
    ]  # fmt: skip
    assert (events[1]["topic"], events[1]["value"]) == (topic, "0")
    assert events[-1]["acked"] == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it_after_all_records_are_acknowledged(
    cluster: Cluster, topic: str, number: signal.Signals
) -> None:
    command = verifiable(cluster, topic, "--throughput", "100")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        watchdog = threading.Timer(patient_s(TIMEOUT_S), process.kill)
        watchdog.start()
        assert process.stdout is not None
        lines = first_lines(process.stdout, 10)
        process.send_signal(number)
        lines += process.stdout.readlines()
        watchdog.cancel()
    assert process.returncode == 0
    *events, last = [json.loads(line) for line in lines]
    assert last["name"] == "tool_data"
    acked = [event for event in events if event["name"] == "producer_send_success"]
    assert last["sent"] == last["acked"] == len(acked) == len(cluster.values(topic))


def first_lines(stream: IO[str], count: int) -> list[str]:
    return [stream.readline() for _ in range(count)]


# ── replay-log-producer ───────────────────────────────────────────────────────────────────────────────────────────


def test_a_replay_copies_messages_from_the_beginning(cluster: Cluster, topic: str) -> None:
    again = f"{topic}-again"
    cluster.create_topic(again)
    for number in range(20):
        cluster.produce(topic, f"message {number}", key=f"key {number % 3}")
    base = ("replay-log-producer", "--inputtopic", topic, "--outputtopic", again, "--broker-list")
    zookeeper = ("--zookeeper", cluster.zookeeper_connect)
    done = run(*base, cluster.bootstrap_servers, *zookeeper, "--messages", "15", "--reporting-interval", "10")
    assert (done.returncode, done.stdout) == (0, "Sent 15 messages\n"), done.stderr
    assert "Sent 10 messages so far" in done.stderr
    assert [(record.key, record.value, record.timestamp_ms) for record in cluster.records(again)] == [
        (record.key, record.value, record.timestamp_ms) for record in cluster.records(topic)[:15]
    ]
    done = run(*base, cluster.bootstrap_servers, *zookeeper, "--messages", "5", "--sync")
    assert cluster.values(again)[15:] == cluster.values(topic)[:5], "another replay starts at the beginning"


def test_a_replay_without_zookeeper_is_reported(
    cluster: Cluster, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zookeeper_session, "CONNECTION_TIMEOUT_MS", 200)
    arguments = ["--inputtopic", "a", "--outputtopic", "b", "--broker-list", cluster.bootstrap_servers]
    assert main(["replay-log-producer", *arguments, "--zookeeper", "127.0.0.1:1"]) == 1
    said = capsys.readouterr().err
    assert "127.0.0.1:1" in said
    assert "Traceback" not in said
