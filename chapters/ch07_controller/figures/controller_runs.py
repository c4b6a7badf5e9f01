"""Recorded runs of three brokers: topics are created and deleted, a leader dies, the controller dies, a broker stops.

Book 7. Broker 1 starts first, so it is the controller. A broker "dies" here by a shutdown without a controlled one: it
says nothing to the controller, its session ends, and its connections break.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from kafka_learn.recording.cluster_watches import (
    KAZOO_THREAD,
    ZOOKEEPER,
    broker_lane,
    watch_controlled_shutdown,
    watch_controller,
    watch_epoch_requests,
    watch_fetches,
    watch_group_migration,
    watch_member,
    watch_orders,
    watch_partition_states,
    watch_reassignment_znode,
    watch_replica_states,
    watch_roles,
    watch_znodes,
)
from kafka_learn.recording.offset_watches import watch_offsets
from kafka_learn.recording.recorded_run import Kind, RecordedRun
from kafka_learn.recording.recorder import Recording, Watch
from kafka_learn.recording.run_brokers import TOPIC, connect, in_thread, send_record, wait_until
from kafka_learn.recording.run_clusters import BROKER_IDS, WAIT_MS, RunningBrokers, running_brokers
from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_names import GROUP_METADATA_TOPIC_NAME
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_08_offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from kafka_lite.protocol.messages.api_09_offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
)
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from kafka_lite.protocol.messages.api_11_join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatRequest, HeartbeatResponse
from kafka_lite.protocol.messages.api_14_sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from kafka_lite.protocol.schema import Request, Response
from kafka_lite.zookeeper.admin_requests import AdminRequests
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

WATCHES = "ZooKeeper's watches"
R = TypeVar("R", bound=Response)
LANES = (ZOOKEEPER, *map(broker_lane, BROKER_IDS))
STOPS_PROPERLY = {"controlled.shutdown.enable": "true"}
ASKS_FIRST = {"inter.broker.protocol.version": "2.6", "log.message.format.version": "2.6"}
"""Followers ask where epochs end before they fetch; later ones learn it with their first fetch."""


def _recorded(
    name: str,
    title: str,
    watches: Callable[[Callable[[KafkaZkClient], int]], Sequence[Watch]],
    prepare: Callable[[RunningBrokers], object],
    scene: Callable[[RunningBrokers, Recording], object],
    settings: dict[str, str] | None = None,
    lanes: tuple[str, ...] = LANES,
) -> RecordedRun:
    running: list[RunningBrokers] = []

    def broker_of(zk_client: KafkaZkClient) -> int:
        return running[0].broker_of(zk_client)

    with (
        Recording(watches(broker_of), title=title, paused=True) as recording,
        running_brokers(settings) as brokers,
    ):
        running.append(brokers)
        prepare(brokers)
        _wait_for_controller(brokers)
        with recording.running():
            scene(brokers, recording)
    return with_named_watches(recording.run).recorded_in(__name__, name, lanes=lanes)


def with_named_watches(run: RecordedRun) -> RecordedRun:
    """The run with a name for the threads in which ZooKeeper's notifications arrive."""
    events = (replace(e, thread=WATCHES) if e.thread.startswith(KAZOO_THREAD) else e for e in run)
    return replace(run, events=tuple(events), actors={**run.actors, WATCHES: WATCHES})


def _settled(brokers: RunningBrokers, leader: int) -> None:
    """Wait until the event that moved the leadership has been processed as a whole."""
    brokers.wait_until_led(leader)
    _wait_for_controller(brokers)


def _wait_for_controller(brokers: RunningBrokers) -> None:
    """Wait until the controller has processed its events: brokers lead before all states have changed."""
    done: list[bool] = []
    controller = brokers.servers[brokers.controller].controller
    controller._enqueue("Settled", lambda: done.append(True))
    wait_until(lambda: bool(done), WAIT_MS)


# -- topics ----------------------------------------------------------------------------------------------------------


