"""``kafka-lite console-consumer``: prints messages, using the new or the old consumer.

Kafka 0.10.2: core/.../tools/ConsoleConsumer.scala; flags also as in Kafka 3.9 · book 1.4.1, 1.4.3
"""

from __future__ import annotations

import argparse
import logging
import random
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.properties import load_properties
from kafka_lite.consumer.consumer_errors import WakeupError
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.old_consumer.topic_filter import Blacklist, TopicFilter, Whitelist
from kafka_lite.tools.common.client_properties import client_properties, parse_key_value_args
from kafka_lite.tools.common.logging_config import configure_logging
from kafka_lite.tools.common.stop_signals import SIGNAL_CHECK_S, StopRequested, StopSignals
from kafka_lite.tools.common.terminal import print_to_stderr
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors
from kafka_lite.tools.console.base_consumer import (
    EARLIEST_OFFSET,
    LATEST_OFFSET,
    BaseConsumer,
    NewShinyConsumer,
    OldConsumer,
    StreamEndError,
)
from kafka_lite.tools.console.formatter_registry import create_formatter
from kafka_lite.tools.console.message_formatters import MessageFormatter
from kafka_lite.tools.zookeeper.zookeeper_session import zookeeper_client
from kafka_lite.zookeeper.consumer_groups import ConsumerGroups
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

logger = logging.getLogger(__name__)

NAME = "console-consumer"
SUMMARY = "print a topic's messages, from now on or from the beginning"

CLIENT_ID = "console-consumer"
CSV_REPORTER = "kafka_lite.metrics.kafka_csv_metrics_reporter.KafkaCSVMetricsReporter"
WITH_ZOOKEEPER = ("blacklist", "csv_reporter_enabled", "delete_consumer_offsets", "metrics_dir")
"""Flags that only affect the old consumer."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of kafka-console-consumer.sh, both 0.10.2's and current ones."""
    parser.add_argument(
        "--bootstrap-server",
        metavar="HOST:PORT",
        help="brokers to connect to, separated by commas; uses the new consumer",
    )
    parser.add_argument(
        "--zookeeper", metavar="HOST:PORT[/PATH]", help="ZooKeeper to connect to; uses the old consumer"
    )
    parser.add_argument("--new-consumer", action="store_true", help="no effect; --bootstrap-server implies it")
    _add_what_to_consume(parser)
    _add_consumer_arguments(parser)
    add_formatter_arguments(parser)
    parser.add_argument(
        "--skip-message-on-error", action="store_true", help="skip a message that cannot be printed instead of exiting"
    )


