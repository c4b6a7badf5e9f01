"""Every drawing has a topology, and each of its operators changes what comes out."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from random import Random

import pytest

from kafka_lite.testing.simulation.streams.drawing import (
    AGGREGATIONS,
    CACHES,
    JOINS,
    STEPS,
    TABLE_STEPS,
    WINDOWS,
    Drawing,
)
from kafka_lite.testing.simulation.streams.drawn_times import TOO_LATE_MS, DrawnTimes
from kafka_lite.testing.simulation.streams.expectation import flows
from kafka_lite.testing.simulation.streams.replay import Replay
from kafka_lite.testing.simulation.streams.seen import Content

PARTITIONS = 3


def made(drawing: Drawing) -> list[Content]:
    """What is written to ``counts`` for sixty records, whatever the partition."""
    times = DrawnTimes(Random(7), 10_000_000)
    task = Replay(drawing, "text", ["counts"], PARTITIONS)
    task.feed([Content(b"key-%d" % (number % 3), b"producer-%d" % number, times.draw()) for number in range(60)])
    return [content for contents in task.made.values() for content in contents]


@pytest.mark.parametrize(("aggregation", "windows"), list(product(AGGREGATIONS, WINDOWS)))
def test_all_operators_run_over_all_windows(aggregation: str, windows: str) -> None:
    drawing = Drawing(aggregation=aggregation, windows=windows)
    plain, grouped = made(drawing), made(replace(drawing, is_grouped=True))
    assert len(plain) >= 60
    assert grouped != plain
    assert all(made(replace(drawing, table_steps=(step,))) != plain for step in TABLE_STEPS)


@pytest.mark.parametrize("step", STEPS)
def test_each_step_changes_what_comes_out(step: str) -> None:
    drawing = Drawing(aggregation="reduce")
    assert made(replace(drawing, steps=(step,))) != made(drawing)


def test_each_join_has_results_of_its_own_and_reads_one_topic_only() -> None:
    joins = {join: Drawing(aggregation="reduce", join=join) for join in JOINS}
    assert len({tuple(made(drawing)) for drawing in joins.values()}) == len(joins)
    assert all([flow.source for flow in flows(drawing)] == ["text"] for drawing in joins.values())


def test_all_windows_of_a_key_are_in_its_partition() -> None:
    """Those of sessions are not: their serde has no partitioner, as Kafka's."""
    for windows, partitions in (("hopping windows", 1), ("tumbling windows", 1), ("sessions", PARTITIONS)):
        task = Replay(Drawing(windows=windows), "text", ["counts"], PARTITIONS)
        task.feed([Content(b"key", b"value", number * 100_000) for number in range(20)])
        assert len(task.made) == partitions


def test_there_are_as_many_sub_topologies_as_changes_of_keys() -> None:
    renamed = Drawing(steps=("select_key",))
    for drawing, count in ((Drawing(), 1), (renamed, 2), (replace(renamed, is_grouped=True), 3)):
        assert len(flows(drawing)) == count


def test_only_joins_in_windows_need_distinct_times_and_get_them() -> None:
    assert [join for join in JOINS if Drawing(join=join).needs_distinct_times] == ["join", "left_join", "outer_join"]
    times = DrawnTimes(Random(2), 0, are_distinct=True)
    drawn = [times.draw() for _ in range(2000)]
    assert len(set(drawn)) == len(drawn)
    assert sorted(drawn) != drawn


def test_a_drawing_is_that_of_its_seed_and_says_what_it_is() -> None:
    assert Drawing.drawn(Random(1)) == Drawing.drawn(Random(1))
    drawing = Drawing(("filter",), "reduce", "sessions", ("map_values",), True, "exactly_once_v2", 1)
    assert str(drawing) == (
        "text ─▶ filter ─▶ reduce of sessions ─▶ map_values ─▶ groups ─▶ counts, exactly_once_v2, 1 standby replicas, "
        "a cache of 0 bytes"
    )


def test_only_results_of_keys_are_cached() -> None:
    drawn = [Drawing.drawn(Random(seed)) for seed in range(300)]
    assert {drawing.cache_bytes for drawing in drawn} == set(CACHES)
    assert all(each.windows == "keys" and not each.is_grouped for each in drawn if each.cache_bytes)


def test_some_times_are_equal_some_late_and_some_too_late() -> None:
    times = DrawnTimes(Random(1), 0)
    drawn = [times.draw() for _ in range(1_000)]
    latest = [max(drawn[: number + 1]) for number in range(len(drawn))]
    late = [newest - time for time, newest in zip(drawn, latest, strict=True)]
    assert late.count(0) > 500
    assert sum(each >= TOO_LATE_MS[0] for each in late) > 20
    assert sum(0 < each < TOO_LATE_MS[0] for each in late) > 100
    assert any(time == before for time, before in zip(drawn[1:], drawn, strict=False))
