"""``kafka-lite consumer-groups``: list, describe, watch, reset and delete consumer groups.

Kafka 0.10.2: core/.../admin/ConsumerGroupCommand.scala, bin/kafka-consumer-groups.sh · book 1.4.3
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.tools.admin.admin_channel import unknown_topics
from kafka_lite.tools.admin.command_config import add_command_config_argument, admin_channel
from kafka_lite.tools.admin.partition_offsets import Offsets
from kafka_lite.tools.common.terminal import on_terminal, print_error, print_to_stderr
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors
from kafka_lite.tools.groups import consumer_groups_view as view
from kafka_lite.tools.groups import offset_reset
from kafka_lite.tools.groups.consumer_group_service import ConsumerGroupService, GroupDescription, PartitionRow
from kafka_lite.tools.groups.offset_reset import Plan, Scenario
from kafka_lite.tools.groups.zk_consumer_group_service import ZkConsumerGroupService
from kafka_lite.tools.zookeeper.zookeeper_session import zookeeper_client

NAME = "consumer-groups"
SUMMARY = "list, describe, watch, reset and delete consumer groups"

STATES = ("Stable", "PreparingRebalance", "CompletingRebalance", "Empty", "Dead", "Assigning", "Reconciling")
TYPES = ("Classic", "Consumer")
REFRESH_S = 0.2

GROUP_ERRORS = {
    Errors.INVALID_GROUP_ID: "'{}' is not valid.",
    Errors.GROUP_ID_NOT_FOUND: "'{}' does not exist.",
    Errors.GROUP_AUTHORIZATION_FAILED: "Access to '{}' is not authorized.",
    Errors.NON_EMPTY_GROUP: "Deleting offsets of a consumer group '{}' is forbidden if the group is not empty.",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of kafka-consumer-groups.sh."""
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--bootstrap-server", metavar="HOST:PORT", help="brokers to connect to, separated by commas")
    where.add_argument(
        "--zookeeper", metavar="HOST:PORT[/PATH]", help="the cluster's ZooKeeper; shows groups of old consumers"
    )
    parser.add_argument("--new-consumer", action="store_true", help="no effect; --bootstrap-server implies it")
    _add_actions(parser)
    _add_scope(parser)
    describe = parser.add_argument_group("--describe")
    what = describe.add_mutually_exclusive_group()
    what.add_argument("--offsets", action="store_true", help="show offsets and lag of each partition (the default)")
    what.add_argument("--members", action="store_true", help="show the members")
    what.add_argument(
        "--state",
        nargs="?",
        const="",
        metavar="STATES",
        help="show the state; with --list, optionally only groups in these states",
    )
    describe.add_argument("--verbose", action="store_true", help="with --members: also show their partitions")
    describe.add_argument(
        "--watch", action="store_true", help="keep the display up to date until Ctrl-C; needs a terminal"
    )
    parser.add_argument(
        "--type",
        nargs="?",
        const="",
        metavar="TYPES",
        help="with --list: show the types, optionally only groups of these types",
    )
    parser.add_argument(
        "--timeout",
        type=int,
        default=5000,
        metavar="MS",
        help="how long to retry while a coordinator is moving (default: 5000)",
    )
    _add_reset(parser)
    add_command_config_argument(parser)


