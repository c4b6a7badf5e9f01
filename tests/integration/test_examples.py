"""The applications of ``examples`` run beside a broker, as their pages say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from examples.word_count.test_topology import test_each_word_gets_its_new_count as test_each_word_gets_its_new_count
from kafka_lite.testing.cluster import Cluster

ROOT = Path(__file__).parents[2]


def counted(cluster: Cluster, tmp_path: Path, text: str) -> list[str]:
    command = [sys.executable, "-m", "examples.word_count", "--bootstrap-server", cluster.bootstrap_servers]
    command += ["--state-dir", str(tmp_path)]
    done = subprocess.run(command, input=text, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_word_count_goes_on_from_its_last_run(tmp_path: Path) -> None:
    with Cluster({"group.initial.rebalance.delay.ms": 0}) as cluster:
        assert counted(cluster, tmp_path, "to be or not to be\n") == ["to 1", "be 1", "or 1", "not 1", "to 2", "be 2"]
        assert counted(cluster, tmp_path, "to be\n") == ["to 3", "be 3"]