def topic_creation() -> RecordedRun:
    """A topic with one partition and three replicas, from its znode to its leader."""

    def scene(brokers: RunningBrokers, _recording: Recording) -> None:
        brokers.create_topic((2, 3, 1))
        _settled(brokers, 2)

    return _recorded(
        "topic_creation",
        "A topic is created",
        lambda broker_of: [
            *watch_controller("TopicChange"),
            *watch_znodes(broker_of, "create_topic_assignment", "create_partition_states"),
            *watch_partition_states(),
            *watch_replica_states(),
            *watch_orders(),
            *watch_roles(),
        ],
        lambda _: None,
        scene,
    )


def topic_deletion() -> RecordedRun:
    """The same topic is deleted: from the disks first, from ZooKeeper last."""

    def scene(brokers: RunningBrokers, recording: Recording) -> None:
        brokers.delete_topic()
        recording.wait_for("ZooKeeper.delete /admin/delete_topics/demo")

    return _recorded(
        "topic_deletion",
        "A topic is deleted",
        lambda broker_of: [
            *watch_controller("TopicDeletion", "TopicDeletionStopReplicaResult"),
            *watch_znodes(broker_of, "create_delete_topic", "delete_topic_znode", "delete_delete_topic"),
            *watch_replica_states(),
            *watch_partition_states(),
            *watch_orders("StopReplica"),
            *watch_roles(),
        ],
        lambda brokers: brokers.create_topic((2, 3, 1)),
        scene,
    )


def _die(brokers: RunningBrokers, recording: Recording, broker_id: int) -> None:
    recording.emit(Kind.NOTE, broker_lane(broker_id), "dies")
    brokers.stop(broker_id)


def _with_a_record(brokers: RunningBrokers) -> None:
    brokers.create_topic((2, 3, 1))
    with connect(brokers.servers[2]) as channel:
        send_record(channel, b"first")
    brokers.wait_until_led(2)


# -- partitions that move --------------------------------------------------------------------------------------------


def reassignment() -> RecordedRun:
    """A partition moves from brokers 1 and 2 to brokers 3 and 1, as /admin/reassign_partitions asks for."""
    partition = TopicPartition(TOPIC, 0)

    def prepare(brokers: RunningBrokers) -> None:
        brokers.create_topic((2, 1))
        with connect(brokers.servers[2]) as channel:
            send_record(channel, b"first")
        brokers.wait_until_led(2)

    def scene(brokers: RunningBrokers, _recording: Recording) -> None:
        requests = AdminRequests(brokers.servers[1].zk_client.zookeeper)
        in_thread("tool", lambda: requests.create_reassignment({partition: [3, 1]}))
        wait_until(lambda: not requests.get_reassignment(), WAIT_MS)
        _settled(brokers, 3)

    run = _recorded(
        "reassignment",
        "A partition moves",
        lambda broker_of: [
            *watch_reassignment_znode("tool"),
            *watch_controller("PartitionReassignment", "PartitionReassignmentIsrChange"),
            *watch_znodes(broker_of, "change_topic_assignment", "update_partition_state", "update_partition_states"),
            *watch_partition_states(),
            *watch_replica_states(),
            *watch_orders("LeaderAndIsr", "StopReplica"),
            *watch_roles(),
        ],
        prepare,
        scene,
        lanes=("tool", *LANES),
    )
    return run.where(lambda event: " follows " not in event.what)


# -- brokers that go -------------------------------------------------------------------------------------------------


def leader_dies() -> RecordedRun:
    """The broker that leads the partition dies, and the next replica of the ISR leads."""

    def scene(brokers: RunningBrokers, recording: Recording) -> None:
        _die(brokers, recording, 2)
        _settled(brokers, 3)
        recording.wait_for(f"{broker_lane(1)}.epoch 0 ends at 1")
        recording.wait_for(f"{broker_lane(3)}.LeaderAndIsr", 2)

    return _recorded(
        "leader_dies",
        "A leader dies, a new one leads",
        lambda broker_of: [
            *watch_controller("BrokerChange"),
            *watch_znodes(broker_of, "update_partition_state", "update_partition_states"),
            *watch_partition_states(),
            *watch_replica_states(),
            *watch_orders(),
            *watch_roles(),
            *watch_epoch_requests(),
        ],
        _with_a_record,
        scene,
        ASKS_FIRST,
    )


