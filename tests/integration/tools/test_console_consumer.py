"""The console consumer as a process, with either consumer: signals, pipes, errors, groups."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.testing.cluster import Cluster
from kafka_lite.tools.admin.admin_channel import AdminChannel
from kafka_lite.tools.main import main
from tests.support.eventually import eventually
from tests.support.old_consumers import Group
from tests.support.patience import patient_s

TIMEOUT_S = 120
CONSUMERS = ["new", "old"]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster() as running:
        running.create_topic("t", 2)
        running.produce("t", "a", "b", key="k")
        running.produce("t", "c", partition=1)
        yield running


def where(cluster: Cluster, kind: str) -> list[str]:
    if kind == "new":
        return ["--bootstrap-server", cluster.bootstrap_servers]
    return ["--zookeeper", cluster.zookeeper_connect]


def start(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "error", "-m", "kafka_lite.tools.main", "console-consumer", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(*arguments: str) -> tuple[int, str, str]:
    with start(*arguments) as process:
        out, err = process.communicate(timeout=patient_s(TIMEOUT_S))
        return process.returncode, out, err


@pytest.mark.parametrize("kind", CONSUMERS)
def test_all_messages_of_a_topic_are_printed(cluster: Cluster, kind: str) -> None:
    code, out, err = run(*where(cluster, kind), "--topic", "t", "--from-beginning", "--max-messages", "3")
    assert (code, sorted(out.splitlines())) == (0, ["a", "b", "c"])
    assert err.endswith("Processed a total of 3 messages\n")


@pytest.mark.parametrize("kind", CONSUMERS)
def test_topics_are_selected_by_a_pattern(cluster: Cluster, kind: str) -> None:
    code, out, _ = run(*where(cluster, kind), "--include", "[st]", "--from-beginning", "--max-messages", "3")
    assert (code, sorted(out.splitlines())) == (0, ["a", "b", "c"])


@pytest.mark.parametrize("kind", CONSUMERS)
def test_a_timeout_without_messages_ends_it(cluster: Cluster, kind: str) -> None:
    code, out, err = run(*where(cluster, kind), "--topic", "t", "--timeout-ms", "300")
    assert (code, out) == (0, "")
    assert "no message within 300 ms" in err


@pytest.mark.parametrize(("kind", "number"), [("new", signal.SIGTERM), ("old", signal.SIGINT)])
def test_a_signal_ends_it_cleanly(cluster: Cluster, kind: str, number: signal.Signals) -> None:
    """The group continues where it stopped."""
    name = f"{kind}-{number.name}"
    arguments = [*where(cluster, kind), "--topic", "t", "--consumer-property", f"group.id={name}"]
    with start(*arguments, "--from-beginning", "--enable-systest-events") as process:
        assert process.stdout is not None
        seen = sorted(process.stdout.readline() for _ in range(3))
        process.send_signal(number)
        out, err = process.communicate(timeout=patient_s(TIMEOUT_S))
    assert (seen, out) == (["a\n", "b\n", "c\n"], "shutdown_complete\n")
    assert err.endswith("Processed a total of 3 messages\n")
    code, out, _ = run(*arguments, "--timeout-ms", "1500")
    assert (code, out) == (0, "")


@pytest.mark.parametrize("kind", CONSUMERS)
def test_a_broken_pipe_ends_it_quietly(cluster: Cluster, kind: str) -> None:
    with start(*where(cluster, kind), "--topic", "t", "--from-beginning") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        for _ in range(200):
            cluster.produce("t", "unread", partition=1)
            if process.poll() is not None:
                break
        err = process.stderr.read()
        process.wait(patient_s(TIMEOUT_S))
    assert "Unable to write to standard out, closing consumer." in err
    assert "Traceback" not in err


@pytest.mark.parametrize("kind", CONSUMERS)
def test_a_message_that_cannot_be_formatted_is_reported(cluster: Cluster, kind: str) -> None:
    cluster.create_topic(f"odd-{kind}")
    cluster.produce(f"odd-{kind}", b"\0\0\0\x07", "odd", b"\0\0\0\x08")
    arguments = [*where(cluster, kind), "--topic", f"odd-{kind}", "--from-beginning", "--max-messages", "3"]
    integers = ["--value-deserializer", "org.apache.kafka.common.serialization.IntegerDeserializer"]
    code, out, err = run(*arguments, *integers)
    assert (code, out) == (1, "7\n")
    assert "3 bytes are not 4" in err
    code, out, err = run(*arguments, *integers, "--skip-message-on-error")
    assert (code, out) == (0, "7\n8\n")
    assert "skipping this message" in err


def test_a_partition_that_the_topic_does_not_have_is_an_error(cluster: Cluster) -> None:
    code, out, err = run(*where(cluster, "new"), "--topic", "t", "--partition", "9")
    assert (code, out) == (1, "")
    assert "The topic t has no partition 9; it has 2: 0 to 1" in err


def test_one_partition_from_an_offset(cluster: Cluster) -> None:
    arguments = [*where(cluster, "new"), "--topic", "t", "--partition", "0", "--max-messages", "1"]
    assert run(*arguments, "--offset", "1")[:2] == (0, "b\n")
    assert run(*arguments, "--offset", "earliest", "--property", "print.key=true")[:2] == (0, "k\ta\n")


def test_a_group_with_a_generated_name_leaves_nothing_in_zookeeper(cluster: Cluster) -> None:
    run(*where(cluster, "old"), "--topic", "t", "--from-beginning", "--max-messages", "1")
    group = Group(cluster.zookeeper_connect, "g")
    eventually(lambda: not any(name.startswith("console-consumer") for name in group.groups.get_groups()))
    group.close()


def test_from_beginning_ignores_committed_offsets(cluster: Cluster) -> None:
    arguments = [*where(cluster, "old"), "--topic", "t", "--from-beginning", "--max-messages", "2", "--group", "again"]
    assert run(*arguments)[0] == 0
    code, out, err = run(*arguments)
    assert (code, out) == (1, "")
    assert "Found previous offset information for this group again. Please use --delete-consumer-offsets" in err
    code, out, _ = run(*arguments, "--delete-consumer-offsets")
    assert (code, len(out.splitlines())) == (0, 2)


@pytest.mark.soak
def test_metrics_are_written_as_csv(cluster: Cluster, tmp_path: Path) -> None:
    arguments = [*where(cluster, "old"), "--topic", "t", "--from-beginning", "--csv-reporter-enabled"]
    with start(*arguments, "--metrics-dir", str(tmp_path)) as process:
        eventually(lambda: list(tmp_path.glob("kafka.consumer.ConsumerTopicMetrics.MessagesPerSec.*.csv")))
        process.terminate()
        process.communicate(timeout=patient_s(TIMEOUT_S))


def test_unreachable_brokers_are_reported(cluster: Cluster) -> None:
    group = Group(cluster.zookeeper_connect, "g")
    group.zk.zookeeper.ensure_path("/nowhere")
    group.close()
    code, out, err = run("--zookeeper", f"{cluster.zookeeper_connect}/nowhere", "--topic", "t")
    assert (code, out) == (1, "")
    assert "No brokers found in ZK." in err


@pytest.mark.parametrize(
    "arguments",
    [
        ["console-consumer", "--bootstrap-server", "SERVERS", "--topic", "nope", "--timeout-ms", "100"],
        ["console-consumer", "--zookeeper", "ZOOKEEPER", "--topic", "nope", "--timeout-ms", "100"],
        [
            "consumer-perf-test",
            "--bootstrap-server",
            "SERVERS",
            "--topic",
            "nope",
            "--messages",
            "1",
            "--timeout",
            "100",
        ],
        ["simple-consumer-shell", "--broker-list", "SERVERS", "--topic", "nope"],
        ["end-to-end-latency", "SERVERS", "nope", "1", "1", "10"],
        ["get-offsets", "--bootstrap-server", "SERVERS", "--topic", "nope"],
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_reading_a_topic_that_does_not_exist_does_not_create_it(cluster: Cluster, arguments: list[str]) -> None:
    places = {"SERVERS": cluster.bootstrap_servers, "ZOOKEEPER": cluster.zookeeper_connect}
    main([places.get(each, each) for each in arguments])
    with AdminChannel(cluster.bootstrap_servers) as channel:
        assert "nope" not in channel.topic_names()


def test_a_topic_that_does_not_exist_is_reported_and_read_once_it_exists(cluster: Cluster) -> None:
    arguments = [*where(cluster, "new"), "--topic", "later"]
    code, out, err = run(*arguments, "--timeout-ms", "100")
    assert (code, out) == (1, "")
    assert "The topic later does not exist. Its messages are read once it exists" in err
    assert "no message within 100 ms: the topic later does not exist" in err
    update_soon = ["--consumer-property", "metadata.max.age.ms=200"]
    with start(*arguments, *update_soon, "--from-beginning", "--max-messages", "1") as process:
        assert process.stderr is not None
        assert any("The topic later does not exist" in line for line in process.stderr)
        cluster.create_topic("later")
        cluster.produce("later", "at last")
        out, _ = process.communicate(timeout=patient_s(TIMEOUT_S))
    assert (process.returncode, out) == (0, "at last\n")


def test_a_topic_is_created_if_asked_for(cluster: Cluster) -> None:
    wanted = ["--consumer-property", "allow.auto.create.topics=true"]
    run(*where(cluster, "new"), "--topic", "wanted", "--timeout-ms", "100", *wanted)
    with AdminChannel(cluster.bootstrap_servers) as channel:
        assert "wanted" in channel.topic_names()


def test_no_broker_at_the_address_is_said_at_once_and_at_the_end() -> None:
    code, out, err = run("--bootstrap-server", "127.0.0.1:1", "--topic", "t", "--timeout-ms", "100")
    assert (code, out) == (1, "")
    assert "Connection to node -1 (127.0.0.1:1) could not be established. Is a broker running there?" in err
    assert "No broker has responded yet: is one running at 127.0.0.1:1?" in err
