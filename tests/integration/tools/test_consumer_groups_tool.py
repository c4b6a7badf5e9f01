"""consumer-groups against a running broker, with groups of real consumers, new and old."""

import argparse
import os
import pty
import select
import signal
import subprocess
import sys
import threading

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from kafka_lite.common.errors import Errors
from kafka_lite.old_consumer.zookeeper_consumer_connector import Consumer as OldConsumer
from kafka_lite.testing.cluster import Cluster
from kafka_lite.tools.groups import consumer_groups
from tests.support.eventually import eventually
from tests.support.patience import patient_s
from tests.support.raw_member import RawMember


@pytest.fixture(scope="module")
def cluster():
    with Cluster() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def flights(cluster):
    """A topic with 30 records in partition 0 and 20 in partition 1."""
    cluster.create_topic("flights", partitions=2)
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
    for partition, count in ((0, 30), (1, 20)):
        for number in range(count):
            producer.produce("flights", str(number), partition=partition)
    assert producer.flush(patient_s(30)) == 0
    return "flights"


@pytest.fixture
def tool(cluster, capsys):
    def run(*arguments, zookeeper=False):
        """(exit code, lines of stdout as words, stderr)."""
        parser = argparse.ArgumentParser()
        consumer_groups.add_arguments(parser)
        where = (
            ["--zookeeper", cluster.zookeeper_connect]
            if zookeeper
            else ["--bootstrap-server", cluster.bootstrap_servers]
        )
        capsys.readouterr()
        code = consumer_groups.run(parser.parse_args([*where, *arguments]))
        captured = capsys.readouterr()
        return code, [line.split() for line in captured.out.splitlines()], captured.err

    return run


def commit(cluster, group, offsets):
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": group, "log_level": 0})
    consumer.commit(offsets=[TopicPartition("flights", p, offset) for p, offset in offsets.items()], asynchronous=False)
    consumer.close()


def offsets_of(tool, group):
    _, lines, _ = tool("--describe", "--group", group)
    return {int(words[2]): int(words[3]) for words in lines[1:]}


def test_an_active_group_is_described(cluster, flights, tool):
    config = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "at-work", "client.id": "ada", "log_level": 0}
    consumer = Consumer({**config, "auto.offset.reset": "earliest", "enable.auto.commit": "false"})
    try:
        consumer.subscribe([flights])
        seen = []
        while len(seen) < 50:
            seen += [message for message in consumer.consume(10, 1) if not message.error()]
        consumer.commit(asynchronous=False)
        code, lines, _ = tool("--describe", "--group", "at-work")
        assert code == 0
        assert lines[0][:6] == ["GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG"]
        assert [words[1:6] for words in lines[1:]] == [
            ["flights", "0", "30", "30", "0"],
            ["flights", "1", "20", "20", "0"],
        ]
        assert all(words[6].startswith("ada-") and words[7:] == ["/127.0.0.1", "ada"] for words in lines[1:])
        _, members, _ = tool("--describe", "--group", "at-work", "--members", "--verbose")
        assert members[1][-2:] == ["2", "flights(0,1)"]
        _, state, _ = tool("--describe", "--group", "at-work", "--state")
        assert state[1][-3:] == ["range", "Stable", "1"]
        _, listed, _ = tool("--list", "--state", "stable")
        assert ["at-work", "Stable"] in listed
        code, _, error = tool("--reset-offsets", "--group", "at-work", "--all-topics", "--to-earliest", "--execute")
        assert (code, "the current state is Stable" in error) == (1, True)
        code, lines, _ = tool("--delete", "--group", "at-work")
        assert (code, "NON_EMPTY_GROUP:" in lines[0]) == (1, True)
    finally:
        consumer.close()
    _, _, error = tool("--describe", "--group", "at-work")
    assert "has no active members" in error


def test_offsets_are_reset_shifted_and_exported(cluster, flights, tool, tmp_path):
    commit(cluster, "moved", {0: 10, 1: 10})
    reset = ["--reset-offsets", "--group", "moved"]
    _, planned, error = tool(*reset, "--topic", flights, "--to-latest")
    assert planned[1:] == [["moved", "flights", "0", "30"], ["moved", "flights", "1", "20"]]
    assert "nothing is changed without --execute" in error
    assert offsets_of(tool, "moved") == {0: 10, 1: 10}
    tool(*reset, "--topic", "flights:1", "--to-offset", "99", "--execute")
    assert offsets_of(tool, "moved") == {0: 10, 1: 20}
    tool(*reset, "--all-topics", "--shift-by", "-15", "--execute")
    assert offsets_of(tool, "moved") == {0: 0, 1: 5}
    _, lines, _ = tool(*reset, "--all-topics", "--to-current", "--export")
    assert lines == [["flights,0,0"], ["flights,1,5"]]
    plan = tmp_path / "plan.csv"
    plan.write_text("flights,0,3\nflights,1,4\n")
    tool(*reset, "--from-file", str(plan), "--execute")
    assert offsets_of(tool, "moved") == {0: 3, 1: 4}
    tool(*reset, "--all-topics", "--by-duration", "P1D", "--execute")
    assert offsets_of(tool, "moved") == {0: 0, 1: 0}
    code, _, error = tool(*reset, "--topic", "nowhere", "--to-latest")
    assert (code, error.splitlines()[-1].startswith("--topic: unknown topic nowhere. ")) == (1, True)


