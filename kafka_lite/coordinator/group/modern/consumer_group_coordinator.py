"""Serves ConsumerGroupHeartbeat and ConsumerGroupDescribe: the coordinator of groups of KIP-848.

Kafka 4.1: group-coordinator/.../group/GroupCoordinatorService.java, GroupMetadataManager.java · book 5.2.1
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.ids.uuids import encode_uuid, random_uuid
from kafka_lite.common.scheduler import Scheduler
from kafka_lite.common.time import Time
from kafka_lite.coordinator.group.group_coordinator import GroupCoordinator
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.group_state import GroupState
from kafka_lite.coordinator.group.modern.consumer_group_config import ConsumerGroupConfig, GroupConfigManager
from kafka_lite.coordinator.group.modern.consumer_group_description import described_group
from kafka_lite.coordinator.group.modern.consumer_group_heartbeat import HeartbeatClient, HeartbeatDecision
from kafka_lite.coordinator.group.modern.consumer_group_member import JOIN_GROUP_MEMBER_EPOCH
from kafka_lite.coordinator.group.modern.group_change import GroupChange
from kafka_lite.coordinator.group.modern.heartbeat_checks import check_heartbeat
from kafka_lite.coordinator.group.modern.member_deadlines import MemberDeadlines
from kafka_lite.coordinator.group.modern.member_state import MemberState
from kafka_lite.coordinator.group.modern.migration.group_migration import GroupMigration
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
    and the response is sent when the log has them. Deadlines of members are in ``MemberDeadlines``, changes of the kind
    of a group in ``GroupMigration``.
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
        self.group_configs = GroupConfigManager(config)
        self._coordinator = coordinator
        self._groups = coordinator.group_manager
        self._topics = topics
        self._time = time
        self.deadlines = MemberDeadlines(self.group_configs, scheduler, time, self._fence)
        self.migration = GroupMigration(config, coordinator, self.deadlines)
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
        decision = self.decision(group.group_id)
        change = self._begin_change(group, decision, joins=request.member_epoch == JOIN_GROUP_MEMBER_EPOCH)
        epoch_before = change.group.group_epoch
        try:
            if request.member_epoch < 0:
                response = self._leave(group, change, request, decision)
            else:
                response = decision.heartbeat(change, request, client)
        except ApiError:
            change.undo()
            raise
        except Exception:
            logger.exception("Cannot decide about a heartbeat of group %s", group.group_id)
            change.undo()
            raise Errors.UNKNOWN_SERVER_ERROR.exception() from None
        if group.modern is None and request.member_epoch == JOIN_GROUP_MEMBER_EPOCH:
            self.migration.end_upgrade(group, change)
        member = change.group.members.get(request.member_id)
        if member is None:
            self.deadlines.cancel(group, request.member_id)
        elif request.member_epoch >= 0:  # a static member that is away has the rest of its session to come back
            self.deadlines.on_heartbeat(group, member)
        if change.group.group_epoch > epoch_before:
            self.count_rebalance()

        def on_written(error: Errors) -> None:
            self._removed(group, [request.member_id], error)
            respond(response if error is Errors.NONE else heartbeat_error(error))

        self.write(group, change, on_written)

    def _begin_change(self, group: GroupMetadata, decision: HeartbeatDecision, *, joins: bool) -> GroupChange:
        """A change of the group, which becomes one of KIP-848 with its first member that heartbeats.

        Raises GROUP_ID_NOT_FOUND for a classic group that stays one.
        """
        if group.is_in(GroupState.DEAD):
            raise Errors.COORDINATOR_NOT_AVAILABLE.exception()
        if group.modern is not None:
            return GroupChange(group.modern)
        if not joins or group.share is not None:
            raise Errors.GROUP_ID_NOT_FOUND.exception(f"Group {group.group_id} is not a consumer group.")
        return self.migration.begin_upgrade(group, decision.topics)

    def _leave(
        self,
        group: GroupMetadata,
        change: GroupChange,
        request: ConsumerGroupHeartbeatRequest,
        decision: HeartbeatDecision,
    ) -> ConsumerGroupHeartbeatResponse:
        member = decision.leaving_member(change, request)
        if member is not None:
            self._depart(group, change, [member.member_id], decision)
        return ConsumerGroupHeartbeatResponse(member_id=request.member_id, member_epoch=request.member_epoch)

    def _depart(
        self, group: GroupMetadata, change: GroupChange, member_ids: Collection[str], decision: HeartbeatDecision
    ) -> None:
        """Members are gone: the others get their partitions, or form a classic group if they all are classic ones."""
        if self.migration.can_downgrade(change.group, member_ids):
            self.migration.downgrade(group, change, member_ids, decision.topics)
        else:
            decision.fence(change, member_ids)

    # ── for members of both kinds ─────────────────────────────────────────────────────────────────────────────────────

    def decision(self, group_id: str) -> HeartbeatDecision:
        """Decides from the topics and the group's configuration of this moment."""
        return HeartbeatDecision(self.group_configs.config_of(group_id), self._topics(), self._time.milliseconds())

    def write(self, group: GroupMetadata, change: GroupChange, on_written: Callable[[Errors], None]) -> None:
        """Write a change, and call back once all of the group's state is in the log."""
        self._groups.writer_of(group).write(change, on_written)

    def count_rebalance(self) -> None:
        """A group has a new epoch."""
        self._groups.metrics.raised_epoch()

    def remove(self, group: GroupMetadata, member_ids: Collection[str]) -> None:
        """Remove members that have left or failed. Must be called with the lock of the group."""
        assert group.modern is not None
        change = GroupChange(group.modern)
        self._depart(group, change, member_ids, self.decision(group.group_id))
        for member_id in member_ids:
            self.deadlines.cancel(group, member_id)
        self.write(group, change, lambda error: self._removed(group, member_ids, error))

    def _removed(self, group: GroupMetadata, member_ids: Collection[str], error: Errors) -> None:
        """If the log has refused it, the members are still there, and must not live for ever."""
        if error is Errors.NONE or group.modern is None:
            return
        for member_id in member_ids:
            member = group.modern.members.get(member_id)
            if member is not None:
                self.deadlines.schedule_session(group, member)

    def _fence(self, group: GroupMetadata, member_id: str, reason: str, epoch: int | None) -> None:
        """A deadline has passed. With an epoch: only if the member still has to give up partitions in it."""
        with group.lock:
            modern = group.modern
            member = modern.members.get(member_id) if modern is not None else None
            if modern is None or member is None or self._groups.get_group(group.group_id) is not group:
                return
            if epoch is not None and (member.member_epoch, member.state) != (epoch, MemberState.UNREVOKED_PARTITIONS):
                return
            logger.info("Member %s is fenced from group %s: %s", member_id, group.group_id, reason)
            self.remove(group, [member_id])

    def on_group_loaded(self, group: GroupMetadata) -> None:
        """A new coordinator knows no heartbeats: every member has a whole session."""
        with group.lock:
            if group.modern is not None:
                self.deadlines.begin(group)

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
