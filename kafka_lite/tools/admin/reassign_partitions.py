"""``kafka-lite reassign-partitions``: move partitions to other brokers.

Kafka 0.10.2: core/.../admin/ReassignPartitionsCommand.scala, bin/kafka-reassign-partitions.sh; 2.6: the same with
--bootstrap-server · book 7.1.6
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from kafka_lite.admin.replica_assignment import assign_replicas_to_brokers
from kafka_lite.common.state_change_logger import bracketed
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.replica_assignment import ReplicaAssignment
from kafka_lite.tools.admin.command_config import add_command_config_argument, admin_channel
from kafka_lite.tools.admin.log_dir_moves import execute_moves, is_active, move_status, moves_back
from kafka_lite.tools.admin.partition_json import (
    Assignments,
    format_assignments,
    read_assignments,
    read_log_dirs,
    read_topics,
)
from kafka_lite.tools.admin.reassignment_progress import watch_reassignment
from kafka_lite.tools.admin.reassignment_service import (
    BrokerReassignmentService,
    Reassignments,
    ReassignmentService,
    ZooKeeperReassignmentService,
)
from kafka_lite.tools.admin.replication_throttles import (
    PartitionMove,
    alter_log_dirs_rates,
    no_throttles,
    partition_moves,
    throttled_rates,
    throttled_replicas,
)
from kafka_lite.tools.admin.topics import add_cluster_arguments
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors
from kafka_lite.tools.zookeeper.zookeeper_session import zookeeper_client

NAME = "reassign-partitions"
SUMMARY = "move partitions to other brokers: generate, execute, verify, cancel, list"


WARNING = (
    "Warning: You must run --verify periodically, until the reassignment completes, to ensure the throttle is removed."
)
WARNING_OF_0_10 = (
    "Warning: You must run Verify periodically, until the reassignment completes, to ensure the throttle is removed. "
    "You can also alter the throttle by rerunning the Execute command passing a new value."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of kafka-reassign-partitions.sh, and --watch."""
    add_cluster_arguments(parser)
    actions = parser.add_mutually_exclusive_group(required=True)
    actions.add_argument("--generate", action="store_true", help="propose an assignment; nothing is moved")
    actions.add_argument("--execute", action="store_true", help="start what --reassignment-json-file says")
    actions.add_argument("--verify", action="store_true", help="say how far what --reassignment-json-file says is")
    actions.add_argument("--cancel", action="store_true", help="cancel what --reassignment-json-file says")
    actions.add_argument("--list", action="store_true", help="list the reassignments in progress")
    _add_proposal_arguments(parser)
    _add_move_arguments(parser)
    parser.add_argument(
        "--watch", action="store_true", help="with --execute or --verify: show the progress until all is done"
    )
    add_command_config_argument(parser)


