"""Transactions of franz-go and Sarama (Go) and kafkajs (JavaScript), unmodified."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, NoReturn

import platformdirs
import pytest

from kafka_lite.testing.cluster import Cluster
from tests.support.jvm import REQUIRE

pytestmark = [pytest.mark.jvm, pytest.mark.timeout(600)]

PROGRAMS = Path(__file__).parent / "other_languages"
CACHE = Path(platformdirs.user_cache_dir("kafka-lite", appauthor=False)) / "clients"
KAFKAJS = "kafkajs@2.2.4"


def unavailable(reason: str) -> NoReturn:
    if os.environ.get(REQUIRE) == "1":
        pytest.fail(f"{reason}, and {REQUIRE}=1")
    pytest.skip(reason)


def prepare(*command: str, folder: Path) -> None:
    """Download and build; the package managers have caches of their own."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} not found")
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        unavailable(f"{' '.join(command)}: {done.stderr}")


def go_program(name: str, folder: Path) -> str:
    """Build a program; all share Go's build cache, so only the first compiles the standard library."""
    program = str(folder / name)
    prepare("go", "build", "-o", program, ".", folder=PROGRAMS / name)
    return program


def output_of(*command: str, env: dict[str, str] | None = None) -> Any:
    """The JSON that a program prints."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | (env or {}))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_group_transact_session_of_franz_go_copies_exactly_once(cluster: Cluster, tmp_path: Path) -> None:
    program = go_program("franz_go", tmp_path)
    for topic in ("franz-source", "franz-target"):
        cluster.create_topic(topic, partitions=1)
    copies = output_of(program, cluster.bootstrap_servers, "franz-source", "franz-target")
    assert copies == [f"{transaction}-{record}" for transaction in (0, 2, 4) for record in range(3)]


def test_a_consumer_group_of_sarama_copies_exactly_once(cluster: Cluster, tmp_path: Path) -> None:
    program = go_program("sarama", tmp_path)
    for topic in ("sarama-source", "sarama-target"):
        cluster.create_topic(topic, partitions=1)
    copies = output_of(program, cluster.bootstrap_servers, "sarama-source", "sarama-target")
    committed = [f"{transaction}-{record}" for transaction in (0, 2, 4) for record in range(3)]
    assert copies["committed"] == committed
    assert copies["uncommitted"] == [*committed[:5], committed[4], *committed[5:]], "the fifth copy is aborted once"


def test_kafkajs_commits_and_aborts_transactions(cluster: Cluster) -> None:
    if not (CACHE / KAFKAJS / "node_modules").exists():
        prepare("npm", "install", "--no-save", "--prefix", str(CACHE / KAFKAJS), KAFKAJS, folder=CACHE / KAFKAJS)
    if shutil.which("node") is None:
        pytest.skip("node not found")
    cluster.create_topic("kafkajs", partitions=2)
    modules = {"NODE_PATH": str(CACHE / KAFKAJS / "node_modules")}
    program = str(PROGRAMS / "kafkajs_transactions.js")
    found = output_of("node", program, cluster.bootstrap_servers, "kafkajs", env=modules)
    assert found == {"committedOffset": 4, "seen": ["0-a", "0-b", "2-a", "2-b", "4-a", "4-b"]}
