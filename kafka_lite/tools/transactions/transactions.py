"""``kafka-lite transactions``: show the transactions of producers, find hanging ones, and end them.

Kafka 3.0: tools/.../tools/TransactionsCommand.java, bin/kafka-transactions.sh · book 10.3
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_27_write_txn_markers import WritableTxnMarker
from kafka_lite.protocol.messages.api_61_describe_producers import ProducerState
from kafka_lite.tools.admin.admin_channel import AdminChannel
from kafka_lite.tools.admin.command_config import add_command_config_argument, admin_channel
from kafka_lite.tools.common.terminal import on_terminal, print_table
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors
from kafka_lite.tools.transactions.transaction_service import (
    NO_OFFSET,
    abort_transaction,
    describe_producers,
    describe_transaction,
    find_hanging,
    force_terminate,
    list_transactions,
    open_longer_than,
)

NAME = "transactions"
SUMMARY = "list, describe and end transactions, and find hanging ones"

DEFAULT_TIMEOUT_MINUTES = 15
MS_PER_MINUTE = 60_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of kafka-transactions.sh."""
    _add_brokers(parser)
    add_command_config_argument(parser)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    listing = commands.add_parser("list", help="list transactions")
    listing.add_argument(
        "--duration-filter", type=int, default=-1, metavar="MS", help="only transactions that are open for longer, ms"
    )

    describe = commands.add_parser("describe", help="describe the state of a transactional id")
    describe.add_argument("--transactional-id", required=True, metavar="ID")

    producers = commands.add_parser("describe-producers", help="describe the producers of a partition")
    _add_partition(producers)
    producers.add_argument("--broker-id", type=int, metavar="ID", help="as this replica knows them (default: leader)")

    abort = commands.add_parser("abort", help="abort a hanging transaction in one partition")
    _add_partition(abort)
    abort.add_argument("--start-offset", type=int, metavar="OFFSET", help="where the transaction starts")
    for name in ("producer-id", "producer-epoch", "coordinator-epoch"):
        abort.add_argument(f"--{name}", type=int, metavar="N", help="needed with brokers before 3.0")

    hanging = commands.add_parser("find-hanging", help="find transactions that no coordinator will end")
    hanging.add_argument("--broker-id", type=int, metavar="ID", help="search the replicas of this broker")
    hanging.add_argument(
        "--max-transaction-timeout",
        type=int,
        default=DEFAULT_TIMEOUT_MINUTES,
        metavar="MINUTES",
        help="how long a transaction may be open, minutes (default: %(default)s)",
    )
    hanging.add_argument("--topic", metavar="NAME", help="search this topic")
    hanging.add_argument("--partition", type=int, metavar="N", help="search only this partition of the topic")

    terminate = commands.add_parser("force-terminate", help="abort an id's transaction and fence its producer")
    terminate.add_argument("--transactional-id", required=True, metavar="ID")
    for command in commands.choices.values():
        # Accepted after the command, too, as in the other tools. Kafka's tool takes them only before it.
        _add_brokers(command, default=argparse.SUPPRESS)


