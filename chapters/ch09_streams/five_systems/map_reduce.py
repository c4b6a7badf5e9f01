"""MapReduce on one machine: what happens between a mapper and a reducer, in files that one can open.

::

    split 0 ─▶ map ─▶ partition ─▶ sort ─▶ spill, spill ─▶ merge ─▶ map-0/part-0 ──┐
                                                                    map-0/part-1 ──│─┐
    split 1 ─▶ map ─▶ partition ─▶ sort ─▶ spill, spill ─▶ merge ─▶ map-1/part-0 ──┤ │   shuffle
                                                                    map-1/part-1 ──│─┤
                                                                                   │ └─▶ merge ─▶ reduce ─▶ out/part-1
                                                                                   └───▶ merge ─▶ reduce ─▶ out/part-0

A file has a line for each pair: the key, a tab, the value. All files but the results are sorted by key, so that a merge
needs only one line of each file in memory.

Book 9.2.2, 9.3
"""

from __future__ import annotations

import heapq
import itertools
import operator
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from kafka_lite.common.murmur2 import murmur2, to_positive

Pair = tuple[str, int]
_KEY = operator.itemgetter(0)


@dataclass(frozen=True)
class Job:
    """The user's code of a MapReduce job, and how much of it runs at once."""

    map: Callable[[str], Iterable[Pair]]
    """From a line to pairs."""

    reduce: Callable[[str, Iterable[int]], int]
    """From a key and all its values to one value. Mappers call it, too, on the values that they have: as a combiner."""

    reducers: int = 2
    buffer_pairs: int = 50_000
    """A mapper that has so many pairs in memory sorts them and spills them to disk."""


def split_words(line: str) -> Iterator[Pair]:
    """Word count's map: each word, once."""
    return ((word, 1) for word in line.lower().split())


def add_up(word: str, counts: Iterable[int]) -> int:  # noqa: ARG001
    """Word count's reduce."""
    return sum(counts)


WORD_COUNT = Job(split_words, add_up)


def partition_of(key: str, reducers: int) -> int:
    """The reducer of a key: the hash of Kafka's partitioner, so a word has the number that it would have in a topic."""
    return to_positive(murmur2(key.encode())) % reducers


class MapTask:
    """Maps one split of the input. Its result is one sorted file for each reducer."""

    def __init__(self, job: Job, folder: Path) -> None:
        """``folder`` is the task's own. Files of an attempt that died are deleted."""
        self._job = job
        self._folder = folder
        self._buffer: list[tuple[int, str, int]] = []
        self._spills = 0
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)

    def run(self, lines: Iterable[str]) -> None:
        """Map all lines."""
        for line in lines:
            for key, value in self._job.map(line):
                self._buffer.append((partition_of(key, self._job.reducers), key, value))
            if len(self._buffer) >= self._job.buffer_pairs:
                self._spill()
        self._spill()
        self._merge()

    def _spill(self) -> None:
        """Sort the buffer by partition and key, and write it, a file for each partition."""
        self._buffer.sort()
        for reducer, pairs in itertools.groupby(self._buffer, key=_KEY):
            sorted_pairs = ((key, value) for _, key, value in pairs)
            write_pairs(self._folder / f"spill-{self._spills}-{reducer}", self._reduced(sorted_pairs))
        self._spills += 1
        self._buffer.clear()

    def _merge(self) -> None:
        """Merge the spills of each partition, which are sorted, into one sorted file."""
        for reducer in range(self._job.reducers):
            spills = sorted(self._folder.glob(f"spill-*-{reducer}"))
            write_pairs(self._folder / f"part-{reducer}", self._reduced(merged(spills)))
            for spill in spills:
                spill.unlink()

    def _reduced(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        return reduced(self._job, pairs)


class ReduceTask:
    """Merges one partition of all mappers' results, and reduces each key."""

    def __init__(self, job: Job, result: Path) -> None:
        """``result`` is the file to write."""
        self._job = job
        self._result = result

    def run(self, shuffled: Sequence[Path]) -> None:
        """The file appears under its name when it is complete: a task that dies leaves nothing that anyone reads."""
        attempt = self._result.with_suffix(".attempt")
        write_pairs(attempt, reduced(self._job, merged(shuffled)))
        attempt.rename(self._result)


def run(job: Job, splits: Sequence[Sequence[str]], folder: Path, executor: Executor, attempts: int = 4) -> list[Path]:
    """Map all splits, wait for the last one, shuffle and reduce; returns the files with the results.

    A task that fails runs again, up to ``attempts`` times; then its error is raised. That is safe, because its input is
    still there, and nobody has seen its output.
    """
    maps = [folder / f"map-{number}" for number in range(len(splits))]
    results = [folder / "out" / f"part-{reducer}" for reducer in range(job.reducers)]
    (folder / "out").mkdir(parents=True, exist_ok=True)
    tasks = [partial(_map, job, of_task, lines) for of_task, lines in zip(maps, splits, strict=True)]
    _run_all(tasks, executor, attempts)
    # No reducer can begin before the last mapper ends: the smallest key may come from it.
    _run_all([partial(_reduce, job, result, [m / result.name for m in maps]) for result in results], executor, attempts)
    return results


def _map(job: Job, folder: Path, lines: Sequence[str]) -> None:
    MapTask(job, folder).run(lines)


def _reduce(job: Job, result: Path, shuffled: Sequence[Path]) -> None:
    ReduceTask(job, result).run(shuffled)


def _run_all(tasks: Sequence[Callable[[], None]], executor: Executor, attempts: int) -> None:
    """Run all tasks, and those that fail again."""
    left = list(tasks)
    for attempt in range(1, attempts + 1):
        futures = [(task, executor.submit(task)) for task in left]
        failed = [(task, error) for task, future in futures if (error := future.exception()) is not None]
        if failed and attempt == attempts:
            raise failed[0][1]
        left = [task for task, _ in failed]


def reduced(job: Job, pairs: Iterable[Pair]) -> Iterator[Pair]:
    """One pair for each key of sorted pairs."""
    for key, group in itertools.groupby(pairs, key=_KEY):
        yield key, job.reduce(key, (value for _, value in group))


def merged(files: Iterable[Path]) -> Iterator[Pair]:
    """The pairs of sorted files, in the order of their keys."""
    return heapq.merge(*map(read_pairs, files), key=_KEY)


def write_pairs(file: Path, pairs: Iterable[Pair]) -> None:
    """Write a line for each pair."""
    with file.open("w", encoding="utf-8") as out:
        out.writelines(f"{key}\t{value}\n" for key, value in pairs)


def read_pairs(file: Path) -> Iterator[Pair]:
    """The pairs of a file, one after the other."""
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            key, _, value = line.rstrip("\n").rpartition("\t")
            yield key, int(value)
