"""Cells of the live cluster's console: the project's own clients and tools, in the world of the brokers."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_learn.project import PROJECT_ROOT

PLAY = """
import json, os, sys
from pathlib import Path
from kafka_learn.live.live_cluster import LiveCluster

live = LiveCluster(1, Path(sys.argv[1]))
while not live.is_ready:
    live.run(0.1)
cells = {}

def run(source, most_s=20.0):
    live.console.run(source)
    number = max(cells, default=0) + 1
    for _ in range(int(most_s / 0.1)):
        live.run(0.1)
        cells.update({cell["number"]: cell for cell in live.snapshot()["cells"]})
        if cells[number]["state"] != "running":
            return
    live.console.interrupt()
    cells.update({cell["number"]: cell for cell in live.snapshot()["cells"]})

for source in json.loads(sys.argv[2]):
    run(source)
out = os.fdopen(1, "w")
out.write(json.dumps(list(cells.values())))
out.flush()
os._exit(0)
"""
CELLS = {
    "describe": "kafka-lite topics --describe --topic demo",
    "produce": """
producer = Producer(acks="all")
print([producer.send(ProducerRecord("demo", b"cell", partition=number)).get().offset for number in (0, 0, 1)])
""",
    "consume": """
reader, found = Consumer("demo"), []
while len(found) < 3:
    found += [record.value for record in reader.poll(500)]
found
""",
    "admin": "sorted(each.partition for each in Admin().describe(['demo'])[0].partitions)",
    "endless": "while True:\n    pass",
    "after an interrupt": "kafka-lite get-offsets --topic demo",
}


@pytest.mark.soak
@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_cells_use_the_clients_and_tools_of_the_project(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PLAY, str(tmp_path), json.dumps(list(CELLS.values()))], cwd=PROJECT_ROOT,
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONHASHSEED": "0"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    cells = dict(zip(CELLS, json.loads(done.stdout.splitlines()[-1]), strict=True))
    first, *partitions = cells["describe"]["output"].splitlines()
    assert re.match(
        r"Topic: demo\tTopicId: \S{22}\tPartitionCount: 3\tReplicationFactor: 3\tConfigs: min.insync.replicas=2,", first
    )
    assert [line.split("\t")[2] for line in partitions] == [f"Partition: {number}" for number in range(3)]
    assert all("\tLeader: " in line and "\tIsr: " in line for line in partitions)
    assert cells["produce"]["output"] == "[0, 1, 0]\n"
    assert cells["consume"]["output"] == "[b'cell', b'cell', b'cell']\n"
    assert cells["admin"]["output"] == "[0, 1, 2]\n"
    assert (cells["endless"]["state"], cells["endless"]["output"]) == ("failed", "interrupted")
    offsets = dict(line.rsplit(":", 1) for line in cells["after an interrupt"]["output"].splitlines())
    assert sorted(offsets) == ["demo:0", "demo:1", "demo:2"]
    assert sum(map(int, offsets.values())) == 3
