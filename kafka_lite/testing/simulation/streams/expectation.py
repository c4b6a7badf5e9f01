"""The expected contents of the topics of a drawn application, given the contents of the topics that it reads.

Not in Kafka. The topics are judged one after the other: those that a sub-topology writes by those that it reads, as
they are. So a record that is lost on the way is missing in one topic only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from kafka_lite.testing.history.checker import Violation
from kafka_lite.testing.simulation.streams.cached_results import are_last_there, wrong_results
from kafka_lite.testing.simulation.streams.drawing import Drawing
from kafka_lite.testing.simulation.streams.drawn_programs import APPLICATION_ID
from kafka_lite.testing.simulation.streams.drawn_topology import build
from kafka_lite.testing.simulation.streams.interleaving import Difference, difference
from kafka_lite.testing.simulation.streams.programs import COUNTS
from kafka_lite.testing.simulation.streams.replay import Replay
from kafka_lite.testing.simulation.streams.seen import Content, Seen

RULE = "not processed exactly once"


class Flow(NamedTuple):
    """A sub-topology: the topic that it reads, and the topics that it writes."""

    source: str
    sinks: tuple[str, ...]


def flows(drawing: Drawing) -> list[Flow]:
    """The sub-topologies of a drawing."""
    groups = build(drawing).set_application_id(APPLICATION_ID).topic_groups().values()
    return [Flow(source, tuple(sorted(group.sink_topics))) for group in groups for source in group.source_topics]


def topics(drawing: Drawing) -> list[str]:
    """All topics that the sub-topologies read or write, but for changelogs."""
    return list(dict.fromkeys(topic for flow in flows(drawing) for topic in (flow.source, *flow.sinks)))


class Expectation:
    """Replays each task with what it has read so far."""

    def __init__(self, drawing: Drawing, partitions: int) -> None:
        self._drawing, self._partitions = drawing, range(partitions)
        sub_topologies = flows(drawing)
        self._tasks = {
            (flow.source, number): Replay(drawing, flow.source, flow.sinks, partitions)
            for flow in sub_topologies
            for number in self._partitions
        }
        self._sinks = list(dict.fromkeys(sink for flow in sub_topologies for sink in flow.sinks))

    def feed(self, seen: Seen) -> None:
        """Process what is new in the topics that are read."""
        for at, task in self._tasks.items():
            task.feed(seen.contents[at])

    def is_complete(self, seen: Seen) -> bool:
        """Whether as much was seen as the tasks send, all of whose input was fed."""
        return all(self._is_there(sink, number, seen) for sink in self._sinks for number in self._partitions)

    def violations(self, seen: Seen) -> Iterator[Violation]:
        """Partitions that are no interleaving of what their tasks send to them, all of whose input was fed.

        Those that a cache fills lack some of it.
        """
        for sink in self._sinks:
            for number in self._partitions:
                for text in self._wrong(sink, number, seen):
                    yield Violation(RULE, f"{sink}-{number} {text}")

    def _is_there(self, sink: str, partition: int, seen: Seen) -> bool:
        found, made = seen.contents[sink, partition], self._made(sink, partition)
        if self._is_cached(sink):
            return are_last_there(found, chain(*made))
        return len(found) >= sum(map(len, made))

    def _wrong(self, sink: str, partition: int, seen: Seen) -> Iterator[str]:
        found, made = seen.contents[sink, partition], self._made(sink, partition)
        if self._is_cached(sink):
            yield from wrong_results(found, chain(*made))
        elif (first := difference(found, made)) is not None:
            yield _described(found, seen.offsets[sink, partition], first)

    def _is_cached(self, sink: str) -> bool:
        """The results of a key come from one task, so they have an order, even if those of several keys have none."""
        return sink == COUNTS and self._drawing.cache_bytes > 0

    def _made(self, sink: str, partition: int) -> list[list[Content]]:
        return [task.made[sink, partition] for task in self._tasks.values()]


def _described(contents: Sequence[Content], offsets: Sequence[int], first: Difference) -> str:
    due = " or ".join(map(str, first.due)) or "the end"
    if first.place == len(contents):
        return f"ends after {len(contents)} records, and lacks {due}"
    return f"has {contents[first.place]} at {offsets[first.place]}, as record {first.place}, where {due} is due"


def judge(drawing: Drawing, partitions: int, seen: Seen) -> list[Violation]:
    """The violations in the topics at the end."""
    expectation = Expectation(drawing, partitions)
    expectation.feed(seen)
    return list(expectation.violations(seen))
