"""Watches for several brokers: the requests between them, what replicas and the controller decide, and the znodes.

Each broker is a lane, named ``broker 1``, and ZooKeeper is another. They work on the brokers of ``run_clusters``;
those for replicas work on the brokers of ``replicas_by_hand``, too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable
from typing import Any

from kafka_learn.recording.recorded_run import Kind
from kafka_learn.recording.recorder import Call, Watch
from kafka_learn.recording.watches import Things
from kafka_lite.cluster.partition import Partition
from kafka_lite.common.topic_names import GROUP_METADATA_TOPIC_NAME
from kafka_lite.controller.kafka_controller import KafkaController
from kafka_lite.controller.partition_state_machine import PartitionStateMachine
from kafka_lite.controller.replica_state_machine import ReplicaStateMachine
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.group_metadata_manager import GroupMetadataManager
from kafka_lite.server.apis.log_offset_apis import LogOffsetApis
from kafka_lite.server.apis.replication_apis import ReplicationApis
from kafka_lite.server.replica_manager import ReplicaManager
from kafka_lite.server.replica_state_changes import ReplicaStateChanges
from kafka_lite.server.replication.controlled_shutdown import ControlledShutdown
from kafka_lite.server.replication.leader_end_point import RemoteLeaderEndPoint
from kafka_lite.server.replication.replica_fetcher_thread import ReplicaFetcherThread
from kafka_lite.server.startup.cluster_control import ClusterControl
from kafka_lite.zookeeper.admin_requests import AdminRequests
from kafka_lite.zookeeper.data import LeaderAndIsr, LeaderIsrAndControllerEpoch
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

ZOOKEEPER = "ZooKeeper"
KAZOO_THREAD = "Thread-"
"""How the names of kazoo's threads begin, which call our watches."""
ORDERS = ("LeaderAndIsr", "UpdateMetadata", "StopReplica")


def broker_lane(broker_id: int) -> str:
    """The lane of a broker."""
    return f"broker {broker_id}"


def _itself(key: Hashable) -> Hashable:
    return key


def _nothing(call: Call) -> None:
    """Makes ``after`` ignore calls that began before the recording was running."""


def note_change(call: Call, who: str, what: str, before: object, after: object) -> None:
    """Record the new value of something that a lane has, if it has changed."""
    if before != after:
        call.emit(Kind.STATE, who, what, {"before": before, "after": after})


# ── replicas ────────────────────────────────────────────────────────────────────────────────────────────────────────


def watch_isr() -> list[Watch]:
    """Changes of the ISR by a leader, and its write into ZooKeeper."""

    def before(call: Call) -> None:
        partition: Partition = call.subject
        isr = sorted(replica.broker_id for replica in call.argument("replicas"))
        call.scratch = sorted(replica.broker_id for replica in partition.in_sync_replicas)
        lane = broker_lane(partition.local_broker_id)
        _arrow(call, lane, ZOOKEEPER, f"set {_state_path(partition)}", f"ISR {_ids(isr)}")

    def after(call: Call) -> None:
        partition: Partition = call.subject
        isr = sorted(replica.broker_id for replica in partition.in_sync_replicas)
        note_change(call, broker_lane(partition.local_broker_id), "ISR", _ids(call.scratch), _ids(isr))

    return [Watch.of(Partition._write_isr, before, after)]


def watch_roles() -> list[Watch]:
    """Brokers that begin to lead or to follow, or stop a replica."""

    def leads(call: Call) -> None:
        partition: Partition = call.subject
        text = f"leads {partition.topic_partition}, epoch {partition.leader_epoch}"
        call.emit(Kind.NOTE, broker_lane(partition.local_broker_id), text)

    def follows(call: Call) -> None:
        partition: Partition = call.subject
        text = f"{partition.topic_partition} follows broker {partition.leader_id}, epoch {partition.leader_epoch}"
        call.emit(Kind.NOTE, broker_lane(partition.local_broker_id), text)

    def stopped(call: Call) -> None:
        what = "deletes" if call.argument("delete") else "stops fetching"
        lane = broker_lane(call.subject._broker_id)
        call.emit(Kind.NOTE, lane, f"{what} {call.argument('topic_partition')}")

    return [
        Watch.of(Partition.make_leader, _nothing, leads),
        Watch.of(Partition.make_follower, _nothing, follows),
        Watch.of(ReplicaStateChanges._stop_replica, before=stopped),
    ]


