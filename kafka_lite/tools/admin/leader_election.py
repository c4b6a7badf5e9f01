"""``kafka-lite leader-election``: elect preferred or unclean leaders through the brokers.

Kafka 2.4: core/.../admin/LeaderElectionCommand.scala, bin/kafka-leader-election.sh · book 7.1.4
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.replica_leader_election import ElectionType
from kafka_lite.protocol.messages.api_43_elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    TopicPartitions,
)
from kafka_lite.tools.admin.admin_channel import AdminChannel, check_error
from kafka_lite.tools.admin.command_config import add_command_config_argument, admin_channel
from kafka_lite.tools.admin.partition_json import read_partitions
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors

NAME = "leader-election"
SUMMARY = "elect preferred leaders, or unclean ones where there is none"

Outcome = dict[TopicPartition, tuple[Errors, str]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of kafka-leader-election.sh."""
    parser.add_argument(
        "--bootstrap-server", required=True, metavar="HOST:PORT", help="brokers to connect to, separated by commas"
    )
    parser.add_argument(
        "--election-type",
        required=True,
        type=str.lower,
        choices=["preferred", "unclean"],
        help="preferred: the first replica, if it is in sync; unclean: any live replica of partitions without a leader",
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--all-topic-partitions", action="store_true", help="all partitions that need it")
    which.add_argument("--topic", help="a topic; requires --partition")
    which.add_argument(
        "--path-to-json-file", type=Path, metavar="FILE", help='{"partitions":[{"topic":"t","partition":0}]}'
    )
    parser.add_argument("--partition", type=int, help="the number of the partition of --topic")
    add_command_config_argument(parser, "--admin.config", "--command-config")


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Elect, and print the results; returns 1 if an election failed."""
    if (options.topic is None) != (options.partition is None):
        raise ToolError("--topic and --partition are used together")
    partitions = None
    if options.topic is not None:
        partitions = [TopicPartition(options.topic, options.partition)]
    elif options.path_to_json_file is not None:
        partitions = read_partitions(options.path_to_json_file)
    election_type = ElectionType[options.election_type.upper()]
    with admin_channel(options) as channel:
        outcome = elect(channel, election_type, partitions)
    return _print_outcome(outcome, election_type)


def elect(channel: AdminChannel, election_type: ElectionType, partitions: Sequence[TopicPartition] | None) -> Outcome:
    """Send ElectLeaders to the controller; None means all partitions. Raises ToolError.

    A partition that the response leaves out is UNKNOWN_SERVER_ERROR.
    """
    topics = None
    if partitions is not None:
        numbers: dict[str, list[int]] = {}
        for tp in partitions:
            numbers.setdefault(tp.topic, []).append(tp.partition)
        topics = [TopicPartitions(topic=topic, partitions=each) for topic, each in numbers.items()]
    request = ElectLeadersRequest(election_type=election_type.value, topic_partitions=topics, timeout_ms=30_000)
    channel.refresh()
    response = channel.send(request, ElectLeadersResponse, channel.controller_id)
    check_error(response.error_code)
    left_out = dict.fromkeys(partitions or (), (Errors.UNKNOWN_SERVER_ERROR, ""))
    return left_out | {
        TopicPartition(topic.topic, p.partition_id): (Errors.for_code(p.error_code), p.error_message or "")
        for topic in response.replica_election_results
        for p in topic.partition_result
    }


def _print_outcome(outcome: Outcome, election_type: ElectionType) -> int:
    kind = election_type.name
    elected = sorted(tp for tp, (error, _) in outcome.items() if error is Errors.NONE)
    needless = sorted(tp for tp, (error, _) in outcome.items() if error is Errors.ELECTION_NOT_NEEDED)
    if elected:
        names = ", ".join(map(str, elected))
        print(f"Successfully completed leader election ({kind}) for partitions {names}")
    if needless:
        print(f"Valid replica already elected for partitions {', '.join(map(str, needless))}")
    failed = {tp: each for tp, each in sorted(outcome.items()) if tp not in elected and tp not in needless}
    for tp, (error, message) in failed.items():
        print(
            f"Error completing leader election ({kind}) for partition: {tp}: {error.name}: {message or error.message}"
        )
    if failed:
        raise ToolError(f"{len(failed)} replica(s) could not be elected")
    return 0
