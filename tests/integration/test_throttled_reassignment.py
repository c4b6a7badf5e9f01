"""Reassignments with throttles, and with log directories, through the tool."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.server.quotas.replication_quota_manager import UNLIMITED
from kafka_lite.tools.main import main
from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper
from tests.support.brokers import Brokers
from tests.support.eventually import eventually

SLOW, FAST = 100, 1_000_000_000
RECORDS = [f"{number}-{'x' * 1000}" for number in range(100)]


@pytest.fixture(scope="module")
def brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brokers]:
    """Brokers with two log directories each. They fetch little at a time: a quota is checked before each fetch."""
    folder = tmp_path_factory.mktemp("brokers")
    zookeeper = EmbeddedZooKeeper(folder / "zookeeper")
    zookeeper.start()
    brokers = Brokers(folder, zookeeper)
    try:
        for broker_id in range(3):
            start(brokers, broker_id)
        yield brokers
    finally:
        for broker_id in list(brokers.servers):
            brokers.stop(broker_id)
        zookeeper.shutdown()


def start(brokers: Brokers, broker_id: int) -> None:
    folder = brokers.folder
    brokers.start(broker_id, replica_fetch_max_bytes=3000, log_dirs=f"{folder}/{broker_id}-a,{folder}/{broker_id}-b")


class Tool:
    def __init__(self, brokers: Brokers, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.brokers, self.folder, self.capsys = brokers, folder, capsys

    def __call__(self, name: str, *arguments: object, zookeeper: bool = False) -> str:
        where = ["--bootstrap-server", self.brokers.bootstrap_servers]
        if zookeeper:
            where = ["--zookeeper", self.brokers.zookeeper.connect_string]
        self.capsys.readouterr()
        code = main([name, *where, *map(str, arguments)])
        out, err = self.capsys.readouterr()
        assert code == 0, out + err
        return out

    def reassign(self, action: str, *arguments: object, zookeeper: bool = False) -> list[str]:
        plan = self.folder / "plan.json"
        arguments = (f"--{action}", "--reassignment-json-file", plan, *arguments)
        return self("reassign-partitions", *arguments, zookeeper=zookeeper).splitlines()

    def plan(self, topic: str, replicas: list[int], **fields: object) -> None:
        entry = {"topic": topic, "partition": 0, "replicas": replicas, **fields}
        (self.folder / "plan.json").write_text(json.dumps({"version": 1, "partitions": [entry]}))


@pytest.fixture
def tool(brokers: Brokers, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Tool:
    return Tool(brokers, tmp_path, capsys)


def create(brokers: Brokers, topic: str) -> TopicPartition:
    """A topic with one replica, on broker 0, and many small batches."""
    brokers.create_topic(topic, {0: [0]})
    for first in range(0, len(RECORDS), 2):
        brokers.produce(*RECORDS[first : first + 2], topic=topic)
    return TopicPartition(topic, 0)


def have_rate(brokers: Brokers, rate: int) -> bool:
    quotas = [brokers.servers[each].quotas for each in (0, 1)]
    return all((each.leader.upper_bound, each.follower.upper_bound) == (rate, rate) for each in quotas)


def are_throttled(brokers: Brokers, tp: TopicPartition) -> tuple[bool, bool]:
    return brokers.servers[0].quotas.leader.is_throttled(tp), brokers.servers[1].quotas.follower.is_throttled(tp)


@pytest.mark.parametrize("zookeeper", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_a_throttled_reassignment_waits_for_its_quota_until_that_is_raised(
    brokers: Brokers, tool: Tool, zookeeper: bool
) -> None:
    topic = f"moved-{zookeeper}"
    tp = create(brokers, topic)
    # Set in advance, since the brokers learn of configurations and of the reassignment in any order.
    for broker in (0, 1):
        rates = f"leader.replication.throttled.rate={SLOW},follower.replication.throttled.rate={SLOW}"
        tool("configs", "--alter", "--broker", broker, "--add-config", rates)
    lists = "leader.replication.throttled.replicas=0:0,follower.replication.throttled.replicas=0:1"
    tool("configs", "--alter", "--topic", topic, "--add-config", lists)
    eventually(lambda: have_rate(brokers, SLOW) and are_throttled(brokers, tp) == (True, True))

    tool.plan(topic, [0, 1])
    out = tool.reassign("execute", "--throttle", SLOW, zookeeper=zookeeper)
    assert any("to ensure the throttle is removed" in line for line in out)
    assert any(f"throttle limit was set to {SLOW} B/s" in line for line in out)
    eventually(lambda: has_log(brokers, 1, tp) and brokers.log(1, tp).log_end_offset > 0)
    assert brokers.log(1, tp).log_end_offset < len(RECORDS)
    verified = tool.reassign("verify", zookeeper=zookeeper)
    assert "still in progress" in verified[1]
    assert not any("hrottle" in line for line in verified)

    arguments = () if zookeeper else ("--additional",)
    raised = tool.reassign("execute", *arguments, "--throttle", FAST, zookeeper=zookeeper)
    assert any(f"throttle limit was set to {FAST} B/s" in line for line in raised)
    eventually(lambda: have_rate(brokers, FAST))
    eventually(lambda: tool("reassign-partitions", "--list") == "No partition reassignments found.\n")
    assert brokers.log(1, tp).log_end_offset == len(RECORDS)
    assert are_throttled(brokers, tp) == (True, True)

    kept = tool.reassign("verify", "--preserve-throttles", zookeeper=zookeeper)
    assert not any("hrottle" in line for line in kept)
    removed = tool.reassign("verify", zookeeper=zookeeper)
    if zookeeper:
        assert removed[-1] == "Throttle was removed."
    else:
        assert removed[-2:] == [
            "Clearing broker-level throttles on brokers 0,1,2",
            f"Clearing topic-level throttles on topic {topic}",
        ]
    eventually(lambda: have_rate(brokers, UNLIMITED) and are_throttled(brokers, tp) == (False, False))


def test_the_tool_throttles_the_replicas_that_it_moves(brokers: Brokers, tool: Tool) -> None:
    tp = create(brokers, "throttled")
    tool.plan("throttled", [1])
    tool.reassign("execute", "--throttle", FAST)
    eventually(lambda: have_rate(brokers, FAST) and are_throttled(brokers, tp) == (True, True))
    eventually(lambda: tool("reassign-partitions", "--list") == "No partition reassignments found.\n")
    tool.reassign("verify")
    eventually(lambda: have_rate(brokers, UNLIMITED) and are_throttled(brokers, tp) == (False, False))


def test_a_broker_that_restarts_keeps_its_throttles(brokers: Brokers, tool: Tool) -> None:
    tp = create(brokers, "kept")
    tool("configs", "--alter", "--broker", 2, "--add-config", f"follower.replication.throttled.rate={SLOW}")
    tool("configs", "--alter", "--topic", "kept", "--add-config", "follower.replication.throttled.replicas=*")
    brokers.stop(2)
    start(brokers, 2)
    quotas = brokers.servers[2].quotas
    assert quotas.follower.is_throttled(tp)
    assert (quotas.follower.upper_bound, quotas.leader.upper_bound) == (SLOW, UNLIMITED)
    tool("configs", "--alter", "--broker", 2, "--delete-config", "follower.replication.throttled.rate")


def test_replicas_move_to_the_log_directories_that_the_plan_names(brokers: Brokers, tool: Tool) -> None:
    tp = create(brokers, "directories")
    (target,) = (each for each in brokers.servers[0].log_manager.log_dirs if each != brokers.log(0, tp).dir.parent)
    other = brokers.servers[1].log_manager.log_dirs[1]
    tool.plan("directories", [0, 1], log_dirs=[str(target), str(other)])
    out = tool.reassign("execute", "--replica-alter-log-dirs-throttle", FAST)
    assert f"The replica-alter-dir throttle limit was set to {FAST} B/s" in out
    started = ",".join(line.rpartition(": ")[2] for line in out if "log directory move" in line)
    assert sorted(started.split(",")) == [f"{tp}-0", f"{tp}-1"]
    eventually(lambda: (brokers.log(0, tp).dir.parent, brokers.log(1, tp).dir.parent) == (target, other))
    eventually(lambda: tool("reassign-partitions", "--list") == "No partition reassignments found.\n")
    assert tool.reassign("verify")[:4] == [
        "Status of partition reassignment:",
        f"Reassignment of partition {tp} is completed.",
        f"Reassignment of replica {tp}-0 completed successfully.",
        f"Reassignment of replica {tp}-1 completed successfully.",
    ]
    eventually(lambda: all(each.quotas.alter_log_dirs.upper_bound == UNLIMITED for each in brokers.servers.values()))
    assert brokers.read(len(RECORDS), tp) == RECORDS


def has_log(brokers: Brokers, broker_id: int, tp: TopicPartition) -> bool:
    partition = brokers.servers[broker_id].replica_manager.get_partition(tp)
    return partition is not None and partition.log is not None
