"""Three brokers and their clients, steered by a reader: the same run in any process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kafka_learn.project import PROJECT_ROOT

PLAY = """
import json, os, sys
from pathlib import Path
from kafka_learn.live.commands import actions_of
from kafka_learn.live.live_cluster import LiveCluster

live = LiveCluster(3, Path(sys.argv[1]))
shots = []

def until(holds, what, most_s=60.0):
    for _ in range(int(most_s / 0.05)):
        live.turn(0.05)
        shots.append(live.snapshot())
        if holds(shots[-1]):
            return shots[-1]
    raise SystemExit(f"{what}: {json.dumps(shots[-1])}")

def led_by_others(shot):
    return all(row["leader"] not in (None, 1) and 1 not in row["isr"] for row in shot["partitions"])

def in_sync(shot):
    return len(shot["partitions"]) == 3 and all(len(row["isr"]) == 3 for row in shot["partitions"])

def level(shot, replicas=9):
    offsets = [(each["leo"], each["hw"]) for row in shot["partitions"] for each in row["replicas"].values()]
    return len(offsets) == replicas and all(leo == hw for leo, hw in offsets)

until(lambda shot: shot["is_ready"], "ready", 300)
until(in_sync, "in sync")
live.do(["produce", 10, "all"])
until(lambda shot: shot["producer"]["acknowledged"] == 10 and level(shot), "ten acknowledged")
live.do(["join", 2])
until(lambda shot: shot["group"]["state"] == "STABLE" and len(shot["group"]["members"]) == 2, "joined")
live.do(["kill", 1])
until(lambda shot: shot["brokers"][1]["state"] == "down" and led_by_others(shot), "others lead")
live.do(["produce", 5, "all"])
until(lambda shot: shot["producer"]["acknowledged"] == 15, "fifteen acknowledged")
live.do(["start", 1])
until(in_sync, "in sync again", 120)
live.do(["cut", "broker-0", "broker-1"])
live.do(["pause", 2])
until(lambda shot: shot["brokers"][2]["state"] == "paused" and shot["cuts"], "cut and paused")
live.do(["heal", "broker-0", "broker-1"])
live.do(["resume", 2])
until(lambda shot: in_sync(shot) and level(shot), "healed", 120)
live.do(["alter", "min.insync.replicas", "1"])
live.do(["alter", "unclean.leader.election.enable", "true"])
live.do(["replicas", 1])
until(lambda shot: shot["topic"]["replicas"] == 1, "one replica each")
live.do(["partitions", 5])
settings = {"partitions": 5, "replicas": 1, "min.insync.replicas": "1", "unclean.leader.election.enable": "true"}
more = until(lambda shot: shot["topic"] == settings and len(shot["partitions"]) == 5, "smaller and more", 120)
until(lambda shot: shot["group"]["state"] == "STABLE"
      and sorted(number for each in shot["consumers"].values() for number in each["partitions"]) == [0, 1, 2, 3, 4],
      "five partitions are read")
live.do(["replicas", 3])
until(lambda shot: [len(row["isr"]) for row in shot["partitions"]] == [3] * 5, "three again", 120)
live.do(["begin", 10])
until(lambda shot: shot["transaction"] == {"state": "open", "records": 10}, "a transaction")
shot = until(lambda shot: level(shot, 15), "it is replicated")
assert shot["coordinated"]["state"] == "ONGOING"
assert sum(row["lso"] for row in shot["partitions"]) == 15
live.do(["commit"])
until(lambda shot: shot["coordinated"]["state"] == "COMPLETE_COMMIT"
      and all(row["lso"] == row["replicas"][str(row["leader"])]["hw"] for row in shot["partitions"]), "committed")
live.do(["lines", 5])
live.do(["open", 1])
live.do(["open", 2])
until(lambda shot: shot["word_count"]["words"].get("log", {}).get("count") == 2
      and sorted(len(its["tasks"]) for its in shot["word_count"]["instances"].values()) == [2, 2], "two count", 120)
live.do(["crash", "instance-1"])
live.do(["lines", 5])
until(lambda shot: shot["word_count"]["words"]["log"]["count"] >= 4
      and shot["word_count"]["words"]["log"]["instance"] == "instance-2",
      "the other one has its counts", 120)
live.code.watch("broker-0")
live.pace.pause()
selecting, deepest = False, 0  # a step may find the network thread at work, or the broker idle
for _ in range(200):
    live.pace.step()
    live.turn(0)
    code = live.code.as_json()
    places = [place for thread in code["threads"] for place in thread["stack"]]
    selecting |= any(place["module"] == "kafka_lite.network.selector" for place in places)
    deepest = max([deepest, *(entry["depth"] for entry in code["ran"])])
    if selecting and deepest > 2:
        break
assert selecting
assert deepest > 2, code["ran"]
live.code.watch("")
live.pace.resume()
live.do(["leave", 2])
last = until(lambda shot: list(shot["consumers"]) == ["consumer-1"], "left")
last = until(lambda shot: shot["group"]["members"] == ["consumer-1"], "alone")
print(json.dumps({**last, "events": [event["text"] for shot in shots for event in shot["events"]]}))
sys.stdout.flush()
os._exit(0)
"""
OWN = """
import json, os, sys
from pathlib import Path
from kafka_learn.live.live_cluster import LiveCluster

folder, module = Path(sys.argv[1]), "kafka_lite.log.log"
own = folder / "mine.py"
own.write_text(Path("kafka_lite/log/log.py").read_text(encoding="utf-8"), encoding="utf-8")
live = LiveCluster(3, folder / "world", {1: {module: own}})
while not live.snapshot()["is_ready"]:
    live.turn(0.05)
files = [broker.process.module(module).__file__ for broker in live.cluster.brokers]
print(json.dumps([Path(file).name for file in files]))
sys.stdout.flush()
os._exit(0)
"""
REPLAY = """
import json, os, sys
from pathlib import Path
from kafka_learn.live import replay
from kafka_learn.live.link import Link

shot = replay.play(Link.of(f"?seed=3&actions={sys.argv[2]}&until={sys.argv[3]}"), Path(sys.argv[1]), sys.stdout.write)
print(json.dumps(shot))
sys.stdout.flush()
os._exit(0)
"""


def play(program: str, *arguments: object) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)], cwd=PROJECT_ROOT, capture_output=True, text=True,
        check=False, env={**os.environ, "PYTHONHASHSEED": "0"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_a_reader_kills_cuts_and_pauses_and_somebody_else_sees_the_same_run(tmp_path: Path) -> None:
    seen = play(PLAY, tmp_path / "one")
    assert any("you: kill 1" in text for text in seen["events"])
    assert seen["producer"]["failed"] == 0
    again = play(REPLAY, tmp_path / "two", seen["actions"], seen["now_s"])
    assert (again["digest"], again["steps"]) == (seen["digest"], seen["steps"])
    assert again["partitions"] == seen["partitions"]


@pytest.mark.timeout(300)
def test_one_broker_runs_modules_of_its_reader(tmp_path: Path) -> None:
    assert play(OWN, tmp_path) == ["log.py", "mine.py", "log.py"]
