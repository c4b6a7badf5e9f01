"""The applications on quix-streams: the same arguments as ``ours``; the store is always RocksDB, there is no cache."""

from __future__ import annotations

import sys
from typing import Any

from quixstreams import Application, State  # type: ignore[import-not-found]

WINDOW_MS, KEPT_MS = 2_000, 3_600_000


def count(_: str, state: State) -> bytes:
    """The new count of a key, as Kafka's LongSerializer writes it."""
    new: int = state.get("count", 0) + 1
    state.set("count", new)
    return new.to_bytes(8, "big")


def dataframe(app: Application, topic: str) -> Any:
    return app.dataframe(app.topic(topic, key_deserializer="string", value_deserializer="string"))


def word_count(app: Application, output: Any, lines: str) -> None:
    words = dataframe(app, lines).apply(str.split, expand=True)
    by_word = words.group_by(
        str,
        "words",
        value_deserializer="string",
        key_deserializer="string",
        value_serializer="string",
        key_serializer="string",
    )
    by_word.apply(count, stateful=True).to_topic(output)


def count_keys(app: Application, output: Any, records: str) -> None:
    dataframe(app, records).apply(count, stateful=True).to_topic(output)


def windowed_join(app: Application, output: Any, orders: str, payments: str) -> None:
    joined = dataframe(app, orders).join_interval(
        dataframe(app, payments),
        on_merge=lambda order, payment: f"{order}+{payment}",
        backward_ms=WINDOW_MS,
        forward_ms=WINDOW_MS,
        grace_ms=KEPT_MS,
    )
    joined.apply(str.encode).to_topic(output)


KINDS = {"word-count": word_count, "count-keys": count_keys, "windowed-join": windowed_join}


def main(kind: str, bootstrap: str, application: str, folder: str, _store: str, _cache: str, *topics: str) -> None:
    output, *inputs = topics
    app = Application(
        bootstrap,
        consumer_group=application,
        auto_offset_reset="earliest",
        state_dir=folder,
        commit_interval=1.0,
        producer_extra_config={"linger.ms": 100},
        loglevel="WARNING",
    )
    KINDS[kind](app, app.topic(output, key_serializer="string", value_serializer="bytes"), *inputs)
    print("ready", flush=True)
    sys.stdin.readline()
    app.run()


if __name__ == "__main__":
    main(*sys.argv[1:])
