"""A group coordinator without a broker: a mock clock, a log in memory, and members that record their responses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

from kafka_lite.cluster.partition import Partition
from kafka_lite.cluster.replica import Replica
from kafka_lite.common.api_version import ApiVersion
from kafka_lite.common.errors import Errors
from kafka_lite.common.purgatory.delayed_operation import DelayedOperationPurgatory
from kafka_lite.common.purgatory.timer import SystemTimer
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.sendable import Buffer
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.group.delayed_heartbeat import DelayedHeartbeat
from kafka_lite.coordinator.group.delayed_join import DelayedRebalance
from kafka_lite.coordinator.group.group_admin import GroupAdmin
from kafka_lite.coordinator.group.group_config import GroupConfig, OffsetConfig
from kafka_lite.coordinator.group.group_coordinator import GroupCoordinator, JoiningClient
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.group_metadata_manager import GroupMetadataManager
from kafka_lite.coordinator.group.group_offsets import Committer, GroupOffsets
from kafka_lite.coordinator.group.group_state import GroupState
from kafka_lite.coordinator.group.offset_and_metadata import OffsetAndMetadata
from kafka_lite.coordinator.group.offsets_log import AppendResult
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.log.log import Log
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata
from kafka_lite.log.producers.verification_state_entry import VerificationGuard
from kafka_lite.protocol.messages.api_11_join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from kafka_lite.protocol.messages.api_13_leave_group import MemberIdentity
from kafka_lite.protocol.messages.api_14_sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from kafka_lite.protocol.messages.consumer_protocol import ConsumerProtocolSubscription
from kafka_lite.protocol.version_prefixed import encode_with_version
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record import Record
from kafka_lite.record.records import batches

GROUP = "group"
SESSION_TIMEOUT_MS = 10_000
REBALANCE_TIMEOUT_MS = 60_000
MINUTE_MS = 60_000


def subscription(*topics: str) -> bytes:
    """The metadata that a consumer sends when it joins."""
    return encode_with_version(ConsumerProtocolSubscription(topics=list(topics)), 0)


@dataclass
class Appended:
    """The result of an append."""

    error: Errors = Errors.NONE
    base_offset: int = -1


class MemoryLog:
    """One partition of a coordinator's topic: the part of a Log that the coordinator uses."""

    def __init__(self) -> None:
        self.config = LogConfig()
        self.log_start_offset = 0
        self.log_end_offset = 0
        self.batches: list[tuple[int, bytes]] = []

    def append(self, records: Buffer) -> int:
        """Assign offsets to the records; returns the first one's."""
        base_offset = self.log_end_offset
        for batch in batches(records):
            builder = MemoryRecordsBuilder(
                batch.magic,
                base_offset=self.log_end_offset,
                producer_id=batch.producer_id,
                producer_epoch=batch.producer_epoch,
                is_transactional=batch.is_transactional,
                is_control=batch.is_control,
            )
            for record in batch.records():
                builder.append(record.timestamp, record.key, record.value)
            self.batches.append((builder.last_offset, builder.build()))
            self.log_end_offset = builder.last_offset + 1
        return base_offset

    def read(self, offset: int, _max_length: int, *, min_one_message: bool) -> Any:
        """The batch that contains the offset."""
        assert min_one_message

        @dataclass
        class Read:
            records: bytes

        return Read(next((data for last, data in self.batches if last >= offset), b""))

    def records(self) -> list[Record]:
        """Everything in it."""
        return [record for _, data in self.batches for batch in batches(data) for record in batch.records()]


