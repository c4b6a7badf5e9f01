"""Counts the words of standard input: ``python -m examples.word_count``, beside a broker.

The lines go to the topic ``text``. The application reads them there, and this program prints what it writes to
``word-counts``. It ends after its input has been counted, or with Ctrl-C. The next run continues from these counts.
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Sequence

from examples.running import partitions_of
from examples.word_count.topology import TEXT, WORD_COUNTS, five_lines
from kafka_lite.common.errors import KafkaError
from kafka_lite.common.serialization import LongDeserializer, StringDeserializer
from kafka_lite.consumer import KafkaConsumer
from kafka_lite.producer import KafkaProducer, ProducerRecord
from kafka_lite.streams.kafka_streams import KafkaStreams

CONFIGS: dict[str, object] = {
    "application.id": "word-count",
    "commit.interval.ms": 100,
    # Print every new count. With a cache, only the last one of each word before a commit.
    "cache.max.bytes.buffering": 0,
    "linger.ms": 5,
    # Leave the group at the end, so that the next run does not wait for the session of this one.
    "internal.leave.group.on.close": True,
}


class CountsPrinter(threading.Thread):
    """Prints the records that arrive in ``word-counts`` from now on."""

    def __init__(self, bootstrap_servers: str) -> None:
        """Find the ends of the topic, where the printing begins. Raises KafkaError if there is no such topic."""
        super().__init__(name="counts-printer")
        self._consumer = KafkaConsumer({"bootstrap.servers": bootstrap_servers, "auto.offset.reset": "latest"})
        partitions = partitions_of(self._consumer, WORD_COUNTS)
        self._consumer.assign(partitions)
        for partition in partitions:
            self._consumer.position(partition)
        self._printed = 0
        self._changed = threading.Condition()
        self._stopping = threading.Event()

    def run(self) -> None:
        """Print until ``stop``."""
        word, count = StringDeserializer(), LongDeserializer()
        with self._consumer:
            while not self._stopping.is_set():
                for record in self._consumer.poll(200):
                    print(
                        f"{word.deserialize(record.topic, record.key)} {count.deserialize(record.topic, record.value)}"
                    )
                    with self._changed:
                        self._printed += 1
                        self._changed.notify_all()
                sys.stdout.flush()

    def wait_for(self, records: int) -> None:
        """Block until so many records are printed, or until ``stop``."""
        with self._changed:
            self._changed.wait_for(lambda: self._printed >= records or self._stopping.is_set())

    def stop(self) -> None:
        """Let the thread end."""
        self._stopping.set()
        with self._changed:
            self._changed.notify_all()


def main(arguments: Sequence[str] | None = None) -> int:
    """Count standard input."""
    parser = argparse.ArgumentParser(prog="python -m examples.word_count", description="Count the words of each line.")
    parser.add_argument("--bootstrap-server", default="127.0.0.1:9092", metavar="HOST:PORT", help="a broker")
    parser.add_argument("--state-dir", default="/tmp/kafka-streams", metavar="FOLDER", help="default: %(default)s")
    options = parser.parse_args(arguments)
    try:
        errors = count(options.bootstrap_server, options.state_dir)
    except KafkaError as error:
        print(f"{error} Is a broker running at {options.bootstrap_server}?", file=sys.stderr)
        return 1
    for died in errors:
        print(f"a stream thread has died: {died}", file=sys.stderr)
    return 1 if errors else 0


def count(bootstrap_server: str, state_dir: str) -> list[Exception]:
    """Count standard input; returns what the stream thread died of, if it did. Raises KafkaError without a broker."""
    servers = {"bootstrap.servers": bootstrap_server}
    configs = {**CONFIGS, **servers, "state.dir": state_dir}
    with KafkaProducer({**servers, "linger.ms": 0, "max.block.ms": 10_000}) as producer:
        for topic in (TEXT, WORD_COUNTS):
            producer.partitions_for(topic)  # the broker creates topics that are asked for
        printer = CountsPrinter(bootstrap_server)
        printer.start()
        errors: list[Exception] = []

        def on_error(_thread: threading.Thread, error: Exception) -> None:
            errors.append(error)
            printer.stop()

        try:
            with KafkaStreams(five_lines(), configs) as streams:
                streams.set_uncaught_exception_handler(on_error)
                streams.start()
                words = 0
                for line in sys.stdin:
                    producer.send(ProducerRecord(TEXT, line.encode()))
                    words += len(line.split())
                printer.wait_for(words)
        except KeyboardInterrupt:
            pass
        finally:
            printer.stop()
            printer.join()
    return errors


if __name__ == "__main__":
    raise SystemExit(main())
