"""``kafka-lite simple-consumer-shell``: prints the messages of a partition, read from a given replica.

Kafka 0.10.2: core/.../tools/SimpleConsumerShell.scala · book 3.6.1, 3.6.2
"""

from __future__ import annotations

import argparse
import logging
import sys
from typing import BinaryIO

from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.old_consumer.client_utils import fetch_topic_metadata, parse_broker_list
from kafka_lite.old_consumer.simple.simple_consumer import EARLIEST_TIME, SimpleConsumer
from kafka_lite.old_consumer.simple.simple_fetch import DEBUGGING_CONSUMER_ID, FetchRequestBuilder
from kafka_lite.protocol.messages.api_03_metadata import MetadataResponse, MetadataResponsePartition
from kafka_lite.record.record import Record
from kafka_lite.tools.common.client_properties import parse_key_value_args
from kafka_lite.tools.common.logging_config import configure_logging
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors
from kafka_lite.tools.console.formatter_registry import create_formatter
from kafka_lite.tools.console.message_formatters import MessageFormatter

logger = logging.getLogger(__name__)

NAME = "simple-consumer-shell"
SUMMARY = "print the messages of one replica of a partition"

USE_LEADER_REPLICA = -1
SOCKET_TIMEOUT_MS = 30_000
SOCKET_BUFFER_BYTES = 64 * 1024


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of kafka-simple-consumer-shell.sh."""
    parser.add_argument(
        "--broker-list", required=True, metavar="HOST:PORT", help="brokers to connect to, separated by commas"
    )
    parser.add_argument("--topic", required=True, help="the topic to read")
    parser.add_argument("--partition", type=int, default=0, metavar="N", help="the partition to read (default: 0)")
    parser.add_argument(
        "--replica",
        type=int,
        default=USE_LEADER_REPLICA,
        metavar="ID",
        help="id of the broker to read from (default: -1, the leader)",
    )
    parser.add_argument(
        "--offset",
        type=int,
        default=EARLIEST_TIME,
        metavar="N",
        help="the offset to start from; -2 (the default): oldest, -1: end",
    )
    parser.add_argument(
        "--clientId", dest="client_id", default="SimpleConsumerShell", metavar="ID", help="client id of the requests"
    )
    parser.add_argument(
        "--fetchsize", type=int, default=1024 * 1024, metavar="BYTES", help="maximum bytes per fetch (default: 1048576)"
    )
    _add_output_arguments(parser)
    parser.add_argument(
        "--max-wait-ms",
        type=int,
        default=1000,
        metavar="MS",
        help="how long the broker may wait for messages (default: 1000)",
    )
    parser.add_argument(
        "--max-messages", type=int, default=0x7FFFFFFF, metavar="N", help="exit after this many messages"
    )
    parser.add_argument("--no-wait-at-logend", action="store_true", help="exit at the end of the log")


def _add_output_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--formatter", default="DefaultMessageFormatter", metavar="CLASS", help="class that prints a message"
    )
    parser.add_argument(
        "--property",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a property of the formatter; may be repeated",
    )
    parser.add_argument("--print-offsets", action="store_true", help="print the next offset before each message")
    parser.add_argument(
        "--skip-message-on-error", action="store_true", help="skip a message that cannot be printed instead of exiting"
    )


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Print messages to the end of the log or until Ctrl-C; returns 1 on error."""
    configure_logging(default_level="WARN")
    if options.offset < EARLIEST_TIME:
        raise ToolError(f"Invalid starting offset: {options.offset}")
    formatter = create_formatter(options.formatter, parse_key_value_args("--property", options.property))
    # Ask for all topics: a broker may create one that is asked for by name in this version.
    metadata = fetch_topic_metadata([], parse_broker_list(options.broker_list), options.client_id, SOCKET_TIMEOUT_MS)
    broker = find_replica(metadata, TopicPartition(options.topic, options.partition), options.replica)
    timeout_ms = SOCKET_TIMEOUT_MS + options.max_wait_ms
    with SimpleConsumer(broker.host, broker.port, timeout_ms, SOCKET_BUFFER_BYTES, options.client_id) as consumer:
        shell = _Shell(consumer, formatter, options)
        try:
            shell.consume(sys.stdout.buffer)
        finally:
            formatter.close()
    return 0