def test_groups_and_offsets_are_deleted(cluster, flights, tool):
    commit(cluster, "old-news", {0: 1, 1: 2})
    code, lines, _ = tool("--delete-offsets", "--group", "old-news", "--topic", "flights:0")
    assert (code, lines[-1]) == (0, ["flights", "0", "Successful"])
    assert offsets_of(tool, "old-news") == {1: 2}
    code, lines, _ = tool("--delete", "--group", "old-news", "--group", "nobody")
    assert code == 1
    assert lines[0][:3] == ["*", "Group", "'nobody'"]
    assert lines[1][-1] == "'old-news'"
    code, _, error = tool("--describe", "--group", "old-news")
    assert (code, error) == (1, "Error: Consumer group 'old-news' does not exist.\n")


def test_a_connect_group_is_reported_as_no_consumer_group(cluster, tool):
    group = ["--group", "connect-cluster"]
    refusal = "GroupId connect-cluster is not a consumer group (connect).\n"
    with RawMember(cluster.bootstrap_servers, group[1], "config", protocol_type="connect") as worker:
        assert worker.join() is Errors.NONE
        assert worker.sync(lambda members: dict.fromkeys(members, b"\x00\x01")) is Errors.NONE
        for what in ([], ["--members"], ["--state"]):
            assert tool("--describe", *group, *what) == (1, [], refusal)
        code, lines, error = tool("--reset-offsets", *group, "--all-topics", "--to-earliest", "--dry-run")
        assert (code, lines, error) == (1, [], refusal)
        assert ["connect-cluster"] not in tool("--list")[1]
        assert "connect-cluster" not in tool("--describe", "--all-groups")[2]
        code, lines, _ = tool("--delete", *group)
        assert (code, "NON_EMPTY_GROUP:" in lines[0]) == (1, True)
        assert worker.leave() is Errors.NONE
        assert tool("--describe", *group) == (1, [], refusal)
        assert tool("--delete", *group)[0] == 0


def test_the_group_of_an_old_consumer(cluster, flights, tool):
    config = {
        "zookeeper.connect": cluster.zookeeper_connect, "group.id": "old", "consumer.id": "ann",
        "auto.offset.reset": "smallest", "auto.commit.enable": "false",
    }  # fmt: skip
    consumer = OldConsumer.create(config)
    try:
        stream = consumer.create_message_streams({flights: 1})[flights][0]
        messages = []
        reader = threading.Thread(target=lambda: messages.extend(stream))
        reader.start()
        eventually(lambda: len(messages) == 50)
        consumer.commit_offsets()
        code, lines, _ = tool("--describe", "--group", "old", zookeeper=True)
        assert code == 0
        assert lines[0][-1] == "CONSUMER-ID"
        assert [words[1:] for words in lines[1:]] == [
            ["flights", "0", "30", "30", "0", "old_ann"], ["flights", "1", "20", "20", "0", "old_ann"],
        ]  # fmt: skip
        code, _, error = tool("--delete", "--group", "old", zookeeper=True)
        assert (code, "its consumers are still active" in error) == (1, True)
    finally:
        consumer.shutdown()
    reader.join(patient_s(60))
    assert tool("--list", zookeeper=True)[1] == [["old"]]
    assert tool("--delete", "--group", "old", zookeeper=True)[0] == 0
    assert tool("--list", zookeeper=True)[1] == []
    code, _, error = tool("--describe", "--group", "old", zookeeper=True)
    assert (code, error) == (1, "Error: The consumer group 'old' does not exist.\n")


def test_a_group_is_watched_on_a_terminal_until_ctrl_c(cluster, flights):
    commit(cluster, "watched", {0: 25, 1: 20})
    terminal, of_tool = pty.openpty()
    watched = ["--bootstrap-server", cluster.bootstrap_servers, "--describe", "--group", "watched", "--watch"]
    process = subprocess.Popen(
        [sys.executable, "-m", "kafka_lite.tools.main", "consumer-groups", *watched],
        stdin=of_tool, stdout=of_tool, stderr=of_tool, env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
    )  # fmt: skip
    shown = bytearray()

    def shows(*words):
        shown.extend(os.read(terminal, 1 << 16) if select.select([terminal], [], [], 0)[0] else b"")
        return all(word in shown for word in words)

    try:
        eventually(lambda: shows(b"watched", b"flights", b"30", b"25"), shown.decode)
        commit(cluster, "watched", {0: 28})
        eventually(lambda: shows(b"28"), shown.decode)
        process.send_signal(signal.SIGINT)
        assert process.wait(patient_s(20)) in (0, 130)
    finally:
        process.kill()
        process.wait()
        os.close(of_tool)
        os.close(terminal)
