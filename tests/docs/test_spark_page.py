"""The page on Spark: its program runs as it stands, in both languages, and its errors are those that Spark gives."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_lite.testing.cluster import Cluster

ROOT = Path(__file__).parents[2]
PAGES = ("spark.md", "spark.zh.md")
NOT_REGISTERED = "[DATA_SOURCE_NOT_FOUND] Failed to find the data source: kafka_lite"
NOT_INSTALLED = "ModuleNotFoundError: No module named 'kafka_lite'"

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]


def program(page: str) -> str:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.findall(r'^```python title="read_topic.py"\n(.*?)^```$', text, re.MULTILINE | re.DOTALL)[0]


def run(folder: Path, source: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    file = folder / "read_topic.py"
    file.write_text(source, encoding="utf-8")
    return subprocess.run(
        [sys.executable, str(file), *arguments],
        cwd=folder, capture_output=True, text=True, check=False, timeout=240, env={**os.environ, **environment},
    )  # fmt: skip


def test_the_program_of_the_page_writes_and_reads(tmp_path: Path) -> None:
    with Cluster() as cluster:
        cluster.create_topic("flights")
        result = run(tmp_path, program("spark.md"), cluster.bootstrap_servers)
    assert result.returncode == 0, result.stderr[-2000:]
    table = [re.findall(r"\w+", line) for line in result.stdout.splitlines() if line.startswith("|")]
    assert table == [["key", "value"], ["DL461", "ATL"], ["UA1545", "EWR"]]


def test_both_languages_have_the_same_program() -> None:
    english, chinese = (re.sub(r" *#.*", "", program(page)) for page in PAGES)
    assert english == chinese


@pytest.mark.soak
def test_the_error_of_a_session_that_has_not_registered_the_format(tmp_path: Path) -> None:
    unregistered = program("spark.md").replace("spark.dataSource.register(KafkaSource)", "")
    result = run(tmp_path, unregistered, "127.0.0.1:1")
    assert NOT_REGISTERED in result.stderr
    for page in PAGES:
        assert NOT_REGISTERED in (ROOT / "docs" / page).read_text(encoding="utf-8")


@pytest.mark.soak
def test_the_error_of_workers_without_kafka_lite(tmp_path: Path) -> None:
    """``-S`` leaves out site-packages, and with it kafka_lite; Spark brings its own part along."""
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    python.chmod(0o755)
    result = run(tmp_path, program("spark.md"), "127.0.0.1:1", PYSPARK_PYTHON=str(python))
    assert NOT_INSTALLED in result.stderr
    for page in PAGES:
        assert NOT_INSTALLED in (ROOT / "docs" / page).read_text(encoding="utf-8")