def watch_group_migration() -> list[Watch]:
    """Brokers that become or cease to be a coordinator, and the groups that they read from the log or forget."""

    def begins(call: Call) -> None:
        lane = broker_lane(call.subject._state_changes._broker_id)
        for partition in call.argument("leaders"):
            if partition.topic_partition.topic == GROUP_METADATA_TOPIC_NAME:
                call.emit(
                    Kind.NOTE, lane, f"coordinator of {partition.topic_partition}, epoch {partition.leader_epoch}"
                )

    def loaded(call: Call) -> None:
        group: GroupMetadata = call.argument("group")
        text = f"has read group {group.group_id}: generation {group.generation_id}, {len(group.members)} member"
        call.emit(Kind.NOTE, _coordinator_lane(call), text)

    def forgets(call: Call) -> None:
        for group in call.subject.current_groups:
            if call.subject.partition_for(group.group_id) == call.argument("partition"):
                call.emit(Kind.NOTE, _coordinator_lane(call), f"forgets group {group.group_id}")

    return [
        Watch.of(ReplicationApis._migrate_coordinators, before=begins),
        Watch.of(GroupMetadataManager._add_loaded, _nothing, loaded),
        Watch.of(GroupMetadataManager.remove_groups_and_offsets, before=forgets),
    ]


def watch_member(member: str, *methods: Any) -> list[Watch]:
    """Requests of a client with an attribute ``broker_id``: its ``methods`` take no arguments and return a text."""

    def asks(call: Call) -> None:
        name = "".join(word.title() for word in call.watch.name.split("_"))
        _arrow(call, member, broker_lane(call.subject.broker_id), name, "")

    def answered(call: Call) -> None:
        call.emit(Kind.NOTE, member, call.result)

    return [Watch.of(method, asks, answered) for method in methods]


def _coordinator_lane(call: Call) -> str:
    return broker_lane(call.subject._log.config.broker_id)


# ── requests between brokers ────────────────────────────────────────────────────────────────────────────────────────


def watch_fetches(*, responses: bool = False) -> list[Watch]:
    """Fetch requests of followers; their ``responses`` only if no fetch waits in the purgatory."""
    wire = _Wire()

    def sent(call: Call) -> None:
        fetcher: ReplicaFetcherThread = call.subject
        positions = call.argument("request").positions
        says = ", ".join(f"from offset {position.fetch_offset} on" for position in positions.values())
        follower, leader = fetcher._config.broker_id, fetcher.source_broker.id
        wire.put(call, "Fetch", follower, leader, says)

    def received(call: Call) -> None:
        wire.take(call, "Fetch", call.argument("params").replica_id, call.subject.config.broker_id)

    def read(call: Call) -> None:
        follower, leader = call.argument("params").replica_id, call.subject.config.broker_id
        if responses and follower >= 0 and call.error is None:
            result = call.result[0][1]
            says = f"{result.size_in_bytes} bytes, HW {result.high_watermark}"
            wire.put(call, "Fetch response", leader, follower, says if result.error.code == 0 else result.error.name)

    def done(call: Call) -> None:
        fetcher: ReplicaFetcherThread = call.subject
        wire.take(call, "Fetch response", fetcher.source_broker.id, fetcher._config.broker_id)

    return [
        Watch.of(ReplicaFetcherThread.fetch, sent, done),
        Watch.of(ReplicaManager.fetch_messages, before=received),
        Watch.of(ReplicaManager.read_from_local_logs, _nothing, read),
    ]


def watch_epoch_requests() -> list[Watch]:
    """OffsetForLeaderEpoch requests of followers of running brokers, and what the leader says."""
    wire = _Wire()

    def sent(call: Call) -> None:
        end_point: RemoteLeaderEndPoint = call.subject
        says = ", ".join(f"epoch {asked}" for _, asked in call.argument("epochs").values())
        wire.put(call, "OffsetForLeaderEpoch", end_point._config.broker_id, 0, says)

    def received(call: Call) -> None:
        leader = call.subject._replicas.config.broker_id
        wire.take(call, "OffsetForLeaderEpoch", call.argument("body").replica_id, 0, receiver=leader)

    def done(call: Call) -> None:
        if call.error is None:
            ends = ", ".join(f"epoch {end.leader_epoch} ends at {end.end_offset}" for end in call.result.values())
            call.emit(Kind.NOTE, broker_lane(call.subject._config.broker_id), ends)

    return [
        Watch.of(RemoteLeaderEndPoint.epoch_ends, sent, done),
        Watch.of(LogOffsetApis.handle_offset_for_leader_epoch, before=received),
    ]


