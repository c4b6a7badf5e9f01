"""The promises of Connect that a run breaks.

Not in Kafka.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from kafka_lite.testing.history.checker import Violation
from kafka_lite.testing.simulation.connect.facts import Facts, Number

SOURCE_LOST, SINK_LOST = "record lost by the source", "record lost by the sink"
TWO_OWNERS, OFFSET_AHEAD = "two owners in one generation", "offset ahead of the records"
RUNNING = "RUNNING"


def judge(facts: Facts) -> Iterator[Violation]:
    """The violations at the end of a run."""
    yield from _lost_by_source(facts)
    yield from _offsets_ahead(facts)
    yield from _two_owners(facts)
    for number in sorted(facts.acknowledged - facts.flushed):
        yield Violation(SINK_LOST, f"{_named(number)} was acknowledged, and no task of the sink has flushed it")


def _lost_by_source(facts: Facts) -> Iterator[Violation]:
    """Each task's numbers are without a gap: its successor continues after a stored offset, or sends them again."""
    written = {record.number for record in facts.produced}
    last: dict[int, int] = defaultdict(lambda: -1)
    for task, number in written:
        last[task] = max(last[task], number)
    for task, end in sorted(last.items()):
        for number in range(end):
            if (task, number) not in written:
                yield Violation(SOURCE_LOST, f"{_named((task, number))} is not in the topic, and {end} is")
    for each in sorted(facts.acknowledged - written):
        yield Violation(SOURCE_LOST, f"{_named(each)} was acknowledged, and is not in the topic")


def _offsets_ahead(facts: Facts) -> Iterator[Violation]:
    """An offset is stored after its record, by the one clock of the broker."""
    first: dict[Number, int] = {}
    for record in facts.produced:
        first[record.number] = min(first.get(record.number, record.timestamp_ms), record.timestamp_ms)
    for offset in facts.offsets:
        produced_ms = first.get(offset.number)
        if produced_ms is None:
            yield Violation(OFFSET_AHEAD, f"the offset of {_named(offset.number)} is stored, the record is not there")
        elif produced_ms > offset.timestamp_ms:
            late_ms = produced_ms - offset.timestamp_ms
            yield Violation(OFFSET_AHEAD, f"{_named(offset.number)} came {late_ms} ms after its offset")


def _two_owners(facts: Facts) -> Iterator[Violation]:
    owners: dict[tuple[str, int], set[str]] = defaultdict(set)
    for report in facts.reports:
        if report.state == RUNNING:
            owners[report.of, report.generation].add(report.worker)
    for (of, generation), workers in sorted(owners.items()):
        if len(workers) > 1:
            yield Violation(TWO_OWNERS, f"{of} ran on {', '.join(sorted(workers))} in generation {generation}")


def _named(number: Number) -> str:
    return f"number {number[1]} of task {number[0]}"
