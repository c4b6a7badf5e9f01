"""Counts the words of the topic ``text``, and answers over HTTP: ``python -m examples.interactive_queries``.

Start several, each with its ``--port`` and ``--state-dir``, and ask any of them::

    $ curl -L http://127.0.0.1:7070/Counts/to
    {"key": "to", "value": 2}
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from examples.interactive_queries.query_server import QueryServer
from examples.running import ensure_topics, run_until_ctrl_c
from examples.word_count.topology import TEXT, WORD_COUNTS, five_lines
from kafka_lite.common.errors import KafkaError
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
    ensure_topics(bootstrap_server, (TEXT, WORD_COUNTS))
    configs = {
        "bootstrap.servers": bootstrap_server,
        "application.id": "word-count",
        "application.server": f"127.0.0.1:{port}",
        "state.dir": state_dir,
        "commit.interval.ms": 100,
        "internal.leave.group.on.close": True,
    }
    with KafkaStreams(five_lines(), configs) as streams, QueryServer(streams, "127.0.0.1", port):
        return run_until_ctrl_c(streams, f"http://127.0.0.1:{port}/instances")


if __name__ == "__main__":
    raise SystemExit(main())
