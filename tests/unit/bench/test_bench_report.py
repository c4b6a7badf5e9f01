"""The bench's arithmetic: medians, ratios, and what it says when Kafka is missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.report import Footprint, Results, median, show, write
from bench.workloads import Consume, Produce, RoundTrip, Sample, payload_of, workloads


def results(brokers: list[str], note: str = "") -> Results:
    plain = {"ours": [Sample(100.0, 2.0), Sample(300.0, 1.0), Sample(200.0, 6.0)], "Kafka": [Sample(400.0, 4.0)] * 3}
    timed = {name: [Sample(10.0, 1.0, 0.5, 2.5)] * 3 for name in ("ours", "Kafka")}
    return Results(
        brokers=brokers,
        samples={
            "produce": {name: plain[name] for name in brokers},
            "round trip": {name: timed[name] for name in brokers},
        },
        footprints={name: Footprint(0.5, 40.0, 60.0) for name in brokers},
        rounds=3,
        scale=1.0,
        note=note,
    )


def test_medians_and_ratios() -> None:
    found = results(["ours", "Kafka"])
    assert found.rows("messages_per_s")[0] == ["produce", "200", "400", "0.50"]
    assert found.rows("broker_cpu_s_per_million")[0] == ["produce", "2.00", "4.00", "0.50"]
    assert found.latency_rows() == [["round trip", "0.50 / 2.50", "0.50 / 2.50"]]
    assert median([Sample(1.0, 1.0)], "p50_ms") is None


def test_without_kafka_there_is_no_ratio_but_a_reason() -> None:
    found = results(["ours"], note="Only kafka_lite was measured: java not found.")
    assert found.rows("messages_per_s")[0] == ["produce", "200"]


def test_what_is_written_can_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = results(["ours", "Kafka"], note="A note.")
    as_json, as_markdown = write(found, tmp_path / "results", "quick")
    assert json.loads(as_json.read_text())["samples"]["produce"]["ours"][1]["messages_per_s"] == 300.0
    text = as_markdown.read_text()
    assert "| produce | 200 | 400 | 0.50 |" in text
    assert "A note." in text
    show(found)
    assert "round trip" in capsys.readouterr().out


def test_the_workloads_cover_the_cross_of_sizes_acks_codecs_and_batches() -> None:
    found = workloads(0.5)
    assert len({workload.name for workload in found}) == len(found) == 16 + 4 + 1
    assert {(each.size, each.messages) for each in found if isinstance(each, Produce)} == {
        (100, 300_000),
        (1000, 30_000),
    }
    assert sum(isinstance(each, Consume) for each in found) == 4
    assert sum(isinstance(each, RoundTrip) for each in found) == 1


@pytest.mark.parametrize("size", [1, 100, 1000])
def test_payloads_have_their_size(size: int) -> None:
    assert len(payload_of(size)) == size
