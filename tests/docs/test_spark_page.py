"""The page on Spark: its program runs unchanged, in both languages, and the errors it quotes are Spark's."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_learn.site import spark_connector
from kafka_learn.site.spark_connector import spark_options_beside_the_connector
from kafka_lite.spark.option_table import CONSUMER_CONFIGS, KAFKA_PREFIX, READ_OPTIONS, WRITE_OPTIONS
from kafka_lite.testing.cluster import Cluster
from tests.support.patience import patient_s

ROOT = Path(__file__).parents[2]
PAGES = ("spark.md", "spark.zh.md")
NOT_FOUND = "[DATA_SOURCE_NOT_FOUND] Failed to find the data source: kafka_lite"

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]


def program(page: str) -> str:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.findall(r'^```python title="read_topic.py"\n(.*?)^```$', text, re.MULTILINE | re.DOTALL)[0]


def run(folder: Path, source: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    file = folder / "read_topic.py"
    file.write_text(source, encoding="utf-8")
    return subprocess.run(
        [sys.executable, str(file), *arguments],
        cwd=folder, capture_output=True, text=True, check=False, timeout=patient_s(240),
        env={**os.environ, **environment},
    )  # fmt: skip


@pytest.mark.soak
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


def test_every_option_is_on_the_page_beside_that_of_sparks_own_connector() -> None:
    options = [*READ_OPTIONS.keys, *WRITE_OPTIONS.keys, *(KAFKA_PREFIX + name for name in CONSUMER_CONFIGS.keys)]
    for page, language in zip(PAGES, ("en", "zh"), strict=True):
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        assert "<!-- generated kafka_learn.site.spark_connector:spark_options_beside_the_connector -->" in text
        table = spark_options_beside_the_connector(language)
        rows = [re.match(r"\| `(.+?)` \| (.+?) \|", line) for line in table.partition("\n\n")[0].splitlines()[2:]]
        told = {row[1]: row[2] for row in rows if row is not None}
        assert told.keys() == set(options)
        assert all(told.values())


def test_a_difference_of_an_option_that_is_gone_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_connector, "DIFFERENCES", {"maxFun": ("more", "更多")})
    with pytest.raises(ValueError, match="no option of the data source: maxFun"):
        spark_options_beside_the_connector("en")


@pytest.fixture
def other_python(tmp_path: Path) -> str:
    """``-S`` leaves out site-packages, and with it kafka_lite; Spark brings its own part along."""
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    python.chmod(0o755)
    return str(python)


@pytest.mark.soak
def test_the_error_of_workers_without_kafka_lite(tmp_path: Path, other_python: str) -> None:
    result = run(tmp_path, program("spark.md"), "127.0.0.1:1", PYSPARK_PYTHON=other_python)
    assert NOT_FOUND in result.stderr
    for page in PAGES:
        assert NOT_FOUND in (ROOT / "docs" / page).read_text(encoding="utf-8")


@pytest.mark.soak
@pytest.mark.nightly
def test_the_error_of_workers_without_kafka_lite_in_a_session_that_registers_the_format(
    tmp_path: Path, other_python: str
) -> None:
    registering = program("spark.md").replace(
        "getOrCreate()\n",
        "getOrCreate()\nfrom kafka_lite.spark.source import KafkaSource\nspark.dataSource.register(KafkaSource)\n",
    )
    result = run(tmp_path, registering, "127.0.0.1:1", PYSPARK_PYTHON=other_python)
    said = "format('kafka_lite'): the Python of Spark's workers, {}, has no kafka_lite"
    assert said.format(sys.executable) in result.stderr
    assert f"Set PYSPARK_PYTHON={sys.executable} before the session starts" in result.stderr
    for page in PAGES:
        assert said.format("…") in (ROOT / "docs" / page).read_text(encoding="utf-8")


@pytest.mark.soak
@pytest.mark.nightly
def test_the_error_of_workers_without_the_packages_of_the_extra(tmp_path: Path, other_python: str) -> None:
    """kafka_lite is found, as in a clone that is the working directory, but numpy is not."""
    result = run(tmp_path, program("spark.md"), "127.0.0.1:1", PYSPARK_PYTHON=other_python, PYTHONPATH=str(ROOT))
    assert (
        "SparkRequirementError: format('kafka_lite') needs numpy and pyarrow and confluent_kafka too" in result.stderr
    )
    assert "set PYSPARK_PYTHON to the driver's Python before the session starts" in result.stderr


@pytest.mark.soak
@pytest.mark.nightly
def test_registering_what_spark_has_found_by_itself_does_no_harm(tmp_path: Path) -> None:
    registering = program("spark.md").replace(
        "getOrCreate()\n",
        "getOrCreate()\nfrom kafka_lite.spark.source import KafkaSource\nspark.dataSource.register(KafkaSource)\n",
    )
    with Cluster() as cluster:
        cluster.create_topic("flights")
        result = run(tmp_path, registering, cluster.bootstrap_servers)
    assert result.returncode == 0, result.stderr[-2000:]
    assert "UA1545" in result.stdout
