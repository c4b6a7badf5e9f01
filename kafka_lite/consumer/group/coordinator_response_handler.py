"""Handles the coordinator's responses to a member of the group.

Kafka 0.10.2: clients/.../consumer/internals/AbstractCoordinator.java (CoordinatorResponseHandler,
JoinGroupResponseHandler, SyncGroupResponseHandler, HeartbeatResponseHandler) · book 5.1.1, 5.1.2, 4.3.5
"""

from __future__ import annotations

import logging
from abc import abstractmethod
from typing import Protocol, cast

from kafka_lite.clients.client_request import ClientResponse
from kafka_lite.clients.request_future import DisconnectError, RequestFuture, RequestFutureAdapter, S
from kafka_lite.common.errors import Errors
from kafka_lite.consumer.generation import Generation
from kafka_lite.consumer.group import group_requests
from kafka_lite.consumer.group.consumer_coordinator_metrics import GroupCoordinatorMetrics
from kafka_lite.consumer.group.coordinator_lookup import CoordinatorLookup
from kafka_lite.consumer.group.group_rebalance_config import GroupRebalanceConfig
from kafka_lite.protocol.messages.api_11_join_group import JoinGroupResponse
from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatResponse
from kafka_lite.protocol.messages.api_14_sync_group import SyncGroupResponse

logger = logging.getLogger(__name__)

ANOTHER_COORDINATOR = frozenset({Errors.COORDINATOR_NOT_AVAILABLE, Errors.NOT_COORDINATOR})
"""Errors after which the coordinator must be looked up again."""


class GroupMember(Protocol):
    """The part of a member, of whichever kind of group, that the handlers use."""

    config: GroupRebalanceConfig
    finder: CoordinatorLookup

    @property
    def sensors(self) -> GroupCoordinatorMetrics:
        """The member's metrics."""
        ...

    @property
    def generation(self) -> Generation:
        """The member's current generation."""
        ...

    def reset_generation(self, reason: str, *, keep_member_id: bool = False) -> None:
        """End the generation for this member; the next poll joins again."""
        ...

    def request_rejoin(self, reason: str) -> None:
        """Join again with the next poll."""
        ...


class JoiningMember(GroupMember, Protocol):
    """The part of AbstractCoordinator that the handlers of a join use."""

    def joined(self, response: JoinGroupResponse, future: RequestFuture[bytes]) -> None:
        """Enter the new generation and send SyncGroup."""
        ...

    def set_member_id(self, member_id: str, future: RequestFuture[bytes]) -> None:
        """Keep the id to join again with (KIP-394)."""
        ...


class CoordinatorResponseHandler(RequestFutureAdapter[ClientResponse, S]):
    """Handles a response of the coordinator, and knows the generation in which the request was sent."""

    def __init__(self, owner: GroupMember, sent_generation: Generation) -> None:
        self._owner = owner
        self._sent_generation = sent_generation

    @abstractmethod
    def handle(self, value: ClientResponse, future: RequestFuture[S]) -> None:
        """Complete the future according to the response."""

    def on_success(self, value: ClientResponse, future: RequestFuture[S]) -> None:
        """Call ``handle``. An exception in it fails the future."""
        try:
            self.handle(value, future)
        except Exception as error:
            logger.exception("Uncaught error while handling a response of the group coordinator")
            if not future.is_done:
                future.fail(error)

    def on_failure(self, exception: BaseException, future: RequestFuture[S]) -> None:
        """On a disconnect, look up the coordinator again: it may have moved."""
        if isinstance(exception, DisconnectError):
            self._owner.finder.mark_unknown(str(exception))
        future.fail(exception)

    @property
    def generation_is_current(self) -> bool:
        """Whether the member is still in the generation of the request. If not, errors of the response are out of
        date."""
        return self._sent_generation == self._owner.generation

    def reset_generation(self, error: Errors) -> None:
        """Leave the generation: the coordinator does not know this member or this generation."""
        if self.generation_is_current:
            keep = error is Errors.ILLEGAL_GENERATION
            self._owner.reset_generation(f"the coordinator returned {error.name}", keep_member_id=keep)


class JoinGroupResponseHandler(CoordinatorResponseHandler[bytes]):
    """Ends the join with an error, or continues with SyncGroup."""

    def __init__(self, owner: JoiningMember, sent_generation: Generation) -> None:
        super().__init__(owner, sent_generation)
        self._joining = owner

    def handle(self, value: ClientResponse, future: RequestFuture[bytes]) -> None:
        """Continue with SyncGroup, or fail."""
        response = cast(JoinGroupResponse, value.response)
        error, owner = Errors.for_code(response.error_code), self._owner
        if error is Errors.NONE:
            owner.sensors.join_latency.record(value.request_latency_ms)
            self._joining.joined(response, future)
            return
        level = logging.DEBUG if error is Errors.MEMBER_ID_REQUIRED else logging.INFO
        logger.log(level, "Group %s: JoinGroup failed: %s", owner.config.group_id, error.name)
        if error is Errors.UNKNOWN_MEMBER_ID:
            self.reset_generation(error)
        elif error is Errors.MEMBER_ID_REQUIRED:
            self._joining.set_member_id(response.member_id, future)
            return
        elif error in ANOTHER_COORDINATOR:
            owner.finder.mark_unknown(error.name)
        future.fail(group_requests.group_error(error, owner.config.group_id))


class SyncGroupResponseHandler(CoordinatorResponseHandler[bytes]):
    """Ends the join with the assignment or an error."""

    def handle(self, value: ClientResponse, future: RequestFuture[bytes]) -> None:
        """Complete the join, or fail it."""
        response = cast(SyncGroupResponse, value.response)
        error, owner = Errors.for_code(response.error_code), self._owner
        if error is Errors.NONE:
            owner.sensors.sync_latency.record(value.request_latency_ms)
            future.complete(response.assignment)
            return
        logger.info("Group %s: SyncGroup failed: %s", owner.config.group_id, error.name)
        if error in (Errors.UNKNOWN_MEMBER_ID, Errors.ILLEGAL_GENERATION):
            self.reset_generation(error)
        elif error in ANOTHER_COORDINATOR:
            owner.finder.mark_unknown(error.name)
        future.fail(group_requests.group_error(error, owner.config.group_id))


class HeartbeatResponseHandler(CoordinatorResponseHandler[None]):
    """Confirms that the member is in the group, or makes it join again."""

    def handle(self, value: ClientResponse, future: RequestFuture[None]) -> None:
        """Complete the future; on most errors, make the member join again."""
        self._owner.sensors.heartbeat_latency.record(value.request_latency_ms)
        error = Errors.for_code(cast(HeartbeatResponse, value.response).error_code)
        if error is Errors.NONE:
            future.complete(None)
            return
        logger.debug("Attempt to heartbeat failed: %s", error.name)
        if error in ANOTHER_COORDINATOR:
            self._owner.finder.mark_unknown(error.name)
        elif error is Errors.REBALANCE_IN_PROGRESS:
            if self.generation_is_current:
                self._owner.request_rejoin("group is already rebalancing")
        elif error in (Errors.ILLEGAL_GENERATION, Errors.UNKNOWN_MEMBER_ID, Errors.FENCED_INSTANCE_ID):
            self.reset_generation(error)
        future.fail(group_requests.group_error(error, self._owner.config.group_id))
