"""Word count on our Streams until standard input ends: ``BOOTSTRAP STATE-DIR``. Book 9.3."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from examples.word_count.topology import five_lines
from kafka_lite.streams.kafka_streams import KafkaStreams


def main(arguments: Sequence[str]) -> None:
    """Run it."""
    bootstrap_servers, state_dir = arguments
    configs: dict[str, object] = {
        "application.id": "ours",
        "bootstrap.servers": bootstrap_servers,
        "state.dir": state_dir,
        "commit.interval.ms": 100,
        "cache.max.bytes.buffering": 0,
    }
    with KafkaStreams(five_lines(), configs) as streams:
        streams.start()
        sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1:])
