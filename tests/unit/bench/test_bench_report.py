"""The benchmark's arithmetic: medians, ratios, goals, and how it reports missing measurements."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from bench.big_log import bytes_to_recover, in_steps, recovery_point
from bench.measure import (
    CPU,
    MEGABYTES,
    MESSAGES,
    P50,
    payload_of,
    ratio_at_least,
    ratio_at_most,
    value_at_most,
)
from bench.report import Results, SectionResults, rich_table, write
from bench.runner import Plan
from bench.sections import sections, studies
from kafka_learn.site.bench_results import COMPILED, as_markdown, is_met, ratio, results_page, section_table, verdict

OURS, KAFKA, NEWER = "kafka_lite", "Kafka 3.9.1", "Kafka 4.3.1"
GOALS = {"produce": {MESSAGES: ratio_at_least(1.0), CPU: ratio_at_most(0.6)}, "idle": {MEGABYTES: value_at_most(60)}}


def section(*columns: str) -> SectionResults:
    found = SectionResults("Produce", columns or (OURS, KAFKA, NEWER), KAFKA, GOALS)
    rates = {OURS: (100_000.0, 300_000.0, 200_000.0), KAFKA: (400_000.0,) * 3, NEWER: (100_000.0,) * 3}
    for name in found.columns:
        for rate in rates[name]:
            found.add("produce", name, {MESSAGES: rate, CPU: 2.0 if name == OURS else 4.0})
        found.add("idle", name, {MEGABYTES: 40.0 if name == OURS else 400.0})
    return found


def figure(found: SectionResults, workload: str, name: str) -> dict[str, Any]:
    (match,) = (each for each in found.document()["figures"] if each["workload"] == workload and each["figure"] == name)
    return dict(match)


def results(found: SectionResults, *notes: str) -> Results:
    return Results({"processors": 2, "Python": "3.11"}, {"rounds": 3}, list(notes), [found])


def test_a_row_has_medians_ranges_ratio_and_verdict() -> None:
    table = section_table(section().document())
    assert table.head == ["workload", "figure", OURS, KAFKA, NEWER, "ratio to Kafka 3.9.1", "goal", ""]
    assert table.rows[0] == [
        "produce", "thousand messages/s", "200 (100–300)", "400 (400–400)", "100 (100–100)", "0.50", "ratio ≥ 1",
        "not met",
    ]  # fmt: skip
    assert table.rows[1][2:] == [
        "2.00 (2.00–2.00)",
        "4.00 (4.00–4.00)",
        "4.00 (4.00–4.00)",
        "0.50",
        "ratio ≤ 0.6",
        "met",
    ]
    assert table.rows[2] == ["idle", "MB", "40.0", "400", "400", "0.10", "≤ 60", "met"]


def test_a_narrow_terminal_shows_medians_only() -> None:
    assert section_table(section().document(), ranges=False).rows[0][2:5] == ["200", "400", "100"]


@pytest.mark.parametrize(
    ("ours", "goal", "met"),
    [
        (0.99, ratio_at_least(1.0), False), (1.0, ratio_at_least(1.0), True),
        (0.6, ratio_at_most(0.6), True), (0.61, ratio_at_most(0.6), False),
        (60.0, value_at_most(60), True), (60.1, value_at_most(60), False),
    ],
)  # fmt: skip
def test_a_value_equal_to_its_goal_meets_the_goal(ours: float, goal: Any, met: bool) -> None:
    found = SectionResults("part", (OURS, KAFKA), KAFKA, {"w": {"f": goal}})
    found.add("w", OURS, {"f": ours})
    found.add("w", KAFKA, {"f": 1.0})
    assert is_met(figure(found, "w", "f"), OURS, KAFKA) is met


def test_without_kafka_there_are_no_ratios_and_absolute_goals_still_apply() -> None:
    alone = section(OURS)
    assert "ratio to Kafka 3.9.1" not in section_table(alone.document()).head
    assert ratio(figure(alone, "produce", MESSAGES), OURS, KAFKA) is None
    assert is_met(figure(alone, "produce", MESSAGES), OURS, KAFKA) is None
    assert is_met(figure(alone, "idle", MEGABYTES), OURS, KAFKA) is True
    assert verdict(results(alone).document()) == "1 of 1 goals are met."
    assert verdict(results(section()).document()) == "2 of 3 goals are met."
    assert verdict(results(section()).document(), "zh") == "3 个目标中达到了 2 个。"


def test_the_compiled_package_has_its_own_verdict() -> None:
    goal = ratio_at_least(1.0)
    found = SectionResults("part", (OURS, COMPILED, KAFKA), KAFKA, {w: {"f": goal} for w in ("a", "b", "c", "d")})
    for workload, plain, compiled in (("a", 1.0, 2.0), ("b", 0.5, 1.0), ("c", 0.5, 0.6), ("d", 1.0, 0.9)):
        for column, value in ((OURS, plain), (COMPILED, compiled), (KAFKA, 1.0)):
            found.add(workload, column, {"f": value})
    rows = section_table(found.document()).rows
    assert [row[-3] for row in rows] == ["1.00 / 2.00", "0.50 / 1.00", "0.50 / 0.60", "1.00 / 0.90"]
    assert [row[-1] for row in rows] == ["met", "compiled", "not met", "plain"]
    assert verdict(results(found).document()) == "2 of 4 goals are met. With the hot modules compiled: 2 of 4."


def test_without_our_own_column_the_first_column_is_judged() -> None:
    found = SectionResults("timers", ("timing wheels", "heapq"), "heapq", {"w": {"f": ratio_at_most(1.0)}})
    found.add("w", "timing wheels", {"f": 1.0})
    found.add("w", "heapq", {"f": 2.0})
    assert section_table(found.document()).rows == [["w", "f", "1.00", "2.00", "0.50", "ratio ≤ 1", "met"]]
    assert verdict(results(found).document()) == "1 of 1 goals are met."


def test_a_missing_value_is_a_dash_and_a_reference_of_zero_gives_no_ratio() -> None:
    found = SectionResults("part", (OURS, KAFKA), KAFKA, {})
    found.add("w", OURS, {"f": 1.0, "only ours": 2.0})
    found.add("w", KAFKA, {"f": 0.0})
    assert section_table(found.document()).rows == [
        ["w", "f", "1.00", "0.00", "–"],
        ["w", "only ours", "2.00", "–", "–"],
    ]


def test_a_skipped_workload_is_reported_with_its_reason() -> None:
    found = section()
    found.skip("perf-test", OURS, "it joins a group")
    assert section_table(found.document()).remarks == ["Not run: perf-test, kafka_lite: it joins a group."]
    assert "未运行: perf-test" in as_markdown(results(found).document(), "zh")


def test_written_results_are_read_back(tmp_path: Path) -> None:
    as_json, markdown = write(results(section(), "The machine was busy."), tmp_path / "results", "quick")
    document = json.loads(as_json.read_text())
    assert document["sections"][0]["figures"][0]["samples"][OURS] == [100_000.0, 300_000.0, 200_000.0]
    assert document["options"] == {"rounds": 3}
    text = markdown.read_text()
    assert "| produce | thousand messages/s | 200 (100–300) |" in text
    assert "**The machine was busy.**" in text
    assert "processors 2, Python 3.11" in text


def test_the_terminal_shows_the_same_results(tmp_path: Path) -> None:
    console = Console(file=io.StringIO(), width=160)
    console.print(rich_table(section(), console.width))
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    assert "200 (100–300)" in shown
    assert "not met" in shown
    assert shown.count("produce") == 1, "a workload's name appears once, beside its first figure"


@pytest.mark.parametrize(("language", "words"), [("en", "make bench"), ("zh", "还没有运行过")])
def test_without_results_the_page_says_so(language: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafka_learn.site.bench_results.RESULTS", Path("no such file"))
    assert words in results_page(language)


def test_the_workloads_cover_every_planned_measurement() -> None:
    plan = Plan(sections(1.0), studies(3, 10, 1.0), 1_000_000, 3)
    names = [f"{part.name}: {each.name}" for part in plan.sections for each in part.workloads]
    names += [f"{study.name}: {workload}" for study in plan.studies for workload in study.workloads]
    assert len(names) == len(set(names))
    produce = {name for name in names if "produce" in name.lower() and "librdkafka: " in name}
    cross = {
        f"Produce in batches, librdkafka: produce {size} B, acks {acks}, {codec}, {batch}"
        for size in ("100", "1,000")
        for acks in ("1", "all")
        for codec in ("none", "lz4")
        for batch in ("16 KB", "1 MB")
    }
    assert produce == cross
    for words in (
        "the broker is the limit: 100 B, 1 MB", "the broker is the limit: 100 B, 16 KB", "raw fetches of 1 MB",
        "consumer-perf-test", "producer-perf-test", "1 connection", "10 connections", "100 connections", "64 in flight",
        "1,000 messages/s", "1,000 idle connections", "1,000 partitions", "start to first answer",
        "resident memory, idle", "10 GB produced and read", "restart after kill -9",
    ):  # fmt: skip
        assert any(words in name for name in names), words


def test_every_goal_belongs_to_an_existing_workload() -> None:
    plan = Plan(sections(1.0), studies(3, 10, 1.0), 1_000_000, 3)
    goals = [goal for part in plan.sections for each in part.workloads for goal in each.goals.values()]
    assert len(goals) == 16 * 2 + 2 + 10 * 2 + 3 * 2 + 8 + 2 + 5 + 4  # the last two: groups, transactions
    assert {(goal.of, goal.at_least) for goal in goals} == {("ratio", True), ("ratio", False), ("value", True)}


def test_only_the_sections_chosen_by_name_run() -> None:
    plan = Plan(sections(1.0), studies(3, 10, 1.0), 1_000_000, 3)
    assert plan.only([]) is plan
    chosen = plan.only(["in flight: raw", "TIMEOUTS"])
    assert [each.name for part in chosen.sections for each in part.workloads] == [
        "raw, produce 100 B, acks all",
        "raw, ApiVersions",
    ]
    assert not chosen.studies
    assert chosen.timeouts == 1_000_000
    assert chosen.steps(brokers=3) == 2 * 3 * 3 + 1
    assert not plan.only(["nothing of that name"]).steps(brokers=3)
    (start,) = plan.only(["memory, idle"]).studies
    assert start.name == "Start"
    beside = plan.only(["idle connections"])
    assert beside.steps(brokers=2) == 2, "one step per broker, whatever the number of rounds"


@pytest.mark.parametrize("size", [1, 100, 1000])
def test_payloads_have_the_requested_size(size: int) -> None:
    assert len(payload_of(size)) == size


def test_steps_add_up_and_differ_by_at_most_one() -> None:
    assert sum(in_steps(1007)) == 1007
    assert max(in_steps(1007)) - min(in_steps(1007)) <= 1


def test_bytes_to_recover_begin_at_the_segment_of_the_recovery_point(tmp_path: Path) -> None:
    partition = tmp_path / "big-0"
    partition.mkdir()
    for base, size in ((0, 1000), (10, 200), (20, 30)):
        (partition / f"{base:020d}.log").write_bytes(bytes(size))
    assert bytes_to_recover(tmp_path, "big") == 1230, "without a recovery point, everything is recovered"
    checkpoint = tmp_path / "recovery-point-offset-checkpoint"
    for point, expected in ((0, 1230), (10, 230), (19, 230), (20, 30), (25, 30)):
        checkpoint.write_text(f"0\n2\nother 0 99\nbig 0 {point}\n")
        assert recovery_point(tmp_path, "big") == point
        assert bytes_to_recover(tmp_path, "big") == expected


def test_latencies_have_three_significant_digits() -> None:
    found = SectionResults("part", (OURS,), KAFKA, {})
    found.add("w", OURS, {P50: 0.0551})
    found.add("w", OURS, {P50: 12.34})
    assert section_table(found.document()).rows[0][2] == "6.20 (0.055–12.3)"
