"""The topology of a drawing.

Not in Kafka. What the operators compute depends on every value and on the order of values, but on nothing else: no
result fits a history in which a record is lost, comes twice, or changes places with another one of its key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple
from zlib import crc32

from kafka_lite.common.serdes import Serde, Serdes
from kafka_lite.streams.kstream.join_windows import JoinWindows
from kafka_lite.streams.kstream.kgrouped_stream import KGroupedStream
from kafka_lite.streams.kstream.kstream import KStream
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.kstream.ktable import KTable
from kafka_lite.streams.kstream.session_windows import SessionWindows
from kafka_lite.streams.kstream.windowed_serde import SessionKeySerde, WindowedSerde
from kafka_lite.streams.kstream.windows import TimeWindows
from kafka_lite.streams.windowed import Windowed
from kafka_lite.testing.simulation.streams.drawing import Drawing
from kafka_lite.testing.simulation.streams.programs import COUNTS, TEXT

STRING, LONG = Serdes.string(), Serdes.long()
MAINTAINED_MS: Final = 120_000
"""How long windows are kept: with three segments, a record that is three minutes late finds none."""
TUMBLING: Final = TimeWindows.of(30_000).until(MAINTAINED_MS)
HOPPING: Final = TimeWindows.of(60_000).advance_by(20_000).until(MAINTAINED_MS)
SESSIONS: Final = SessionWindows.with_gap(10_000).until(MAINTAINED_MS)
JOINED: Final = JoinWindows.of(5_000).until(MAINTAINED_MS)
START_SIZE: Final = 8
"""Bytes after the key of a window; they do not count for its partition."""


class _Table(NamedTuple):
    """A table, and how it is written to a topic."""

    table: KTable[Any, Any]
    key_serde: Serde[Any]
    value_serde: Serde[Any]


def build(drawing: Drawing) -> KStreamBuilder:
    """The topology, which reads ``text`` and writes ``counts``."""
    builder = KStreamBuilder()
    stream: KStream[str, str] = builder.stream(TEXT, key_serde=STRING, value_serde=STRING)
    if drawing.join:
        stream = _JOINS[drawing.join](stream)
    for step in drawing.steps:
        stream = _STEPS[step](stream)
    result = _aggregated(stream.group_by_key(STRING, STRING), drawing)
    for step in drawing.table_steps:
        result = _TABLE_STEPS[step](result)
    if drawing.is_grouped:
        result = _grouped(result)
    result.table.to(COUNTS, result.key_serde, result.value_serde)
    return builder


def partitioned_part(drawing: Drawing, topic: str, key: bytes) -> bytes:
    """The part of a key in a topic of the application's that says which partition it belongs to."""
    is_window = drawing.windows in ("tumbling windows", "hopping windows") and not drawing.is_grouped
    return key[:-START_SIZE] if topic == COUNTS and is_window else key


# ── operators ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _digest(text: str) -> int:
    return crc32(text.encode())


def _is_kept(value: Any) -> bool:
    """True for three out of four values."""
    return _digest(f"{value}") % 4 > 0


def _none_to_two(value: str) -> list[str]:
    return [f"{value}/{number}" for number in range(_digest(value) % 3)]


def _new_key(value: str) -> str:
    return f"new-{_digest(value) % 5}"


def _combined(total: str | None, value: str | None) -> str:
    return f"{_digest(f'{total}+{value}'):08x}"


def _without(total: str, value: str) -> str:
    return f"{_digest(f'{total}-{value}'):08x}"


def _joined_with_itself(join: Callable[..., KStream[str, str]], stream: KStream[str, str]) -> KStream[str, str]:
    """With its own records near in time, of which a quarter is left out."""
    other = stream.filter(lambda _, value: _is_kept(value))
    return join(stream, other, _combined, STRING, STRING, windows=JOINED, other_value_serde=STRING)


def _joined_with_its_table(stream: KStream[str, str]) -> KStream[str, str]:
    table = stream.group_by_key(STRING, STRING).reduce(_combined, "Before")
    return stream.left_join(table, _combined, STRING, STRING)


_JOINS: Final[Mapping[str, Callable[[KStream[str, str]], KStream[str, str]]]] = {
    "join": lambda stream: _joined_with_itself(KStream.join, stream),
    "left_join": lambda stream: _joined_with_itself(KStream.left_join, stream),
    "outer_join": lambda stream: _joined_with_itself(KStream.outer_join, stream),
    "table_join": _joined_with_its_table,
}
_STEPS: Final[Mapping[str, Callable[[KStream[str, str]], KStream[str, str]]]] = {
    "filter": lambda stream: stream.filter(lambda _, value: _is_kept(value)),
    "map_values": lambda stream: stream.map_values(lambda value: f"{value}!"),
    "flat_map_values": lambda stream: stream.flat_map_values(_none_to_two),
    "select_key": lambda stream: stream.select_key(lambda _, value: _new_key(value)),
}
_TABLE_STEPS: Final[Mapping[str, Callable[[_Table], _Table]]] = {
    "filter": lambda each: each._replace(table=each.table.filter(lambda _, value: _is_kept(value))),
    "map_values": lambda each: each._replace(
        table=each.table.map_values(lambda value: f"{value}!"), value_serde=STRING
    ),
}
_WINDOWS: Final[Mapping[str, tuple[Any, Serde[Any]]]] = {
    "keys": (None, STRING),
    "tumbling windows": (TUMBLING, WindowedSerde(STRING)),
    "hopping windows": (HOPPING, WindowedSerde(STRING)),
    "sessions": (SESSIONS, SessionKeySerde(STRING)),
}


def _aggregated(grouped: KGroupedStream[str, str], drawing: Drawing) -> _Table:
    windows, key_serde = _WINDOWS[drawing.windows]
    if drawing.aggregation == "count":
        return _Table(grouped.count("First", windows), key_serde, LONG)
    if drawing.aggregation == "reduce":
        return _Table(grouped.reduce(_combined, "First", windows), key_serde, STRING)
    merger: Any = (lambda _, total, other: _combined(total, other)) if windows is SESSIONS else None
    table: KTable[Any, str] = grouped.aggregate(
        lambda: "", lambda _, value, total: _combined(total, value), STRING, "First", windows, merger
    )
    return _Table(table, key_serde, STRING)


def _grouped(result: _Table) -> _Table:
    """The values of a table by the first digits of its keys' digests, and then all of a group as one."""
    groups = result.table.group_by(lambda key, value: (_group_of(key), f"{value}"), STRING, STRING)
    table = groups.aggregate(
        lambda: "",
        lambda _, value, total: _combined(total, value),
        lambda _, value, total: _without(total, value),
        STRING,
        "Second",
    )
    return _Table(table, STRING, STRING)


def _group_of(key: Any) -> str:
    text = f"{key.key}@{key.window.start}-{key.window.end}" if isinstance(key, Windowed) else key
    return f"group-{_digest(text) % 4}"
