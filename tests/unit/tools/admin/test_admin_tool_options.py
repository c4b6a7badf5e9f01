import argparse
from dataclasses import replace
from uuid import UUID

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.tools.admin import get_offsets, topics
from kafka_lite.tools.admin.broker_api_versions import api_lines, api_name
from kafka_lite.tools.admin.configs import parse_add_config
from kafka_lite.tools.admin.topic_service import PartitionDescription, TopicDescription
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors


def test_replica_assignments_are_parsed():
    assert topics.parse_replica_assignment("0:1, 1:2") == {0: [0, 1], 1: [1, 2]}
    for text, says in (("0:0", "duplicate"), ("0:1,1", "different replication factor"), ("a", "0:1,1:0")):
        with pytest.raises(ToolError, match=says):
            topics.parse_replica_assignment(text)


def test_configs_are_parsed():
    assert topics.parse_configs(["a=b", " c = d=e "]) == {"a": "b", "c": "d=e"}
    assert parse_add_config("a=b,c=[d,e], f=,g=[]") == {"a": "b", "c": "d,e", "f": "", "g": ""}
    with pytest.raises(ToolError, match="key=val"):
        parse_add_config("a")


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("t", ["t-0", "t-1", "t-2"]),
        ("t:1", ["t-1"]),
        ("t:1-", ["t-1", "t-2"]),
        ("t:-1", ["t-0"]),
        ("t:1-2", ["t-1"]),
        (":0", ["t-0", "u-0"]),
        ("", ["t-0", "t-1", "t-2", "u-0"]),
        ("t:0,u", ["t-0", "u-0"]),
        ("[tu]:0", ["t-0", "u-0"]),
    ],
)
def test_topic_partition_patterns(pattern, matches):
    partitions = [TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("t", 2), TopicPartition("u", 0)]
    wanted = get_offsets.parse_topic_partitions(pattern)
    assert [str(partition) for partition in partitions if wanted(partition)] == matches


@pytest.mark.parametrize(("text", "time"), [("latest", -1), ("-2", -2), ("1700000000000", 1700000000000)])
def test_times_are_parsed(text, time):
    assert get_offsets.parse_time(text) == time


def test_api_names_and_ranges_are_parsed():
    assert api_name(ApiKey.OFFSET_FOR_LEADER_EPOCH) == "OffsetForLeaderEpoch"
    assert api_name(999) == "UNKNOWN"
    lines = api_lines({0: (0, 9), 3: (99, 100), 60: (0, 0), 999: (0, 1)}).split(",\n")
    assert lines[0] == "\tProduce(0): 0 to 9 [usable: 9]"
    assert "\tFetch(1): UNSUPPORTED" in lines
    assert "\tMetadata(3): 99 to 100 [unusable: no common version]" in lines
    assert "\tDescribeCluster(60): 0 [usable: 0]" in lines
    assert lines[-1] == "\tUNKNOWN(999): 0 to 1"


TOPIC = TopicDescription("t", [PartitionDescription(0, -1, [1, 2], [1])], {"a": "b"}, 2, marked_for_deletion=True)


def describe(monkeypatch, topic, terminal=False, **flags):
    class Service:
        def list_topics(self):
            return [topic.topic]

        def describe(self, names):
            return [topic]

        def live_brokers(self):
            return {1, 2}

    parser = argparse.ArgumentParser()
    topics.add_arguments(parser)
    options = parser.parse_args(["--bootstrap-server", "x:1", "--describe", *(f"--{flag}" for flag in flags)])
    monkeypatch.setattr(topics, "on_terminal", lambda: terminal)
    topics.describe_topics(Service(), options)


@pytest.mark.parametrize("terminal", [False, True])
def test_a_topic_that_is_to_be_deleted_is_listed_with_its_mark(monkeypatch, capsys, terminal):
    class Service:
        def list_topics(self):
            return ["a", "b"]

        def marked_for_deletion(self):
            return {"b"}

    parser = argparse.ArgumentParser()
    topics.add_arguments(parser)
    monkeypatch.setattr(topics, "on_terminal", lambda: terminal)
    topics.list_topics(Service(), parser.parse_args(["--zookeeper", "x:1", "--list"]))
    out = capsys.readouterr().out
    assert "for deletion" in out if terminal else out == "a\nb - marked for deletion\n"


@pytest.mark.parametrize(
    ("terminal", "head"),
    [(False, "Topic: t\tTopicId: AAAAAAAAAAAAAAAAAAAABw\tPartitionCount: 1\t"), (True, "id AAAAAAAAAAAAAAAAAAAABw")],
)
def test_the_id_of_a_topic_is_shown_if_there_is_one(monkeypatch, capsys, terminal, head):
    describe(monkeypatch, replace(TOPIC, topic_id=UUID(int=7)), terminal)
    assert head in capsys.readouterr().out


def test_a_partition_without_a_leader_is_described(monkeypatch, capsys):
    describe(monkeypatch, TOPIC)
    assert capsys.readouterr().out == (
        "Topic: t\tPartitionCount: 1\tReplicationFactor: 2\tConfigs: a=b\tMarkedForDeletion: true\n"
        "\tTopic: t\tPartition: 0\tLeader: none\tReplicas: 1,2\tIsr: 1\tMarkedForDeletion: true\n"
    )


@pytest.mark.parametrize("flag", ["under-replicated-partitions", "unavailable-partitions", "under-min-isr-partitions"])
def test_a_filtered_report_shows_only_matching_partitions(monkeypatch, capsys, flag):
    describe(monkeypatch, TOPIC, **{flag: True})
    assert capsys.readouterr().out.startswith("\tTopic: t\tPartition: 0")


def test_a_terminal_gets_a_table(monkeypatch, capsys):
    describe(monkeypatch, TOPIC, terminal=True)
    out = capsys.readouterr().out
    assert "t: 1 partition, replication factor 2 (marked for deletion)" in " ".join(out.split())
    assert "─" in out
    assert "none" in out


def test_errors_are_printed_as_one_line(capsys):
    @reports_errors
    def run(options):
        raise ToolError("do\nthis")

    assert run(argparse.Namespace()) == 1
    assert capsys.readouterr().err == "do this\n"


def test_bugs_are_not_caught():
    @reports_errors
    def run(options):
        raise KeyError("a bug")

    with pytest.raises(KeyError):
        run(argparse.Namespace())


def test_a_broken_pipe_is_left_to_the_command():
    @reports_errors
    def run(options):
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        run(argparse.Namespace())
