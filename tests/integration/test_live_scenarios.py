"""Each scenario of the live cluster is the state that its title promises, and what is to be watched then happens."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafka_learn.live.scenarios import scenarios
from kafka_learn.project import PROJECT_ROOT

PLAY = """
import json, os, sys
from pathlib import Path
from kafka_learn.live.link import Link
from kafka_learn.live.live_cluster import LiveCluster

link = Link.of(sys.argv[1])
live = LiveCluster(link.seed, Path(sys.argv[2]))
live.replay(link.actions_on(live.machines), link.until_s)
shots = [live.snapshot()]
live.run(15)
print(json.dumps([*shots, live.snapshot()]))
sys.stdout.flush()
os._exit(0)
"""
Shot = dict[str, Any]


def state(shot: Shot, broker: int) -> str:
    return str(shot["brokers"][broker]["state"])


def ends(shot: Shot, partition: int, what: str = "leo") -> dict[int, int]:
    replicas = shot["partitions"][partition]["replicas"]
    return {int(broker): its[what] for broker, its in replicas.items()}


def controllers(shot: Shot) -> list[int]:
    return [row["broker"] for row in shot["brokers"] if row["is_controller"]]


def leader_dies(now: Shot, later: Shot) -> None:
    assert state(now, 1) == "down"
    assert now["partitions"][2]["leader"] is None
    after = later["partitions"][2]
    assert (after["leader"] in (0, 2), after["isr"], after["epoch"]) == (True, [0, 2], 1)


def controller_dies(now: Shot, later: Shot) -> None:
    assert (state(now, 2), controllers(now)) == ("down", [])
    assert len(controllers(later)) == 1
    assert later["partitions"][0]["leader"] in (0, 1)


def follower_ahead(now: Shot, later: Shot) -> None:
    assert state(now, 2) == "down"
    ahead, behind = ends(now, 0)[0], ends(now, 0)[1]
    assert ahead > behind
    assert now["producer"]["acknowledged"] == now["producer"]["sent"]
    assert later["partitions"][0]["leader"] == 1
    assert ends(later, 0) == {0: behind, 1: behind}


def isr_shrinks(now: Shot, later: Shot) -> None:
    assert now["partitions"][1]["isr"] == [0, 1, 2]
    assert ends(now, 1, "hw")[0] < ends(now, 1)[0]
    assert later["partitions"][1]["isr"] == [0, 2]
    assert ends(later, 1, "hw")[0] == ends(later, 1)[0] == ends(now, 1)[0]


def too_few_in_sync(now: Shot, later: Shot) -> None:
    assert [state(now, broker) for broker in (1, 2)] == ["down", "down"]
    for shot in (now, later):
        assert all(row["isr"] == [0] for row in shot["partitions"])
        assert (shot["producer"]["sent"], shot["producer"]["acknowledged"]) == (10, 0)
        assert sum(ends(shot, partition)[0] for partition in range(3)) == 0


def unclean_election(now: Shot, later: Shot) -> None:
    for shot in (now, later):
        assert [state(shot, broker) for broker in range(3)] == ["down", "up", "down"]
        assert {row["leader"] for row in shot["partitions"]} == {1}
        assert sum(ends(shot, partition)[1] for partition in range(3)) < shot["producer"]["acknowledged"]


def group_rebalances(now: Shot, later: Shot) -> None:
    assert now["group"]["state"] != "STABLE"
    assert later["group"]["state"] == "STABLE"
    assert later["group"]["generation"] == now["group"]["generation"] + 1
    parts = [its["partitions"] for its in later["consumers"].values()]
    assert len(parts) == 2
    assert all(parts)
    assert sorted(number for each in parts for number in each) == [0, 1, 2]


def session_lost(now: Shot, later: Shot) -> None:
    assert now["partitions"][2]["leader"] == 1
    assert state(later, 1) == "up"
    assert all(1 not in row["isr"] for row in later["partitions"])


def transaction_times_out(now: Shot, later: Shot) -> None:
    assert now["transaction"] == {"state": "no producer", "records": 6}
    assert now["coordinated"]["state"] == "ONGOING"
    assert sum(row["lso"] for row in now["partitions"]) == 9
    assert sum(ends(now, partition, "hw")[0] for partition in range(3)) == 15
    assert later["coordinated"]["state"] == "COMPLETE_ABORT"
    assert later["coordinated"]["epoch"] == now["coordinated"]["epoch"] + 1
    assert sum(row["lso"] for row in later["partitions"]) == 18, "with a marker in each partition"
    for shot in (now, later):
        assert [(name, its["records"]) for name, its in shot["consumers"].items()] == [("consumer-2", 0)]


def instance_dies(now: Shot, later: Shot) -> None:
    count, after = now["word_count"], later["word_count"]
    assert list(count["instances"]) == ["instance-2"]
    assert len(count["instances"]["instance-2"]["tasks"]) == 2
    assert after["instances"]["instance-2"] == {"state": "RUNNING", "tasks": ["0_0", "0_1", "1_0", "1_1"]}
    assert count["words"]["log"]["count"] == 6


PROMISES: dict[str, Callable[[Shot, Shot], None]] = {
    "leader-dies": leader_dies, "controller-dies": controller_dies, "follower-ahead": follower_ahead,
    "isr-shrinks": isr_shrinks, "too-few-in-sync": too_few_in_sync, "unclean-election": unclean_election,
    "group-rebalances": group_rebalances, "session-lost": session_lost,
    "transaction-times-out": transaction_times_out, "instance-dies": instance_dies,
}  # fmt: skip


def test_each_scenario_has_a_promise() -> None:
    assert list(PROMISES) == list(scenarios())


@pytest.mark.soak
@pytest.mark.nightly
@pytest.mark.parametrize("name", PROMISES)
def test_a_scenario_keeps_its_promise(name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PLAY, scenarios()[name].query, str(tmp_path)], cwd=PROJECT_ROOT, capture_output=True,
        text=True, check=False, env={**os.environ, "PYTHONHASHSEED": "0"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    PROMISES[name](*json.loads(done.stdout.splitlines()[-1]))