class MemoryOffsetsLog:
    """The broker's partitions of a coordinator's topic, whose appends can fail, or complete late."""

    def __init__(self) -> None:
        self.logs: dict[TopicPartition, MemoryLog] = {}
        self.error = Errors.NONE
        """What the next appends fail with."""
        self.leads = True
        self.high_watermark: int | None = None
        """Up to where the followers have the log; None: to its end."""
        self.held: list[Callable[[], None]] | None = None
        """A list: answers wait in it."""
        self.guards: dict[TopicPartition, VerificationGuard] = {}
        """Those of the last append."""

    def log(self, topic_partition: TopicPartition) -> MemoryLog:
        """A partition, created at first use."""
        return self.logs.setdefault(topic_partition, MemoryLog())

    def append_records(
        self,
        timeout_ms: int,
        required_acks: int,
        internal_topics_allowed: bool,
        entries: Mapping[TopicPartition, Buffer],
        respond: Callable[[Mapping[TopicPartition, AppendResult]], None],
        origin: AppendOrigin = AppendOrigin.CLIENT,
        verification_guards: Mapping[TopicPartition, VerificationGuard] | None = None,
    ) -> None:
        """Append, or fail."""
        assert (required_acks, internal_topics_allowed) == (-1, True)
        assert timeout_ms > 0
        self.guards = dict(verification_guards or {})
        results: dict[TopicPartition, AppendResult] = {}
        for topic_partition, records in entries.items():
            if self.error is Errors.NONE:
                results[topic_partition] = Appended(base_offset=self.log(topic_partition).append(records))
            else:
                results[topic_partition] = Appended(self.error)
        if self.held is None:
            respond(results)
        else:
            self.held.append(lambda: respond(results))

    def release(self) -> None:
        """Complete the pending appends, in order, and no longer delay new ones."""
        held, self.held = self.held or [], None
        for answer in held:
            answer()

    def get_leader_log(self, topic_partition: TopicPartition, leader_epoch: int = -1) -> tuple[Partition, Replica, Log]:
        """The partition's log, if this broker leads it."""
        if not self.leads:
            raise Errors.NOT_LEADER_OR_FOLLOWER.exception()
        log = self.log(topic_partition)
        committed = log.log_end_offset if self.high_watermark is None else self.high_watermark
        replica = SimpleNamespace(high_watermark=LogOffsetMetadata(committed))
        return cast(Partition, None), cast(Replica, replica), cast(Log, log)


@dataclass
class FakeMember:
    """A client: its requests, and the responses so far."""

    groups: Groups
    client_id: str = "client"
    instance_id: str | None = None
    protocols: list[tuple[str, bytes]] = field(default_factory=lambda: [("range", subscription("topic"))])
    version: int = 5
    group_id: str = GROUP
    session_timeout_ms: int = SESSION_TIMEOUT_MS
    rebalance_timeout_ms: int = REBALANCE_TIMEOUT_MS
    protocol_type: str = "consumer"
    member_id: str = ""
    generation: int = -1
    joins: list[JoinGroupResponse] = field(default_factory=list)
    syncs: list[SyncGroupResponse] = field(default_factory=list)

    def join(self) -> FakeMember:
        """Send JoinGroup; in versions that require member ids, a second time with the assigned id."""
        self._send_join()
        if self.joins and self.joins[-1].error_code == Errors.MEMBER_ID_REQUIRED.code:
            self._send_join()
        return self

    def send_join(self) -> FakeMember:
        """Send JoinGroup once."""
        self._send_join()
        return self

    def _send_join(self) -> None:
        request = JoinGroupRequest(
            group_id=self.group_id,
            session_timeout_ms=self.session_timeout_ms,
            rebalance_timeout_ms=self.rebalance_timeout_ms,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            protocol_type=self.protocol_type,
            protocols=[JoinGroupRequestProtocol(name=name, metadata=data) for name, data in self.protocols],
        )
        client = JoiningClient(self.client_id, "/127.0.0.1", self.version >= 4, self.version >= 9)
        self.groups.coordinator.handle_join_group(request, client, self._on_join)

    def _on_join(self, response: JoinGroupResponse) -> None:
        self.joins.append(response)
        if response.error_code in (Errors.NONE.code, Errors.MEMBER_ID_REQUIRED.code):
            self.member_id = response.member_id
        if response.error_code == Errors.NONE.code:
            self.generation = response.generation_id

    def sync(self, assignment: Mapping[str, bytes] | None = None, **changes: object) -> FakeMember:
        """Send SyncGroup, as a leader with an assignment."""
        fields: dict[str, Any] = {
            "group_id": self.group_id,
            "generation_id": self.generation,
            "member_id": self.member_id,
            "group_instance_id": self.instance_id,
            "assignments": [
                SyncGroupRequestAssignment(member_id=member_id, assignment=part)
                for member_id, part in (assignment or {}).items()
            ],
        }
        self.groups.coordinator.handle_sync_group(SyncGroupRequest(**(fields | changes)), self.syncs.append)
        return self

    def heartbeat(self) -> Errors:
        """Send Heartbeat."""
        return self.groups.coordinator.handle_heartbeat(
            self.group_id, self.member_id, self.instance_id, self.generation
        )

    def leave(self) -> Errors:
        """Send LeaveGroup."""
        identity = MemberIdentity(member_id=self.member_id, group_instance_id=self.instance_id)
        response = self.groups.coordinator.handle_leave_group(self.group_id, [identity])
        return error_of(response.members[0].error_code if response.members else response.error_code)

    def commit(self, offset: int, topic: str = "topic", partition: int = 0) -> Errors | None:
        """Send OffsetCommit of one partition; returns None if the response has not come yet."""
        return self.groups.commit(
            offset, topic, partition, Committer(self.member_id, self.generation, self.instance_id), self.group_id
        )

    @property
    def join_error(self) -> Errors | None:
        """The error of the last response to JoinGroup."""
        return error_of(self.joins[-1].error_code) if self.joins else None

    @property
    def sync_error(self) -> Errors | None:
        """The error of the last response to SyncGroup."""
        return error_of(self.syncs[-1].error_code) if self.syncs else None


