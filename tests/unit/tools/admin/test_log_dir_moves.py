"""Moves to log directories: their states, their start, the JSON that names them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.tools.admin.log_dir_moves import ReplicaLogDirs, execute_moves, move_status, moves_back
from kafka_lite.tools.admin.partition_json import LogDirs, Replica, read_log_dirs
from kafka_lite.tools.common.tool_errors import ToolError

R0: Replica = (1, TopicPartition("t", 0))
R1: Replica = (2, TopicPartition("t", 1))


@pytest.mark.parametrize(
    ("found", "line"),
    [
        (ReplicaLogDirs("/b"), "Reassignment of replica t-0-1 completed successfully."),
        (ReplicaLogDirs("/a", "/b"), "Reassignment of replica t-0-1 is still in progress."),
        (ReplicaLogDirs("/a"), "Partition t-0 on broker 1 is not being moved from log dir /a to /b."),
        (ReplicaLogDirs("/a", "/c"), "Partition t-0 on broker 1 is being moved to log dir /c instead of /b."),
        (
            ReplicaLogDirs(),
            "Partition t-0 is not found in any live log dir on broker 1. There is likely an offline log directory on "
            "the broker.",
        ),
    ],
)
def test_each_state_of_a_move_has_its_line(found: ReplicaLogDirs, line: str) -> None:
    assert move_status(R0, "/b", found) == line


class Brokers:
    """Replicas that a broker gets at some time."""

    def __init__(self, time: MockTime, there_at_ms: Mapping[Replica, float]) -> None:
        self.time, self.there_at_ms = time, there_at_ms
        self.asked: list[LogDirs] = []

    def alter_log_dirs(self, moves: LogDirs) -> set[Replica]:
        self.asked.append(dict(moves))
        return {replica for replica in moves if self.time.hi_res_ms() >= self.there_at_ms[replica]}


def test_a_replica_that_is_not_there_yet_is_asked_for_again(capsys: pytest.CaptureFixture[str]) -> None:
    time = MockTime()
    brokers = Brokers(time, {R0: 0, R1: 250})
    execute_moves(brokers, {R0: "/a", R1: "/b"}, 10_000, time)
    assert brokers.asked == [{R0: "/a", R1: "/b"}, {R1: "/b"}, {R1: "/b"}, {R1: "/b"}]
    assert capsys.readouterr().out.splitlines() == [
        "Successfully started log directory move for: t-0-1",
        "Successfully started log directory move for: t-1-2",
    ]


def test_moves_that_cannot_be_started_end_with_an_error() -> None:
    time = MockTime()
    with pytest.raises(ToolError, match=r"Timed out before log directory moves could be started for: t-0-1,t-1-2"):
        execute_moves(Brokers(time, {R0: 1e9, R1: 1e9}), {R0: "/a", R1: "/b"}, 1_000, time)
    assert time.hi_res_ms() == 1_000


def test_only_moves_to_the_named_directory_are_cancelled() -> None:
    found = {R0: ReplicaLogDirs("/a", "/b"), R1: ReplicaLogDirs("/a", "/c")}
    assert moves_back({R0: "/b", R1: "/b"}, found) == {R0: "/a"}
    assert moves_back({R0: "/b"}, {R0: ReplicaLogDirs("/b")}) == {}


def partition(**fields: object) -> dict[str, object]:
    return {"topic": "t", "partition": 0, **fields}


def test_log_dirs_belong_to_the_replicas_in_their_order(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({"partitions": [partition(replicas=[1, 2, 3], log_dirs=["/a", "any", "/c"])]}))
    assert read_log_dirs(path) == {(1, TopicPartition("t", 0)): "/a", (3, TopicPartition("t", 0)): "/c"}
    path.write_text(json.dumps({"partitions": [partition(replicas=[1, 2])]}))
    assert read_log_dirs(path) == {}


@pytest.mark.parametrize(("log_dirs", "says"), [(["/a"], "different from size"), ([1, 2], "paths"), ("/a", "paths")])
def test_wrong_log_dirs_are_refused(tmp_path: Path, log_dirs: object, says: str) -> None:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({"partitions": [partition(replicas=[1, 2], log_dirs=log_dirs)]}))
    with pytest.raises(ToolError, match=says):
        read_log_dirs(path)
