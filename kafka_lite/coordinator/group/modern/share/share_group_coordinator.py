"""Serves ShareGroupHeartbeat and ShareGroupDescribe: the coordinator of share groups.

Kafka 4.1: group-coordinator/.../group/GroupCoordinatorService.java, GroupMetadataManager.java · book 5.2.1
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.scheduler import Scheduler
from kafka_lite.common.time import Time
from kafka_lite.coordinator.group.group_coordinator import GroupCoordinator
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.group_state import GroupState
from kafka_lite.coordinator.group.modern.consumer_group_config import GroupConfigManager
from kafka_lite.coordinator.group.modern.consumer_group_heartbeat import HeartbeatClient
from kafka_lite.coordinator.group.modern.consumer_group_member import JOIN_GROUP_MEMBER_EPOCH
from kafka_lite.coordinator.group.modern.member_timers import MemberTimer, MemberTimers
from kafka_lite.coordinator.group.modern.share.group_state_keeper import GroupStateKeeper
from kafka_lite.coordinator.group.modern.share.share_group import ShareGroup, ShareGroupChange
from kafka_lite.coordinator.group.modern.share.share_group_description import described_share_group
from kafka_lite.coordinator.group.modern.share.share_group_heartbeat import (
    ASSIGNOR,
    ShareHeartbeatDecision,
    check_share_heartbeat,
)
from kafka_lite.coordinator.group.modern.topic_partitions import TopicIdPartitions
from kafka_lite.coordinator.group.modern.topics_image import CurrentTopics
from kafka_lite.coordinator.share.persister import Persister
from kafka_lite.protocol.messages.api_76_share_group_heartbeat import (
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)
from kafka_lite.protocol.messages.api_77_share_group_describe import DescribedGroup

logger = logging.getLogger(__name__)

OnShareHeartbeat = Callable[[ShareGroupHeartbeatResponse], None]


def share_heartbeat_error(error: Errors, message: str | None = None) -> ShareGroupHeartbeatResponse:
    """The response that only has an error."""
    return ShareGroupHeartbeatResponse(error_code=error.code, error_message=message or error.message)


class ShareGroupCoordinator:
    """A room beside the coordinators of classic and consumer groups: it has the same cache, log and leadership checks.

    A heartbeat is decided under the lock of its group, by ``ShareHeartbeatDecision``; its records go to the group's
    writer, and the response is sent when the log has them. ``state_keeper`` has the share coordinator make and delete
    the state of partitions.
    """

    def __init__(
        self,
        group_configs: GroupConfigManager,
        coordinator: GroupCoordinator,
        topics: CurrentTopics,
        persister: Persister,
        scheduler: Scheduler,
        time: Time,
    ) -> None:
        self._group_configs = group_configs
        self._coordinator = coordinator
        self._groups = coordinator.group_manager
        self._topics = topics
        self._time = time
        self._timers = MemberTimers(scheduler, time)
        self.state_keeper = GroupStateKeeper(coordinator, topics, persister)

    # ── ShareGroupHeartbeat ───────────────────────────────────────────────────────────────────────────────────────────

    def handle_heartbeat(
        self, request: ShareGroupHeartbeatRequest, client: HeartbeatClient, respond: OnShareHeartbeat
    ) -> None:
        """A member joins, stays or leaves. Calls ``respond`` once, when the state that it tells of is in the log."""
        try:
            group = self._group_of(request)
            with group.lock:
                self._heartbeat(group, request, client, respond)
        except ApiError as failure:
            respond(share_heartbeat_error(failure.error, str(failure)))

    def _group_of(self, request: ShareGroupHeartbeatRequest) -> GroupMetadata:
        check_share_heartbeat(request)
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
        request: ShareGroupHeartbeatRequest,
        client: HeartbeatClient,
        respond: OnShareHeartbeat,
    ) -> None:
        share = self._share_group(group, joins=request.member_epoch == JOIN_GROUP_MEMBER_EPOCH)
        change, decision = ShareGroupChange(share), self.decision(group.group_id)
        epoch_before = share.group_epoch
        try:
            if request.member_epoch < 0:
                response = self._leave(change, request, decision)
                initializing: TopicIdPartitions = {}
            else:
                response = decision.heartbeat(change, request, client)
                initializing = decision.begin_initializing(change)
        except ApiError:
            change.undo()
            raise
        except Exception:
            logger.exception("Cannot decide about a heartbeat of share group %s", group.group_id)
            change.undo()
            raise Errors.UNKNOWN_SERVER_ERROR.exception() from None
        if group.share is None:
            group.share = share
            change.on_undone.append(lambda: self._forget(group))
        if request.member_id in share.members:
            self._schedule_session(group, request.member_id)
        else:
            self._timers.cancel_member(group.group_id, request.member_id)
        if share.group_epoch > epoch_before:
            self._groups.metrics.raised_share_epoch()

        def on_written(error: Errors) -> None:
            self._removed(group, [request.member_id], error)
            if initializing and error is Errors.NONE:
                self.state_keeper.initialize(group, initializing, share.group_epoch)
            respond(response if error is Errors.NONE else share_heartbeat_error(error))

        self._groups.writer_of(group).write(change, on_written)

    @staticmethod
    def _share_group(group: GroupMetadata, *, joins: bool) -> ShareGroup:
        """The share group, which a name that nobody uses becomes with its first member.

        Raises GROUP_ID_NOT_FOUND for a group of another kind.
        """
        if group.is_in(GroupState.DEAD):
            raise Errors.COORDINATOR_NOT_AVAILABLE.exception()
        if group.share is not None:
            return group.share
        if not joins or group.modern is not None or not group.is_new:
            raise Errors.GROUP_ID_NOT_FOUND.exception(f"Group {group.group_id} is not a share group.")
        return ShareGroup(group.group_id)

    @staticmethod
    def _forget(group: GroupMetadata) -> None:
        """The log has refused the group's first records."""
        group.share = None

    @staticmethod
    def _leave(
        change: ShareGroupChange, request: ShareGroupHeartbeatRequest, decision: ShareHeartbeatDecision
    ) -> ShareGroupHeartbeatResponse:
        member = change.group.member(request.member_id)
        logger.info("Member %s leaves share group %s", member.member_id, change.group.group_id)
        decision.fence(change, [member.member_id])
        return ShareGroupHeartbeatResponse(member_id=request.member_id, member_epoch=request.member_epoch)

    def decision(self, group_id: str) -> ShareHeartbeatDecision:
        """Decides from the topics and the group's configuration of this moment."""
        config = self._group_configs.share_config_of(group_id)
        retry_after_ms = 2 * self._groups.config.commit_timeout_ms
        return ShareHeartbeatDecision(config, self._topics(), self._time.milliseconds(), retry_after_ms)

    # ── sessions ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _schedule_session(self, group: GroupMetadata, member_id: str) -> None:
        timer = MemberTimer("session", group.group_id, member_id)
        timeout_ms = self._group_configs.share_config_of(group.group_id).session_timeout_ms
        self._timers.schedule(timer, timeout_ms, lambda: self._expire(group, member_id))

    def _expire(self, group: GroupMetadata, member_id: str) -> None:
        """The member was not heard from. The records that it has acquired are delivered to others when their locks
        end, which partition leaders see to."""
        with group.lock:
            share = group.share
            if share is None or member_id not in share.members or self._groups.get_group(group.group_id) is not group:
                return
            logger.info("Member %s is fenced from group %s: its session has expired", member_id, group.group_id)
            change = ShareGroupChange(share)
            self.decision(group.group_id).fence(change, [member_id])
            self._groups.metrics.raised_share_epoch()
            self._groups.writer_of(group).write(change, lambda error: self._removed(group, [member_id], error))

    def _removed(self, group: GroupMetadata, member_ids: Collection[str], error: Errors) -> None:
        """If the log has refused it, the members are still there, and must not live for ever."""
        if error is Errors.NONE or group.share is None:
            return
        for member_id in member_ids:
            if member_id in group.share.members:
                self._schedule_session(group, member_id)

    def on_group_loaded(self, group: GroupMetadata) -> None:
        """A new coordinator knows no heartbeats: every member has a whole session. The broker calls it."""
        with group.lock:
            for member_id in group.share.members if group.share is not None else ():
                self._schedule_session(group, member_id)

    # ── ShareGroupDescribe ────────────────────────────────────────────────────────────────────────────────────────────

    def handle_describe(self, group_id: str) -> DescribedGroup:
        """A group with its members, or the error."""
        error = self._coordinator.check_group(group_id)
        if error is not Errors.NONE:
            return DescribedGroup(group_id=group_id, error_code=error.code)
        group = self._groups.get_group(group_id)
        if group is not None:
            with group.lock:
                if group.share is not None:
                    return described_share_group(group.share, ASSIGNOR.name, self._topics())
        what = "not found" if group is None else "is not a share group"
        message = f"Group {group_id} {what}."
        return DescribedGroup(group_id=group_id, error_code=Errors.GROUP_ID_NOT_FOUND.code, error_message=message)
