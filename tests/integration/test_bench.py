"""The bench runs, alone and quickly: each kind of workload, and what it writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench.__main__ import main
from bench.brokers import kafka_lite
from bench.measure import MESSAGES, SHARE
from bench.raw_workloads import ManyPartitions
from kafka_lite.learn.bench_results import as_markdown

pytestmark = pytest.mark.timeout(400)  # some thirty seconds on a quiet machine

KINDS = (
    "produce 100 B, acks all, lz4, 16 KB",
    "produce 1,000 B, acks 1, none, 1 MB",
    "the broker is the limit: 100 B, 16 KB",
    "librdkafka, 1,000 B, lz4",
    "raw fetches of 16 KB",
    "raw, produce 100 B, acks all",
    "consumer-perf-test, 100 B",
    "Requests: ApiVersions, 10 connections",
    "Requests: produce 100 B, acks 1, 64 in flight",
    "End to end",
    "1,000 idle connections",
    "Start",
    "kill -9",
    "timeouts",
    "Producers of Python, to kafka_lite: 100 B, lz4",
)


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder: Path = tmp_path_factory.mktemp("bench")
    only = [word for kind in KINDS for word in ("--only", kind)]
    options = ["--without-kafka", "--quick", "--scale", "0.1", "--memory-gb", "0.05", "--output", str(folder)]
    assert main([*options, *only]) == 0
    written: dict[str, Any] = json.loads((folder / "quick.json").read_text())
    assert (folder / "quick.md").read_text().count("\n## ") == len(written["sections"])
    return written


@pytest.mark.slow
def test_every_kind_of_workload_has_figures(document: dict[str, Any]) -> None:
    told = {f"{part['name']}: {each['workload']}" for part in document["sections"] for each in part["figures"]}
    told |= {f"{part['name']}: {each['workload']}" for part in document["sections"] for each in part["skipped"]}
    for kind in KINDS:
        assert any(kind in name for name in told), kind


@pytest.mark.slow
def test_figures_are_numbers_that_can_be(document: dict[str, Any]) -> None:
    for part in document["sections"]:
        for figure in part["figures"]:
            for samples in figure["samples"].values():
                assert samples, figure
                assert all(sample > 0 for sample in samples) or "growth" in figure["workload"], figure
    (written,) = (part for part in document["sections"] if "kill -9" in part["name"])
    restart = {
        each["figure"]: each["samples"]["kafka_lite"] for each in written["figures"] if "restart" in each["workload"]
    }
    assert restart["MB"][0] > 50, "nothing was flushed: all that was written must be read again"


@pytest.mark.slow
def test_what_cannot_be_run_is_told(document: dict[str, Any]) -> None:
    reasons = [each["reason"] for part in document["sections"] for each in part["skipped"]]
    assert all("JoinGroup" in reason for reason in reasons)
    assert "thousand messages/s" in as_markdown(document)


@pytest.mark.slow
def test_requests_go_to_every_partition_in_turn(tmp_path: Path) -> None:
    with kafka_lite({}).make(tmp_path / "broker", {}) as broker:
        sample = ManyPartitions(requests=60, pairs=1, partitions=20).run(broker)  # itself asks how many have arrived
    assert sample[SHARE] > 0
    assert sample[MESSAGES] > 0


def test_a_name_that_nothing_has_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--without-kafka", "--only", "no such workload"]) == 2
    assert "no such workload" in capsys.readouterr().out