def new_leader_on_the_brokers() -> RecordedRun:
    """The same, as the brokers see it: roles, truncation, the first fetch from the new leader."""

    def scene(brokers: RunningBrokers, recording: Recording) -> None:
        _die(brokers, recording, 2)
        _settled(brokers, 3)
        recording.wait_for(f"{broker_lane(3)}.Fetch")

    return _recorded(
        "new_leader_on_the_brokers",
        "A new leader, as the brokers see it",
        lambda _broker_of: [
            *watch_orders("LeaderAndIsr"),
            *watch_roles(),
            *watch_epoch_requests(),
            *watch_offsets(),
            *watch_fetches(),
        ],
        _with_a_record,
        scene,
        ASKS_FIRST,
        lanes=(broker_lane(1), broker_lane(3)),
    )


def controller_dies(*, with_the_leader: bool = False) -> RecordedRun:
    """The controller dies. It leads no partition, so only the controller changes, unless the leader dies with it."""

    def scene(brokers: RunningBrokers, recording: Recording) -> None:
        _die(brokers, recording, 1)
        if with_the_leader:  # second, or the controller could still replace it
            _die(brokers, recording, 2)
        wait_until(lambda: any(server.controller.is_active for server in brokers.servers.values()), WAIT_MS)
        _settled(brokers, 3 if with_the_leader else 2)

    return _recorded(
        "controller_dies",
        "The controller dies",
        lambda broker_of: [
            *watch_controller("ControllerChange", "BrokerChange"),
            *watch_znodes(
                broker_of,
                *("register_controller_and_increment_epoch", "update_partition_state", "update_partition_states"),
            ),
            *watch_replica_states(),
            *watch_orders(),
        ],
        lambda brokers: brokers.create_topic((2, 3, 1)),
        scene,
    )


def controlled_shutdown() -> RecordedRun:
    """A broker that leads one partition and follows another stops properly."""

    def scene(brokers: RunningBrokers, recording: Recording) -> None:
        brokers.stop(2)
        recording.wait_for(f"{broker_lane(1)}.BrokerChange")
        _settled(brokers, 3)

    return _recorded(
        "controlled_shutdown",
        "Controlled shutdown",
        lambda broker_of: [
            *watch_controller("BrokerChange"),
            *watch_controlled_shutdown(),
            *watch_znodes(broker_of, "update_partition_state", "update_partition_states"),
            *watch_partition_states(),
            *watch_replica_states(),
            *watch_orders("LeaderAndIsr", "StopReplica"),
            *watch_roles(),
        ],
        lambda brokers: brokers.create_topic((2, 3, 1), (1, 2, 3)),
        scene,
        STOPS_PROPERLY,
    )


# -- a coordinator that moves ------------------------------------------------------------------------------------------

MEMBER = "member"
GROUP = "readers"
ONE_OFFSETS_PARTITION = {
    "offsets.topic.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
    "controlled.shutdown.enable": "true",
}


