"""Clients of other languages, unmodified: franz-go and Sarama (Go), kafkajs and @platformatic/kafka (JavaScript)."""

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
PLATFORMATIC = "@platformatic/kafka@1.35.0"


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


def node_modules(package: str) -> str:
    """The folder of an npm package and what it needs, installed once."""
    modules = CACHE / package / "node_modules"
    if not modules.exists():
        prepare("npm", "install", "--no-save", "--prefix", str(CACHE / package), package, folder=CACHE / package)
    if shutil.which("node") is None:
        pytest.skip("node not found")
    return str(modules)


def test_a_consumer_group_of_platformatic_resumes_where_it_committed(cluster: Cluster) -> None:
    """It takes no brokers that do not serve Fetch by the ids of topics."""
    modules = node_modules(PLATFORMATIC)
    cluster.create_topic("platformatic", partitions=2)
    program = str(PROGRAMS / "platformatic_group.mjs")
    found = output_of("node", program, cluster.bootstrap_servers, "platformatic", "g", modules)
    assert found == {"first": ["a", "b", "c", "d"], "second": ["e", "f"]}


def test_kafkajs_commits_and_aborts_transactions(cluster: Cluster) -> None:
    modules = {"NODE_PATH": node_modules(KAFKAJS)}
    cluster.create_topic("kafkajs", partitions=2)
    program = str(PROGRAMS / "kafkajs_transactions.js")
    found = output_of("node", program, cluster.bootstrap_servers, "kafkajs", env=modules)
    assert found == {"committedOffset": 4, "seen": ["0-a", "0-b", "2-a", "2-b", "4-a", "4-b"]}
