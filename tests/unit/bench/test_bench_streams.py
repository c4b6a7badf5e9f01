"""The comparison of stream processors: its inputs, and what their output must be."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.brokers import kafka_lite
from bench.measure import SkippedError
from bench.streams.inputs import SIZE, DistinctKeys, Input, Lines, OrdersAndPayments
from bench.streams.ours import KEPT_MS, WINDOW_MS, say_when_running
from bench.streams.processes import FAUST, KAFKA_STREAMS, QUIX
from bench.streams.workloads import IN_MEMORY, PER_CORE, ROCKS_DB, Restore, StreamsWorkload, workloads
from kafka_learn.site.bench_results import PLAIN
from kafka_lite.streams.kafka_streams import State


@pytest.mark.parametrize("made", [Lines(30), DistinctKeys(30), OrdersAndPayments(30)])
def test_the_records_of_an_input_have_100_bytes_and_are_as_many_as_said(made: Input) -> None:
    for records in made.contents():
        values = [value for _, value, _ in records]
        assert [len(value) for value in values] == [SIZE] * 30


def test_the_counts_of_lines_are_those_of_their_words_and_the_same_each_time() -> None:
    lines = Lines(50)
    (records,) = lines.contents()
    words = [word for _, line, _ in records for word in line.decode().split()]
    assert len(words) == 50 * lines.outputs_each
    assert lines.expected() == {word: words.count(word) for word in words}
    assert lines.expected() == Lines(50).expected()


def test_a_payment_is_joined_if_it_is_in_the_window_and_kept_long_enough_for_the_late_ones() -> None:
    orders = OrdersAndPayments(100)
    ordered, paid = ({key: time_ms for key, _, time_ms in records} for records in orders.contents())
    near = {key.decode() for key in ordered if key and abs(ordered[key] - paid[key]) <= WINDOW_MS}
    assert near == set(orders.expected())
    assert len(near) == 100 * orders.outputs_each
    assert max(abs(ordered[key] - paid[key]) for key in ordered) < KEPT_MS


def test_a_system_without_a_choice_of_stores_is_left_out_where_its_store_is_not_measured(tmp_path: Path) -> None:
    broker = kafka_lite({}).make(tmp_path / "broker", {})  # not started: nothing is sent
    (on_disk,) = (each for each in workloads(1.0) if each.name == "word count, RocksDB")
    with pytest.raises(SkippedError, match=f"its only store is {IN_MEMORY}"):
        on_disk.run(broker, FAUST)
    with pytest.raises(SkippedError, match="when it has restored"):
        Restore(10, ROCKS_DB).run(broker, QUIX)


def test_every_workload_is_compared_with_kafka_streams() -> None:
    made = workloads(1.0)
    assert len({each.name for each in made}) == len(made)
    for each in made:
        assert each.goals[PER_CORE].bound == 0.25
        if isinstance(each, StreamsWorkload) and each.systems:
            assert {KAFKA_STREAMS, PLAIN} <= set(each.systems)


def test_an_application_says_that_it_runs_when_its_tasks_are_there(capsys: pytest.CaptureFixture[str]) -> None:
    say_when_running(State.RUNNING, State.CREATED)
    assert not capsys.readouterr().out, "it has not joined its group"
    say_when_running(State.RUNNING, State.REBALANCING)
    assert capsys.readouterr().out == "running\n"
