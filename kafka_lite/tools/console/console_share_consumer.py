"""``kafka-lite console-share-consumer``: prints messages as a member of a share group, and acknowledges each.

Kafka 4.1: tools/.../tools/consumer/ConsoleShareConsumer.java, ConsoleShareConsumerOptions.java · book 1.4.1
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterator, Mapping
from pathlib import Path

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.properties import load_properties
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.consumer.share.acknowledgements import AcknowledgeType
from kafka_lite.consumer.share.kafka_share_consumer import KafkaShareConsumer
from kafka_lite.old_consumer.consumer_iterator import ConsumerTimeoutError
from kafka_lite.tools.common.client_properties import client_properties
from kafka_lite.tools.common.logging_config import configure_logging
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors
from kafka_lite.tools.console.base_consumer import POLL_MS
from kafka_lite.tools.console.console_consumer import Consumption, add_formatter_arguments, formatter_properties
from kafka_lite.tools.console.formatter_registry import create_formatter
from kafka_lite.tools.console.message_formatters import MessageFormatter

logger = logging.getLogger(__name__)

NAME = "console-share-consumer"
SUMMARY = "print messages that the members of a share group divide among them one by one"

DEFAULT_GROUP = "console-share-consumer"
CLIENT_ID = "console-share-consumer"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of kafka-console-share-consumer.sh."""
    parser.add_argument(
        "--bootstrap-server", required=True, metavar="HOST:PORT", help="brokers to connect to, separated by commas"
    )
    parser.add_argument("--topic", required=True, help="the topic to read")
    parser.add_argument("--group", help=f"the share group (default: {DEFAULT_GROUP})")
    parser.add_argument("--max-messages", type=int, default=-1, metavar="N", help="exit after this many messages")
    parser.add_argument(
        "--timeout-ms", type=int, default=-1, metavar="MS", help="exit if no message arrives for this long"
    )
    fate = parser.add_mutually_exclusive_group()
    fate.add_argument("--release", action="store_true", help="release messages after printing: they come again")
    fate.add_argument("--reject", action="store_true", help="reject messages after printing: they do not come again")
    parser.add_argument(
        "--reject-message-on-error", action="store_true", help="reject a message that cannot be printed, and continue"
    )
    parser.add_argument(
        "--consumer-property", "--command-property", dest="consumer_property", action="append", default=[],
        metavar="KEY=VALUE", help="a config of the share consumer; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--consumer-config", "--command-config", dest="consumer_config", type=Path, metavar="FILE",
        help="file of configs of the share consumer; --consumer-property overrides it",
    )  # fmt: skip
    add_formatter_arguments(parser)
    parser.add_argument("--enable-systest-events", action="store_true", help="print a shutdown_complete event at exit")


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Print messages until a signal or a limit set by the options; returns 1 if a message could not be printed."""
    configure_logging(default_level="WARN")
    formatter = create_formatter(options.formatter, formatter_properties(options))
    timeout_ms = options.timeout_ms if options.timeout_ms >= 0 else None
    consumer = ShareConsumerWrapper(KafkaShareConsumer(consumer_configs(options)), options.topic, timeout_ms)
    return ShareConsumption(consumer, formatter, options).run()


def consumer_configs(options: argparse.Namespace) -> dict[str, str]:
    """The configuration of the share consumer. Raises ToolError, OSError."""
    configs = client_properties(options.consumer_config, "--consumer-property", options.consumer_property)
    from_file: Mapping[str, str] = load_properties(options.consumer_config) if options.consumer_config else {}
    groups = {each for each in (options.group, from_file.get("group.id"), configs.get("group.id")) if each}
    if len(groups) > 1:
        raise ToolError(
            "The group ids provided in different places (directly using '--group', via '--consumer-property', or via "
            f"'--consumer-config') do not match. Detected group ids: {', '.join(map(repr, sorted(groups)))}"
        )
    configs.setdefault("client.id", CLIENT_ID)
    configs.setdefault("allow.auto.create.topics", "false")  # subscribing to a misspelt topic must not create it
    return configs | {
        "group.id": next(iter(groups), DEFAULT_GROUP),
        "bootstrap.servers": options.bootstrap_server,
        "share.acknowledgement.mode": "explicit",
    }


class ShareConsumerWrapper:
    """A share consumer, a message at a time: a BaseConsumer."""

    def __init__(
        self, consumer: KafkaShareConsumer, topic: str, timeout_ms: float | None = None, time: Time = SYSTEM_TIME
    ) -> None:
        """``timeout_ms`` None waits forever."""
        self._consumer = consumer
        self._timeout_ms = timeout_ms
        self._time = time
        self._records: Iterator[ConsumerRecord] = iter(())
        consumer.subscribe([topic])

    def receive(self) -> ConsumerRecord:
        """Return the next record. Raises ConsumerTimeoutError, WakeupError."""
        begin_ms = self._time.hi_res_ms()
        while (record := next(self._records, None)) is None:
            left_ms = float(POLL_MS)
            if self._timeout_ms is not None:
                left_ms = self._timeout_ms - (self._time.hi_res_ms() - begin_ms)
                if left_ms <= 0:
                    raise ConsumerTimeoutError(f"no message within {self._timeout_ms:g} ms")
            self._records = iter(self._consumer.poll(min(POLL_MS, left_ms)))
        return record

    def acknowledge(self, record: ConsumerRecord, kind: AcknowledgeType) -> None:
        """Say what has become of a record."""
        self._consumer.acknowledge(record, kind)

    def stop(self) -> None:
        """Wake up the consumer."""
        self._consumer.wakeup()

    def commit(self) -> None:
        """Send the acknowledgements."""
        self._consumer.commit_sync()

    def cleanup(self) -> None:
        """Send the acknowledgements, and release the rest."""
        self._consumer.close()


class ShareConsumption(Consumption):
    """Acknowledges each message once it is printed."""

    def __init__(
        self, consumer: ShareConsumerWrapper, formatter: MessageFormatter, options: argparse.Namespace
    ) -> None:
        super().__init__(consumer, formatter, options)
        self._shared = consumer
        self._rejects_errors = options.reject_message_on_error
        self._fate = AcknowledgeType.ACCEPT
        if options.release:
            self._fate = AcknowledgeType.RELEASE
        elif options.reject:
            self._fate = AcknowledgeType.REJECT

    def on_printed(self, record: ConsumerRecord) -> None:
        """Accept the message, or do as the flags say."""
        self._shared.acknowledge(record, self._fate)

    def on_error(self, record: ConsumerRecord, error: KafkaError) -> None:
        """Reject the message, or raise the error again: then it is released."""
        if not self._rejects_errors:
            raise error
        logger.error("Error processing message, rejecting this message: %s", error)
        self._shared.acknowledge(record, AcknowledgeType.REJECT)
