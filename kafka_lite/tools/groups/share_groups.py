"""``kafka-lite share-groups``: list, describe, reset and delete share groups (KIP-932).

Kafka 4.1: tools/.../tools/consumer/group/ShareGroupCommand.java, bin/kafka-share-groups.sh; --reset-offsets: Kafka 4.2
· book 1.4.3
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from kafka_lite.common.errors import Errors
from kafka_lite.tools.admin.admin_channel import unknown_topics
from kafka_lite.tools.admin.command_config import add_command_config_argument, admin_channel
from kafka_lite.tools.common.terminal import print_error, print_to_stderr
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors
from kafka_lite.tools.groups import consumer_groups_view as view
from kafka_lite.tools.groups import offset_reset
from kafka_lite.tools.groups.consumer_groups import partitions_named
from kafka_lite.tools.groups.offset_reset import Scenario
from kafka_lite.tools.groups.share_group_service import ShareGroupDescription, ShareGroupService

NAME = "share-groups"
SUMMARY = "list, describe, reset and delete share groups"

STATES = ("Empty", "Stable", "Dead")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of kafka-share-groups.sh."""
    parser.add_argument(
        "--bootstrap-server", metavar="HOST:PORT", required=True, help="brokers to connect to, separated by commas"
    )
    actions = parser.add_argument_group("actions (exactly one)").add_mutually_exclusive_group(required=True)
    actions.add_argument("--list", action="store_true", help="list all share groups")
    actions.add_argument("--describe", action="store_true", help="show a group's offsets, members or state")
    actions.add_argument("--delete", action="store_true", help="delete groups that have no members")
    actions.add_argument("--reset-offsets", action="store_true", help="let a group without members begin elsewhere")
    actions.add_argument("--delete-offsets", action="store_true", help="let a group without members forget topics")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--group", action="append", default=[], metavar="GROUP", help="a group; may be repeated")
    which.add_argument("--all-groups", action="store_true", help="all share groups")
    topics = parser.add_mutually_exclusive_group()
    topics.add_argument(
        "--topic", action="append", default=[], metavar="TOPIC[:0,1]", help="a topic, or some of its partitions"
    )
    topics.add_argument("--all-topics", action="store_true", help="with --reset-offsets: all topics of the group")
    _add_describe(parser)
    _add_reset(parser)
    parser.add_argument(
        "--timeout", type=int, default=30_000, metavar="MS",
        help="how long to retry while a coordinator is moving (default: 30000)",
    )  # fmt: skip
    add_command_config_argument(parser)