class Groups:
    """A separate coordinator, which leads all partitions."""

    def __init__(
        self,
        *,
        max_size: int = 2**31 - 1,
        initial_rebalance_delay_ms: int = 0,
        inter_broker_protocol_version: ApiVersion = ApiVersion.KAFKA_3_9_IV0,
        offsets_log: MemoryOffsetsLog | None = None,
        time: MockTime | None = None,
        loaded: bool = True,
    ) -> None:
        self.time = time or MockTime()
        self.offsets_log = offsets_log or MemoryOffsetsLog()
        self.config = OffsetConfig(
            max_metadata_size=100,
            load_buffer_size=1024,
            retention_ms=60 * MINUTE_MS,
            retention_check_interval_ms=10 * MINUTE_MS,
            topic_num_partitions=2,
            compression=CompressionType.NONE,
            commit_timeout_ms=5000,
            commit_required_acks=-1,
            inter_broker_protocol_version=inter_broker_protocol_version,
        )
        self.scheduler = MockScheduler(self.time)
        self.manager = GroupMetadataManager(self.config, self.offsets_log, self.scheduler, self.time)
        heartbeats: DelayedOperationPurgatory[DelayedHeartbeat] = self._purgatory("Heartbeat")
        rebalances: DelayedOperationPurgatory[DelayedRebalance] = self._purgatory("Rebalance")
        self.purgatories = (heartbeats, rebalances)
        config = GroupConfig(6000, 300_000, max_size, initial_rebalance_delay_ms)
        self.coordinator = GroupCoordinator(config, self.manager, heartbeats, rebalances)
        self.offsets = GroupOffsets(self.coordinator)
        self.admin = GroupAdmin(self.coordinator)
        self.coordinator.startup(2)
        if loaded:
            self.load()

    def load(self) -> None:
        """Become the leader of all partitions."""
        for partition in range(2):
            self.coordinator.on_election(partition, 0)
        self.sleep(0)

    def _purgatory(self, name: str) -> DelayedOperationPurgatory[Any]:
        return DelayedOperationPurgatory(name, timer=SystemTimer(time=self.time), reaper_enabled=False)

    def sleep(self, ms: int) -> None:
        """Advance the clock in twenty steps; after each, everything due is run."""
        for _ in range(20 if ms else 1):
            self.time.sleep(ms / 20)
            for purgatory in self.purgatories:
                purgatory.advance_clock(0)

    def restart(self) -> Groups:
        """As after a kill of the broker: another coordinator with the same log and clock."""
        restarted = self.restart_unloaded()
        restarted.load()
        return restarted

    def restart_unloaded(self) -> Groups:
        """The same, before it leads anything."""
        offsets_log = MemoryOffsetsLog()
        offsets_log.logs = self.offsets_log.logs
        version = self.config.inter_broker_protocol_version
        return Groups(inter_broker_protocol_version=version, offsets_log=offsets_log, time=self.time, loaded=False)

    def group(self, group_id: str = GROUP) -> GroupMetadata:
        """The group, which must exist."""
        group = self.manager.get_group(group_id)
        assert group is not None
        return group

    def state(self, group_id: str = GROUP) -> GroupState | None:
        """The state of the group; None without one."""
        group = self.manager.get_group(group_id)
        return group.state if group is not None else None

    def member(self, **fields: Any) -> FakeMember:
        """A client that has sent nothing yet."""
        return FakeMember(self, **fields)

    def stable(self, count: int = 1, **fields: Any) -> list[FakeMember]:
        """Members of a stable group, the leader first; each is assigned its own member id."""
        members = [self.member(**fields).join() for _ in range(count)]
        for member in members[:-1]:
            member.join()  # the members of the first generation join again with the others
        return self.sync_all(members)

    def sync_all(self, members: list[FakeMember]) -> list[FakeMember]:
        """Let all sync; the leader's response is the first of those returned."""
        leader_id = self.group(members[0].group_id).leader_id
        members = sorted(members, key=lambda member: member.member_id != leader_id)
        for member in members[1:]:
            member.sync()
        members[0].sync({member.member_id: member.member_id.encode() for member in members})
        return members

    def commit(
        self,
        offset: int,
        topic: str = "topic",
        partition: int = 0,
        committer: Committer | None = None,
        group_id: str = GROUP,
        **fields: Any,
    ) -> Errors | None:
        """Commit one offset; returns None if the response has not come yet."""
        answers: list[Mapping[TopicPartition, Errors]] = []
        committed = OffsetAndMetadata(
            offset, fields.pop("metadata", ""), fields.pop("commit_timestamp_ms", self.time.milliseconds()), **fields
        )
        topic_partition = TopicPartition(topic, partition)
        self.offsets.handle_commit_offsets(
            group_id, committer or Committer(), {topic_partition: committed}, answers.append
        )
        return answers[0][topic_partition] if answers else None

    def committed(self, topic: str = "topic", partition: int = 0, group_id: str = GROUP) -> int:
        """The result of OffsetFetch."""
        topic_partition = TopicPartition(topic, partition)
        offset, error = self.offsets.handle_fetch_offsets(group_id, [topic_partition])[topic_partition]
        assert error is Errors.NONE
        return offset.offset


def error_of(code: int) -> Errors:
    """The error with this code."""
    return next(error for error in Errors if error.code == code)


def leftovers(coordinator: GroupCoordinator, group_id: str = GROUP) -> list[str]:
    """The state that is left of a group without members, except for offsets: none, if nothing leaks."""
    found = []
    for purgatory in (coordinator.heartbeat_purgatory, coordinator.rebalance_purgatory):
        purgatory._purge()  # otherwise done when a thousand have accumulated
        if purgatory.delayed or purgatory._watchers:
            found.append(f"{purgatory.name}: {purgatory.delayed} in the timer, {list(purgatory._watchers)} watched")
    group = coordinator.group_manager.get_group(group_id)
    if group is not None:
        kept = ("members", "pending_members", "pending_sync_members", "leader_id", "_static_members", "_awaiting_join")
        found += [f"{name}: {getattr(group, name)}" for name in kept if getattr(group, name)]
        found += [f"supported: {name}" for name, count in group._supported_protocols.items() if count]
    return found