def watch_orders(*names: str) -> list[Watch]:
    """The controller's requests, to its own broker as well; ``names`` selects some of ``ORDERS``."""
    wire = _Wire()
    wanted = names or ORDERS

    def sent(call: Call) -> None:
        request, to = call.argument("request"), call.argument("broker_id")
        if (name := type(request).__name__.removesuffix("Request")) in wanted:
            wire.put(call, name, call.subject.config.broker_id, to, _order_in_words(request))

    def received(call: Call) -> None:
        request = call.argument("request")
        if (name := type(request).__name__.removesuffix("Request")) in wanted:
            wire.take(call, name, request.controller_id, call.subject._broker_id, says=_order_in_words(request))

    return [
        Watch.of(ClusterControl.send_to_broker, before=sent),
        Watch.of(ReplicaStateChanges.become_leader_or_follower, before=received),
        Watch.of(ReplicaStateChanges.maybe_update_metadata_cache, before=received),
        Watch.of(ReplicaStateChanges.stop_replicas, before=received),
    ]


def watch_controlled_shutdown() -> list[Watch]:
    """The request of a broker that stops, and its outcome."""
    wire = _Wire()

    def asks(call: Call) -> None:
        wire.put(call, "ControlledShutdown", call.subject._request.broker_id, 0, "")

    def received(call: Call) -> None:
        wire.take(call, "ControlledShutdown", call.argument("broker_id"), 0, receiver=call.subject._broker_id)

    def done(call: Call) -> None:
        outcome = "leads nothing any more" if call.result else "still leads something"
        call.emit(Kind.NOTE, broker_lane(call.subject._request.broker_id), outcome)

    return [
        Watch.of(ControlledShutdown._try, asks, done),
        Watch.of(KafkaController._process_controlled_shutdown, before=received),
    ]


class _Wire:
    """Requests on their way. Between two brokers there is at most one of each kind at a time."""

    def __init__(self) -> None:
        self._things = Things(_itself)

    def put(self, call: Call, name: str, sender: int, receiver: int, says: str) -> None:
        if sender != receiver and (number := self._things.put((name, sender, receiver), call)):
            call.emit(Kind.PUT, broker_lane(sender), name, {"says": says} if says else {}, number=number)

    def take(self, call: Call, name: str, sender: int, to: int, *, receiver: int | None = None, says: str = "") -> None:
        """``to`` is 0 if the sender did not know its receiver. A broker's request to itself becomes a note."""
        if sender == to:
            call.emit(Kind.NOTE, broker_lane(to), f"{name}: {says}" if says else name)
        elif number := self._things.take((name, sender, to)):
            call.emit(Kind.TAKE, broker_lane(to if receiver is None else receiver), name, number=number)


def _order_in_words(request: Any) -> str:
    match type(request).__name__:
        case "LeaderAndIsrRequest":
            return ", ".join(_state_in_words(s.topic_name, s) for s in request.partition_states())
        case "UpdateMetadataRequest":
            states = [f"{tp} → {state.leader}" for tp, state in request.partition_states()]
            return ", ".join([f"brokers {_ids(sorted(broker.id for broker in request.live_brokers))}", *states])
        case "StopReplicaRequest":
            return ", ".join(f"{'delete ' if delete else ''}{tp}" for tp, delete in request.partitions())
    return ""


def _state_in_words(topic: str, state: Any) -> str:
    return f"{topic}-{state.partition_index} → {state.leader}, epoch {state.leader_epoch}, ISR {_ids(state.isr)}"


def _ids(broker_ids: Iterable[int]) -> str:
    return " ".join(map(str, broker_ids)) or "nothing"


# ── the controller ──────────────────────────────────────────────────────────────────────────────────────────────────


def watch_partition_states() -> list[Watch]:
    """The partition state machine of the active controller."""
    return _watch_machine(PartitionStateMachine, "partition", str)


def watch_replica_states() -> list[Watch]:
    """The replica state machine of the active controller."""
    return _watch_machine(ReplicaStateMachine, "replica", lambda replica: f"{replica.partition} on {replica.replica}")


def _watch_machine(machine: Any, subject: str, name: Callable[[Any], str]) -> list[Watch]:
    def before(call: Call) -> None:
        call.scratch = call.subject.state(call.argument(subject))

    def after(call: Call) -> None:
        thing = call.argument(subject)
        lane = broker_lane(call.subject._controller_id)
        note_change(call, lane, name(thing), call.scratch.name, call.subject.state(thing).name)

    return [Watch.of(machine._handle_state_change, before, after)]