class Member:
    """The only member of a group; it has a generation, and has committed an offset."""

    def __init__(self, brokers: RunningBrokers, broker_id: int) -> None:
        self._brokers = brokers
        self.broker_id = broker_id
        """The coordinator, as far as the member knows."""
        wait_until(self._coordinates, WAIT_MS)
        protocol = JoinGroupRequestProtocol(name="range", metadata=b"")
        joined = self._ask(
            JoinGroupRequest(
                group_id=GROUP, session_timeout_ms=30_000, member_id="", protocol_type="consumer", protocols=[protocol]
            ),
            JoinGroupResponse,
        )
        self._id, self._generation = joined.member_id, joined.generation_id
        part = SyncGroupRequestAssignment(member_id=self._id, assignment=b"")
        self._ask(
            SyncGroupRequest(group_id=GROUP, generation_id=self._generation, member_id=self._id, assignments=[part]),
            SyncGroupResponse,
        )
        position = OffsetCommitRequestPartition(partition_index=0, committed_offset=5, committed_metadata="")
        self._ask(
            OffsetCommitRequest(
                group_id=GROUP,
                generation_id_or_member_epoch=self._generation,
                member_id=self._id,
                topics=[OffsetCommitRequestTopic(name=TOPIC, partitions=[position])],
            ),
            OffsetCommitResponse,
            version=2,
        )

    def _coordinates(self) -> bool:
        return self._brokers.servers[self.broker_id].groups.coordinator.check_group(GROUP) is Errors.NONE

    def _ask(self, request: Request, response_class: type[R], version: int = 0) -> R:
        with connect(self._brokers.servers[self.broker_id]) as channel:
            response = channel.exchange(request, version)
        assert isinstance(response, response_class)
        return response

    def heartbeat(self) -> str:
        """Send a heartbeat of its generation."""
        request = HeartbeatRequest(group_id=GROUP, generation_id=self._generation, member_id=self._id)
        error = Errors.for_code(self._ask(request, HeartbeatResponse).error_code)
        return f"generation {self._generation}: {error.name}"

    def offset_fetch(self) -> str:
        """Ask for the committed offset."""
        topic = OffsetFetchRequestTopic(name=TOPIC, partition_indexes=[0])
        response = self._ask(OffsetFetchRequest(group_id=GROUP, topics=[topic]), OffsetFetchResponse, version=1)
        return f"committed: offset {response.topics[0].partitions[0].committed_offset}"

    def find_coordinator(self) -> str:
        """Ask the broker, and wait until the coordinator has read the group."""
        found = self._ask(FindCoordinatorRequest(key=GROUP), FindCoordinatorResponse)
        self.broker_id = found.node_id
        wait_until(self._coordinates, WAIT_MS)
        return f"the coordinator is broker {found.node_id}"


def group_migration() -> RecordedRun:
    """The broker that coordinates a group stops properly. The next one reads the group; nobody has to join again."""
    member: list[Member] = []

    def prepare(brokers: RunningBrokers) -> None:
        brokers.create_topic((1, 3))
        brokers.create_topic((2, 3, 1), topic=GROUP_METADATA_TOPIC_NAME)
        member.append(Member(brokers, 2))

    def scene(brokers: RunningBrokers, _recording: Recording) -> None:
        in_thread(MEMBER, member[0].heartbeat)
        brokers.stop(2)
        brokers.wait_until_led(3, TopicPartition(GROUP_METADATA_TOPIC_NAME, 0))
        member[0].broker_id = 3  # any broker that is alive
        in_thread(MEMBER, member[0].find_coordinator)
        in_thread(MEMBER, member[0].heartbeat)
        in_thread(MEMBER, member[0].offset_fetch)

    return _recorded(
        "group_migration",
        "A coordinator stops, another one takes its groups over",
        lambda _broker_of: [
            *watch_group_migration(),
            *watch_member(MEMBER, Member.heartbeat, Member.find_coordinator, Member.offset_fetch),
            *watch_roles(),
        ],
        prepare,
        scene,
        ONE_OFFSETS_PARTITION,
        lanes=(MEMBER, broker_lane(2), broker_lane(3)),
    ).where(lambda event: event.who != broker_lane(1))


RUNS: dict[str, Callable[[], RecordedRun]] = {
    "topic-creation": topic_creation,
    "topic-deletion": topic_deletion,
    "reassignment": reassignment,
    "leader-dies": leader_dies,
    "new-leader-on-the-brokers": new_leader_on_the_brokers,
    "controller-dies": controller_dies,
    "controlled-shutdown": controlled_shutdown,
    "group-migration": group_migration,
}
