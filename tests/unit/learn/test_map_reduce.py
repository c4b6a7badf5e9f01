"""The chapter's MapReduce counts as a dictionary does, whatever its buffers and splits, and in spite of failures."""

from __future__ import annotations

import random
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from chapters.ch09_streams.five_systems import map_reduce
from chapters.ch09_streams.five_systems.lines import SMALL, counted, many_lines
from chapters.ch09_streams.five_systems.map_reduce import WORD_COUNT, Job, MapTask, read_pairs, run
from examples.word_count.topology import TEXT, WORD_COUNTS, five_lines
from kafka_lite.common.serdes import Serdes
from kafka_lite.common.serialization import LongDeserializer
from kafka_lite.streams.topology_test_driver import TopologyTestDriver


def by_map_reduce(lines: list[str], folder: Path, splits: int = 2, job: Job = WORD_COUNT) -> dict[str, int]:
    with ThreadPoolExecutor(2) as executor:
        results = run(job, [lines[number::splits] for number in range(splits)], folder, executor)
    return {word: count for file in results for word, count in read_pairs(file)}


def by_streams(lines: list[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    with TopologyTestDriver(five_lines(), key_serde=Serdes.string(), value_serde=Serdes.string()) as driver:
        for line in lines:
            driver.pipe_input(TEXT, None, line)
        for record in iter(lambda: driver.read_output(WORD_COUNTS, value_deserializer=LongDeserializer()), None):
            counts[record.key] = record.value
    return counts


@pytest.mark.parametrize("lines", [SMALL, many_lines(200)], ids=["small", "many"])
def test_map_reduce_streams_and_a_dictionary_agree(lines: list[str], tmp_path: Path) -> None:
    assert by_map_reduce(lines, tmp_path) == by_streams(lines) == counted(lines)


@pytest.mark.parametrize("buffer_pairs", [1, 7, 10_000])
@pytest.mark.parametrize("reducers", [1, 3, 11])
@pytest.mark.parametrize("splits", [1, 4, 9])
def test_counts_do_not_depend_on_buffers_reducers_and_splits(
    buffer_pairs: int, reducers: int, splits: int, tmp_path: Path
) -> None:
    job = Job(map_reduce.split_words, map_reduce.add_up, reducers, buffer_pairs)
    assert by_map_reduce(SMALL, tmp_path, splits, job) == counted(SMALL)


def test_a_mapper_leaves_one_sorted_file_for_each_reducer(tmp_path: Path) -> None:
    job = Job(map_reduce.split_words, map_reduce.add_up, reducers=2, buffer_pairs=5)
    MapTask(job, tmp_path / "map-0").run(SMALL)
    files = sorted((tmp_path / "map-0").iterdir())
    assert [file.name for file in files] == ["part-0", "part-1"]
    for reducer, file in enumerate(files):
        keys = [key for key, _ in read_pairs(file)]
        assert keys == sorted(set(keys))
        assert {map_reduce.partition_of(key, 2) for key in keys} == {reducer}


def test_tasks_that_die_half_way_run_again_and_nothing_is_counted_twice(tmp_path: Path) -> None:
    chosen = random.Random(3)
    failures = {"map": 3, "reduce": 2}

    def dies(where: str) -> bool:
        if failures[where] and chosen.random() < 0.2:
            failures[where] -= 1
            return True
        return False

    def split_words(line: str) -> Iterable[map_reduce.Pair]:
        for pair in map_reduce.split_words(line):
            if dies("map"):
                raise OSError("the mapper dies")
            yield pair

    def add_up(word: str, counts: Iterable[int]) -> int:
        if dies("reduce"):
            raise OSError("the combiner or reducer dies")
        return map_reduce.add_up(word, counts)

    job = Job(split_words, add_up, buffer_pairs=4)
    with ThreadPoolExecutor(1) as executor:  # one after the other, so that the same tasks die in every run
        results = run(job, [SMALL[:2], SMALL[2:]], tmp_path, executor, attempts=6)
    assert {word: count for file in results for word, count in read_pairs(file)} == counted(SMALL)
    assert failures == {"map": 0, "reduce": 0}
    assert [file.name for file in sorted((tmp_path / "out").iterdir())] == ["part-0", "part-1"]


def test_a_task_that_always_dies_fails_the_job_and_leaves_no_result(tmp_path: Path) -> None:
    def add_up(word: str, counts: Iterable[int]) -> int:
        if word == "question":
            raise OSError("always")
        return map_reduce.add_up(word, counts)

    with pytest.raises(OSError, match="always"):
        by_map_reduce(SMALL, tmp_path, job=Job(map_reduce.split_words, add_up))
    assert list((tmp_path / "out").iterdir()) == []
