"""Kafka's smoke test of Streams, beside a broker: ``python -m examples.smoke_test process``, and ``run`` beside it.

``process`` is an instance of the application; start some, and end some with Ctrl-C, while ``run`` writes numbers and
waits for the right answers. Create the topics first, with as many partitions as there is to share::

    for topic in data echo max min dif sum cnt avg tagg; do
        kafka-lite topics --bootstrap-server 127.0.0.1:9092 --create --topic $topic --partitions 4; done

A single broker also needs ``--config replication.factor=1`` for ``process``.

Kafka 0.10.2: streams/src/test/.../tests/StreamsSmokeTest.java · book 9.2.2
"""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from collections.abc import Sequence

from examples.smoke_test.driver import Verifier, Writer, numbers_of
from examples.smoke_test.topology import CONFIGS, smoke_test
from kafka_lite.common.errors import KafkaError
from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.streams.kafka_streams import KafkaStreams, State

KEYS, RECORDS_PER_KEY = 10, 500
VERIFY_MS = 6 * 60 * 1000


def process(configs: dict[str, object]) -> int:
    """Run an instance until it is asked to end. Prints its states, for it may run without a task that prints."""
    asked = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: asked.set())
    errors: list[Exception] = []

    def on_error(_thread: threading.Thread, error: Exception) -> None:
        print(f"SMOKE-TEST-CLIENT-EXCEPTION {error!r}", flush=True)
        errors.append(error)
        asked.set()

    def on_state(new: State, old: State) -> None:
        print(f"{old.name} -> {new.name}", flush=True)

    with KafkaStreams(smoke_test(), configs) as streams:
        streams.set_uncaught_exception_handler(on_error)
        streams.set_state_listener(on_state)
        streams.start()
        while not asked.wait(1):
            pass  # a main thread that waits for longer may not notice a signal
    if not errors:
        print("SMOKE-TEST-CLIENT-CLOSED", flush=True)
    return 1 if errors else 0


def run(bootstrap_servers: str, keys: int, records_per_key: int) -> int:
    """Write the numbers, and wait for the answers."""
    numbers = numbers_of(keys, records_per_key)
    print(f"{Writer(bootstrap_servers, numbers).write()} records produced", flush=True)
    give_up_ms = SYSTEM_TIME.hi_res_ms() + VERIFY_MS
    with Verifier(bootstrap_servers, numbers) as verifier:
        while SYSTEM_TIME.hi_res_ms() < give_up_ms and (verifier.poll() or verifier.answers.problems()):
            pass
        problems, repeated = verifier.answers.problems(), verifier.answers.repeated()
    for problem in problems:
        print(problem)
    print(f"{repeated} numbers were processed more than once")
    print("FAILURE" if problems else "SUCCESS")
    return 1 if problems else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run an instance, or the driver."""
    parser = argparse.ArgumentParser(prog="python -m examples.smoke_test", description="Kafka's smoke test of Streams.")
    parser.add_argument("command", choices=("process", "run"), help="an instance of the application, or the driver")
    parser.add_argument("--bootstrap-server", default="127.0.0.1:9092", metavar="HOST:PORT", help="a broker")
    parser.add_argument("--state-dir", default="/tmp/kafka-streams", metavar="FOLDER", help="default: %(default)s")
    parser.add_argument("--config", action="append", default=[], metavar="KEY=VALUE", help="of the application")
    parser.add_argument("--keys", type=int, default=KEYS, help="of the driver; default: %(default)s")
    parser.add_argument("--records-per-key", type=int, default=RECORDS_PER_KEY, help="default: %(default)s")
    options = parser.parse_args(arguments)
    if options.command == "run":
        try:
            return run(options.bootstrap_server, options.keys, options.records_per_key)
        except KafkaError as error:
            print(error, file=sys.stderr)
            return 1
    configs = {**CONFIGS, "bootstrap.servers": options.bootstrap_server, "state.dir": options.state_dir}
    return process({**configs, **dict(each.split("=", 1) for each in options.config)})


if __name__ == "__main__":
    sys.exit(main())
