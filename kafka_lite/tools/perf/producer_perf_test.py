"""``kafka-lite producer-perf-test``: a producer's throughput in records per second, and its latencies.

Kafka 0.10.2: tools/.../tools/ProducerPerformance.java · book 1.4.1
"""

from __future__ import annotations

import argparse
import contextlib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from kafka_lite.common.rates.throughput_throttler import ThroughputThrottler
from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.producer.producer_record import ProducerRecord, RecordMetadata
from kafka_lite.tools.common.client_properties import client_properties
from kafka_lite.tools.common.logging_config import configure_logging
from kafka_lite.tools.common.terminal import on_terminal, print_error
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors
from kafka_lite.tools.perf.payloads import Payload, any_of, monotonic, random_letters, read_payloads
from kafka_lite.tools.perf.performance_stats import Stats
from kafka_lite.tools.perf.print_metrics import print_metrics

NAME = "producer-perf-test"
SUMMARY = "measure a producer's throughput and latency"

CLIENT_ID = "perf-producer-client"
REFRESH_MS = 250.0
"""Interval at which progress is redrawn."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of kafka-producer-perf-test.sh."""
    parser.add_argument("--topic", required=True, help="the topic to send to")
    parser.add_argument("--num-records", required=True, type=int, metavar="N", help="number of records to send")
    payload = parser.add_mutually_exclusive_group(required=True)
    payload.add_argument("--record-size", type=int, metavar="BYTES", help="send random values of this size")
    payload.add_argument("--payload-file", type=Path, metavar="FILE", help="take the values from a file of UTF-8 text")
    payload.add_argument("--payload-monotonic", action="store_true", help="send the numbers 0, 1, 2, … as values")
    parser.add_argument(
        "--payload-delimiter",
        default="\\n",
        metavar="TEXT",
        help="delimiter between values in --payload-file (default: \\n)",
    )
    parser.add_argument(
        "--throughput", required=True, type=float, metavar="N",
        help="maximum records per second; -1: no limit",
    )  # fmt: skip
    parser.add_argument(
        "--bootstrap-server", metavar="HOST:PORT", help="same as --producer-props bootstrap.servers=HOST:PORT"
    )
    parser.add_argument(
        "--producer-props", "--command-property", nargs="+", default=[], metavar="KEY=VALUE",
        help="producer configs, such as bootstrap.servers and linger.ms; they override --producer.config",
    )  # fmt: skip
    parser.add_argument(
        "--producer.config", "--command-config", dest="producer_config", type=Path, metavar="FILE",
        help="file of producer configs",
    )  # fmt: skip
    parser.add_argument("--print-metrics", action="store_true", help="print the producer's metrics at the end")


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Send the records and print the figures; returns 1 if some were not acknowledged."""
    configure_logging(default_level="WARN")
    configs = producer_configs(options)
    check_numbers(options)
    payload = payload_of(options)
    stats, failures = Stats(options.num_records), Failures()
    producer = KafkaProducer(configs)
    interrupted = False
    with progress(options.num_records) as show:
        try:
            send_all(producer, options, payload, stats, failures, show)
        except KeyboardInterrupt:
            interrupted = failures.ignore_more = True
    print(stats.total_line(), flush=True)
    if options.print_metrics:
        print_metrics(producer.metrics())
    producer.close(0 if interrupted else None)
    failures.report()
    return 130 if interrupted else int(failures.count > 0)


def producer_configs(options: argparse.Namespace) -> dict[str, str]:
    """The configuration of the producer. Raises ToolError, OSError."""
    configs = {"client.id": CLIENT_ID} | client_properties(
        options.producer_config, "--producer-props", options.producer_props
    )
    if options.bootstrap_server:
        configs["bootstrap.servers"] = options.bootstrap_server
    if "bootstrap.servers" not in configs:
        raise ToolError(
            "no brokers given: use --bootstrap-server HOST:PORT or --producer-props bootstrap.servers=HOST:PORT"
        )
    return configs


def check_numbers(options: argparse.Namespace) -> None:
    """Raise ToolError for numbers with which nothing would be sent or the test would never end."""
    if options.num_records <= 0:
        raise ToolError("--num-records should be greater than zero")
    if options.record_size is not None and options.record_size <= 0:
        raise ToolError("--record-size should be greater than zero")
    if options.throughput == 0:
        raise ToolError("--throughput 0 would never finish; use -1 for no limit")


def payload_of(options: argparse.Namespace) -> Payload:
    """The payloads that the options choose. Raises ToolError, OSError."""
    if options.payload_monotonic:
        return monotonic()
    if options.record_size is not None:
        return random_letters(options.record_size)
    print(f"Reading payloads from: {options.payload_file.absolute()}")
    payloads = read_payloads(options.payload_file, options.payload_delimiter)
    print(f"Number of messages read: {len(payloads)}", flush=True)
    return any_of(payloads)


class Failures:
    """Counts records that were not acknowledged: the first of each kind is reported at once, totals at the end."""

    def __init__(self) -> None:
        self._reasons: Counter[str] = Counter()
        self.ignore_more = False
        """Set when the user ends the test: sends abandoned then are not failures."""

    @property
    def count(self) -> int:
        """Number of failed records."""
        return self._reasons.total()

    def add(self, error: Exception) -> None:
        """Count a failed record."""
        if self.ignore_more:
            return
        kind = type(error).__name__ if not hasattr(error, "error") else error.error.name
        self._reasons[kind] += 1
        if self._reasons[kind] == 1:
            print_error(f"A record was not sent: {error}")

    def report(self) -> None:
        """Print the number of failures of each kind."""
        for kind, count in self._reasons.most_common():
            print_error(f"{count} records were not sent: {kind}")


Show = Callable[[Stats], None]


def send_all(
    producer: KafkaProducer, options: argparse.Namespace, payload: Payload, stats: Stats, failures: Failures, show: Show
) -> None:
    """Send the records at the requested rate and wait until all are acknowledged."""
    topic, now = options.topic, SYSTEM_TIME.hi_res_ms

    def completed(start_ms: float, size_bytes: int, _metadata: RecordMetadata | None, error: Exception | None) -> None:
        if error is not None:
            failures.add(error)
            return
        line = stats.record(start_ms, size_bytes)
        if line is not None:
            print(line, flush=True)

    throttler, next_show_ms = ThroughputThrottler(options.throughput, now()), 0.0
    for number in range(options.num_records):
        value, start_ms = payload(number), now()
        producer.send(ProducerRecord(topic, value), partial(completed, start_ms, len(value)))
        if throttler.should_throttle(number, start_ms):
            throttler.throttle()
        if start_ms >= next_show_ms:
            show(stats)
            next_show_ms = start_ms + REFRESH_MS
    while not producer.flush(REFRESH_MS):
        show(stats)
    show(stats)


@contextlib.contextmanager
def progress(total: int) -> Iterator[Show]:
    """A progress bar below the window lines on a terminal; nothing in a pipe."""
    if not on_terminal():
        yield lambda _stats: None
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[rates]}"), TimeRemainingColumn())
    with Progress(*columns, auto_refresh=False, transient=True) as bar:
        task = bar.add_task("", total=total, rates="")
        yield lambda stats: bar.update(task, completed=stats.count, rates=stats.rates(), refresh=True)
