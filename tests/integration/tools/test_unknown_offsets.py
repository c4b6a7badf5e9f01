"""An error of a leader or a coordinator is never read as an offset: the tools ask again, or end with exit code 1."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import KafkaConsumer
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.testing.cluster import Cluster
from kafka_lite.tools.admin import admin_channel, partition_offsets
from kafka_lite.tools.main import main
from kafka_lite.tools.monitoring.cluster_reader import ClusterReader

TOPIC, GROUP = "flights", "readers"
P0, P1 = TopicPartition(TOPIC, 0), TopicPartition(TOPIC, 1)
STATE = f"{GROUP}-counts-changelog"
"""A topic in which Streams keeps the state of the application ``readers``."""
MIDDLE = 2
"""The offset committed for both partitions, which have the offsets 0 to 2."""
SCENARIOS = {
    "earliest": (["--to-earliest"], [0, 0]),
    "latest": (["--to-latest"], [3, 3]),
    "offset": (["--to-offset", "99"], [3, 3]),
    "shift": (["--shift-by", "-9"], [0, 0]),
    "duration": (["--by-duration", "PT5H"], [0, 0]),
    "time": (["--to-datetime", "2001-01-01T00:00:00.000"], [0, 0]),
    "before 1970": (["--to-datetime", "1960-01-01T00:00:00.000"], [0, 0]),
}


@pytest.fixture(scope="module")
def running() -> Iterator[Cluster]:
    with Cluster({"group.initial.rebalance.delay.ms": 0}) as running:
        running.create_topic(TOPIC, 2)
        for partition in (0, 1):
            running.produce(TOPIC, "a", "b", "c", partition=partition, timestamp_ms=int(time.time() * 1000) - 60_000)
        yield running


@pytest.fixture
def cluster(running: Cluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """The cluster, with the offsets of the group where each test expects them, and without faults after the test."""
    monkeypatch.setattr(admin_channel, "UNKNOWN_TOPIC_MS", 200)
    monkeypatch.setattr(partition_offsets, "UNKNOWN_TOPIC_MS", 200)
    with consumer_of(running) as consumer:
        consumer.assign([P0, P1])
        consumer.commit_sync(dict.fromkeys([P0, P1], OffsetAndMetadata(MIDDLE)))
    yield running
    for fault in running.faults:
        fault.remove()
    if STATE in running.topics:
        running.delete_topic(STATE)


def consumer_of(cluster: Cluster) -> KafkaConsumer:
    servers = {"bootstrap.servers": cluster.bootstrap_servers, "enable.auto.commit": False}
    return KafkaConsumer({**servers, "group.id": GROUP})


def committed(cluster: Cluster) -> list[int | None]:
    with consumer_of(cluster) as consumer:
        found = consumer.committed([P0, P1])
    return [each.offset if (each := found[partition]) else None for partition in (P0, P1)]


def groups(cluster: Cluster, *arguments: str) -> int:
    return main(["consumer-groups", "--bootstrap-server", cluster.bootstrap_servers, "--timeout", "300", *arguments])


def reset(cluster: Cluster, *how: str) -> int:
    return groups(cluster, "--reset-offsets", "--group", GROUP, "--topic", TOPIC, "--execute", *how)


@pytest.mark.parametrize("how", SCENARIOS)
def test_a_leader_that_changes_is_asked_again(cluster: Cluster, how: str) -> None:
    flags, expected = SCENARIOS[how]
    cluster.inject("ListOffsets", Errors.NOT_LEADER_OR_FOLLOWER).for_topic(TOPIC, 1).once()
    cluster.inject("Metadata", Errors.UNKNOWN_TOPIC_OR_PARTITION).for_topic(TOPIC).once()
    assert reset(cluster, *flags) == 0
    assert committed(cluster) == expected


@pytest.mark.parametrize("how", SCENARIOS)
@pytest.mark.parametrize("error", [Errors.NOT_LEADER_OR_FOLLOWER, Errors.UNKNOWN_SERVER_ERROR])
def test_a_leader_that_returns_only_errors_leaves_the_offsets(
    cluster: Cluster, how: str, error: Errors, capsys: pytest.CaptureFixture[str]
) -> None:
    with cluster.inject("ListOffsets", error).for_topic(TOPIC, 1).always():
        assert reset(cluster, *SCENARIOS[how][0]) == 1
    assert f"flights-1 ({error.name})" in capsys.readouterr().err
    assert committed(cluster) == [MIDDLE, MIDDLE]


def test_a_plan_from_a_file_is_held_against_the_logs(
    cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan.csv"
    plan.write_text(f"{TOPIC},0,99\n{TOPIC},7,1\n")
    assert groups(cluster, "--reset-offsets", "--group", GROUP, "--from-file", str(plan), "--execute") == 1
    assert "flights-7 (UNKNOWN_TOPIC_OR_PARTITION)" in capsys.readouterr().err
    assert committed(cluster) == [MIDDLE, MIDDLE]


@pytest.mark.parametrize("how", [["--to-current"], ["--shift-by", "-1"]])
def test_a_coordinator_that_returns_an_error_for_a_partition_is_not_taken_for_a_group_without_offsets(
    cluster: Cluster, how: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with cluster.inject("OffsetFetch", Errors.TOPIC_AUTHORIZATION_FAILED).from_client("kafka-lite-admin").always():
        assert reset(cluster, *how) == 1
    assert "TOPIC_AUTHORIZATION_FAILED" in capsys.readouterr().err
    assert committed(cluster) == [MIDDLE, MIDDLE]


def test_a_lag_that_is_not_known_is_shown_as_such_with_the_reason(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    with cluster.inject("ListOffsets", Errors.NOT_LEADER_OR_FOLLOWER).for_topic(TOPIC, 1).always():
        assert groups(cluster, "--describe", "--group", GROUP) == 1
    out, err = capsys.readouterr()
    assert [line.split()[2:6] for line in out.splitlines()[1:]] == [["0", "2", "3", "1"], ["1", "2", "-", "-"]]
    assert "the log end offset of flights-1 is not known: NOT_LEADER_OR_FOLLOWER" in err
    assert groups(cluster, "--describe", "--group", GROUP) == 0


def test_get_offsets_does_not_leave_out_a_topic_that_is_unknown_for_a_moment(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.inject("Metadata", Errors.UNKNOWN_TOPIC_OR_PARTITION).for_topic(TOPIC).once()
    cluster.inject("ListOffsets", Errors.LEADER_NOT_AVAILABLE).for_topic(TOPIC, 0).once()
    assert main(["get-offsets", "--bootstrap-server", cluster.bootstrap_servers, "--topic", TOPIC]) == 0
    assert capsys.readouterr().out.splitlines() == ["flights:0:3", "flights:1:3"]


@pytest.mark.parametrize("api", ["Metadata", "DeleteRecords"])
@pytest.mark.parametrize("error", [Errors.LEADER_NOT_AVAILABLE, Errors.KAFKA_STORAGE_ERROR])
def test_delete_records_asks_again(cluster: Cluster, tmp_path: Path, api: str, error: Errors) -> None:
    file = tmp_path / "offsets.json"
    topic = f"{api}-{error.name}"
    cluster.create_topic(topic)
    cluster.produce(topic, "a", "b", "c")
    file.write_text(f'{{"partitions": [{{"topic": "{topic}", "partition": 0, "offset": 2}}]}}')
    cluster.inject(api, error).for_topic(topic).once()
    servers = ["--bootstrap-server", cluster.bootstrap_servers]
    assert main(["delete-records", *servers, "--offset-json-file", str(file)]) == 0
    assert [record.offset for record in cluster.records(topic)] == [2]


def test_replica_verification_begins_at_the_end_if_no_record_is_so_late(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    verify = ["replica-verification", "--broker-list", cluster.bootstrap_servers, "--once", "--topics-include", TOPIC]
    cluster.inject("ListOffsets", Errors.NOT_LEADER_OR_FOLLOWER).for_topic(TOPIC, 1).once()
    assert main([*verify, "--time", str(int(time.time() * 1000) + 60_000)]) == 0
    assert "at offset 3 among 2 partitions" in capsys.readouterr().out


def test_top_says_why_an_end_offset_is_missing(cluster: Cluster) -> None:
    reader = ClusterReader(cluster.bootstrap_servers)
    with cluster.inject("ListOffsets", Errors.NOT_LEADER_OR_FOLLOWER).for_topic(TOPIC, 1).always():
        state = reader.read()
    reader.close()
    assert "end offset of flights-1: NOT_LEADER_OR_FOLLOWER" in state.problems
    assert [each.end_offset for each in state.partitions if each.partition.topic == TOPIC] == [3, None]


# ── streams-application-reset ─────────────────────────────────────────────────────────────────────────────────────


def reset_application(cluster: Cluster, *more: str) -> int:
    servers = ["--bootstrap-servers", cluster.bootstrap_servers]
    return main(["streams-application-reset", "--application-id", GROUP, *servers, *more])


@pytest.mark.parametrize(("flag", "expected"), [("--input-topics", 0), ("--intermediate-topics", 3)])
@pytest.mark.parametrize("api", ["Metadata", "ListOffsets"])
def test_an_application_is_reset_although_its_topic_is_unknown_for_a_moment(
    cluster: Cluster, api: str, flag: str, expected: int
) -> None:
    cluster.create_topic(STATE)
    cluster.inject(api, Errors.UNKNOWN_TOPIC_OR_PARTITION).for_topic(TOPIC).once()
    assert reset_application(cluster, flag, TOPIC) == 0
    assert (committed(cluster), STATE in cluster.topics) == ([expected, expected], False)


@pytest.mark.parametrize("flag", ["--input-topics", "--intermediate-topics"])
@pytest.mark.parametrize(
    ("api", "error"),
    [
        ("Metadata", Errors.UNKNOWN_TOPIC_OR_PARTITION),
        ("ListOffsets", Errors.UNKNOWN_TOPIC_OR_PARTITION),
        ("ListOffsets", Errors.UNKNOWN_SERVER_ERROR),
        ("OffsetCommit", Errors.TOPIC_AUTHORIZATION_FAILED),
    ],
)
def test_the_state_of_an_application_stays_if_its_offsets_cannot_be_reset(
    cluster: Cluster, api: str, error: Errors, flag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.create_topic(STATE)
    with cluster.inject(api, error).for_topic(TOPIC).always():
        assert reset_application(cluster, flag, TOPIC) == 1
    assert (committed(cluster), STATE in cluster.topics) == ([MIDDLE, MIDDLE], True)
    out, err = capsys.readouterr()
    assert TOPIC in err
    assert "Done." not in out


def test_the_flags_name_topics_that_exist(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    assert reset_application(cluster, "--input-topics", f"{TOPIC},absent") == 1
    assert "--input-topics: unknown topic absent" in capsys.readouterr().err
    assert committed(cluster) == [MIDDLE, MIDDLE]
