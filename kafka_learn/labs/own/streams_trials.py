"""Trials of Kafka Streams. ``python -m kafka_learn.labs.own.streams_trials TRIAL BOOTSTRAP_SERVERS FOLDER`` runs one of
them in a process that has a learner's modules, and prints what it has found.

The lines are written, and the counts read, by librdkafka.
"""

from __future__ import annotations

import random
import shutil
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition

from kafka_learn.labs.own.trial_program import LIMIT_S, create_topics, main_of
from kafka_lite.common.serdes import Serdes
from kafka_lite.streams.kafka_streams import KafkaStreams
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.kstream.windows import TimeWindows

PARTITIONS = 4
LINES, WORDS = 600, 30
WINDOW_MS = 1_000
FIRST_MS = 1_700_000_000_000


def count_words(bootstrap_servers: str, folder: Path) -> str:
    """Two instances share four partitions, and a topic between lines and words."""
    lines = lines_of(1, LINES)
    create_topics(bootstrap_servers, PARTITIONS, "lines", "counts")
    with ExitStack() as running:
        for number in range(2):
            builder = word_count("lines", "counts")
            running.enter_context(application("count-words", builder, bootstrap_servers, folder / str(number)))
        send(bootstrap_servers, "lines", lines)
        await_counts(bootstrap_servers, "counts", words_of(lines))
    return f"{LINES * 5:,} words counted by two instances"


def restore_a_store(bootstrap_servers: str, folder: Path) -> str:
    """An instance ends, and its disk is lost: the next one has the counts from the changelog."""
    before, after = lines_of(2, LINES), lines_of(3, LINES)
    create_topics(bootstrap_servers, PARTITIONS, "more-lines", "restored-counts")
    with application("restore", word_count("more-lines", "restored-counts"), bootstrap_servers, folder):
        send(bootstrap_servers, "more-lines", before)
        await_counts(bootstrap_servers, "restored-counts", words_of(before))
    shutil.rmtree(folder)
    with application("restore", word_count("more-lines", "restored-counts"), bootstrap_servers, folder):
        send(bootstrap_servers, "more-lines", after)
        await_counts(bootstrap_servers, "restored-counts", words_of([*before, *after]))
    return "counts continue after the loss of a disk"


def count_in_windows(bootstrap_servers: str, folder: Path) -> str:
    """Words by the second in which they were said; every tenth comes late."""
    chance = random.Random(4)
    words = [
        (f"w{chance.randrange(WORDS)}", FIRST_MS + number * 5 - (2_000 if number % 10 == 0 else 0))
        for number in range(LINES)
    ]
    create_topics(bootstrap_servers, PARTITIONS, "said", "said-by-second")
    with application("windows", windowed_count(), bootstrap_servers, folder):
        send(bootstrap_servers, "said", [word for word, _ in words], [at_ms for _, at_ms in words])
        await_counts(
            bootstrap_servers, "said-by-second", Counter(f"{word}@{at // WINDOW_MS * WINDOW_MS}" for word, at in words)
        )
    return f"{LINES} words in windows of a second, late ones among them"


TRIALS = {"count_words": count_words, "restore_a_store": restore_a_store, "count_in_windows": count_in_windows}


# ── applications ──────────────────────────────────────────────────────────────────────────────────────────────────────


def word_count(lines: str, counts: str) -> KStreamBuilder:
    """Lines to words, words to counts."""
    string, long = Serdes.string(), Serdes.long()
    builder = KStreamBuilder()
    words = builder.stream(lines, key_serde=string, value_serde=string).flat_map_values(str.split)
    words.group_by(lambda _, word: word, string, string).count("Counts").to(counts, string, long)
    return builder


def windowed_count() -> KStreamBuilder:
    """The records of each key in each second."""
    string, long = Serdes.string(), Serdes.long()
    builder = KStreamBuilder()
    said = builder.stream("said", key_serde=string, value_serde=string)
    counts = said.group_by(lambda _, word: word, string, string).count("Seconds", TimeWindows.of(WINDOW_MS))
    counts.to_stream(lambda key, _: f"{key.key}@{key.window.start}").to("said-by-second", string, long)
    return builder


def application(name: str, builder: KStreamBuilder, bootstrap_servers: str, state: Path) -> KafkaStreams:
    """An instance that runs until the end of the block."""
    streams = KafkaStreams(
        builder,
        {
            "application.id": name,
            "bootstrap.servers": bootstrap_servers,
            "state.dir": str(state),
            "commit.interval.ms": 200,
            "auto.offset.reset": "earliest",
            "internal.leave.group.on.close": True,
        },
    )
    streams.start()
    return streams


# ── topics ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def lines_of(seed: int, count: int) -> list[str]:
    """Lines of five words."""
    chance = random.Random(seed)
    return [" ".join(f"w{chance.randrange(WORDS)}" for _ in range(5)) for _ in range(count)]


def words_of(lines: Iterable[str]) -> Counter[str]:
    """How often each word comes."""
    return Counter(word for line in lines for word in line.split())


def send(bootstrap_servers: str, topic: str, values: list[str], times: list[int] | None = None) -> None:
    """Send values without keys, one partition after the other."""
    producer = Producer({"bootstrap.servers": bootstrap_servers})
    for number, value in enumerate(values):
        timestamp = times[number] if times else int(time.time() * 1000)
        producer.produce(topic, value, partition=number % PARTITIONS, timestamp=timestamp)
        producer.poll(0)
    assert producer.flush(LIMIT_S) == 0, "the broker does not acknowledge the input"


def await_counts(bootstrap_servers: str, topic: str, wanted: Mapping[str, int]) -> None:
    """Wait until the last count of every key is what it must be. Raises AssertionError."""
    consumer = Consumer({"bootstrap.servers": bootstrap_servers, "group.id": "trial", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, partition, 0) for partition in range(PARTITIONS)])
    counts: dict[str, int] = {}
    deadline = time.monotonic() + LIMIT_S
    try:
        while counts != wanted and time.monotonic() < deadline:
            message: Any = consumer.poll(0.5)
            if message is None:
                continue
            assert not message.error() or message.error().code() == KafkaError._PARTITION_EOF, message.error()
            counts[message.key().decode()] = int.from_bytes(message.value(), "big", signed=True)
    finally:
        consumer.close()
    assert counts == wanted, _difference(counts, wanted)


def _difference(counts: Mapping[str, int], wanted: Mapping[str, int]) -> str:
    missing = wanted.keys() - counts.keys()
    if missing:
        return f"{len(missing)} of {len(wanted)} keys have no count, {min(missing)} among them"
    key = min(key for key in counts if counts[key] != wanted.get(key, 0))
    return f"{key} has the count {counts[key]}, and must have {wanted.get(key, 0)}"


if __name__ == "__main__":
    raise SystemExit(main_of(TRIALS))
