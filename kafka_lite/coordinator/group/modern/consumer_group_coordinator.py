"""Serves ConsumerGroupHeartbeat and ConsumerGroupDescribe: the coordinator of groups of KIP-848.

Kafka 4.1: group-coordinator/.../group/GroupCoordinatorService.java, GroupMetadataManager.java · book 5.2.1
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.ids.uuids import encode_uuid, random_uuid
from kafka_lite.common.scheduler import Scheduler
from kafka_lite.common.time import Time
from kafka_lite.coordinator.group.group_coordinator import GroupCoordinator
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.group_metadata_records import group_metadata_key
from kafka_lite.coordinator.group.group_state import GroupState
from kafka_lite.coordinator.group.modern.consumer_group import ConsumerGroup
from kafka_lite.coordinator.group.modern.consumer_group_config import ConsumerGroupConfig
from kafka_lite.coordinator.group.modern.consumer_group_description import described_group
from kafka_lite.coordinator.group.modern.consumer_group_heartbeat import HeartbeatClient, HeartbeatDecision
from kafka_lite.coordinator.group.modern.consumer_group_member import JOIN_GROUP_MEMBER_EPOCH
from kafka_lite.coordinator.group.modern.group_change import GroupChange
from kafka_lite.coordinator.group.modern.heartbeat_checks import check_heartbeat
from kafka_lite.coordinator.group.modern.member_state import MemberState
from kafka_lite.coordinator.group.modern.member_timers import MemberTimer, MemberTimers
from kafka_lite.coordinator.group.modern.topics_image import CurrentTopics
from kafka_lite.protocol.messages.api_68_consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from kafka_lite.protocol.messages.api_69_consumer_group_describe import DescribedGroup

logger = logging.getLogger(__name__)

OnHeartbeat = Callable[[ConsumerGroupHeartbeatResponse], None]


def heartbeat_error(error: Errors, message: str | None = None) -> ConsumerGroupHeartbeatResponse:
    """The response that only has an error."""
    return ConsumerGroupHeartbeatResponse(error_code=error.code, error_message=message or error.message)


class ConsumerGroupCoordinator:
    """A room beside the coordinator of classic groups: it has the same cache, log and checks of leadership.

    A heartbeat is decided under the lock of its group, by ``HeartbeatDecision``; its records go to the group's writer,
    and the response is sent when the log has them. Deadlines of members are in ``MemberTimers``.
    """

    def __init__(
        self,
        config: ConsumerGroupConfig,
        coordinator: GroupCoordinator,
        topics: CurrentTopics,
        scheduler: Scheduler,
        time: Time,
    ) -> None:
        self.config = config
        self._coordinator = coordinator
        self._groups = coordinator.group_manager
        self._topics = topics
        self._time = time
        self._timers = MemberTimers(scheduler, time)
        coordinator.rebalancer.loaded_listeners.append(self.on_group_loaded)

    # ── ConsumerGroupHeartbeat ────────────────────────────────────────────────────────────────────────────────────────

    def handle_heartbeat(
        self, request: ConsumerGroupHeartbeatRequest, version: int, client: HeartbeatClient, respond: OnHeartbeat
    ) -> None:
        """A member joins, stays or leaves. Calls ``respond`` once, when the state that it tells of is in the log."""
        try:
            group = self._group_of(request, version)
            if not request.member_id:  # a client of version 0 joins
                request.member_id = encode_uuid(random_uuid())
            with group.lock:
                self._heartbeat(group, request, client, respond)
        except ApiError as failure:
            respond(heartbeat_error(failure.error, str(failure)))

    def _group_of(self, request: ConsumerGroupHeartbeatRequest, version: int) -> GroupMetadata:
        if not self.config.is_enabled:
            raise Errors.UNSUPPORTED_VERSION.exception()
        check_heartbeat(request, version, self.config.assignors)
        error = self._coordinator.check_group(request.group_id)
        if error is not Errors.NONE:
            raise error.exception()
        if request.member_epoch == JOIN_GROUP_MEMBER_EPOCH:
            return self._groups.get_or_create_group(request.group_id)
        group = self._groups.get_group(request.group_id)
        if group is None:
            raise Errors.GROUP_ID_NOT_FOUND.exception(f"Group {request.group_id} not found.")
        return group

    def _heartbeat(
        self,
        group: GroupMetadata,
        request: ConsumerGroupHeartbeatRequest,
        client: HeartbeatClient,
        respond: OnHeartbeat,
    ) -> None:
        is_new = group.modern is None
        change = GroupChange(self._consumer_group(group, joins=request.member_epoch == JOIN_GROUP_MEMBER_EPOCH))
        if is_new and group.generation_id > 0:
            change.deleted_keys.append(group_metadata_key(group.group_id))
        decision, epoch_before = self._decision(), change.group.group_epoch
        try:
            if request.member_epoch < 0:
                response = decision.leave(change, request)
            else:
                response = decision.heartbeat(change, request, client)
        except ApiError:
            change.undo()
            if is_new:
                group.modern = None
            raise
        except Exception:
            logger.exception("Cannot decide about a heartbeat of group %s", group.group_id)
            change.undo()
            raise Errors.UNKNOWN_SERVER_ERROR.exception() from None
        self._set_timers(group, request)
        if change.group.group_epoch > epoch_before:
            self._groups.metrics.raised_epoch()
        self._write(group, change, lambda error: respond(response if error is Errors.NONE else heartbeat_error(error)))

    def _consumer_group(self, group: GroupMetadata, *, joins: bool) -> ConsumerGroup:
        """The group's state of KIP-848, made for the first member. Raises GROUP_ID_NOT_FOUND for a classic group."""
        if group.is_in(GroupState.DEAD):
            raise Errors.COORDINATOR_NOT_AVAILABLE.exception()
        if group.modern is None:
            if not joins or not group.is_in(GroupState.EMPTY) or group.pending_members:
                raise Errors.GROUP_ID_NOT_FOUND.exception(f"Group {group.group_id} is not a consumer group.")
            group.modern = ConsumerGroup(group.group_id)
        return group.modern

    def _decision(self) -> HeartbeatDecision:
        return HeartbeatDecision(self.config, self._topics(), self._time.milliseconds())

    def _write(self, group: GroupMetadata, change: GroupChange, on_written: Callable[[Errors], None]) -> None:
        self._groups.writer_of(group).write(change, on_written)

    # ── deadlines ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _set_timers(self, group: GroupMetadata, request: ConsumerGroupHeartbeatRequest) -> None:
        """After a heartbeat: the session begins again."""
        assert group.modern is not None
        member_id = request.member_id
        member = group.modern.members.get(member_id)
        if member is None:
            self._timers.cancel_member(group.group_id, member_id)
            return
        if request.member_epoch < 0:
            return  # a static member that is away has the rest of its session to come back
        self._schedule_session(group, member_id)
        if member.state is not MemberState.UNREVOKED_PARTITIONS:
            group.modern.revoking.pop(member_id, None)
            self._timers.cancel(MemberTimer("rebalance", group.group_id, member_id))
        elif group.modern.revoking.get(member_id) != member.member_epoch:
            self._schedule_rebalance(group, member_id)

    def _schedule_session(self, group: GroupMetadata, member_id: str) -> None:
        timer = MemberTimer("session", group.group_id, member_id)
        expire = lambda: self._fence(group, member_id, "its session has expired")  # noqa: E731
        self._timers.schedule(timer, self.config.session_timeout_ms, expire)

    def _schedule_rebalance(self, group: GroupMetadata, member_id: str) -> None:
        """The member has its rebalance timeout to give up partitions. Later heartbeats do not prolong that."""
        assert group.modern is not None
        member = group.modern.members[member_id]
        epoch, group.modern.revoking[member_id] = member.member_epoch, member.member_epoch

        def expire() -> None:
            self._fence(group, member_id, f"it did not leave epoch {epoch} in time", epoch)

        timer = MemberTimer("rebalance", group.group_id, member_id)
        self._timers.schedule(timer, member.rebalance_timeout_ms, expire)

    def _fence(self, group: GroupMetadata, member_id: str, reason: str, epoch: int | None = None) -> None:
        with group.lock:
            modern = group.modern
            member = modern.members.get(member_id) if modern is not None else None
            if modern is None or member is None or self._groups.get_group(group.group_id) is not group:
                return
            if epoch is not None and (member.member_epoch, member.state) != (epoch, MemberState.UNREVOKED_PARTITIONS):
                return
            logger.info("Member %s is fenced from group %s: %s", member_id, group.group_id, reason)
            change = GroupChange(modern)
            self._decision().fence(change, member_id)
            self._timers.cancel_member(group.group_id, member_id)
            self._write(group, change, lambda error: self._fenced(group, member_id, error))

    def _fenced(self, group: GroupMetadata, member_id: str, error: Errors) -> None:
        """If the log has refused it, the member is still there, and must not live for ever."""
        if error is not Errors.NONE and group.modern is not None and member_id in group.modern.members:
            self._schedule_session(group, member_id)

    def on_group_loaded(self, group: GroupMetadata) -> None:
        """A new coordinator knows no heartbeats: every member has a whole session."""
        with group.lock:
            for member_id, member in group.modern.members.items() if group.modern is not None else ():
                self._schedule_session(group, member_id)
                if member.state is MemberState.UNREVOKED_PARTITIONS:
                    self._schedule_rebalance(group, member_id)

    # ── ConsumerGroupDescribe ─────────────────────────────────────────────────────────────────────────────────────────

    def handle_describe(self, group_id: str) -> DescribedGroup:
        """A group with its members, or the error."""
        error = self._coordinator.check_group(group_id)
        if error is not Errors.NONE:
            return DescribedGroup(group_id=group_id, error_code=error.code)
        group = self._groups.get_group(group_id)
        if group is not None:
            with group.lock:
                if group.modern is not None:
                    return described_group(group.modern, self.config.default_assignor, self._topics())
        what = "not found" if group is None else "is not a consumer group"
        message = f"Group {group_id} {what}."
        return DescribedGroup(group_id=group_id, error_code=Errors.GROUP_ID_NOT_FOUND.code, error_message=message)
