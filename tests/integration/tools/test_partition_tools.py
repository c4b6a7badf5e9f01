"""reassign-partitions, leader-election and preferred-replica-election on three brokers, as scripts use them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.controller.replica_assignment import ReplicaAssignment
from kafka_lite.tools.admin.reassignment_progress import Progress, progress_of
from kafka_lite.tools.main import main
from tests.support.brokers import TP, Brokers, three_brokers
from tests.support.eventually import eventually


@pytest.fixture(scope="module")
def brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brokers]:
    with three_brokers(tmp_path_factory.mktemp("brokers"), auto_leader_rebalance_enable=False) as brokers:
        yield brokers


class Tool:
    def __init__(self, brokers: Brokers, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.brokers, self.folder, self.capsys = brokers, folder, capsys
        self.where = "--bootstrap-server"

    def __call__(self, name: str, *arguments: object, code: int = 0) -> str:
        servers = self.brokers.bootstrap_servers
        value = servers if self.where == "--bootstrap-server" else self.brokers.zookeeper.connect_string
        self.capsys.readouterr()
        found = main([name, self.where, value, *map(str, arguments)])
        out, err = self.capsys.readouterr()
        assert found == code, out + err
        return err if code else out

    def file(self, name: str, value: object) -> Path:
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps(value))
        return path

    def assignment(self, topic: str, *replicas: list[int]) -> Path:
        partitions = [{"topic": topic, "partition": n, "replicas": each} for n, each in enumerate(replicas)]
        return self.file("assignment", {"version": 1, "partitions": partitions})


@pytest.fixture
def tool(brokers: Brokers, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Tool:
    return Tool(brokers, tmp_path, capsys)


def test_partitions_move_through_the_brokers(brokers: Brokers, tool: Tool) -> None:
    brokers.create_topic("moved", {0: [0, 1], 1: [1, 2]})
    brokers.produce(*map(str, range(100)), topic="moved")
    topics = tool.file("topics", {"version": 1, "topics": [{"topic": "moved"}]})
    proposal = tool("reassign-partitions", "--generate", "--topics-to-move-json-file", topics, "--broker-list", "2,0")
    current, proposed = (json.loads(line) for line in proposal.splitlines() if line.startswith("{"))
    assert [entry["replicas"] for entry in current["partitions"]] == [[0, 1], [1, 2]]
    assert [set(entry["replicas"]) for entry in proposed["partitions"]] == [{0, 2}, {0, 2}]

    plan = tool.assignment("moved", [2, 0], [0])
    out = tool("reassign-partitions", "--execute", "--reassignment-json-file", plan, "--watch")
    assert "Save this to use as the --reassignment-json-file option during rollback" in out
    assert json.loads(next(line for line in out.splitlines() if line.startswith("{"))) == current
    assert "Successfully started partition reassignments for moved-0,moved-1" in out
    assert out.splitlines()[-1] == "2 of 2 partitions reassigned"
    assert tool("reassign-partitions", "--verify", "--reassignment-json-file", plan).splitlines() == [
        "Status of partition reassignment:",
        "Reassignment of partition moved-0 is completed.",
        "Reassignment of partition moved-1 is completed.",
        "",
        "Clearing broker-level throttles on brokers 0,1,2",
        "Clearing topic-level throttles on topic moved",
    ]
    assert tool("reassign-partitions", "--list") == "No partition reassignments found.\n"
    other = tool.assignment("moved", [1, 0])
    verified = tool("reassign-partitions", "--verify", "--reassignment-json-file", other)
    assert "no active reassignment of partition moved-0, but replica set is 2,0 rather than 1,0." in verified


def test_a_reassignment_is_listed_and_cancelled(brokers: Brokers, tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    brokers.create_topic("kept", {0: [0]})
    plan = tool.assignment("kept", [2])
    assert "None of the specified" in tool("reassign-partitions", "--cancel", "--reassignment-json-file", plan)
    monkeypatch.setattr(brokers.servers[2].replica_manager.fetchers, "follow", lambda *_: None)
    tool("reassign-partitions", "--execute", "--reassignment-json-file", plan)
    listed = tool("reassign-partitions", "--list")
    assert listed == "Current partition reassignments:\nkept-0: replicas: 2,0. adding: 2. removing: 0.\n"
    verified = tool("reassign-partitions", "--verify", "--reassignment-json-file", plan)
    assert "kept-0 is still in progress." in verified
    refused = tool("reassign-partitions", "--execute", "--reassignment-json-file", plan, code=1)
    assert "Use --additional" in refused
    cancelled = tool("reassign-partitions", "--cancel", "--reassignment-json-file", plan)
    assert cancelled.splitlines()[0] == "Successfully cancelled partition reassignment for: kept-0"
    assert tool("reassign-partitions", "--list") == "No partition reassignments found.\n"


def test_partitions_move_through_zookeeper(brokers: Brokers, tool: Tool) -> None:
    brokers.create_topic("old", {0: [0, 1]})
    tool.where = "--zookeeper"
    plan = tool.assignment("old", [1, 2])
    out = tool("reassign-partitions", "--execute", "--reassignment-json-file", plan, "--watch")
    assert "Successfully started reassignment of partitions." in out
    verified = tool("reassign-partitions", "--verify", "--reassignment-json-file", plan)
    assert verified.splitlines() == [
        "Status of partition reassignment: ",
        "Reassignment of partition [old,0] completed successfully",
    ]
    failed = tool("reassign-partitions", "--verify", "--reassignment-json-file", tool.assignment("old", [0, 1]))
    assert "ERROR: Assigned replicas (1,2) don't match the list of replicas for reassignment (0,1)" in failed
    assert "[old,0] failed" in failed


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ({"version": 1}, "no list"),
        ({"partitions": []}, "cannot be empty"),
        ({"partitions": [{"topic": "t", "partition": 0, "replicas": []}]}, "cannot be empty"),
        ({"partitions": [{"topic": "t", "partition": 0, "replicas": [1, 1]}]}, "multiple entries for 1"),
        ({"partitions": [{"topic": "t", "partition": 0, "replicas": [1]}] * 2}, "duplicate topic partitions: t-0"),
        ({"partitions": [{"topic": "t", "partition": 0, "replicas": [1]}]}, "non-existent partitions: t-0"),
        ({"partitions": [{"topic": "t", "partition": "0", "replicas": [1]}]}, "number of a partition"),
    ],
)
def test_wrong_files_are_refused_in_one_line(tool: Tool, plan: dict[str, object], message: str) -> None:
    path = tool.file("wrong", plan)
    refused = tool("reassign-partitions", "--execute", "--reassignment-json-file", path, code=1)
    assert message in refused
    assert len(refused.splitlines()) == 1


def test_unknown_brokers_are_refused(brokers: Brokers, tool: Tool) -> None:
    brokers.create_topic("here", {0: [0]})
    plan = tool.assignment("here", [7])
    assert "Unknown broker id 7" in tool("reassign-partitions", "--execute", "--reassignment-json-file", plan, code=1)


def test_preferred_leaders_are_elected_by_both_tools(brokers: Brokers, tool: Tool) -> None:
    brokers.create_topic("orders", {0: [0, 1, 2]})
    for name in ("leader-election", "preferred-replica-election"):
        brokers.stop(0)
        brokers.start(0)
        eventually(lambda: len(brokers.leaders()) == 1 and brokers.isr() == {0, 1, 2})
        assert brokers.leader() != 0
        if name == "leader-election":
            out = tool(name, "--election-type", "preferred", "--topic", "orders", "--partition", 0)
            assert out == "Successfully completed leader election (PREFERRED) for partitions orders-0\n"
            again = tool(name, "--election-type", "PREFERRED", "--topic", "orders", "--partition", 0)
            assert again == "Valid replica already elected for partitions orders-0\n"
        else:
            tool.where = "--zookeeper"
            path = tool.file("elected", {"partitions": [{"topic": "orders", "partition": 0}]})
            out = tool(name, "--path-to-json-file", path)
            assert "Successfully started preferred replica election for partitions orders-0" in out
        eventually(lambda: brokers.leaders() == [0])


def test_an_election_for_an_unknown_partition_fails(tool: Tool) -> None:
    arguments = ("--election-type", "preferred", "--topic", "nowhere", "--partition", 0)
    assert "1 replica(s) could not be elected" in tool("leader-election", *arguments, code=1)


def test_progress_counts_partitions_and_the_bytes_of_new_replicas() -> None:
    moving = ReplicaAssignment([0, 1]).reassign_to([2, 1])
    sizes = {(0, TP): 1000, (1, TP): 990, (2, TP): 250}
    progress = progress_of({TP: [2, 1]}, {TP: moving}, sizes)
    assert progress == Progress(0, 1, 250, 1000)
    assert str(progress) == "0 of 1 partitions reassigned, 250 of 1,000 bytes copied"
    assert str(progress_of({TP: [2, 1]}, {}, sizes)) == "1 of 1 partitions reassigned"