def _add_what_to_consume(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--topic", help="the topic to read")
    parser.add_argument(
        "--include", "--whitelist", dest="include", metavar="REGEX", help="read all topics whose names match"
    )
    parser.add_argument(
        "--blacklist", metavar="REGEX", help="read all topics whose names do not match; --zookeeper only"
    )
    parser.add_argument("--partition", type=int, metavar="N", help="read only this partition, without a group")
    parser.add_argument(
        "--offset",
        metavar="OFFSET",
        help="the offset to start from in --partition: a number, earliest, or latest (the default)",
    )
    parser.add_argument(
        "--from-beginning",
        action="store_true",
        help="start with the oldest message if the group has no committed offset",
    )
    parser.add_argument("--max-messages", type=int, default=-1, metavar="N", help="exit after this many messages")
    parser.add_argument(
        "--timeout-ms", type=int, default=-1, metavar="MS", help="exit if no message arrives for this long"
    )


def _add_consumer_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--group", help="the consumer group (default: a new one)")
    parser.add_argument(
        "--consumer-property", "--command-property", dest="consumer_property", action="append", default=[],
        metavar="KEY=VALUE", help="a consumer config; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--consumer.config", "--command-config", dest="consumer_config", type=Path, metavar="FILE",
        help="file of consumer configs; --consumer-property overrides it",
    )  # fmt: skip
    parser.add_argument(
        "--isolation-level", choices=["read_committed", "read_uncommitted"],
        help="read_committed skips messages of open and aborted transactions; --bootstrap-server only",
    )  # fmt: skip
    parser.add_argument(
        "--delete-consumer-offsets", action="store_true", help="delete the group's offsets first; --zookeeper only"
    )
    parser.add_argument(
        "--csv-reporter-enabled", action="store_true", help="write the consumer's metrics as CSV; --zookeeper only"
    )
    parser.add_argument("--metrics-dir", metavar="DIR", help="folder of the CSV metrics (default: kafka_metrics)")
    parser.add_argument("--enable-systest-events", action="store_true", help="print a shutdown_complete event at exit")


def add_formatter_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags that say how to print a message."""
    parser.add_argument(
        "--formatter", default="DefaultMessageFormatter", metavar="CLASS",
        help="how to print a message: DefaultMessageFormatter, LoggingMessageFormatter, NoOpMessageFormatter, "
        "ChecksumMessageFormatter, OffsetsMessageFormatter or GroupMetadataMessageFormatter, or one of yours",
    )  # fmt: skip
    parser.add_argument(
        "--property", "--formatter-property", dest="formatter_property", action="append", default=[],
        metavar="KEY=VALUE",
        help="a property of the formatter: print.key, print.timestamp, print.partition, print.offset, print.epoch, "
        "print.headers, print.value (true or false), key.separator, line.separator, headers.separator, null.literal, "
        "key.deserializer, value.deserializer, headers.deserializer",
    )  # fmt: skip
    parser.add_argument("--formatter-config", type=Path, metavar="FILE", help="file of properties of the formatter")
    parser.add_argument("--key-deserializer", metavar="CLASS", help="class that decodes keys")
    parser.add_argument("--value-deserializer", metavar="CLASS", help="class that decodes values")


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Print messages until a signal or a limit set by the options; returns 1 if a message could not be printed."""
    configure_logging(default_level="WARN")
    check(options)
    formatter = create_formatter(options.formatter, formatter_properties(options))
    if options.zookeeper:
        print_to_stderr(
            "Using the ConsoleConsumer with old consumer is deprecated and will be removed in a future major release. "
            "Consider using the new consumer by passing [bootstrap-server] instead of [zookeeper]."
        )
        return _run_old_consumer(options, formatter)
    consumer = NewShinyConsumer(
        new_consumer_configs(options),
        topic=options.topic,
        partition=options.partition,
        offset=parse_offset(options),
        include=options.include,
        timeout_ms=options.timeout_ms if options.timeout_ms >= 0 else None,
    )
    return Consumption(consumer, formatter, options).run()


def _run_old_consumer(options: argparse.Namespace, formatter: MessageFormatter) -> int:
    configs, has_group = old_consumer_configs(options)
    group = configs["group.id"]
    with zookeeper_client(options.zookeeper) as zk_client:
        _prepare_group(zk_client, group, options)
        try:
            return Consumption(OldConsumer(_topic_filter(options), configs), formatter, options).run()
        finally:
            if not has_group:  # a generated group's offsets are of no further use
                ConsumerGroups(zk_client).delete_group(group)


def _prepare_group(zk: KafkaZkClient, group: str, options: argparse.Namespace) -> None:
    """Make sure that ``--from-beginning`` is not overridden by committed offsets. Raises ToolError."""
    groups = ConsumerGroups(zk)
    if not zk.get_broker_ids():
        raise ToolError("No brokers found in ZK.")
    if options.delete_consumer_offsets:
        groups.delete_group(group)
    elif options.from_beginning and groups.has_offsets(group):
        raise ToolError(
            f"Found previous offset information for this group {group}. Please use --delete-consumer-offsets to delete "
            "previous offsets metadata"
        )


class Consumption:
    """A thread that consumes and prints while the main thread waits for signals.

    A signal raises an exception in the main thread, which must not be inside consumer code at that point.
    """

    def __init__(self, consumer: BaseConsumer, formatter: MessageFormatter, options: argparse.Namespace) -> None:
        self._consumer = consumer
        self._formatter = formatter
        self._options = options
        self._error: BaseException | None = None
        self._ended = threading.Event()
        self.message_count = 0

    def run(self) -> int:
        """Run to completion and return the exit code. Re-raises the formatter's errors."""
        signals = StopSignals()
        thread = threading.Thread(target=self._consume, name="console-consumer", daemon=True)
        exit_code = 0
        try:
            signals.install()
            thread.start()
            while not self._ended.wait(SIGNAL_CHECK_S):  # not join: interrupted, it takes the thread for finished
                pass
        except StopRequested as stop:
            exit_code = stop.exit_code
            self._consumer.stop()
        finally:
            signals.disarm()
        thread.join()
        if self._options.enable_systest_events:
            print("shutdown_complete", flush=True)
        if self._error is not None:
            raise self._error
        return exit_code

    def _consume(self) -> None:
        try:
            self._process_and_close()
        except BaseException as error:  # noqa: BLE001 - the main thread raises it
            self._error = error
        finally:
            self._ended.set()

    def _process_and_close(self) -> None:
        try:
            self.process(sys.stdout.buffer)
        finally:
            self._consumer.cleanup()
            self._formatter.close()
            print_to_stderr(f"Processed a total of {self.message_count} messages")

    def process(self, output: BinaryIO) -> None:
        """Print messages up to the limit or the end. Raises KafkaError if one cannot be printed."""
        limit = self._options.max_messages
        while limit == -1 or self.message_count < limit:
            try:
                record = self._consumer.receive()
            except (StreamEndError, WakeupError):
                return
            except ToolError:
                raise
            except KafkaError as error:
                logger.error("Error processing message, terminating consumer process: %s", error)
                return
            self.message_count += 1
            try:
                self._formatter.write_to(record, output)
                output.flush()
                self.on_printed(record)
            except OSError:
                print_to_stderr("Unable to write to standard out, closing consumer.")
                return
            except KafkaError as error:
                self.on_error(record, error)

    def on_printed(self, record: ConsumerRecord) -> None:
        """A message was printed."""

    def on_error(self, _record: ConsumerRecord, error: KafkaError) -> None:
        """A message cannot be printed: it is skipped, or the error is raised again."""
        if not self._options.skip_message_on_error:
            raise error
        logger.error("Error processing message, skipping this message: %s", error)


# ------------------------------------------------------------------------------------------------------------- options


def check(options: argparse.Namespace) -> None:
    """Raise ToolError for conflicting flags."""
    if options.zookeeper and options.bootstrap_server:
        raise ToolError("Option [bootstrap-server] is not valid with [zookeeper].")
    if options.zookeeper and options.new_consumer:
        raise ToolError("Option [new-consumer] is not valid with [zookeeper].")
    if not options.zookeeper and not options.bootstrap_server:
        raise ToolError("Missing required argument --bootstrap-server (or --zookeeper, for the old consumer)")
    candidates = [options.topic, options.include, options.blacklist if options.zookeeper else None]
    if sum(each is not None for each in candidates) != 1:
        raise ToolError(f"Exactly one of --include{'/--blacklist' if options.zookeeper else ''}/--topic is required.")
    if options.zookeeper and (options.partition is not None or options.offset is not None):
        raise ToolError("Partition-offset based consumption is supported in the new consumer only.")
    _check_partition(options)
    without = () if options.zookeeper else WITH_ZOOKEEPER
    for flag in [*without, *(["isolation_level"] if options.zookeeper else [])]:
        if getattr(options, flag):
            print_to_stderr(f"--{flag.replace('_', '-')} has no effect with this consumer")


def _check_partition(options: argparse.Namespace) -> None:
    if options.partition is None:
        if options.offset is not None:
            raise ToolError("The partition is required when offset is specified.")
        return
    if options.topic is None:
        raise ToolError("The topic is required when partition is specified.")
    if options.from_beginning and options.offset is not None:
        raise ToolError("Options from-beginning and offset cannot be specified together.")


def parse_offset(options: argparse.Namespace) -> int:
    """Parse ``--offset`` into a number. Raises ToolError."""
    text = options.offset
    if text is None:
        return EARLIEST_OFFSET if options.from_beginning else LATEST_OFFSET
    special = {"earliest": EARLIEST_OFFSET, "latest": LATEST_OFFSET}.get(text.lower())
    if special is not None:
        return special
    if not text.isdecimal():
        raise ToolError(
            f"The provided offset value '{text}' is incorrect. Valid values are 'earliest', 'latest', or a "
            "non-negative long."
        )
    return int(text)


def formatter_properties(options: argparse.Namespace) -> dict[str, str]:
    """Properties from the file, the two deserializer flags and ``--property``; later ones take precedence."""
    properties = load_properties(options.formatter_config) if options.formatter_config else {}
    for name in ("key.deserializer", "value.deserializer"):
        given = getattr(options, name.replace(".", "_"))
        if given:
            properties[name] = given
    return properties | parse_key_value_args("--property", options.formatter_property)


def new_consumer_configs(options: argparse.Namespace) -> dict[str, str]:
    """The configuration of the new consumer. Raises ToolError, OSError."""
    configs, has_group = _given_configs(options)
    if has_group and options.partition is not None:
        raise ToolError("Options group and partition cannot be specified together.")
    reset = configs.get("auto.offset.reset")
    if options.from_beginning and reset not in (None, "earliest"):
        raise ToolError(
            f"Can't simultaneously specify --from-beginning and 'auto.offset.reset={reset}', please remove one option"
        )
    configs.setdefault("auto.offset.reset", "earliest" if options.from_beginning else "latest")
    configs.setdefault("client.id", CLIENT_ID)
    configs.setdefault("allow.auto.create.topics", "false")  # subscribing to a misspelt topic must not create it
    if options.isolation_level:
        configs["isolation.level"] = options.isolation_level
    if not has_group:
        # A generated group's offsets are of no further use.
        configs.setdefault("enable.auto.commit", "false")
    return configs | {"bootstrap.servers": options.bootstrap_server}


def old_consumer_configs(options: argparse.Namespace) -> tuple[dict[str, str], bool]:
    """The configuration of the old consumer, and whether its group was named. Raises ToolError, OSError."""
    configs, has_group = _given_configs(options)
    configs["auto.offset.reset"] = "smallest" if options.from_beginning else "largest"
    configs["zookeeper.connect"] = options.zookeeper
    if options.timeout_ms >= 0:
        configs["consumer.timeout.ms"] = str(options.timeout_ms)
    if options.csv_reporter_enabled:
        configs |= {
            "kafka.metrics.polling.interval.secs": "5",
            "kafka.metrics.reporters": CSV_REPORTER,
            "kafka.csv.metrics.dir": options.metrics_dir or "kafka_metrics",
            "kafka.csv.metrics.reporter.enabled": "true",
        }
    return configs, has_group


def _given_configs(options: argparse.Namespace) -> tuple[dict[str, str], bool]:
    """The properties with a group id, and whether the user named it. Raises ToolError if two places disagree."""
    configs = client_properties(options.consumer_config, "--consumer-property", options.consumer_property)
    from_file: Mapping[str, str] = load_properties(options.consumer_config) if options.consumer_config else {}
    groups = {each for each in (options.group, from_file.get("group.id"), configs.get("group.id")) if each}
    if len(groups) > 1:
        raise ToolError(
            "The group ids provided in different places (directly using '--group', via '--consumer-property', or via "
            f"'--consumer.config') do not match. Detected group ids: {', '.join(map(repr, sorted(groups)))}"
        )
    generated = f"console-consumer-{random.randrange(100_000)}"
    return configs | {"group.id": next(iter(groups), generated)}, bool(groups)


def _topic_filter(options: argparse.Namespace) -> TopicFilter:
    if options.blacklist is not None:
        return Blacklist(options.blacklist)
    return Whitelist(options.topic if options.topic is not None else options.include)
