"""Counts the words of the topic ``text``, and answers over HTTP: ``python -m examples.interactive_queries``.

Start several, each with its ``--port`` and ``--state-dir``, and ask any of them::

    $ curl -L http://127.0.0.1:7070/Counts/to
    {"key": "to", "value": 2}
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Sequence

from examples.interactive_queries.query_server import QueryServer
from examples.word_count.topology import TEXT, WORD_COUNTS, five_lines
from kafka_lite.common.errors import KafkaError
from kafka_lite.producer import KafkaProducer
from kafka_lite.streams.kafka_streams import KafkaStreams


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until Ctrl-C, or until the application dies."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.interactive_queries", description="Word counts over HTTP."
    )
    parser.add_argument("--bootstrap-server", default="127.0.0.1:9092", metavar="HOST:PORT", help="a broker")
    parser.add_argument("--state-dir", default="/tmp/kafka-streams", metavar="FOLDER", help="default: %(default)s")
    parser.add_argument("--port", type=int, default=7070, help="of this instance; default: %(default)s")
    options = parser.parse_args(arguments)
    try:
        return serve(options.bootstrap_server, options.port, options.state_dir)
    except KafkaError as error:
        print(f"{error} Is a broker running at {options.bootstrap_server}?", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"Cannot listen on port {options.port}: {error.strerror}. Try another --port.", file=sys.stderr)
        return 1


def serve(bootstrap_server: str, port: int, state_dir: str) -> int:
    """Run the application and its HTTP server. Raises KafkaError without a broker, OSError if the port is in use."""
    servers = {"bootstrap.servers": bootstrap_server}
    with KafkaProducer({**servers, "max.block.ms": 10_000}) as producer:
        for topic in (TEXT, WORD_COUNTS):
            producer.partitions_for(topic)  # the broker creates topics that are asked for
    configs = {
        **servers,
        "application.id": "word-count",
        "application.server": f"127.0.0.1:{port}",
        "state.dir": state_dir,
        "commit.interval.ms": 100,
        "internal.leave.group.on.close": True,
    }
    died = threading.Event()

    def on_error(_thread: threading.Thread, error: Exception) -> None:
        print(f"a stream thread has died: {error}", file=sys.stderr)
        died.set()

    with KafkaStreams(five_lines(), configs) as streams, QueryServer(streams, "127.0.0.1", port):
        streams.set_uncaught_exception_handler(on_error)
        streams.start()
        print(f"http://127.0.0.1:{port}/instances", flush=True)
        try:
            while not died.wait(1):
                pass  # a main thread that waits for longer may not notice Ctrl-C
        except KeyboardInterrupt:
            return 0
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
