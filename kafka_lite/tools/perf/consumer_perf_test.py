"""``kafka-lite consumer-perf-test``: records per second that the new or the old consumer reads.

Kafka 0.10.2: core/.../tools/ConsumerPerformance.scala · book 1.4.3
"""

from __future__ import annotations

import argparse
import random
import threading
import time
from collections.abc import Collection
from pathlib import Path

from kafka_lite.common.properties import load_properties
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_rebalance_listener import ConsumerRebalanceListener
from kafka_lite.consumer.consumer_record import ConsumerRecords
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.old_consumer.consumer_iterator import ConsumerTimeoutError
from kafka_lite.old_consumer.kafka_stream import KafkaStream
from kafka_lite.old_consumer.zookeeper_consumer_connector import Consumer
from kafka_lite.tools.common.date_format import date_format
from kafka_lite.tools.common.logging_config import configure_logging
from kafka_lite.tools.common.terminal import print_to_stderr
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors
from kafka_lite.tools.perf.consumption import DEFAULT_DATE_FORMAT, Consumption, header, total_line
from kafka_lite.tools.perf.print_metrics import print_metrics

NAME = "consumer-perf-test"
SUMMARY = "measure a consumer's throughput"

POLL_MS = 100.0
OLD_CONSUMER_TIMEOUT_MS = 1000
OLD_CHUNK = 256
"""Number of messages of an old consumer's stream between two clock reads."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of kafka-consumer-perf-test.sh."""
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument(
        "--bootstrap-server", "--broker-list", metavar="HOST:PORT", help="brokers to connect to, separated by commas"
    )
    where.add_argument(
        "--zookeeper", metavar="HOST:PORT[/PATH]", help="ZooKeeper to connect to; measures the old consumer"
    )
    parser.add_argument("--topic", required=True, help="the topic to read")
    parser.add_argument("--messages", required=True, type=int, metavar="N", help="number of records to read")
    parser.add_argument("--group", metavar="GROUP", help="the consumer group (default: a new one)")
    parser.add_argument(
        "--fetch-size",
        type=int,
        default=1 << 20,
        metavar="BYTES",
        help="maximum bytes of a partition per fetch (default: 1048576)",
    )
    parser.add_argument(
        "--from-latest", action="store_true", help="start at the end of the log instead of its beginning"
    )
    parser.add_argument(
        "--socket-buffer-size",
        type=int,
        default=2 << 20,
        metavar="BYTES",
        help="size of the socket's receive buffer (default: 2097152)",
    )
    parser.add_argument(
        "--timeout",
        type=int,
        default=10_000,
        metavar="MS",
        help="give up if no record arrives for this long (default: 10000)",
    )
    _add_old_consumer_arguments(parser)
    parser.add_argument(
        "--consumer.config", "--command-config", dest="consumer_config", type=Path, metavar="FILE",
        help="file of consumer configs",
    )  # fmt: skip
    _add_output_arguments(parser)


def _add_old_consumer_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--threads", type=int, default=10, metavar="N", help="number of streams; old consumer only (default: 10)"
    )
    parser.add_argument(
        "--num-fetch-threads",
        type=int,
        default=1,
        metavar="N",
        help="number of fetcher threads; old consumer only (default: 1)",
    )


def _add_output_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--show-detailed-stats", action="store_true", help="print a line for each --reporting-interval")
    parser.add_argument(
        "--reporting-interval", type=int, default=5000, metavar="MS", help="length of an interval (default: 5000)"
    )
    parser.add_argument(
        "--date-format", default=DEFAULT_DATE_FORMAT, metavar="PATTERN",
        help=f"format of times, as in Java's SimpleDateFormat (default: {DEFAULT_DATE_FORMAT})",
    )  # fmt: skip
    parser.add_argument("--hide-header", action="store_true", help="do not print a header")
    parser.add_argument(
        "--print-metrics", action="store_true", help="print the consumer's metrics at the end; new consumer only"
    )


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Consume and print the figures; returns 1 if fewer records arrived than requested."""
    configure_logging(default_level="WARN")
    if options.messages <= 0 or options.reporting_interval <= 0:
        raise ToolError("--messages and --reporting-interval must be greater than 0")
    test = OldConsumerTest(options) if options.zookeeper else NewConsumerTest(options)
    if not options.hide_header:
        print(header(options.show_detailed_stats, with_rebalance=not options.zookeeper), flush=True)
    consumed = test.run()
    if consumed < options.messages:
        print_to_stderr(
            f"WARNING: Exiting before consuming the expected number of messages: {consumed} of {options.messages} "
            f"arrived, then none for {test.timeout_ms} ms."
        )
        return 1
    return 0


def _configs_of_file(options: argparse.Namespace) -> dict[str, object]:
    return {} if options.consumer_config is None else dict(load_properties(options.consumer_config))


def _group(options: argparse.Namespace) -> str:
    return options.group or f"perf-consumer-{random.randrange(100_000)}"


class NewConsumerTest(ConsumerRebalanceListener):
    """KafkaConsumer, in a group of its own."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self.timeout_ms: int = options.timeout
        self._date = date_format(options.date_format)
        self._counted = Consumption(0, self._date, with_rebalance=True, interval_ms=options.reporting_interval)

    def run(self) -> int:
        """Consume and print the figures; returns the number of records."""
        counted = self._counted
        with KafkaConsumer(new_consumer_configs(self._options)) as consumer:
            consumer.subscribe([self._options.topic], self)
            last_ms = time.monotonic() * 1000
            while counted.messages < self._options.messages:
                records = consumer.poll(POLL_MS)
                now_ms = time.monotonic() * 1000
                if records:
                    last_ms = now_ms
                    self._count(records)
                elif now_ms - last_ms > self.timeout_ms:
                    break
            end_ms = time.time() * 1000
            if not self._options.show_detailed_stats:
                figures = (counted.start_ms, end_ms, counted.messages, counted.bytes, counted.rebalance_ms)
                print(total_line(self._date, *figures))
        if self._options.print_metrics:  # after close: metrics of the last fetch are recorded once it is consumed
            print_metrics(consumer.metrics())
        return counted.messages

    def _count(self, records: ConsumerRecords) -> None:
        size = 0
        for record in records:
            size += len(record.key or b"") + len(record.value or b"")
        line = self._counted.add(records.count, size)
        if line is not None and self._options.show_detailed_stats:
            print(line, flush=True)

    def on_partitions_revoked(self, partitions: Collection[TopicPartition]) -> None:  # noqa: ARG002
        """Start measuring the rebalance, which lasts until the next assignment."""
        self._counted.partitions_revoked()

    def on_partitions_assigned(self, partitions: Collection[TopicPartition]) -> None:  # noqa: ARG002
        """Stop measuring the rebalance."""
        self._counted.partitions_assigned()


