"""``kafka-lite verifiable-producer``: sends increasing numbers and reports the outcome of each as JSON.

Kafka 0.10.2: tools/.../tools/VerifiableProducer.java · book 1.4.1
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TextIO

from kafka_lite.common.properties import load_properties
from kafka_lite.common.rates.throughput_throttler import ThroughputThrottler
from kafka_lite.common.serialization import StringSerializer
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.producer.producer_record import ProducerRecord, RecordMetadata
from kafka_lite.tools.common.logging_config import configure_logging
from kafka_lite.tools.common.stop_signals import StopRequested, StopSignals
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors
from kafka_lite.tools.verifiable.json_events import JsonEvents

NAME = "verifiable-producer"
SUMMARY = "send increasing numbers and report each result as JSON"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of kafka-verifiable-producer.sh."""
    parser.add_argument("--topic", required=True, help="the topic to send to")
    parser.add_argument(
        "--bootstrap-server",
        "--broker-list",
        required=True,
        metavar="HOST:PORT",
        help="brokers to connect to, separated by commas",
    )
    parser.add_argument(
        "--max-messages",
        type=int,
        default=-1,
        metavar="N",
        help="number of messages to send; -1 (the default): until stopped",
    )
    parser.add_argument(
        "--throughput", type=int, default=-1, metavar="N",
        help="maximum messages per second; -1 (the default): no limit",
    )  # fmt: skip
    parser.add_argument(
        "--acks",
        type=int,
        choices=(0, 1, -1),
        default=-1,
        help="acks to wait for; -1 (the default): all in-sync replicas",
    )
    parser.add_argument(
        "--producer.config", "--command-config", dest="producer_config", type=Path, metavar="FILE",
        help="file of producer configs; they override the flags",
    )  # fmt: skip
    parser.add_argument(
        "--message-create-time", type=int, default=-1, metavar="MS",
        help="timestamp of the first message in ms since 1970; later ones advance with the clock",
    )  # fmt: skip
    parser.add_argument("--value-prefix", type=int, metavar="N", help="send N.0, N.1, … as values")
    parser.add_argument("--repeating-keys", type=int, metavar="N", help="use the keys 0 to N-1 in turn")


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Send up to the limit, or until SIGTERM or Ctrl-C; then wait for records in flight and print a summary."""
    configure_logging(default_level="WARN")
    if options.repeating_keys is not None and options.repeating_keys <= 0:
        raise ToolError("--repeating-keys should be greater than zero")
    text = StringSerializer()
    producer = KafkaProducer(producer_configs(options), text, text)
    tool = VerifiableProducer(producer, options)
    signals = StopSignals()
    signals.install()
    try:
        tool.send_all()
    except StopRequested:
        pass  # the normal end of a run without limit
    finally:
        signals.disarm()
        tool.close()
    return 0


def producer_configs(options: argparse.Namespace) -> dict[str, object]:
    """The producer's configuration: no retries, so that every error shows. Raises OSError."""
    file = load_properties(options.producer_config) if options.producer_config is not None else {}
    return {"bootstrap.servers": options.bootstrap_server, "acks": str(options.acks), "retries": "0", **file}


class VerifiableProducer:
    """Prints one event per line::

    {"timestamp":1795281906604,"name":"startup_complete"}
    {"timestamp":1795281906617,"name":"producer_send_success","key":null,"value":"0","topic":"t","partition":0,"offset":0}
    {"timestamp":1795281906618,"name":"producer_send_error","key":null,"value":"1","topic":"t","exception":…,"message":…}
    {"timestamp":1795281906640,"name":"shutdown_complete"}
    {"timestamp":1795281906640,"name":"tool_data","sent":2,"acked":1,"target_throughput":-1,"avg_throughput":27.7}
    """

    def __init__(
        self, producer: KafkaProducer, options: argparse.Namespace, out: TextIO | None = None, time: Time = SYSTEM_TIME
    ) -> None:
        self._producer = producer
        self._topic: str = options.topic
        self._max_messages: int = options.max_messages
        self._throughput: int = options.throughput
        self._values = values(options.value_prefix)
        self._keys = keys(options.repeating_keys)
        self._create_time_ms: int | None = None if options.message_create_time == -1 else options.message_create_time
        self._events = JsonEvents(out, time)
        self._time = time
        self._start_ms = time.hi_res_ms()
        self.sent = self.acked = 0

    def send_all(self) -> None:
        """Send up to the limit."""
        self._events.print("startup_complete")
        throttler = ThroughputThrottler(self._throughput, self._start_ms, self._time)
        for number in itertools.count() if self._max_messages < 0 else range(self._max_messages):
            now_ms = self._time.hi_res_ms()
            self.send(next(self._keys), next(self._values))
            if throttler.should_throttle(number, now_ms):
                throttler.throttle()

    def send(self, key: str | None, value: str) -> None:
        """Send a message; its outcome is printed once known."""
        record = ProducerRecord(self._topic, value, key, timestamp=self._timestamp())
        self.sent += 1
        try:
            self._producer.send(record, partial(self._completed, key, value))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is an event
            self._failed(key, value, error)

    def close(self) -> None:
        """Wait for records in flight and print the summary."""
        self._producer.close()
        self._events.print("shutdown_complete")
        elapsed_s = max(self._time.hi_res_ms() - self._start_ms, 1) / 1000
        self._events.print(
            "tool_data",
            sent=self.sent,
            acked=self.acked,
            target_throughput=self._throughput,
            avg_throughput=self.acked / elapsed_s,
        )

    def _timestamp(self) -> int | None:
        if self._create_time_ms is None:
            return None
        return self._create_time_ms + int(self._time.hi_res_ms() - self._start_ms)

    def _completed(self, key: str | None, value: str, metadata: RecordMetadata | None, error: Exception | None) -> None:
        if metadata is None:
            assert error is not None
            self._failed(key, value, error)
            return
        self.acked += 1
        self._events.print(
            "producer_send_success",
            key=key,
            value=value,
            topic=metadata.topic,
            partition=metadata.partition,
            offset=metadata.offset,
        )

    def _failed(self, key: str | None, value: str, error: Exception) -> None:
        kind = f"class {type(error).__module__}.{type(error).__qualname__}"
        self._events.print(
            "producer_send_error", key=key, value=value, topic=self._topic, exception=kind, message=str(error)
        )


def values(prefix: int | None) -> Iterator[str]:
    """``0``, ``1``, …, or with prefix 7: ``7.0``, ``7.1``, …"""
    return (str(number) if prefix is None else f"{prefix}.{number}" for number in itertools.count())


def keys(repeating: int | None) -> Iterator[str | None]:
    """No keys, or ``0`` to ``repeating`` - 1 in an endless cycle."""
    return itertools.repeat(None) if repeating is None else (str(n) for n in itertools.cycle(range(repeating)))
