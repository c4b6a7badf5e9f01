"""The applications on faust-streaming: the same arguments as ``ours``; the tables are in memory, there is no cache.

Faust has no joins (its classes of that name raise NotImplementedError): two agents, each with a table of what has come,
do by hand what a join does.
"""

from __future__ import annotations

import sys
from typing import Any

import faust  # type: ignore[import-not-found]

WINDOW_MS = 2_000


def raw_topic(app: faust.App, name: str, *, internal: bool = False) -> Any:
    """A topic with text in its keys and values. Faust creates ``internal`` topics itself."""
    serializers = {"key_serializer": "raw", "value_serializer": "raw"}
    return app.topic(name, key_type=str, value_type=str, partitions=1, internal=internal, **serializers)


def word_count(app: faust.App, output: Any, lines: str) -> None:
    words = raw_topic(app, f"{app.conf.id}-words", internal=True)
    counts = app.Table("counts", default=int, partitions=1, key_type=str, value_type=int)

    @app.agent(raw_topic(app, lines))
    async def split(stream: Any) -> None:
        async for line in stream:
            for word in line.split():
                await words.send(key=word, value=word)

    @app.agent(words)
    async def count(stream: Any) -> None:
        async for word in stream:
            new = counts[word] + 1
            counts[word] = new
            await output.send(key=word, value=new.to_bytes(8, "big"))


def count_keys(app: faust.App, output: Any, records: str) -> None:
    counts = app.Table("counts", default=int, partitions=1, key_type=str, value_type=int)

    @app.agent(raw_topic(app, records))
    async def count(stream: Any) -> None:
        async for event in stream.events():
            new = counts[event.key] + 1
            counts[event.key] = new
            await output.send(key=event.key, value=new.to_bytes(8, "big"))


def windowed_join(app: faust.App, output: Any, orders: str, payments: str) -> None:
    ordered = app.Table("orders", partitions=1, key_type=str)
    paid = app.Table("payments", partitions=1, key_type=str)

    async def near(table: Any, event: Any) -> list[str]:
        time_ms = event.message.timestamp * 1000
        return [value for at_ms, value in table.get(event.key) or () if abs(at_ms - time_ms) <= WINDOW_MS]

    def keep(table: Any, event: Any) -> None:
        table[event.key] = [*(table.get(event.key) or ()), (event.message.timestamp * 1000, event.value)]

    @app.agent(raw_topic(app, orders))
    async def order(stream: Any) -> None:
        async for event in stream.events():
            for payment in await near(paid, event):
                await output.send(key=event.key, value=f"{event.value}+{payment}".encode())
            keep(ordered, event)

    @app.agent(raw_topic(app, payments))
    async def pay(stream: Any) -> None:
        async for event in stream.events():
            for each in await near(ordered, event):
                await output.send(key=event.key, value=f"{each}+{event.value}".encode())
            keep(paid, event)


KINDS = {"word-count": word_count, "count-keys": count_keys, "windowed-join": windowed_join}


def main(kind: str, bootstrap: str, application: str, folder: str, _store: str, _cache: str, *topics: str) -> None:
    output, *inputs = topics
    app = faust.App(
        application,
        broker=f"kafka://{bootstrap}",
        store="memory://",
        datadir=folder,
        topic_partitions=1,
        topic_replication_factor=1,
        broker_commit_interval=1.0,
        producer_linger=0.1,
        web_enabled=False,
    )
    sent = app.topic(output, key_type=str, value_type=bytes, key_serializer="raw", value_serializer="raw", partitions=1)
    KINDS[kind](app, sent, *inputs)
    print("ready", flush=True)
    sys.stdin.readline()
    faust.Worker(app, loglevel="warning").execute_from_commandline()


if __name__ == "__main__":
    main(*sys.argv[1:])