def _add_brokers(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    parser.add_argument(
        "--bootstrap-server", default=default, metavar="HOST:PORT", help="brokers to connect to, separated by commas"
    )


def _add_partition(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--topic", required=True, metavar="NAME")
    parser.add_argument("--partition", type=int, required=True, metavar="N")


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Print the table of the command; returns 0, or 1 after an error."""
    _ensure_valid(options)
    with admin_channel(options) as channel:
        COMMANDS[options.command](channel, options)
    return 0


def _ensure_valid(options: argparse.Namespace) -> None:
    if not options.bootstrap_server:
        raise ToolError("--bootstrap-server is required")
    if options.command == "abort" and options.start_offset is None:
        needed = (options.producer_id, options.producer_epoch, options.coordinator_epoch)
        if None in needed:
            raise ToolError(
                "The transaction to abort must be identified either with --start-offset (for brokers on 3.0 or above) "
                "or with --producer-id, --producer-epoch, and --coordinator-epoch (for older brokers)"
            )
    if options.command == "find-hanging":
        if options.topic is None and options.broker_id is None:
            raise ToolError(
                "The `find-hanging` command requires either --topic or --broker-id to limit the scope of the search"
            )
        if options.partition is not None and options.topic is None:
            raise ToolError("The --partition argument requires --topic to be provided")


def _list(channel: AdminChannel, options: argparse.Namespace) -> None:
    rows = [
        (each.transactional_id, each.coordinator_id, each.producer_id, each.state)
        for each in list_transactions(channel, duration_ms=options.duration_filter)
    ]
    _print(["TransactionalId", "Coordinator", "ProducerId", "TransactionState"], rows)


def _describe(channel: AdminChannel, options: argparse.Namespace) -> None:
    coordinator_id, state = describe_transaction(channel, options.transactional_id)
    started_ms: int | str = state.transaction_start_time_ms
    duration_ms: int | str = "None"
    if started_ms == NO_OFFSET:
        started_ms = "None"
    else:
        duration_ms = int(time.time() * 1000) - state.transaction_start_time_ms
    partitions = [f"{topic.topic}-{each}" for topic in state.topics for each in topic.partitions]
    columns = [
        "CoordinatorId", "TransactionalId", "ProducerId", "ProducerEpoch", "TransactionState", "TransactionTimeoutMs",
        "CurrentTransactionStartTimeMs", "TransactionDurationMs", "TopicPartitions",
    ]  # fmt: skip
    row = (
        coordinator_id, state.transactional_id, state.producer_id, state.producer_epoch, state.transaction_state,
        state.transaction_timeout_ms, started_ms, duration_ms, ",".join(partitions),
    )  # fmt: skip
    _print(columns, [row])


def _describe_producers(channel: AdminChannel, options: argparse.Namespace) -> None:
    partition = TopicPartition(options.topic, options.partition)
    producers = describe_producers(channel, [partition], options.broker_id)[partition]
    columns = [
        "ProducerId", "ProducerEpoch", "LatestCoordinatorEpoch", "LastSequence", "LastTimestamp",
        "CurrentTransactionStartOffset",
    ]  # fmt: skip
    _print(columns, [_producer_row(each) for each in producers])


def _producer_row(producer: ProducerState) -> tuple[object, ...]:
    start = producer.current_txn_start_offset
    return (
        producer.producer_id,
        producer.producer_epoch,
        producer.coordinator_epoch,
        producer.last_sequence,
        producer.last_timestamp,
        "None" if start == NO_OFFSET else start,
    )


def _abort(channel: AdminChannel, options: argparse.Namespace) -> None:
    partition = TopicPartition(options.topic, options.partition)
    if options.start_offset is None:
        marker = WritableTxnMarker(
            producer_id=options.producer_id,
            producer_epoch=options.producer_epoch,
            coordinator_epoch=options.coordinator_epoch,
            transaction_result=False,
        )
    else:
        marker = _marker_for(channel, partition, options.start_offset)
    abort_transaction(channel, partition, marker)


def _marker_for(channel: AdminChannel, partition: TopicPartition, start_offset: int) -> WritableTxnMarker:
    for producer in describe_producers(channel, [partition])[partition]:
        if producer.current_txn_start_offset == start_offset:
            return WritableTxnMarker(
                producer_id=producer.producer_id,
                producer_epoch=producer.producer_epoch,
                coordinator_epoch=max(0, producer.coordinator_epoch),  # -1 before the first marker
                transaction_result=False,
            )
    raise ToolError(f"Could not find any open transactions starting at offset {start_offset} on partition {partition}")


def _find_hanging(channel: AdminChannel, options: argparse.Namespace) -> None:
    producers = describe_producers(channel, _partitions_to_search(channel, options), options.broker_id)
    now_ms = int(time.time() * 1000)
    candidates = open_longer_than(producers, options.max_transaction_timeout * MS_PER_MINUTE, now_ms)
    columns = [
        "Topic", "Partition", "ProducerId", "ProducerEpoch", "CoordinatorEpoch", "StartOffset", "LastTimestamp",
        "Duration(min)",
    ]  # fmt: skip
    rows = [
        (
            partition.topic, partition.partition, producer.producer_id, producer.producer_epoch,
            producer.coordinator_epoch, producer.current_txn_start_offset, producer.last_timestamp,
            (now_ms - producer.last_timestamp) // MS_PER_MINUTE,
        )
        for partition, producer in find_hanging(channel, candidates)
    ]  # fmt: skip
    _print(columns, rows)


def _partitions_to_search(channel: AdminChannel, options: argparse.Namespace) -> list[TopicPartition]:
    """The partitions of the topic, or of all topics, that the broker has if one is given."""
    if options.partition is not None:
        return [TopicPartition(options.topic, options.partition)]
    topics = channel.metadata(None if options.topic is None else [options.topic])
    return [
        TopicPartition(topic.name or "", each.partition_index)
        for topic in topics
        for each in topic.partitions
        if options.broker_id is None or options.broker_id in each.replica_nodes
    ]


def _force_terminate(channel: AdminChannel, options: argparse.Namespace) -> None:
    describe_transaction(channel, options.transactional_id)  # an unknown id would be created
    force_terminate(channel, options.transactional_id)


COMMANDS: dict[str, Callable[[AdminChannel, argparse.Namespace], None]] = {
    "list": _list,
    "describe": _describe,
    "describe-producers": _describe_producers,
    "abort": _abort,
    "find-hanging": _find_hanging,
    "force-terminate": _force_terminate,
}


def _print(columns: list[str], rows: Sequence[Sequence[object]]) -> None:
    if on_terminal():
        print_table(columns, rows)
        return
    lines = [columns, *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(columns))]
    for line in lines:
        print("".join(f"{cell:<{width}}\t" for cell, width in zip(line, widths, strict=True)))