def _add_proposal_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags that say which partitions move, and between which brokers."""
    file = {"type": Path, "metavar": "FILE"}
    parser.add_argument(
        "--reassignment-json-file",
        **file,  # type: ignore[arg-type]
        help='{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1,2],"log_dirs":["any","/d2"]}]}',
    )
    parser.add_argument(
        "--topics-to-move-json-file",
        **file,  # type: ignore[arg-type]
        help='with --generate: {"version":1,"topics":[{"topic":"t"}]}',
    )
    parser.add_argument("--broker-list", metavar="0,1,2", help="with --generate: the brokers to move to")
    parser.add_argument("--disable-rack-aware", action="store_true", help="with --generate: ignore racks")


def _add_move_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags that say how partitions move: their throttles and times."""
    parser.add_argument(
        "--additional",
        action="store_true",
        help="with --execute: although other reassignments are in progress; also to change their throttle",
    )
    parser.add_argument(
        "--throttle",
        type=int,
        default=-1,
        metavar="BYTES",
        help="with --execute: bytes per second that a broker may send, and fetch, for replicas that are moved; "
        "--verify removes the limit once all moves are complete (default: no limit)",
    )
    parser.add_argument(
        "--replica-alter-log-dirs-throttle",
        type=int,
        default=-1,
        metavar="BYTES",
        help="with --execute: bytes per second that a broker may copy between its log directories",
    )
    parser.add_argument(
        "--preserve-throttles", action="store_true", help="with --verify and --cancel: keep the throttles"
    )
    parser.add_argument(
        "--timeout",
        type=int,
        default=10_000,
        metavar="MS",
        help="how long to wait for replicas whose log directory the file names (default: 10000)",
    )


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Run the chosen action; returns 1 on error."""
    _check(options)
    actions: dict[str, Callable[[ReassignmentService, argparse.Namespace], None]] = {
        "generate": generate,
        "execute": execute,
        "verify": verify,
        "cancel": cancel,
        "list": list_reassignments,
    }
    action = next(action for name, action in actions.items() if getattr(options, name))
    with reassignment_service(options) as service:
        action(service, options)
    return 0


def _check(options: argparse.Namespace) -> None:
    if options.generate and not (options.topics_to_move_json_file and options.broker_list):
        raise ToolError("--generate requires --topics-to-move-json-file and --broker-list")
    if (options.execute or options.verify or options.cancel) and not options.reassignment_json_file:
        raise ToolError("--reassignment-json-file is required")


@contextmanager
def reassignment_service(options: argparse.Namespace) -> Iterator[ReassignmentService]:
    """A connected service, through a broker or ZooKeeper as the options choose."""
    if options.bootstrap_server:
        with admin_channel(options) as channel:
            yield BrokerReassignmentService(channel)
        return
    with zookeeper_client(options.zookeeper) as zk_client:
        yield ZooKeeperReassignmentService(zk_client)


# ------------------------------------------------------------------------------------------------------------- actions


def generate(service: ReassignmentService, options: argparse.Namespace) -> None:
    """Print the current assignment of some topics, and one that spreads them over the given brokers."""
    broker_ids = _broker_list(options.broker_list)
    topics = read_topics(options.topics_to_move_json_file)
    current = {tp: each.target_replicas for tp, each in service.assignments(topics).items()}
    if missing := sorted(set(topics) - {tp.topic for tp in current}):
        raise ToolError(f"Topic {missing[0]} not found.")
    brokers = [
        broker for broker in service.brokers(rack_aware=not options.disable_rack_aware) if broker.id in broker_ids
    ]
    if unknown := sorted(broker_ids - {broker.id for broker in brokers}):
        raise ToolError(f"Unknown broker id {unknown[0]}")
    proposed: Assignments = {}
    for topic in topics:
        partitions = sorted(tp for tp in current if tp.topic == topic)
        replicas = assign_replicas_to_brokers(brokers, len(partitions), len(current[partitions[0]]))
        proposed.update({TopicPartition(topic, number): replicas[number] for number in range(len(partitions))})
    print(f"Current partition replica assignment\n{format_assignments(current)}\n")
    print(f"Proposed partition reassignment configuration\n{format_assignments(proposed)}")


def execute(service: ReassignmentService, options: argparse.Namespace) -> None:
    """Start a reassignment, after printing what is needed to roll it back."""
    targets, log_dirs = read_assignments(options.reassignment_json_file), read_log_dirs(options.reassignment_json_file)
    in_progress = service.in_progress()
    if options.zookeeper and in_progress and options.throttle >= 0:
        print("There is an existing assignment running.")
        _set_throttle(service, partition_moves({}, {}, in_progress), options)
        return
    if not options.additional and in_progress:
        raise ToolError(
            "Cannot execute because there is an existing partition assignment. Use --additional to override this and "
            "create a new partition assignment in addition to the existing one."
        )
    current = _existing(service, targets)
    print(
        f"Current partition replica assignment\n\n{format_assignments(current)}\n\n"
        "Save this to use as the --reassignment-json-file option during rollback"
    )
    if options.throttle >= 0 or options.replica_alter_log_dirs_throttle >= 0:
        print(WARNING_OF_0_10 if options.zookeeper else WARNING)
    if options.throttle >= 0:
        replicas = {tp: ReplicaAssignment(brokers) for tp, brokers in current.items()}
        moves = partition_moves(targets, replicas, in_progress)
        service.alter_configs(throttled_replicas(moves))
        _set_throttle(service, moves, options)
    if options.replica_alter_log_dirs_throttle >= 0:
        rate = options.replica_alter_log_dirs_throttle
        service.alter_configs(alter_log_dirs_rates({broker for broker, _ in log_dirs}, rate))
        print(f"The replica-alter-dir throttle limit was set to {rate} B/s")
    service.start(targets)
    if options.bootstrap_server:
        plural = "" if len(targets) == 1 else "s"
        print(f"Successfully started partition reassignment{plural} for {','.join(map(str, sorted(targets)))}")
    else:
        print("Successfully started reassignment of partitions.")
    if log_dirs:
        execute_moves(service, log_dirs, options.timeout)
    if options.watch:
        watch_reassignment(service, targets)


def _set_throttle(
    service: ReassignmentService, moves: Mapping[TopicPartition, PartitionMove], options: argparse.Namespace
) -> None:
    service.alter_configs(throttled_rates(moves, options.throttle))
    which = "throttle" if options.zookeeper else "inter-broker throttle"
    print(f"The {which} limit was set to {options.throttle} B/s")


def _existing(service: ReassignmentService, targets: Assignments) -> Assignments:
    """The replicas that these partitions have now. Raises ToolError if one does not exist, or a broker is dead."""
    current = {tp: each.target_replicas for tp, each in service.assignments({tp.topic for tp in targets}).items()}
    if missing := sorted(targets.keys() - current.keys()):
        message = "The proposed assignment contains non-existent partitions"
        raise ToolError(f"{message}: {','.join(map(str, missing))}")
    alive = {broker.id for broker in service.brokers(rack_aware=False)}
    for tp, replicas in targets.items():
        if unknown := [replica for replica in replicas if replica not in alive and replica not in current[tp]]:
            raise ToolError(f"Unknown broker id {unknown[0]}")
    return {tp: current[tp] for tp in targets}


def verify(service: ReassignmentService, options: argparse.Namespace) -> None:
    """Print the progress of each partition and each replica; remove the throttles once nothing is moving."""
    targets, log_dirs = read_assignments(options.reassignment_json_file), read_log_dirs(options.reassignment_json_file)
    if options.watch:
        watch_reassignment(service, targets)
    in_progress, current = service.in_progress(), service.assignments({tp.topic for tp in targets})
    print("Status of partition reassignment: " if options.zookeeper else "Status of partition reassignment:")
    line = _status_of_0_10 if options.zookeeper else _status
    for tp, target in sorted(targets.items()):
        print(line(tp, target, in_progress, current))
    found = service.log_dirs(log_dirs)
    in_order = sorted(log_dirs, key=lambda replica: (replica[1], replica[0]))
    if not options.zookeeper:
        print("\n".join(move_status(replica, log_dirs[replica], found[replica]) for replica in in_order))
    if not in_progress and not any(map(is_active, found.values())) and not options.preserve_throttles:
        _clear_throttles(service, targets, options)


def _clear_throttles(service: ReassignmentService, targets: Assignments, options: argparse.Namespace) -> None:
    brokers = sorted(broker.id for broker in service.brokers(rack_aware=False))
    topics = sorted({tp.topic for tp in targets})
    if options.bootstrap_server:
        print(f"Clearing broker-level throttles on broker{'s' * (len(brokers) > 1)} {_ids(brokers)}")
        print(f"Clearing topic-level throttles on topic{'s' * (len(topics) > 1)} {','.join(topics)}")
    has_changed = service.alter_configs(no_throttles(brokers, topics))
    if options.zookeeper and has_changed:
        print("Throttle was removed.")


def _status(tp: TopicPartition, target: list[int], in_progress: Reassignments, current: Reassignments) -> str:
    """The line of Kafka since 2.6."""
    if tp in in_progress:
        return f"Reassignment of partition {tp} is still in progress."
    replicas = current[tp].replicas if tp in current else []
    if replicas == target:
        return f"Reassignment of partition {tp} is completed."
    return (
        f"There is no active reassignment of partition {tp}, but replica set is {_ids(replicas)} rather than "
        f"{_ids(target)}."
    )


def _status_of_0_10(tp: TopicPartition, target: list[int], in_progress: Reassignments, current: Reassignments) -> str:
    name = bracketed(tp)
    if tp in in_progress:
        return f"Reassignment of partition {name} is still in progress"
    replicas = current[tp].replicas if tp in current else []
    if replicas == target:
        return f"Reassignment of partition {name} completed successfully"
    return (
        f"ERROR: Assigned replicas ({_ids(replicas)}) don't match the list of replicas for reassignment "
        f"({_ids(target)}) for partition {name}\nReassignment of partition {name} failed"
    )


def cancel(service: ReassignmentService, options: argparse.Namespace) -> None:
    """Cancel the reassignments of the file that are in progress."""
    wanted, log_dirs = read_assignments(options.reassignment_json_file), read_log_dirs(options.reassignment_json_file)
    active = sorted(wanted.keys() & service.in_progress().keys())
    if active:
        service.cancel(active)
        plural = "" if len(active) == 1 else "s"
        print(f"Successfully cancelled partition reassignment{plural} for: {','.join(map(str, active))}")
    else:
        print("None of the specified partition reassignments are active.")
    if back := moves_back(log_dirs, service.log_dirs(log_dirs)):
        execute_moves(service, back, options.timeout)
    elif log_dirs:
        print("None of the specified partition moves are active.")
    if not options.preserve_throttles and not options.zookeeper:
        _clear_throttles(service, wanted, options)


def list_reassignments(service: ReassignmentService, _options: argparse.Namespace) -> None:
    """Print the reassignments in progress."""
    found = service.in_progress()
    if not found:
        print("No partition reassignments found.")
        return
    print("Current partition reassignments:")
    for tp, each in sorted(found.items(), key=lambda item: item[0]):
        adding = f" adding: {_ids(each.adding_replicas)}." if each.adding_replicas else ""
        removing = f" removing: {_ids(each.removing_replicas)}." if each.removing_replicas else ""
        print(f"{tp}: replicas: {_ids(each.replicas)}.{adding}{removing}")


def _broker_list(text: str) -> set[int]:
    entries = [entry.strip() for entry in text.split(",")]
    if not all(entry.isdecimal() for entry in entries):
        raise ToolError(f"--broker-list {text}: must be broker ids separated by commas")
    if twice := [entry for entry, count in Counter(entries).items() if count > 1]:
        raise ToolError(f"Broker list contains duplicate entries: {','.join(twice)}")
    return {int(entry) for entry in entries}


def _ids(replicas: list[int]) -> str:
    return ",".join(map(str, replicas))