def watch_controller(*events: str) -> list[Watch]:
    """``events`` of a controller, most of which begin with a notification of ZooKeeper, and elections."""

    def notified(call: Call) -> None:
        name, lane = call.argument("name"), broker_lane(call.subject._broker_id)
        if name in events:
            if threading.current_thread().name.startswith(KAZOO_THREAD):
                _arrow(call, ZOOKEEPER, lane, name, "")
            else:
                call.emit(Kind.NOTE, lane, name)

    def elected(call: Call) -> None:
        call.emit(Kind.NOTE, broker_lane(call.subject._broker_id), f"is the controller, epoch {call.subject.epoch}")

    return [
        Watch.of(KafkaController._enqueue, before=notified),
        Watch.of(KafkaController._on_controller_failover, elected, _nothing),
    ]


def watch_znodes(broker_of: Callable[[KafkaZkClient], int], *names: str) -> list[Watch]:
    """Writes of brokers into ZooKeeper; ``names`` selects methods of ``KafkaZkClient`` among ``_WRITES``."""

    def writing(say: Callable[[Call], Iterable[tuple[str, str]]]) -> Callable[[Call], None]:
        def before(call: Call) -> None:
            for verb, path in say(call):
                path, _, says = path.partition(": ")
                _arrow(call, broker_lane(broker_of(call.subject)), ZOOKEEPER, f"{verb} {path}", says)

        return before

    chosen = {name: say for name, say in _WRITES.items() if not names or name in names}
    return [Watch.of(getattr(KafkaZkClient, name), before=writing(say)) for name, say in chosen.items()]


def watch_reassignment_znode(tool: str) -> list[Watch]:
    """The reassignment that a tool, whose thread has this name, writes to /admin/reassign_partitions; and its end."""

    def asked(call: Call) -> None:
        says = ", ".join(f"{partition} → {_ids(ids)}" for partition, ids in call.argument("target_replicas").items())
        _arrow(call, tool, ZOOKEEPER, "create /admin/reassign_partitions", says)

    def removed(call: Call) -> None:
        call.emit(Kind.NOTE, ZOOKEEPER, "- /admin/reassign_partitions")

    return [
        Watch.of(AdminRequests.create_reassignment, before=asked),
        Watch.of(AdminRequests.delete_reassignment, before=removed),
    ]


def _arrow(call: Call, sender: str, receiver: str, what: str, says: str) -> None:
    """A message that arrives at once."""
    number = call.recording.new_number()
    call.emit(Kind.PUT, sender, what, {"says": says} if says else {}, number=number)
    call.emit(Kind.TAKE, receiver, what, number=number)


def _state_path(partition: Any) -> str:
    topic, number = getattr(partition, "topic_partition", partition)
    return f"…/{topic}/partitions/{number}/state"


def _written(state: LeaderIsrAndControllerEpoch) -> str:
    found: LeaderAndIsr = state.leader_and_isr
    return f"leader {found.leader}, epoch {found.leader_epoch}, ISR {_ids(found.isr)}"


def _states(verb: str) -> Callable[[Call], Iterable[tuple[str, str]]]:
    def say(call: Call) -> Iterable[tuple[str, str]]:
        states = call.argument("states")
        return [(verb, f"{_state_path(partition)}: {_written(state)}") for partition, state in states.items()]

    return say


def _state(call: Call) -> Iterable[tuple[str, str]]:
    return [("set", f"{_state_path(call.argument('partition'))}: {_written(call.argument('state'))}")]


_WRITES: dict[str, Callable[[Call], Iterable[tuple[str, str]]]] = {
    "register_broker": lambda call: [("create", f"/brokers/ids/{call.argument('broker_id')}")],
    "register_controller_and_increment_epoch": lambda _call: [("create", "/controller"), ("set", "/controller_epoch")],
    "create_topic_assignment": lambda call: [("create", f"/brokers/topics/{call.argument('topic')}")],
    "create_partition_states": _states("create"),
    "update_partition_states": _states("set"),
    "update_partition_state": _state,
    "create_delete_topic": lambda call: [("create", f"/admin/delete_topics/{call.argument('topic')}")],
    "change_topic_assignment": lambda call: [("set", f"/brokers/topics/{call.argument('topic')}")],
    "delete_topic_znode": lambda call: [("delete", f"/brokers/topics/{call.argument('topic')}")],
    "delete_delete_topic": lambda call: [("delete", f"/admin/delete_topics/{call.argument('topic')}")],
}
