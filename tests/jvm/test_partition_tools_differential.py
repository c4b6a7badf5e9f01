"""Kafka's tools that move partitions and elect leaders, of both ages, and ours: the same output on our brokers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.brokers import TP, Brokers, three_brokers
from tests.support.eventually import eventually
from tests.support.kafka_tools import KafkaTools, our_tool, words

pytestmark = [pytest.mark.jvm, pytest.mark.soak]

REASSIGN = {
    "3.9.1": "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
    "0.10.2.2": "kafka.admin.ReassignPartitionsCommand",
}
LEADER_ELECTION = "org.apache.kafka.tools.LeaderElectionCommand"
PREFERRED = "kafka.admin.PreferredReplicaLeaderElectionCommand"


@pytest.fixture(scope="module")
def brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brokers]:
    with three_brokers(tmp_path_factory.mktemp("brokers"), auto_leader_rebalance_enable=False) as brokers:
        yield brokers


@pytest.fixture(scope="module", params=["3.9.1", "0.10.2.2"])
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def theirs(version: str) -> Iterator[Callable[..., str]]:
    with KafkaTools(version) as tools:
        yield tools


def plan(folder: Path, topic: str, *replicas: list[int]) -> str:
    partitions = [{"topic": topic, "partition": number, "replicas": each} for number, each in enumerate(replicas)]
    path = folder / f"{topic}.json"
    path.write_text(json.dumps({"version": 1, "partitions": partitions}))
    return str(path)


def without_log_dirs(text: str) -> str:
    """0.10 does not write where in a broker a replica is."""
    return text.replace(',"log_dirs":["any"]', "").replace(',"log_dirs":["any","any"]', "")


def _bound(tool: Callable[..., str], name: str) -> Callable[..., str]:
    return lambda *arguments: tool(name, *arguments)


def _ours(*arguments: str) -> str:
    return our_tool("reassign-partitions", *arguments).output


def test_both_tools_move_partitions_and_say_the_same(
    brokers: Brokers, theirs: Callable[..., str], version: str, tmp_path: Path
) -> None:
    if version == "0.10.2.2":
        where = ("--zookeeper", brokers.zookeeper.connect_string)
    else:
        where = ("--bootstrap-server", brokers.bootstrap_servers)
    said = []
    for number, tool in enumerate((_bound(theirs, REASSIGN[version]), _ours)):
        topic = f"moved-{number}-{version}"
        brokers.create_topic(topic, {0: [0, 1], 1: [1, 2]})
        file = ("--reassignment-json-file", plan(tmp_path, topic, [2, 0], [1]))
        executed = tool(*where, *file, "--execute", "--throttle", "1000000000")
        verify = (*where, *file, "--verify")
        eventually(lambda verify=verify: "progress" not in _ours(*verify, "--preserve-throttles"))
        verified = tool(*verify)
        failed = tool(*where, "--reassignment-json-file", plan(tmp_path, topic, [0], [0]), "--verify")
        said.append([words(without_log_dirs(each).replace(topic, "T")) for each in (executed, verified, failed)])
    execution, *verifications = zip(*said, strict=True)
    assert sorted(map(len, execution[0])) == sorted(map(len, execution[1]))
    warnings = [[line for line in each if line[0] in ("Warning:", "The")] for each in execution]
    assert warnings[0] == warnings[1]
    assert len(warnings[0]) == 2
    for them, us in verifications:
        assert them == us


def test_leaders_are_elected_by_their_tools(
    brokers: Brokers, theirs: Callable[..., str], version: str, tmp_path: Path
) -> None:
    if not brokers.servers[0].zk_client.topic_exists("orders"):
        brokers.create_topic("orders", {0: [0, 1, 2]})
    brokers.stop(0)
    brokers.start(0)
    eventually(lambda: len(brokers.leaders()) == 1 and brokers.isr() == {0, 1, 2})
    path = tmp_path / "elected.json"
    path.write_text(json.dumps({"partitions": [{"topic": "orders", "partition": 0}]}))
    if version == "0.10.2.2":
        where = ("--zookeeper", brokers.zookeeper.connect_string)
        assert "Successfully started preferred replica election" in theirs(
            PREFERRED, *where, "--path-to-json-file", str(path)
        )
        eventually(lambda: brokers.leaders(TP) == [0])
        return
    arguments = ("--bootstrap-server", brokers.bootstrap_servers, "--election-type", "preferred")
    arguments += ("--path-to-json-file", str(path))
    expected = "Successfully completed leader election (PREFERRED) for partitions orders-0"
    assert expected in theirs(LEADER_ELECTION, *arguments)
    eventually(lambda: brokers.leaders(TP) == [0])
    again = theirs(LEADER_ELECTION, *arguments)
    assert words(again) == words(our_tool("leader-election", *arguments).output)


def test_a_reassignment_is_listed_and_cancelled_by_the_tool_of_today(
    brokers: Brokers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    brokers.create_topic("kept", {0: [0]})
    monkeypatch.setattr(brokers.servers[2].replica_manager.fetchers, "follow", lambda *_: None)
    where = ("--bootstrap-server", brokers.bootstrap_servers)
    file = ("--reassignment-json-file", plan(tmp_path, "kept", [2]))
    _ours(*where, *file, "--execute")
    with KafkaTools("3.9.1") as tools:
        theirs = _bound(tools, REASSIGN["3.9.1"])
        assert words(theirs(*where, "--list")) == words(_ours(*where, "--list"))
        cancelled = theirs(*where, *file, "--cancel")
        assert "Successfully cancelled partition reassignment for: kept-0" in cancelled
        assert words(theirs(*where, "--list")) == [["No", "partition", "reassignments", "found."]]
