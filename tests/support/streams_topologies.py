"""The topologies of ``tests/jvm/StreamsTopologies.java``, written on ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_lite.common.serdes import Serde, Serdes
from kafka_lite.streams.kstream.global_ktable import GlobalKTable
from kafka_lite.streams.kstream.join_windows import JoinWindows
from kafka_lite.streams.kstream.kstream import KStream
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.kstream.ktable import KTable
from kafka_lite.streams.kstream.session_windows import SessionWindows
from kafka_lite.streams.kstream.transformer import Transformer
from kafka_lite.streams.kstream.windowed_serde import SessionKeySerde, WindowedSerde
from kafka_lite.streams.kstream.windows import TimeWindows, UnlimitedWindows
from kafka_lite.streams.processor.processor_context import ProcessorContext
from kafka_lite.streams.processor.state_store import StateStoreSupplier
from kafka_lite.streams.state.stores import Stores
from kafka_lite.streams.windowed import Windowed

STRING, LONG = Serdes.string(), Serdes.long()
WINDOWED: Serde[Windowed[str]] = WindowedSerde(STRING)
SESSION_KEY: Serde[Windowed[str]] = SessionKeySerde(STRING)


def word_count(output: str) -> KStreamBuilder:
    """A stream, through a repartition topic, counted."""
    builder = KStreamBuilder()
    lines: KStream[str, str] = builder.stream("in")
    words = lines.flat_map_values(lambda line: line.split(" "))
    words.group_by(lambda _, word: word).count("Counts").to(output, STRING, LONG)
    return builder


def grouped_table(output: str) -> KStreamBuilder:
    """A table that is filtered, mapped and grouped anew; and a stream with branches, merged and aggregated."""
    builder = KStreamBuilder()
    table: KTable[str, str] = builder.table("in", "Table")
    stream: KStream[str, str] = builder.stream("more")
    grouped = (
        table.filter(lambda _, value: len(value) > 2)
        .map_values(lambda value: value + "!")
        .group_by(lambda _, value: (value[:1], value))
    )
    grouped.reduce(lambda old, new: old + new, lambda old, gone: old.replace(gone, "", 1), "Groups").to(output)
    longer, others = (
        stream.filter_not(lambda _, value: not value)
        .map(lambda key, value: (value, key))
        .branch(lambda key, _: len(key) > 3, lambda *_: True)
    )
    lengths = builder.merge(others, longer).group_by_key()
    totals = lengths.aggregate(lambda: 100, lambda _, value, total: total + len(value), LONG, "Lengths")
    totals.to(f"{output}-lengths", STRING, LONG)
    return builder


def joins(output: str) -> KStreamBuilder:
    """Joins of two tables, of all kinds, one of them grouped afterwards; and of a stream with a table."""
    builder = KStreamBuilder()
    left: KTable[str, str] = builder.table("in", "Left")
    right: KTable[str, str] = builder.table("more", "Right")
    events: KStream[str, str] = builder.stream("events")

    left.join(right, _both).to(output)
    left.left_join(right.filter(lambda _, value: value != "b"), _both).to(f"{output}-left")
    outer = left.outer_join(right, _both).group_by(lambda key, value: (value[:1], key))
    outer.count("Outer").to(f"{output}-lengths", STRING, LONG)
    renamed = events.select_key(lambda key, _: f"{key}")
    renamed.left_join(left.map_values(lambda value: f"{value}!"), _both, STRING, STRING).to(f"{output}-stream")
    return builder


def stream_joins(output: str) -> KStreamBuilder:
    """Joins of two streams, of all kinds; the outer one with a repartition topic."""
    builder = KStreamBuilder()
    left: KStream[str, str] = builder.stream("in")
    right: KStream[str, str] = builder.stream("more")
    windows = JoinWindows.of(20_000).before(40_000).until(120_000)
    left.join(right, _both, windows=windows).to(output)
    left.left_join(right, _both, windows=windows).to(f"{output}-left")
    renamed = left.select_key(lambda key, _: f"{key}")
    renamed.outer_join(right, _both, STRING, STRING, windows=windows, other_value_serde=STRING).to(f"{output}-stream")
    return builder


class Numbering(Transformer[str, str, tuple[str, str]]):
    """Numbers the records of a task, and leaves every third out."""

    number = 0

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        context.schedule(600_000)

    def transform(self, key: str, value: str) -> tuple[str, str] | None:
        self.number += 1
        return None if self.number % 3 == 0 else (value, f"{key}{self.number}")

    def punctuate(self, timestamp: int) -> tuple[str, str]:
        return "punctuated", f"{timestamp}"


def global_table(output: str) -> KStreamBuilder:
    """Joins with a global table by values, and a transformer with punctuations."""
    builder = KStreamBuilder()
    words: GlobalKTable[str, str] = builder.global_table("more", "Words")
    events: KStream[str, str] = builder.stream("events")
    events.join(words, _both, key_mapper=lambda _, value: value).to(output)
    events.left_join(words, _both, key_mapper=lambda key, value: key + value).to(f"{output}-left")
    events.transform(Numbering).to(f"{output}-stream")
    return builder


def sessions(output: str) -> KStreamBuilder:
    """Sessions counted, which expire soon; reduced; and aggregated, with a table that is grouped anew.

    Their stores have no caches: those of 0.10.2 never pass merged sessions on.
    """
    builder = KStreamBuilder()
    events: KStream[str, str] = builder.stream("events")
    expiring = SessionWindows.with_gap(60_000).until(120_000)
    counts = events.group_by_key().count(_sessions("Counts", LONG, expiring), expiring)
    counts.to(output, SESSION_KEY, LONG)
    longer = SessionWindows.with_gap(100_000)
    reduced = events.group_by_key().reduce(lambda old, new: old + new, _sessions("Reduced", STRING, longer), longer)
    reduced.to(f"{output}-left", SESSION_KEY, STRING)
    lengths = events.group_by(lambda _, value: value).aggregate(
        lambda: 100, lambda _, value, total: total + len(value), LONG, _sessions("Lengths", LONG, longer), longer,
        lambda _, total, other: total + other,
    )  # fmt: skip
    by_letter = lengths.group_by(lambda session, total: (session.key[:1], total), STRING, LONG)
    sums = by_letter.aggregate(
        lambda: 0, lambda _, value, total: total + value, lambda _, value, total: total - value, LONG, "Sum"
    )
    sums.to(f"{output}-lengths", STRING, LONG)
    return builder


def windows(output: str) -> KStreamBuilder:
    """Windows that hop, that tumble and expire soon, and one without an end, whose table is grouped anew."""
    builder = KStreamBuilder()
    events: KStream[str, str] = builder.stream("events")
    events.group_by_key().count("Hopping", TimeWindows.of(1 << 21).advance_by(1 << 20)).to(output, WINDOWED, LONG)
    tumbling = TimeWindows.of(60_000).until(120_000)
    reduced = events.group_by_key().reduce(lambda old, new: old + new, "Tumbling", tumbling)
    reduced.filter(lambda _, value: len(value) < 4).to(f"{output}-left", WINDOWED, STRING)
    unlimited = UnlimitedWindows.of().start_on(70_000)  # 0.10.2 cannot cache them
    # Without a cache, 0.10.2 passes what the initializer returns on as an old value to be subtracted: so, None.
    store = Stores.in_memory_window("All", unlimited.maintain_ms, STRING, LONG)
    everything = events.group_by(lambda _, value: value).aggregate(
        lambda: None, lambda _, __, total: (total or 100) + 1, LONG, store, unlimited
    )
    by_letter = everything.group_by(lambda windowed, total: (windowed.key[:1], total), STRING, LONG)
    sums = by_letter.aggregate(
        lambda: 0, lambda _, value, total: total + value, lambda _, value, total: total - value, LONG, "Sum"
    )
    sums.to(f"{output}-lengths", STRING, LONG)
    return builder


def cached(output: str) -> KStreamBuilder:
    """Several stores that share a cache, in one task; a copy of the input says how far it has come."""
    builder = KStreamBuilder()
    events: KStream[str, str] = builder.stream("events")
    events.group_by_key().count("Counts").to(output, STRING, LONG)
    hopping = TimeWindows.of(1 << 21).advance_by(1 << 20)
    events.group_by_key().count("Hopping", hopping).to(f"{output}-left", WINDOWED, LONG)
    reduced = events.group_by_key().reduce(_combined, "Reduced").filter(lambda _, value: len(value) < 9)
    reduced.map_values(lambda value: value + "!").to(f"{output}-lengths")
    events.to(f"{output}-stream")
    return builder


def _combined(old: str, new: str) -> Any:
    return None if new == "or" else old + new


def _sessions(name: str, serde: Serde[Any], windows: SessionWindows) -> StateStoreSupplier[Any]:
    return Stores.in_memory_session(name, windows.maintain_ms, STRING, serde)


def _both(value: str | None, other: str | None) -> str:
    return "+".join("null" if each is None else each for each in (value, other))


TOPOLOGIES: dict[str, Callable[[str], KStreamBuilder]] = {
    "word-count": word_count,
    "grouped-table": grouped_table,
    "joins": joins,
    "windows": windows,
    "stream-joins": stream_joins,
    "sessions": sessions,
    "global-table": global_table,
    "cached": cached,
}