def find_replica(metadata: MetadataResponse, partition: TopicPartition, replica_id: int) -> BrokerEndPoint:
    """The broker to read from: the leader, or the replica with this id. Raises ToolError."""
    found = _partition_metadata(metadata, partition)
    brokers = {each.node_id: BrokerEndPoint(each.node_id, each.host, each.port) for each in metadata.brokers}
    if replica_id == USE_LEADER_REPLICA:
        if found.leader_id not in brokers:
            raise ToolError(
                f"Error: user specifies to fetch from leader for partition ({partition.topic}, {partition.partition}) "
                "which has not been elected yet"
            )
        return brokers[found.leader_id]
    if replica_id not in found.replica_nodes or replica_id not in brokers:
        raise ToolError(
            f"Error: replica {replica_id} does not exist for partition ({partition.topic}, {partition.partition})"
        )
    return brokers[replica_id]


def _partition_metadata(metadata: MetadataResponse, partition: TopicPartition) -> MetadataResponsePartition:
    topic = next((each for each in metadata.topics if each.name == partition.topic), None)
    if topic is None:
        raise ToolError(f"Error: topic {partition.topic} does not exist")
    if topic.error_code != Errors.NONE.code:
        error = Errors.for_code(topic.error_code).name
        raise ToolError(f"Error: no valid topic metadata for topic: {partition.topic}, the broker says {error}")
    found = next((each for each in topic.partitions if each.partition_index == partition.partition), None)
    if found is None:
        raise ToolError(f"Error: partition {partition.partition} does not exist for topic {partition.topic}")
    return found


class _Shell:
    """Fetches and prints messages."""

    def __init__(self, consumer: SimpleConsumer, formatter: MessageFormatter, options: argparse.Namespace) -> None:
        self._consumer = consumer
        self._formatter = formatter
        self._options = options
        self._partition = TopicPartition(options.topic, options.partition)
        self._builder = FetchRequestBuilder().replica_id(DEBUGGING_CONSUMER_ID).max_wait(options.max_wait_ms)
        self._builder.min_bytes(1)
        self._consumed = 0

    def consume(self, output: BinaryIO) -> None:
        """Fetch and print until done. Raises KafkaError, ConnectionError."""
        offset = self._options.offset
        if offset < 0:
            offset = self._consumer.earliest_or_latest_offset(self._partition, offset, DEBUGGING_CONSUMER_ID)
        while self._consumed < self._options.max_messages:
            request = self._builder.add_fetch(*self._partition, offset, self._options.fetchsize).build()
            response = self._consumer.fetch(request)
            error = response.error(*self._partition)
            if error is not Errors.NONE:
                raise error.exception(f"Error consuming {self._partition} with offset {offset}: {error.name}")
            messages = response.message_set(*self._partition)
            if messages.valid_bytes == 0 and self._options.no_wait_at_logend:
                topic, number = self._partition
                print(f"Terminating. Reached the end of partition ({topic}, {number}) at offset {offset}", flush=True)
                return
            for record in messages:
                if record.offset >= offset and self._consumed < self._options.max_messages:
                    offset = record.offset + 1
                    self._print(record, output)

    def _print(self, record: Record, output: BinaryIO) -> None:
        if self._options.print_offsets:
            output.write(f"next offset = {record.offset + 1}\n".encode())
        shown = ConsumerRecord(
            *self._partition, record.offset, record.timestamp, record.timestamp_type, record.key, record.value
        )
        try:
            self._formatter.write_to(shown, output)
        except KafkaError as error:
            if not self._options.skip_message_on_error:
                raise
            logger.error("Error processing message, skipping this message: %s", error)
        else:
            self._consumed += 1
        output.flush()
