"""The applications on our Streams: ``KIND BOOTSTRAP APPLICATION STATE-DIR STORE CACHE-BYTES OUTPUT INPUT…``.

It says that it is ready, waits for a line, starts, says that it runs, and runs until standard input ends.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from kafka_lite.common.serdes import Serdes
from kafka_lite.streams.kafka_streams import KafkaStreams, State
from kafka_lite.streams.kstream.join_windows import JoinWindows
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder

STRING, LONG = Serdes.string(), Serdes.long()
WINDOW_MS, KEPT_MS = 2_000, 3_600_000


def word_count(builder: KStreamBuilder, output: str, lines: str) -> None:
    """Count the words of lines; send every new count."""
    words = builder.stream(lines, key_serde=STRING, value_serde=STRING).flat_map_values(str.split)
    words.group_by(lambda _, word: word, STRING, STRING).count("Counts").to(output, STRING, LONG)


def count_keys(builder: KStreamBuilder, output: str, records: str) -> None:
    """Count the records of each key; send every new count."""
    keyed = builder.stream(records, key_serde=STRING, value_serde=STRING)
    keyed.group_by_key(STRING, STRING).count("Counts").to(output, STRING, LONG)


def windowed_join(builder: KStreamBuilder, output: str, orders: str, payments: str) -> None:
    """Join each order with its payment, if their times are close enough."""
    ordered = builder.stream(orders, key_serde=STRING, value_serde=STRING)
    paid = builder.stream(payments, key_serde=STRING, value_serde=STRING)
    windows = JoinWindows.of(WINDOW_MS).until(KEPT_MS)
    joined = ordered.join(
        paid,
        lambda order, payment: f"{order}+{payment}",
        STRING,
        STRING,
        windows=windows,
        other_value_serde=STRING,
    )
    joined.to(output, STRING, STRING)


KINDS: Mapping[str, Callable[..., None]] = {
    "word-count": word_count,
    "count-keys": count_keys,
    "windowed-join": windowed_join,
}


def say_when_running(new: State, old: State) -> None:
    """Say it when the tasks are there and restored. As in 0.10.2, a thread without tasks runs, too."""
    if new is State.RUNNING and old is State.REBALANCING:
        print("running", flush=True)


def main(kind: str, bootstrap: str, application: str, folder: str, store: str, cache: str, *topics: str) -> None:
    """Run one."""
    builder = KStreamBuilder()
    KINDS[kind](builder, *topics)
    configs = {
        "bootstrap.servers": bootstrap,
        "application.id": application,
        "state.dir": folder,
        "default.dsl.store": store,
        "cache.max.bytes.buffering": int(cache),
        "commit.interval.ms": 1000,
        "auto.offset.reset": "earliest",
    }
    with KafkaStreams(builder, configs) as streams:
        streams.set_state_listener(say_when_running)
        print("ready", flush=True)
        sys.stdin.readline()
        streams.start()
        sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
