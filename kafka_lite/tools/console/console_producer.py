"""``kafka-lite console-producer``: sends the lines of stdin as messages.

Unlike Kafka's, it exits with code 1 if a message could not be sent, so that scripts that pipe into it notice.

Kafka 0.10.2: core/.../tools/ConsoleProducer.scala; flags and defaults also as in Kafka 3.9 · book 1.4.1, 2.2.1
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kafka_lite.clients.client_utils import parse_and_validate_addresses
from kafka_lite.common.new_instance import new_instance
from kafka_lite.tools.common.client_properties import client_properties
from kafka_lite.tools.common.logging_config import configure_logging
from kafka_lite.tools.common.stop_signals import StopRequested, StopSignals
from kafka_lite.tools.common.terminal import on_terminal, print_error, print_to_stderr, styled
from kafka_lite.tools.common.tool_errors import reports_errors
from kafka_lite.tools.console.base_producer import BaseProducer, NewShinyProducer, OldProducer
from kafka_lite.tools.console.record_reader import RecordReader

NAME = "console-producer"
SUMMARY = "send each line of standard input to a topic"

CLIENT_ID = "console-producer"
DEFAULT_READER = "kafka_lite.tools.console.record_reader.LineMessageReader"

NEW_PRODUCER_CONFIGS: Mapping[str, tuple[str, object]] = {
    "timeout": ("linger.ms", 1000),
    "request_required_acks": ("acks", "-1"),
    "request_timeout_ms": ("request.timeout.ms", 1500),
    "message_send_max_retries": ("retries", 3),
    "retry_backoff_ms": ("retry.backoff.ms", 100),
    "socket_buffer_size": ("send.buffer.bytes", 100 * 1024),
    "max_memory_bytes": ("buffer.memory", 32 * 1024 * 1024),
    "batch_size": ("batch.size", 16 * 1024),
    "max_partition_memory_bytes": ("batch.size", 16 * 1024),
    "metadata_expiry_ms": ("metadata.max.age.ms", 5 * 60 * 1000),
    "max_block_ms": ("max.block.ms", 60 * 1000),
}
"""Flag → key and default, as in Kafka 3.9. A flag overrides the key in a file, which overrides the default."""

OLD_PRODUCER_CONFIGS: Mapping[str, tuple[str, object]] = {
    "batch_size": ("batch.num.messages", 200),
    "message_send_max_retries": ("message.send.max.retries", 3),
    "retry_backoff_ms": ("retry.backoff.ms", 100),
    "timeout": ("queue.buffering.max.ms", 1000),
    "queue_size": ("queue.buffering.max.messages", 10_000),
    "queue_enqueuetimeout_ms": ("queue.enqueue.timeout.ms", 0x7FFFFFFF),
    "request_required_acks": ("request.required.acks", "1"),
    "request_timeout_ms": ("request.timeout.ms", 1500),
    "key_serializer": ("key.serializer.class", "kafka_lite.old_producer.encoder.DefaultEncoder"),
    "value_serializer": ("serializer.class", "kafka_lite.old_producer.encoder.DefaultEncoder"),
    "socket_buffer_size": ("send.buffer.bytes", 100 * 1024),
    "metadata_expiry_ms": ("topic.metadata.refresh.interval.ms", 5 * 60 * 1000),
}
"""Flag → key and default with ``--old-producer``, as in 0.10.2."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of kafka-console-producer.sh, both 0.10.2's and current ones."""
    parser.add_argument("--topic", required=True, help="the topic to send to")
    parser.add_argument(
        "--bootstrap-server",
        "--broker-list",
        required=True,
        metavar="HOST:PORT",
        help="brokers to connect to, separated by commas",
    )
    parser.add_argument("--sync", action="store_true", help="wait for each message before reading the next")
    parser.add_argument(
        "--compression-codec",
        nargs="?",
        const="gzip",
        metavar="CODEC",
        help="none (the default), gzip, snappy, lz4 or zstd; without a value, gzip",
    )
    parser.add_argument("--old-producer", action="store_true", help="use the old (Scala) producer")
    _add_reader_arguments(parser)
    _add_producer_arguments(parser)
    parser.add_argument(
        "--producer-property", "--command-property", action="append", default=[], metavar="KEY=VALUE",
        help="a producer config; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--producer.config", "--command-config", dest="producer_config", type=Path, metavar="FILE",
        help="file of producer configs; --producer-property overrides it",
    )  # fmt: skip


def _add_reader_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--line-reader", default=DEFAULT_READER, metavar="CLASS",
        help="your own RecordReader, as package.module.Class (default: one message per line)",
    )  # fmt: skip
    parser.add_argument(
        "--property", "--reader-property", action="append", default=[], metavar="KEY=VALUE",
        help="a property of the line reader: parse.key=true, key.separator (tab), parse.headers=true, "
        "headers.delimiter (tab), headers.separator (,), headers.key.separator (:), ignore.error=true, null.marker",
    )  # fmt: skip
    parser.add_argument("--reader-config", type=Path, metavar="FILE", help="file of properties of the line reader")