def _add_describe(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("--describe")
    what = group.add_mutually_exclusive_group()
    what.add_argument("--offsets", action="store_true", help="show where the group is in its partitions (the default)")
    what.add_argument("--members", action="store_true", help="show the members")
    what.add_argument(
        "--state", nargs="?", const="", metavar="STATES",
        help="show the state; with --list, optionally only groups in these states",
    )  # fmt: skip
    group.add_argument("--verbose", action="store_true", help="show epochs, too")


def _add_reset(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("--reset-offsets")
    scenario = group.add_mutually_exclusive_group()
    scenario.add_argument("--to-earliest", action="store_true", help="to the earliest offset")
    scenario.add_argument("--to-latest", action="store_true", help="to the latest offset")
    scenario.add_argument(
        "--to-datetime", metavar="YYYY-MM-DDTHH:mm:SS.sss", help="to the first record at or after this time (UTC)"
    )
    execution = group.add_mutually_exclusive_group()
    execution.add_argument("--dry-run", action="store_true", help="only show the new offsets")
    execution.add_argument("--execute", action="store_true", help="set the new offsets")


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Run the chosen action; returns 0 if all went well."""
    _check(options)
    with admin_channel(options) as channel:
        service = ShareGroupService(channel, options.timeout)
        if options.list:
            return _list(service, options)
        if options.describe:
            return _describe(service, options)
        if options.delete:
            return _delete(service, options)
        if options.delete_offsets:
            return _delete_offsets(service, options)
        return _reset(service, options)


def _check(options: argparse.Namespace) -> None:
    """Check which flags require or exclude each other. Raises ToolError."""
    one_group = len(options.group) == 1
    if (options.describe or options.delete) and not options.group and not options.all_groups:
        raise ToolError("--group or --all-groups is required")
    if options.describe and options.state:
        raise ToolError("--state takes no value with --describe")
    if options.delete and options.topic:
        raise ToolError("--delete deletes whole groups; use --delete-offsets to delete the offsets of a topic")
    if options.delete_offsets and not (one_group and options.topic):
        raise ToolError("--delete-offsets requires exactly one --group, and --topic")
    if options.reset_offsets:
        if not one_group or not (options.topic or options.all_topics):
            raise ToolError("--reset-offsets requires exactly one --group, and --topic or --all-topics")
        if not options.dry_run and not options.execute:
            raise ToolError("--reset-offsets requires --dry-run or --execute")


def _groups(service: ShareGroupService, options: argparse.Namespace) -> list[str]:
    return list(service.list_groups()) if options.all_groups else list(dict.fromkeys(options.group))


# ── List, describe ────────────────────────────────────────────────────────────────────────────────────────────────


def _list(service: ShareGroupService, options: argparse.Namespace) -> int:
    if options.state is None:
        for group in service.list_groups():
            print(group)
        return 0
    states = [state.strip() for state in options.state.split(",") if state.strip()]
    unknown = [state for state in states if state.lower() not in {each.lower() for each in STATES}]
    if unknown:
        raise ToolError(f"Invalid state list '{options.state}'. Valid states are: {', '.join(STATES)}")
    view.print_columns(("GROUP", "STATE"), list(service.list_groups(states).items()), (15,))
    return 0


def _describe(service: ShareGroupService, options: argparse.Namespace) -> int:
    for group in _groups(service, options):
        description = service.describe(group)
        if options.state is not None or options.members:
            if description.state == "Empty":
                print_to_stderr(f"Share group '{group}' has no active members.")
            if options.members:
                _print_members(description, options)
            else:
                _print_state(description, options)
        else:
            rows = [(group, *row.partition, row.leader_epoch, row.start_offset) for row in service.offsets(group)]
            _print(("GROUP", "TOPIC", "PARTITION", "LEADER-EPOCH", "START-OFFSET"), rows, (15, 15, 10, 13), options)
    return 0


def _print(
    columns: Sequence[str], rows: Sequence[Sequence[object]], widths: Sequence[int], options: argparse.Namespace
) -> None:
    """Print rows; epochs only with --verbose."""
    keep = [at for at, name in enumerate(columns) if options.verbose or not name.endswith("-EPOCH")]
    view.print_columns(
        [columns[at] for at in keep], [[row[at] for at in keep] for row in rows], [widths[at] for at in keep[:-1]]
    )


def _print_state(description: ShareGroupDescription, options: argparse.Namespace) -> None:
    at = description.coordinator
    columns = ("GROUP", "COORDINATOR (ID)", "STATE", "GROUP-EPOCH", "ASSIGNMENT-EPOCH", "#MEMBERS")
    row = (
        description.group,
        f"{at.host}:{at.port}  ({at.node_id})",
        description.state,
        description.group_epoch,
        description.assignment_epoch,
        len(description.members),
    )
    _print(columns, [row], (15, 25, 15, 12, 17), options)


def _print_members(description: ShareGroupDescription, options: argparse.Namespace) -> None:
    if not description.members:
        return
    columns = ["GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS", "MEMBER-EPOCH", "ASSIGNMENT"]
    widths = [15, 15, 15, 15, 12, 13]
    rows: list[list[object]] = []
    for member in description.members:
        topics: dict[str, list[str]] = {}
        for topic, partition in member.assignment:
            topics.setdefault(topic, []).append(str(partition))
        assignment = ";".join(f"{topic}:{','.join(numbers)}" for topic, numbers in topics.items())
        count = len(member.assignment)
        who = [description.group, member.member_id, member.host, member.client_id]
        rows.append([*who, count, member.epoch, assignment])
    _print(columns, rows, widths, options)


# ── Delete, reset ─────────────────────────────────────────────────────────────────────────────────────────────────


def _delete(service: ShareGroupService, options: argparse.Namespace) -> int:
    known = service.list_groups()
    failed, wanted = {}, []
    for group in list(known) if options.all_groups else dict.fromkeys(options.group):
        if group not in known:
            failed[group] = f"Group '{group}' is not a share group."
        elif known[group] != "Empty":
            failed[group] = f"Share group '{group}' is not EMPTY."
        else:
            wanted.append(group)
    outcome = service.delete_groups(wanted)
    failed |= {group: f"{error.name}: {error.message}" for group, error in outcome.items() if error is not Errors.NONE}
    names = ", ".join(f"'{group}'" for group, error in outcome.items() if error is Errors.NONE)
    if not failed:
        print(f"Deletion of requested share groups ({names}) was successful.")
        return 0
    print_error("Error: Deletion of some share groups failed:")
    for group, reason in failed.items():
        print(f"* Group '{group}' could not be deleted due to: {reason}")
    if names:
        print(f"These share groups were deleted successfully: {names}")
    return 1


def _delete_offsets(service: ShareGroupService, options: argparse.Namespace) -> int:
    (group,) = options.group
    error, outcome = service.delete_offsets(group, options.topic)
    if error is not Errors.NONE:
        print_error(f"Error: {error.name}: {error.message}")
        return 1
    rows = [(topic, f"Error: {reason}" if reason else "Successful") for topic, reason in sorted(outcome.items())]
    view.print_columns(("TOPIC", "STATUS"), rows, (15,))
    return 1 if any(outcome.values()) else 0


def _reset(service: ShareGroupService, options: argparse.Namespace) -> int:
    (group,) = options.group
    description = service.describe(group)
    if description.state != "Empty":
        raise ToolError(f"Share group '{group}' is not empty.")
    if options.all_topics:
        partitions = {row.partition for row in service.offsets(group)}
    else:
        partitions, unknown = partitions_named(options.topic, service.partitions_of)
        if unknown:
            raise ToolError(f"--topic: {unknown_topics(unknown)}")
    offsets = _scenario(options).offsets(partitions, {}, service)
    code = 0
    if options.execute:
        for partition, error in service.alter_offsets(group, offsets).items():
            if error is not Errors.NONE:
                print_error(f"Error: the offset of {partition} is not reset: {error.name}: {error.message}")
                offsets.pop(partition, None)
                code = 1
    view.print_plan({group: offsets})
    return code


def _scenario(options: argparse.Namespace) -> Scenario:
    if options.to_earliest:
        return offset_reset.to_earliest()
    if options.to_latest:
        return offset_reset.to_latest()
    if options.to_datetime is not None:
        return offset_reset.to_time("--to-datetime", offset_reset.parse_datetime(options.to_datetime))
    raise ToolError("--reset-offsets requires a scenario: --to-earliest, --to-latest or --to-datetime")