def new_consumer_configs(options: argparse.Namespace) -> dict[str, object]:
    """The consumer's configuration; flags override the file."""
    defaults = {"client.id": "perf-consumer-client", "allow.auto.create.topics": "false"}
    return defaults | _configs_of_file(options) | {
        "bootstrap.servers": options.bootstrap_server,
        "group.id": _group(options),
        "receive.buffer.bytes": options.socket_buffer_size,
        "max.partition.fetch.bytes": options.fetch_size,
        "auto.offset.reset": "latest" if options.from_latest else "earliest",
        "check.crcs": "false",
    }  # fmt: skip


class OldConsumerTest:
    """The ZooKeeper consumer, with one thread per stream."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self.timeout_ms = OLD_CONSUMER_TIMEOUT_MS
        self._date = date_format(options.date_format)
        self._timed_out = threading.Event()
        self._left = options.messages
        self._lock = threading.Lock()

    def run(self) -> int:
        """Consume and print the figures; returns the number of messages."""
        with Consumer.create(old_consumer_configs(self._options)) as connector:
            streams = connector.create_message_streams({self._options.topic: self._options.threads})
            counts = [self._consumption(number) for number in range(self._options.threads)]
            start_ms = time.time() * 1000
            threads = [
                threading.Thread(target=self._consume, args=(stream, counted), name=f"kafka-zk-consumer-{number}")
                for number, (stream, counted) in enumerate(zip(streams[self._options.topic], counts, strict=True))
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            end_ms = time.time() * 1000 - (self.timeout_ms if self._timed_out.is_set() else 0)
        messages, size = sum(each.messages for each in counts), sum(each.bytes for each in counts)
        if not self._options.show_detailed_stats:
            print(total_line(self._date, start_ms, end_ms, messages, size, None))
        return messages

    def _consumption(self, number: int) -> Consumption:
        return Consumption(number, self._date, with_rebalance=False, interval_ms=self._options.reporting_interval)

    def _consume(self, stream: KafkaStream[bytes, bytes], counted: Consumption) -> None:
        messages = size = 0
        try:
            for message in stream:
                messages += 1
                size += len(message.message or b"")
                if messages == OLD_CHUNK:
                    self._count(counted, messages, size)
                    messages = size = 0
                    if self._left <= 0:
                        break
        except ConsumerTimeoutError:
            self._timed_out.set()
        self._count(counted, messages, size)
        if self._options.show_detailed_stats:
            print(counted.interval_line(), flush=True)

    def _count(self, counted: Consumption, messages: int, size: int) -> None:
        with self._lock:
            self._left -= messages
        line = counted.add(messages, size)
        if line is not None and self._options.show_detailed_stats:
            print(line, flush=True)


def old_consumer_configs(options: argparse.Namespace) -> dict[str, object]:
    """The consumer's configuration; flags override the file."""
    return _configs_of_file(options) | {
        "zookeeper.connect": options.zookeeper,
        "group.id": _group(options),
        "socket.receive.buffer.bytes": options.socket_buffer_size,
        "fetch.message.max.bytes": options.fetch_size,
        "auto.offset.reset": "largest" if options.from_latest else "smallest",
        "consumer.timeout.ms": OLD_CONSUMER_TIMEOUT_MS,
        "num.consumer.fetchers": options.num_fetch_threads,
    }