def _add_producer_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags that map to producer configs; see NEW_PRODUCER_CONFIGS and OLD_PRODUCER_CONFIGS."""
    for flag, kind, text in (
        ("--batch-size", int, "maximum size of a batch in bytes; with --old-producer, in messages"),
        ("--message-send-max-retries", int, "how often to retry a failed send (default: 3)"),
        ("--retry-backoff-ms", int, "ms to wait before a retry (default: 100)"),
        ("--timeout", int, "ms that a message waits for its batch to fill (default: 1000; 0 with --sync)"),
        ("--request-required-acks", str, "0, 1, or -1 for all in-sync replicas (default: -1; 1 with --old-producer)"),
        ("--request-timeout-ms", int, "ms to wait for a response (default: 1500)"),
        ("--metadata-expiry-ms", int, "ms after which metadata is fetched again (default: 300000)"),
        ("--socket-buffer-size", int, "size of the socket's send buffer in bytes (default: 102400)"),
        (
            "--max-block-ms",
            int,
            "ms that send may block on metadata or memory (default: 60000); not with --old-producer",
        ),
        ("--max-memory-bytes", int, "memory for unsent messages in bytes (default: 33554432); not with --old-producer"),
        (
            "--max-partition-memory-bytes",
            int,
            "maximum size of a batch in bytes; overrides --batch-size; not with --old-producer",
        ),
        ("--queue-size", int, "maximum number of queued messages (default: 10000); --old-producer only"),
        ("--queue-enqueuetimeout-ms", int, "ms that send blocks while the queue is full; --old-producer only"),
        ("--key-serializer", str, "class that encodes keys; --old-producer only"),
        ("--value-serializer", str, "class that encodes messages; --old-producer only"),
    ):
        parser.add_argument(flag, type=kind, metavar="CLASS" if "serializer" in flag else "N", help=text)


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Send until stdin ends or a signal arrives; returns 1 if anything was not sent."""
    configure_logging(default_level="WARN")
    parse_and_validate_addresses(options.bootstrap_server)
    for flag in flags_without_effect(options):
        print_to_stderr(f"{flag} has no effect {'with' if options.old_producer else 'without'} --old-producer")
    reader = _reader(options)
    producer: BaseProducer = (
        OldProducer(old_producer_configs(options))
        if options.old_producer
        else NewShinyProducer(new_producer_configs(options), options.sync)
    )
    return _send_all(reader, producer)


def _reader(options: argparse.Namespace) -> RecordReader:
    reader: RecordReader = new_instance("line-reader", RecordReader, options.line_reader)
    properties = client_properties(options.reader_config, "--property", options.property)
    reader.configure({"topic": options.topic, **properties})
    return reader


def _send_all(reader: RecordReader, producer: BaseProducer) -> int:
    signals = StopSignals()
    signals.install()
    if on_terminal(sys.stderr) and sys.stdin.isatty():
        print_to_stderr(styled("Each line becomes a message; Ctrl-D ends the input.", "dim", sys.stderr))
    exit_code = 0
    try:
        for record in reader.read_records(sys.stdin.buffer):
            producer.send(record)
    except StopRequested as stop:
        exit_code = stop.exit_code
    finally:
        signals.disarm()
        producer.close()
        reader.close()
    if producer.failures:
        print_error("Some messages were not sent; the errors above say why.")
        return exit_code or 1
    return exit_code


# ------------------------------------------------------------------------------------------------------ configurations


def new_producer_configs(options: argparse.Namespace) -> dict[str, Any]:
    """The configuration of the new producer. Raises ToolError, OSError."""
    configs = _given_configs(options)
    if options.sync:
        configs.setdefault("linger.ms", 0)  # a synchronous send cannot wait for its batch to fill
    merge(configs, options, NEW_PRODUCER_CONFIGS)
    return configs | {
        "bootstrap.servers": options.bootstrap_server,
        "compression.type": options.compression_codec or configs.get("compression.type", "none"),
        "client.id": configs.get("client.id", CLIENT_ID),
    }


def old_producer_configs(options: argparse.Namespace) -> dict[str, Any]:
    """The configuration of the old producer. Raises ToolError, OSError."""
    configs = _given_configs(options)
    merge(configs, options, OLD_PRODUCER_CONFIGS)
    return configs | {
        "metadata.broker.list": options.bootstrap_server,
        "compression.codec": options.compression_codec or configs.get("compression.codec", "none"),
        "producer.type": "sync" if options.sync else configs.get("producer.type", "async"),
        "client.id": configs.get("client.id", CLIENT_ID),
    }


def _given_configs(options: argparse.Namespace) -> dict[str, Any]:
    return dict(client_properties(options.producer_config, "--producer-property", options.producer_property))


def merge(
    configs: dict[str, Any], options: argparse.Namespace, keys_and_defaults: Mapping[str, tuple[str, object]]
) -> None:
    """Set the keys of given flags, and the defaults of keys not set yet; of two flags for a key, the later wins."""
    for flag, (key, default) in keys_and_defaults.items():
        given = getattr(options, flag)
        if given is not None:
            configs[key] = given
        else:
            configs.setdefault(key, default)


def flags_without_effect(options: argparse.Namespace) -> list[str]:
    """The given flags that the chosen producer has no key for."""
    mine, other = NEW_PRODUCER_CONFIGS, OLD_PRODUCER_CONFIGS
    if options.old_producer:
        mine, other = other, mine
    given = [flag for flag in other if flag not in mine and getattr(options, flag) is not None]
    return ["--" + flag.replace("_", "-") for flag in given]
