"""Topologies of Streams drawn by hypothesis, as tests/jvm/RandomTopologies.java and ``run`` below build and run them.

A topology is a list of operators on numbered streams and tables: 0 is a stream, 1 a table, and each operator adds its
result. All keys and values are texts; what operators compute is short, so that nothing grows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from hypothesis import strategies as st

from kafka_lite.common.serdes import Serdes
from kafka_lite.common.serialization import ByteArrayDeserializer
from kafka_lite.streams.kstream.join_windows import JoinWindows
from kafka_lite.streams.kstream.kgrouped_table import KGroupedTable
from kafka_lite.streams.kstream.kstream import KStream
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.kstream.ktable import KTable
from kafka_lite.streams.kstream.session_windows import SessionWindows
from kafka_lite.streams.kstream.transformer import ValueTransformer
from kafka_lite.streams.kstream.windows import TimeWindows
from kafka_lite.streams.state.stores import Stores
from kafka_lite.streams.topology_test_driver import TopologyTestDriver
from kafka_lite.streams.windowed import Windowed

STRING, LONG = Serdes.string(), Serdes.long()
# Java creates the windows of a record in the order of a hash table: that of time, with powers of two. And it never
# reads segments older than the first one: all times are in one segment, half a day.
TUMBLING = TimeWindows.of(60_000)
HOPPING = TimeWindows.of(1 << 21).advance_by(1 << 20)
SESSIONS = SessionWindows.with_gap(60_000)
NEAR = JoinWindows.of(30_000)
STREAM_JOINS = ("join", "left_join", "outer_join")
MAX_STREAM_JOINS = 2
"""Each of them may square the number of records."""

Operator = tuple[str, int, int]
"""Its name, and the numbers of the streams or tables that it takes; -1 for no second one."""
Record = tuple[str, str, str | None, int]
"""Topic, key, value, timestamp in ms."""
Sent = dict[str, list[tuple[bytes | None, bytes | None, int]]]
"""By topic: key, value and timestamp of each record."""


def text(value: str | None) -> str:
    return "null" if value is None else value


def end(value: str) -> str:
    return value[-6:]


def both(value: str | None, other: str | None) -> str:
    return end(f"{text(value)}+{text(other)}")


def first(value: str | None) -> str:
    return text(value)[:1]


def is_even(value: str | None) -> bool:
    return len(text(value)) % 2 == 0


class Numbering(ValueTransformer[str, str]):
    """Numbers the records of a task."""

    number = 0

    def transform(self, value: str) -> str:
        self.number += 1
        return end(f"{text(value)}{self.number}")


class Described:
    """The streams and tables of a topology."""

    def __init__(self) -> None:
        self.builder = KStreamBuilder()
        stream: KStream[str, str] = self.builder.stream("events")
        table: KTable[str, str] = self.builder.table("table", "Table")
        self.nodes: list[KStream[str, str] | KTable[str, str]] = [stream, table]

    def add(self, operator: Operator) -> None:
        """Apply an operator."""
        name, node, other = operator
        if name == "to":
            self.nodes[node].to(f"out-{node}")
            return
        taken = [self.nodes[number] for number in (node, other) if number >= 0]
        result = OPERATORS[name].apply(self, f"Store{len(self.nodes)}", *taken)
        self.nodes.extend(result if isinstance(result, list) else [result])


@dataclass(frozen=True)
class Kind:
    """What an operator takes and makes: a letter for each stream (s) or table (t)."""

    takes: str
    makes: str
    apply: Callable[..., Any] = field(repr=False)


def _groups(table: KTable[str, str]) -> KGroupedTable[str, str]:
    return table.group_by(lambda key, value: (first(value), key))


def _texts(counts: KTable[Windowed[str], int]) -> KStream[str, str]:
    """Windowed counts as a stream of texts."""
    by_text = counts.to_stream(lambda windowed, _: f"{windowed.key}@{windowed.window.start}")
    return by_text.map_values(lambda count: text(None if count is None else str(count)))


def _sessions(_: Described, store: str, stream: KStream[str, str]) -> KStream[str, str]:
    """With a store that has no cache: one of 0.10.2 never passes merged sessions on."""
    supplier = Stores.in_memory_session(store, SESSIONS.maintain_ms, STRING, LONG)
    return _texts(stream.group_by_key().count(supplier, SESSIONS))


def _aggregated(_: Described, store: str, stream: KStream[str, str]) -> KTable[str, str]:
    grouped = stream.group_by(lambda _, value: first(value))
    return grouped.aggregate(lambda: "0", lambda _, value, total: both(total, value), STRING, store)


def _aggregated_groups(_: Described, store: str, table: KTable[str, str]) -> KTable[str, str]:
    return _groups(table).aggregate(
        lambda: "0",
        lambda _, value, total: both(total, value),
        lambda _, value, total: end(f"{text(total)}-{text(value)}"),
        STRING,
        store,
    )


OPERATORS: dict[str, Kind] = {
    "filter": Kind("s", "s", lambda _d, _s, s: s.filter(lambda _, value: is_even(value))),
    "filter_not": Kind("s", "s", lambda _d, _s, s: s.filter_not(lambda _, value: is_even(value))),
    "map": Kind("s", "s", lambda _d, _s, s: s.map(lambda key, value: (end(text(value)), key))),
    "map_values": Kind("s", "s", lambda _d, _s, s: s.map_values(lambda value: end(text(value) + "!"))),
    "flat_map": Kind("s", "s", lambda _d, _s, s: s.flat_map(
        lambda key, value: [(first(value), value), (key, end(text(value) + "2"))])),
    "flat_map_values": Kind("s", "s", lambda _d, _s, s: s.flat_map_values(lambda value: [first(value), text(value)])),
    "select_key": Kind("s", "s", lambda _d, _s, s: s.select_key(lambda _, value: first(value))),
    "branch": Kind("s", "ss", lambda _d, _s, s: s.branch(
        lambda _, value: is_even(value), lambda _, value: first(value) != "a")),
    "merge": Kind("ss", "s", lambda d, _s, s, other: d.builder.merge(s, other)),
    "transform_values": Kind("s", "s", lambda _d, _s, s: s.transform_values(Numbering)),
    "through": Kind("s", "s", lambda _d, store, s: s.through(f"through-{store}")),
    "count": Kind("s", "t", lambda _d, store, s: s.group_by_key().count(store).map_values(str)),
    "reduce": Kind("s", "t", lambda _d, store, s: s.group_by_key().reduce(lambda old, new: end(old + new), store)),
    "aggregate": Kind("s", "t", _aggregated),
    "tumbling": Kind("s", "s", lambda _d, store, s: _texts(s.group_by_key().count(store, TUMBLING))),
    "hopping": Kind("s", "s", lambda _d, store, s: _texts(
        s.group_by(lambda _, value: first(value)).count(store, HOPPING))),
    "sessions": Kind("s", "s", _sessions),
    "join_table": Kind("st", "s", lambda _d, _s, s, t: s.join(t, both)),
    "left_join_table": Kind("st", "s", lambda _d, _s, s, t: s.left_join(t, both)),
    "join": Kind("ss", "s", lambda _d, _s, s, other: s.join(other, both, windows=NEAR)),
    "left_join": Kind("ss", "s", lambda _d, _s, s, other: s.left_join(other, both, windows=NEAR)),
    "outer_join": Kind("ss", "s", lambda _d, _s, s, other: s.outer_join(other, both, windows=NEAR)),
    "filter_table": Kind("t", "t", lambda _d, _s, t: t.filter(lambda _, value: is_even(value))),
    "filter_not_table": Kind("t", "t", lambda _d, _s, t: t.filter_not(lambda _, value: is_even(value))),
    "map_values_table": Kind("t", "t", lambda _d, _s, t: t.map_values(lambda value: end(text(value) + "!"))),
    "to_stream": Kind("t", "s", lambda _d, _s, t: t.to_stream()),
    "join_tables": Kind("tt", "t", lambda _d, _s, t, other: t.join(other, both)),
    "left_join_tables": Kind("tt", "t", lambda _d, _s, t, other: t.left_join(other, both)),
    "outer_join_tables": Kind("tt", "t", lambda _d, _s, t, other: t.outer_join(other, both)),
    "count_groups": Kind("t", "t", lambda _d, store, t: _groups(t).count(store).map_values(str)),
    "reduce_groups": Kind("t", "t", lambda _d, store, t: _groups(t).reduce(
        lambda old, new: end(text(old) + new), lambda old, gone: end(f"{text(old)}-{gone}"), store)),
    "aggregate_groups": Kind("t", "t", _aggregated_groups),
}  # fmt: skip


# ── what hypothesis draws ─────────────────────────────────────────────────────────────────────────────────────────────

STREAM_TABLE_JOINS = ("join_table", "left_join_table")
TABLE_JOINS = ("join_tables", "left_join_tables", "outer_join_tables")
SAME_TABLE = ("filter_table", "filter_not_table", "map_values_table")
REPARTITIONED = ("aggregate", "count_groups", "reduce_groups", "aggregate_groups")
"""Always: what comes out of them is processed later than what goes into them."""


@dataclass(frozen=True)
class Node:
    """A stream or table: its kind, the stores whose changes it may be computed from in one go, and whether it is, in
    the end, a join of tables."""

    kind: str
    stores: frozenset[str]
    is_joined: bool = False


def _is_possible(name: str, taken: Sequence[Node]) -> bool:
    """Whether 0.10.2 can do it, and does the same.

    It cannot join a stream with a table that is itself a join of tables, since that has no store of its own. And it
    passes a change on before it is in its store, so that a join which looks there meanwhile finds the old value. Later
    versions, and ours, can do the one, and store before they pass on.
    """
    if name in STREAM_TABLE_JOINS and taken[1].is_joined:
        return False
    return name not in STREAM_TABLE_JOINS + TABLE_JOINS or not taken[0].stores & taken[1].stores


@st.composite
def topologies(draw: st.DrawFn) -> list[Operator]:
    """Up to eight operators, and a sink for each stream and table that they make."""
    nodes = [Node("s", frozenset()), Node("t", frozenset({"Table"}))]
    operators = list[Operator]()
    for _ in range(draw(st.integers(1, 8))):
        calls = [
            (name, numbers)
            for name, kind in OPERATORS.items()
            for numbers in _operands(kind.takes, nodes)
            if _is_possible(name, [nodes[number] for number in numbers])
        ]
        if sum(name in STREAM_JOINS for name, _, _ in operators) == MAX_STREAM_JOINS:
            calls = [call for call in calls if call[0] not in STREAM_JOINS]
        name = draw(st.sampled_from(list(dict.fromkeys(name for name, _ in calls))))
        first_one, *others = draw(st.sampled_from([numbers for each, numbers in calls if each == name]))
        operators.append((name, first_one, others[0] if others else -1))
        taken = [nodes[number] for number in (first_one, *others)]
        above = frozenset[str]().union(*(node.stores for node in taken))
        stores = {f"Store{len(nodes)}"} | (set() if name in REPARTITIONED else above)
        is_joined = name in TABLE_JOINS or (name in SAME_TABLE and taken[0].is_joined)
        nodes += [Node(kind, frozenset(stores), is_joined) for kind in OPERATORS[name].makes]
    return [*operators, *(("to", number, -1) for number in range(2, len(nodes)))]


def _operands(takes: str, nodes: Sequence[Node]) -> Iterable[tuple[int, ...]]:
    """All numbers of nodes that an operator may take."""
    return product(*([number for number, node in enumerate(nodes) if node.kind == kind] for kind in takes))


def inputs() -> st.SearchStrategy[list[Record]]:
    """Events and changes of the table, some of them late, in steps of 15 s, with pauses of a quarter of an hour."""
    stamps = st.builds(lambda step, pause: step * 15_000 + (pause << 20), st.integers(0, 12), st.integers(0, 2))
    event = st.tuples(st.just("events"), st.sampled_from("abc"), st.sampled_from(["a", "bb", "cab", "dd"]), stamps)
    change = st.tuples(st.just("table"), st.sampled_from("abc"), st.none() | st.sampled_from(["a", "bb", "e"]), stamps)
    return st.lists(event | change, min_size=1, max_size=12)


def run(operators: Sequence[Operator], records: Sequence[Record]) -> Sent:
    """Everything that ours sends. Raises TopologyBuilderError for a topology that cannot be."""
    described = Described()
    for operator in operators:
        described.add(operator)
    sent: Sent = {}
    raw = ByteArrayDeserializer()
    with TopologyTestDriver(described.builder, key_serde=STRING, value_serde=STRING) as driver:
        for topic, key, value, timestamp in records:
            driver.pipe_input(topic, key, value, timestamp=timestamp)
        for topic in driver.produced_topic_names:
            while (record := driver.read_output(topic, raw, raw)) is not None:
                assert record.timestamp is not None
                sent.setdefault(topic, []).append((record.key, record.value, record.timestamp))
    return sent
