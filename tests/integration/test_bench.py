"""The benchmark runs, with our broker only and small workloads: every kind of workload, and the results."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bench.__main__ import main
from bench.brokers import Candidate, kafka_lite
from bench.groups.group_members import Sight
from bench.groups.rebalances import is_shared, seen_again
from bench.measure import KERNEL, MESSAGES, SHARE
from bench.python_clients.consumer_client import Digest, Entry, Reading, Work
from bench.raw_workloads import ManyPartitions
from kafka_learn.site.bench_results import as_markdown

pytestmark = pytest.mark.timeout(400)  # some forty seconds on a quiet machine

KINDS = (
    "produce 100 B, acks all, lz4, 16 KB",
    "produce 1,000 B, acks 1, none, 1 MB",
    "the broker is the limit: 100 B, 16 KB",
    "librdkafka, 1,000 B, lz4",
    "raw fetches of 16 KB",
    "raw, produce 100 B, acks all",
    "consumer-perf-test, 100 B",
    "Groups: a member leaves",
    "Groups: 1,000 groups that commit",
    "Transactions: 10 producers, a read_committed consumer beside",
    "Producer ids",
    "Requests: ApiVersions, 10 connections",
    "Requests: produce 100 B, acks 1, 64 in flight",
    "End to end",
    "1,000 idle connections",
    "Start",
    "Many gigabytes, and kill -9",
    "three brokers",
    "TLS and passwords",
    "timeouts",
    "Producers of Python, to kafka_lite: 100 B, lz4",
    "Consumers of Python, from kafka_lite: 100 B ± half, keys, none",
    "Consumers of Python, from kafka_lite: 100 B, zstd",
)
SPARKS_KINDS = (
    "Spark's sources, from kafka_lite: read, aggregation, 100,800 messages, 16 partitions",
    "Spark's sources, from kafka_lite: write, 10,000 messages, 1 partition",
    "Spark's sources, from kafka_lite: stream, 100 messages/s, 1 partition",
)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(KINDS, id="without Spark"),
        pytest.param((*KINDS, *SPARKS_KINDS), id="with Spark", marks=pytest.mark.nightly),
    ],
)
def kinds(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """Spark starts for each of its own, which are run every night only: its source has tests in each run."""
    found: tuple[str, ...] = request.param
    return found


@pytest.fixture(scope="module")
def document(kinds: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder: Path = tmp_path_factory.mktemp("bench")
    only = [word for kind in kinds for word in ("--only", kind)]
    options = ["--without-kafka", "--quick", "--scale", "0.1", "--memory-gb", "0.05", "--output", str(folder)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bench.__main__.kafka_lite_compiled", _not_compiled)
        assert main([*options, *only]) == 0
    written: dict[str, Any] = json.loads((folder / "quick.json").read_text())
    assert (folder / "quick.md").read_text().count("\n## ") == len(written["sections"])
    return written


def _not_compiled(_settings: dict[str, str]) -> Candidate:
    """In CI the compiled build is there, too, and would do all of it once more."""
    raise FileNotFoundError("this test does without it")


@pytest.mark.soak
def test_every_kind_of_workload_has_figures(document: dict[str, Any], kinds: tuple[str, ...]) -> None:
    told = {f"{part['name']}: {each['workload']}" for part in document["sections"] for each in part["figures"]}
    told |= {f"{part['name']}: {each['workload']}" for part in document["sections"] for each in part["skipped"]}
    for kind in kinds:
        assert any(kind in name for name in told), kind


@pytest.mark.soak
def test_figures_are_plausible_numbers(document: dict[str, Any]) -> None:
    for part in document["sections"]:
        for figure in part["figures"]:
            for samples in figure["samples"].values():
                assert samples, figure
                may_be_none = "growth" in figure["workload"] or figure["figure"] == KERNEL  # counted in steps of 10 ms
                assert may_be_none or all(sample > 0 for sample in samples), figure
    (written,) = (part for part in document["sections"] if "kill -9" in part["name"])
    restart = {
        each["figure"]: each["samples"]["kafka_lite"] for each in written["figures"] if "restart" in each["workload"]
    }
    assert restart["MB"][0] > 50, "nothing was flushed: everything written must be recovered"


@pytest.mark.soak
def test_a_study_that_cannot_run_is_reported(document: dict[str, Any]) -> None:
    skipped = [each for part in document["sections"] for each in part["skipped"]]
    assert all("it is Java's" in each["reason"] for each in skipped), skipped
    assert all(each["reason"] in as_markdown(document) for each in skipped)


@pytest.mark.soak
def test_every_python_client_has_read_everything(document: dict[str, Any]) -> None:
    (section,) = (part for part in document["sections"] if part["name"].startswith("Consumers of Python"))
    rates = [figure for figure in section["figures"] if figure["figure"] == MESSAGES]
    assert [set(figure["samples"]) for figure in rates] == [set(section["columns"])] * 2
    assert {"kafka_lite", "aiokafka", "kafka-python", "confluent-kafka"} <= set(section["columns"])


def test_a_digest_distinguishes_records() -> None:
    def digest(*entries: Entry) -> str:
        made = Digest()
        made.update(entries)
        return made.hexdigest()

    assert digest((0, None, b"a"), (1, b"k", b"b")) == digest((0, None, b"a"), (1, b"k", b"b"))
    others = [
        digest((0, None, b"a")),
        digest((0, b"", b"a")),
        digest((0, b"a", b"")),
        digest((1, None, b"a")),
        digest((0, None, None)),
        digest((0, None, b"a"), (1, None, b"b")),
        digest((1, None, b"b"), (0, None, b"a")),
    ]
    assert len(set(others)) == len(others)


def test_reading_more_records_than_expected_is_an_error() -> None:
    reading = Reading(Work("", "topic", messages=2, seconds=0.0))
    record = SimpleNamespace(offset=0, key=None, value=b"a")
    with pytest.raises(RuntimeError, match="1 records too many"):
        reading.run(lambda: [record] * 3, lambda: None)


def test_reading_other_records_the_second_time_is_an_error() -> None:
    polls = iter([b"a", b"bc"])
    reading = Reading(Work("", "topic", messages=1, seconds=0.0))
    with pytest.raises(RuntimeError, match="2 bytes came, and 1 at first"):
        reading.run(lambda: [SimpleNamespace(offset=0, key=None, value=next(polls))], lambda: None)


def test_a_partition_belongs_to_the_member_that_read_it_last() -> None:
    sights = [Sight("g", "a", 0, 1.0), Sight("g", "a", 1, 1.1), Sight("other", "c", 0, 1.5), Sight("g", "b", 1, 2.0)]
    assert is_shared(sights, "g", partitions=2, members=2)
    assert not is_shared(sights[:3], "g", partitions=2, members=2), "the first member has both"
    assert not is_shared(sights, "g", partitions=4, members=2), "two partitions were never read"
    assert seen_again([*sights, Sight("g", "a", 1, 3.0), Sight("g", "a", 1, 4.0)], "g", 2.5) == {1: 3.0}


@pytest.mark.soak
def test_requests_go_to_the_partitions_in_turn(tmp_path: Path) -> None:
    with kafka_lite({}).make(tmp_path / "broker", {}) as broker:
        sample = ManyPartitions(requests=60, pairs=1, partitions=20).run(broker)  # checks itself how many have arrived
    assert sample[SHARE] > 0
    assert sample[MESSAGES] > 0


def test_an_unknown_section_name_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--without-kafka", "--only", "no such workload"]) == 2
    assert "no such workload" in capsys.readouterr().out
