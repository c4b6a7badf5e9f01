"""Runs one of Kafka's examples until Ctrl-C, beside a broker: ``python -m examples.kafka_examples temperature``.

It names its topics. Write to the first, and read from the last, with ``kafka-lite console-producer`` and
``console-consumer``. Records of ``temperature`` are numbers; those of ``page-view`` are JSON, with users as keys.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from examples.kafka_examples.topologies import (
    FILE_INPUT,
    MAXIMA,
    PAGE_VIEWS,
    PIPE_OUTPUT,
    STATISTICS,
    TEMPERATURES,
    USER_PROFILES,
    page_view,
    pipe,
    temperature,
)
from examples.running import ensure_topics, run_until_ctrl_c
from kafka_lite.common.errors import KafkaError
from kafka_lite.streams.kafka_streams import KafkaStreams
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.kstream.windows import TimeWindows

HOUR_MS = 60 * 60 * 1000


@dataclass(frozen=True)
class Example:
    """A topology, and the topics that it reads and writes."""

    topology: Callable[[], KStreamBuilder]
    topics: tuple[str, ...]


EXAMPLES = {
    "pipe": Example(pipe, (FILE_INPUT, PIPE_OUTPUT)),
    "temperature": Example(temperature, (TEMPERATURES, MAXIMA)),
    "page-view": Example(lambda: page_view(TimeWindows.of(HOUR_MS)), (PAGE_VIEWS, USER_PROFILES, STATISTICS)),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run an example until Ctrl-C, or until the application dies."""
    parser = argparse.ArgumentParser(prog="python -m examples.kafka_examples", description="Kafka's examples.")
    parser.add_argument("example", choices=EXAMPLES)
    parser.add_argument("--bootstrap-server", default="127.0.0.1:9092", metavar="HOST:PORT", help="a broker")
    parser.add_argument("--state-dir", default="/tmp/kafka-streams", metavar="FOLDER", help="default: %(default)s")
    options = parser.parse_args(arguments)
    try:
        return run(options.example, options.bootstrap_server, options.state_dir)
    except KafkaError as error:
        print(f"{error} Is a broker running at {options.bootstrap_server}?", file=sys.stderr)
        return 1


def run(name: str, bootstrap_server: str, state_dir: str) -> int:
    """Run an example. Raises KafkaError without a broker."""
    example = EXAMPLES[name]
    ensure_topics(bootstrap_server, example.topics)
    configs = {
        "bootstrap.servers": bootstrap_server,
        "application.id": f"streams-{name}",
        "state.dir": state_dir,
        "commit.interval.ms": 100,
        "internal.leave.group.on.close": True,
    }
    with KafkaStreams(example.topology(), configs) as streams:
        return run_until_ctrl_c(streams, f"{' and '.join(example.topics[:-1])} → {example.topics[-1]}")


if __name__ == "__main__":
    raise SystemExit(main())
