"""Figures of groups of old consumers: the owners of partitions in a recorded run, its znodes, assignments."""

from __future__ import annotations

from chapters.ch03_old_consumer.figures.old_consumer_runs import (
    GROUP_ID,
    QUIET,
    Member,
    running_cluster,
    running_members,
    wait_balanced,
    znodes,
)
from kafka_learn.both_languages import with_chinese_twin
from kafka_learn.drawing.svg import PALETTE
from kafka_learn.drawing.time_line import Lane, Span, TimeLine
from kafka_learn.recording.recorded_run import Kind, RecordedRun
from kafka_learn.recording.run_store import recorded_run
from kafka_lite.common.process.log_levels import quiet
from kafka_lite.old_consumer.rebalance.partition_assignor import AssignmentContext, PartitionAssignor
from kafka_lite.old_consumer.topic_count import StaticTopicCount

_WORDS = {
    "en": {
        "partition": "partition", "rebalances": "rebalances", "znode": "znode", "nothing": "—",
    },
    "zh": {
        "partition": "分区", "rebalances": "正在再平衡", "znode": "znode", "nothing": "—",
    },
}  # fmt: skip
_COLUMNS = {"en": ("a alone", "a and b", "b alone"), "zh": ("只有 a", "a 和 b", "只有 b")}


# ── who owns what ───────────────────────────────────────────────────────────────────────────────────────────────────


@with_chinese_twin
def ownership(run: RecordedRun, language: str = "en") -> TimeLine:
    """A lane for each partition, with its owners one after the other by the znodes; below, when each member rebalances.

    Needs a run with ``rebalance_watches()``, from the first member on.
    """
    words = _WORDS[language]
    owned = _owned_spans(run)
    lanes = [Lane(f"{words['partition']} {number}", spans) for number, spans in sorted(owned.items())]
    attempts = [span for span in run.calls() if span.begin.what == "_try_rebalance" and span.end is not None]
    for name in dict.fromkeys(span.begin.who for span in attempts):
        spans = [
            Span(each.begin.time_ns, each.begin.time_ns + each.duration_ns, "", colour=_colour(name))
            for each in attempts
            if each.begin.who == name
        ]
        lanes.append(Lane(f"{name} {words['rebalances']}", spans))
    return TimeLine(run, lanes, language)


def _owned_spans(run: RecordedRun) -> dict[int, list[Span]]:
    since: dict[int, tuple[int, str]] = {}
    found: dict[int, list[Span]] = {}

    def end(partition: int, time_ns: int) -> None:
        if partition in since:
            begun, name = since.pop(partition)
            found.setdefault(partition, []).append(Span(begun, time_ns, name, colour=_colour(name)))

    created = {span.begin.number: span for span in run.calls() if span.begin.what == "create_owner"}
    for event in run:
        if event.kind is Kind.RETURN and event.number in created and event.detail.get("result") is True:
            asked = created[event.number].begin.detail
            since[asked["partition"]] = (event.time_ns, asked["owner"].removesuffix("-0"))
        elif event.kind is Kind.CALL and event.what == "release_owner":
            end(event.detail["partition"], event.time_ns)
        elif event.kind is Kind.NOTE and event.what == "has left":
            for partition in [number for number, (_, name) in since.items() if name == event.who]:
                end(partition, event.time_ns)
    for partition in list(since):
        end(partition, run.events[-1].time_ns)
    return found


def _colour(name: str) -> str:
    return PALETTE[(ord(name[0]) - ord("a")) % len(PALETTE)]


def ownership_figure(language: str) -> str:
    """The members of ``one_to_three``."""
    return ownership(recorded_run("chapters.ch03_old_consumer.figures.old_consumer_runs:one_to_three"), language).svg()


# ── what ZooKeeper has of it ────────────────────────────────────────────────────────────────────────────────────────


def znodes_of_two() -> list[dict[str, str]]:
    """The group's znodes with member a, with a and b, and after a has left, read from a running ZooKeeper."""
    found = []
    with quiet(QUIET), running_cluster() as cluster, running_members() as members:
        for name in "ab":
            members.append(Member(cluster, name))
            members[-1].join()
            wait_balanced(members)
            found.append(znodes(cluster))
        members.pop(0).connector.shutdown()
        wait_balanced(members)
        found.append(znodes(cluster))
    return found


def znode_table(language: str) -> str:
    """The same as a table."""
    words, columns = _WORDS[language], znodes_of_two()
    paths = sorted({path for column in columns for path in column})
    rows = [f"| `/consumers/{GROUP_ID}/…` | {' | '.join(_COLUMNS[language])} |", "|---" * (len(columns) + 1) + "|"]
    for path in paths:
        cells = (f"`{column[path]}`" if path in column else words["nothing"] for column in columns)
        rows.append(f"| `{path}` | {' | '.join(cells)} |")
    return "\n".join(rows)


# ── who is assigned what ────────────────────────────────────────────────────────────────────────────────────────────

EXAMPLES: tuple[tuple[dict[str, dict[str, int]], dict[str, int]], ...] = (
    ({"C1": {"t": 2}, "C2": {"t": 2}}, {"t": 5}),
    ({"C1": {"t": 1, "u": 1}, "C2": {"t": 1, "u": 1}}, {"t": 3, "u": 3}),
    ({"C1": {"t": 1, "u": 1}, "C2": {"t": 1}}, {"t": 3, "u": 3}),
)
"""Subscriptions by consumer, and the number of partitions of each topic."""


def assign(strategy: str, subscriptions: dict[str, dict[str, int]], topics: dict[str, int]) -> dict[str, list[str]]:
    """The partitions of each thread, as the strategies compute it: ``{"C1-0": ["t-0", "t-1"], …}``."""
    counts = [StaticTopicCount(name, wanted) for name, wanted in subscriptions.items()]
    partitions = {topic: list(range(count)) for topic, count in topics.items()}
    assignor = PartitionAssignor.create_instance(strategy)
    found: dict[str, list[str]] = {}
    for name in subscriptions:
        context = AssignmentContext.of(name, counts, partitions)
        for thread in sorted({each for threads in context.consumers_for_topic.values() for each in threads}):
            found.setdefault(str(thread), [])
        for partition, thread in assignor.assign(context)[name].items():
            found[str(thread)].append(str(partition))
    return {thread: sorted(numbers) for thread, numbers in found.items()}


def assignment_table(language: str) -> str:
    """Both strategies with some groups."""
    words = _WORDS[language]
    heads = {"en": ("Members and threads", "Partitions"), "zh": ("成员和线程", "分区")}[language]
    rows = [f"| {heads[0]} | {heads[1]} | `range` | `roundrobin` |", "|---|---|---|---|"]
    for subscriptions, topics in EXAMPLES:
        members = "<br>".join(f"`{name}`: {_counted(wanted)}" for name, wanted in subscriptions.items())
        cells = [
            "<br>".join(
                f"`{thread}`: {' '.join(numbers) or words['nothing']}"
                for thread, numbers in assign(strategy, subscriptions, topics).items()
            )
            for strategy in ("range", "roundrobin")
        ]
        rows.append(f"| {members} | {_counted(topics)} | {' | '.join(cells)} |")
    return "\n".join(rows)


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{topic} × {count}" for topic, count in counts.items())