def _add_actions(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("actions (exactly one)")
    actions = group.add_mutually_exclusive_group(required=True)
    actions.add_argument("--list", action="store_true", help="list all consumer groups")
    actions.add_argument("--describe", action="store_true", help="show a group's offsets, members or state")
    actions.add_argument("--delete", action="store_true", help="delete groups that have no members")
    actions.add_argument(
        "--reset-offsets", action="store_true", help="reset the offsets of groups that have no members"
    )
    actions.add_argument("--delete-offsets", action="store_true", help="delete a group's offsets of topics")


def _add_scope(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--group", action="append", default=[], metavar="GROUP", help="a group; may be repeated")
    which.add_argument("--all-groups", action="store_true", help="all consumer groups")
    topics = parser.add_mutually_exclusive_group()
    topics.add_argument(
        "--topic",
        action="append",
        default=[],
        metavar="TOPIC[:0,1]",
        help="a topic, or some of its partitions",
    )
    topics.add_argument(
        "--all-topics", action="store_true", help="with --reset-offsets: all topics with committed offsets"
    )


def _add_reset(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("--reset-offsets")
    scenario = group.add_mutually_exclusive_group()
    scenario.add_argument("--to-earliest", action="store_true", help="to the earliest offset")
    scenario.add_argument("--to-latest", action="store_true", help="to the latest offset")
    scenario.add_argument("--to-current", action="store_true", help="to the current offset (for --export)")
    scenario.add_argument("--to-offset", type=int, metavar="OFFSET", help="to this offset")
    scenario.add_argument("--shift-by", type=int, metavar="N", help="by N records; backwards if negative")
    scenario.add_argument(
        "--to-datetime", metavar="YYYY-MM-DDTHH:mm:SS.sss", help="to the first record at or after this time (UTC)"
    )
    scenario.add_argument("--by-duration", metavar="PnDTnHnMnS", help="to the first record at or after this long ago")
    scenario.add_argument("--from-file", type=Path, metavar="FILE", help="to the offsets in a file written by --export")
    execution = group.add_mutually_exclusive_group()
    execution.add_argument("--dry-run", action="store_true", help="only show the new offsets (the default)")
    execution.add_argument("--execute", action="store_true", help="commit the new offsets")
    group.add_argument("--export", action="store_true", help="print the new offsets as CSV")


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Run the chosen action; returns 0 if all went well."""
    _check(options)
    if options.zookeeper:
        return _run_with_zookeeper(options)
    with admin_channel(options) as channel:
        service = ConsumerGroupService(channel, options.timeout)
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
    if options.delete_offsets and not (len(options.group) == 1 and options.topic):
        raise ToolError("--delete-offsets requires exactly one --group, and --topic")
    if options.zookeeper:
        _check_zookeeper(options)
        return
    if not options.list and not options.group and not options.all_groups:
        raise ToolError("--group or --all-groups is required")
    if options.delete and options.topic:
        raise ToolError("--delete deletes whole groups; use --delete-offsets to delete the offsets of a topic")
    if options.describe and options.state:
        raise ToolError("--state takes no value with --describe")
    if options.watch and not (options.describe and len(options.group) == 1 and on_terminal()):
        raise ToolError("--watch requires --describe with exactly one --group, on a terminal")
    if options.reset_offsets and not (options.topic or options.all_topics or options.from_file):
        raise ToolError("--reset-offsets requires --topic, --all-topics or --from-file")


def _check_zookeeper(options: argparse.Namespace) -> None:
    """Groups of old consumers can only be listed, described and deleted. Raises ToolError."""
    if options.reset_offsets or options.delete_offsets or options.watch or options.members or options.state is not None:
        raise ToolError("--zookeeper supports only --list, --describe and --delete, and shows only offsets")
    if options.describe and not options.group and not options.all_groups:
        raise ToolError("--group or --all-groups is required")
    if options.delete and not options.group and not options.topic:
        raise ToolError("--delete requires --group, --topic or both")


def _run_with_zookeeper(options: argparse.Namespace) -> int:
    with zookeeper_client(options.zookeeper) as zk_client:
        service = ZkConsumerGroupService(zk_client, options.timeout)
        if options.list:
            for group in service.list_groups():
                print(group)
        elif options.describe:
            code = 0
            for group in service.list_groups() if options.all_groups else options.group:
                rows = service.rows(group)
                view.print_offsets(rows, with_host=False)
                code = max(code, _say_unknown_ends(rows))
            return code
        else:
            for line in _delete_from_zookeeper(service, options):
                print(line)
    return 0


def _delete_from_zookeeper(service: ZkConsumerGroupService, options: argparse.Namespace) -> Iterable[str]:
    if not options.group:
        return [service.delete_topic(topic) for topic in options.topic]
    if not options.topic:
        return [service.delete_group(group) for group in options.group]
    return [service.delete_topic_of_group(group, topic) for group in options.group for topic in options.topic]


def _groups(service: ConsumerGroupService, options: argparse.Namespace) -> list[str]:
    return [each.group for each in service.list_groups()] if options.all_groups else options.group


# ── List and describe ─────────────────────────────────────────────────────────────────────────────────────────────


def _list(service: ConsumerGroupService, options: argparse.Namespace) -> int:
    states = parse_names(options.state or "", STATES, "state")
    types = parse_names(options.type or "", TYPES, "types")
    view.print_listings(service.list_groups(states, types), options.type is not None, options.state is not None)
    return 0


def parse_names(text: str, valid: Iterable[str], what: str) -> list[str]:
    """Parse ``stable,empty`` into the names as Kafka spells them. Raises ToolError for an invalid name."""
    names = {name.lower(): name for name in valid}
    given = [name.strip().lower() for name in text.split(",") if name.strip()]
    if any(name not in names for name in given):
        raise ToolError(f"Invalid {what} list '{text}'. Valid are: {', '.join(names.values())}")
    return [names[name] for name in given]


def _describe(service: ConsumerGroupService, options: argparse.Namespace) -> int:
    if options.watch:
        _watch(service, options.group[0])
        return 0
    code = 0
    for group in _groups(service, options):
        description = service.describe(group)
        if not _say_state(description):
            code = 1
        elif options.state is not None:
            view.print_state(description)
        elif options.members:
            if description.members:
                view.print_members(description, options.verbose)
        elif rows := service.rows(description):
            view.print_offsets(rows)
            code = max(code, _say_unknown_ends(rows))
    return code


def _say_unknown_ends(rows: Iterable[PartitionRow]) -> int:
    """Report log end offsets that are not known, and so neither is the lag; returns 1 if there are any."""
    unknown = [row for row in rows if row.error is not Errors.NONE]
    for row in unknown:
        print_error(
            f"Error: the log end offset of {row.topic}-{row.partition} is not known: {row.error.name}: "
            f"{row.error.message} Try again later; `kafka-lite topics --describe` shows the leaders."
        )
    return 1 if unknown else 0


def _say_state(description: GroupDescription) -> bool:
    """Report an unusual state on stderr; returns False if the group does not exist."""
    group, state = description.group, description.state
    if state == "Dead":
        print_error(f"Error: Consumer group '{group}' does not exist.")
        return False
    if state == "Empty":
        print_to_stderr(f"Consumer group '{group}' has no active members.")
    elif state != "Stable":
        print_to_stderr(f"Warning: Consumer group '{group}' is rebalancing.")
    return True


def _watch(service: ConsumerGroupService, group: str) -> None:
    """Redraw the group periodically; the history shows the states seen so far."""
    from rich.console import Console
    from rich.live import Live

    history: list[str] = []
    with Live(console=Console(highlight=False), screen=True, auto_refresh=False) as live:
        while True:
            description = service.describe(group)
            if not history or history[-1] != description.state:
                history = [*history[-7:], description.state]
            rows = service.rows(description, settle_ms=0) if description.state != "Dead" else []
            live.update(view.live_view(description, rows, history), refresh=True)
            time.sleep(REFRESH_S)


# ── Deletion ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _delete(service: ConsumerGroupService, options: argparse.Namespace) -> int:
    outcome = service.delete_groups(_groups(service, options))
    deleted = [group for group, error in outcome.items() if error is Errors.NONE]
    failed = {group: error for group, error in outcome.items() if error is not Errors.NONE}
    names = ", ".join(f"'{group}'" for group in deleted)
    if not failed:
        print(f"Deletion of requested consumer groups ({names}) was successful.")
        return 0
    print_error("Error: Deletion of some consumer groups failed:")
    for group, error in failed.items():
        print(f"* Group '{group}' could not be deleted due to: {error.name}: {error.message}")
    if deleted:
        print(f"These consumer groups were deleted successfully: {names}")
    return 1


def _delete_offsets(service: ConsumerGroupService, options: argparse.Namespace) -> int:
    group = options.group[0]
    partitions, unknown = partitions_named(options.topic, service.partitions_of)
    error, outcome = service.delete_offsets(group, partitions)
    if error is not Errors.NONE:
        print_error(f"Error: {GROUP_ERRORS.get(error, f'{error.name}: {error.message}').format(group)}")
        return 1
    outcome |= {TopicPartition(topic, -1): Errors.UNKNOWN_TOPIC_OR_PARTITION for topic in unknown}
    failed = any(each is not Errors.NONE for each in outcome.values())
    if failed:
        print_error("Error: Encounter some partition level error, see the follow-up details:")
    else:
        print(f"Request succeed for deleting offsets with topic {', '.join(options.topic)} group {group}")
    view.print_deleted_offsets(outcome)
    return 1 if failed else 0


# ── Reset ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _reset(service: ConsumerGroupService, options: argparse.Namespace) -> int:
    groups = _groups(service, options)
    plan_of_file = _plan_of_file(options, groups)
    plan: Plan = {}
    code = 0
    for group in groups:
        state = service.describe(group).state
        if state not in ("Empty", "Dead"):
            print_error(
                f"Error: Assignments can only be reset if the group '{group}' is inactive, "
                f"but the current state is {state}."
            )
            code = 1
            continue
        plan[group] = _new_offsets(service, group, options, plan_of_file)
    if options.execute:  # only now: if an offset is not known, no group is changed
        for group, offsets in plan.items():
            service.commit_offsets(group, offsets)
    if options.export:
        print(offset_reset.plan_as_csv(plan, with_group=len(options.group) != 1), end="")
    else:
        if not options.execute and not options.dry_run:
            print_to_stderr("Dry run: nothing is changed without --execute. These are the offsets it would commit.")
        view.print_plan(plan)
    return code


def _plan_of_file(options: argparse.Namespace, groups: list[str]) -> Plan:
    if options.from_file is None:
        return {}
    return offset_reset.parse_plan(options.from_file.read_text(encoding="utf-8"), groups)


def _new_offsets(service: ConsumerGroupService, group: str, options: argparse.Namespace, plan_of_file: Plan) -> Offsets:
    scenario = scenario_of(options, plan_of_file.get(group, {}), time.time() * 1000)
    committed = service.committed_offsets(group)
    if options.all_topics or options.from_file:
        partitions = set(committed)
    else:
        partitions, unknown = partitions_named(options.topic, service.partitions_of)
        if unknown:
            raise ToolError(f"--topic: {unknown_topics(unknown)}")
    return scenario.offsets(partitions, committed, service)


def scenario_of(options: argparse.Namespace, plan_of_group: Offsets, now_ms: float) -> Scenario:
    """The scenario that the options choose. Raises ToolError if they choose none."""
    if options.to_earliest:
        return offset_reset.to_earliest()
    if options.to_latest:
        return offset_reset.to_latest()
    if options.to_current:
        return offset_reset.to_current()
    if options.to_offset is not None:
        return offset_reset.to_offset(options.to_offset)
    if options.shift_by is not None:
        return offset_reset.shift_by(options.shift_by)
    if options.to_datetime is not None:
        return offset_reset.to_time("--to-datetime", offset_reset.parse_datetime(options.to_datetime))
    if options.by_duration is not None:
        ago = offset_reset.parse_duration(options.by_duration)
        return offset_reset.to_time("--by-duration", round(now_ms - ago.total_seconds() * 1000))
    if options.from_file is not None:
        return offset_reset.from_file(plan_of_group)
    raise ToolError(
        "--reset-offsets requires a scenario: --to-earliest, --to-latest, --to-current, --to-offset, --shift-by, "
        "--to-datetime, --by-duration or --from-file"
    )


def partitions_named(
    topics: Iterable[str], partitions_of: Callable[[Iterable[str]], dict[str, list[int]]]
) -> tuple[set[TopicPartition], set[str]]:
    """Parse ``flights:0,2`` and ``flights`` into partitions and the set of unknown topics. Raises ToolError."""
    named: set[TopicPartition] = set()
    whole: set[str] = set()
    for each in topics:
        topic, colon, numbers = each.rpartition(":")
        if not colon:
            whole.add(each)
            continue
        parts = [number.strip() for number in numbers.split(",")]
        if not topic or not all(part.isdecimal() for part in parts):
            raise ToolError(f"--topic: {each!r} is not of the form topic or topic:0,1,2")
        named.update(TopicPartition(topic, int(part)) for part in parts)
    known = partitions_of(whole) if whole else {}
    named.update(TopicPartition(topic, number) for topic, numbers in known.items() for number in numbers)
    return named, whole - set(known)
