"""What the answers of a group's coordinator mean to the member that asked.

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
from kafka_lite.consumer.group import group_requests
from kafka_lite.consumer.group.consumer_coordinator_metrics import ConsumerCoordinatorMetrics
from kafka_lite.consumer.group.coordinator_lookup import CoordinatorLookup
from kafka_lite.consumer.group.group_rebalance_config import Generation, GroupRebalanceConfig
from kafka_lite.protocol.messages.api_11_join_group import JoinGroupResponse
from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatResponse
from kafka_lite.protocol.messages.api_14_sync_group import SyncGroupResponse

logger = logging.getLogger(__name__)

ANOTHER_COORDINATOR = frozenset({Errors.COORDINATOR_NOT_AVAILABLE, Errors.NOT_COORDINATOR})
"""Errors that say: ask again who the coordinator is."""


class GroupMember(Protocol):
    """What the handlers need of AbstractCoordinator."""

    config: GroupRebalanceConfig
    finder: CoordinatorLookup
    sensors: ConsumerCoordinatorMetrics

    @property
    def generation(self) -> Generation:
        """The member's generation now."""
        ...

    def reset_generation(self, reason: str, *, keep_member_id: bool = False) -> None:
        """End the generation for this member; the next poll joins again."""
        ...

    def request_rejoin(self, reason: str) -> None:
        """Join again with the next poll."""
        ...

    def joined(self, response: JoinGroupResponse, future: RequestFuture[bytes]) -> None:
        """Take over the generation and send SyncGroup."""
        ...

    def set_member_id(self, member_id: str, future: RequestFuture[bytes]) -> None:
        """Keep the id to join again with (KIP-394)."""
        ...


class CoordinatorResponseHandler(RequestFutureAdapter[ClientResponse, S]):
    """Handles an answer of the coordinator; knows the generation in which it was asked."""

    def __init__(self, owner: GroupMember, sent_generation: Generation) -> None:
        self._owner = owner
        self._sent_generation = sent_generation

    @abstractmethod
    def handle(self, value: ClientResponse, future: RequestFuture[S]) -> None:
        """Complete the future by the answer."""

    def on_success(self, value: ClientResponse, future: RequestFuture[S]) -> None:
        """``handle``; what goes wrong in it is an outcome too."""
        try:
            self.handle(value, future)
        except Exception as error:
            logger.exception("Uncaught error while handling an answer of the group coordinator")
            if not future.is_done:
                future.fail(error)

    def on_failure(self, exception: BaseException, future: RequestFuture[S]) -> None:
        """A lost connection: perhaps another broker is the coordinator by now."""
        if isinstance(exception, DisconnectError):
            self._owner.finder.mark_unknown(str(exception))
        future.fail(exception)

    @property
    def generation_is_current(self) -> bool:
        """Whether the answer is about the present. Otherwise it says nothing about it."""
        return self._sent_generation == self._owner.generation

    def reset_generation(self, error: Errors) -> None:
        """The coordinator does not know this member, or generation (any more)."""
        if self.generation_is_current:
            keep = error is Errors.ILLEGAL_GENERATION
            self._owner.reset_generation(f"the coordinator answered {error.name}", keep_member_id=keep)


class JoinGroupResponseHandler(CoordinatorResponseHandler[bytes]):
    """The member is in, or learns why not."""

    def handle(self, value: ClientResponse, future: RequestFuture[bytes]) -> None:
        """Go on with SyncGroup, or fail."""
        response = cast(JoinGroupResponse, value.response)
        error, owner = Errors.for_code(response.error_code), self._owner
        if error is Errors.NONE:
            owner.sensors.join_latency.record(value.request_latency_ms)
            owner.joined(response, future)
            return
        level = logging.DEBUG if error is Errors.MEMBER_ID_REQUIRED else logging.INFO
        logger.log(level, "Group %s: JoinGroup failed: %s", owner.config.group_id, error.name)
        if error is Errors.UNKNOWN_MEMBER_ID:
            self.reset_generation(error)
        elif error is Errors.MEMBER_ID_REQUIRED:
            owner.set_member_id(response.member_id, future)
            return
        elif error in ANOTHER_COORDINATOR:
            owner.finder.mark_unknown(error.name)
        future.fail(group_requests.group_error(error, owner.config.group_id))


class SyncGroupResponseHandler(CoordinatorResponseHandler[bytes]):
    """The member has its assignment, or learns why not."""

    def handle(self, value: ClientResponse, future: RequestFuture[bytes]) -> None:
        """Complete the join, or fail."""
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
    """The member is still in, or learns why not."""

    def handle(self, value: ClientResponse, future: RequestFuture[None]) -> None:
        """Join again, if need be."""
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
