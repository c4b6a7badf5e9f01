"""Makes the heartbeats of a member: complete ones, and those that only say what has changed.

Kafka 4.1: clients/.../consumer/internals/ConsumerHeartbeatRequestManager.java (HeartbeatState) · book 4.3.1
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from kafka_lite.clients.client_request import RequestBuilder
from kafka_lite.consumer.group.modern.local_assignment import LocalAssignment
from kafka_lite.consumer.group.modern.member_state import MemberState
from kafka_lite.consumer.group.modern.membership import Membership
from kafka_lite.protocol.messages.api_68_consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from kafka_lite.protocol.schema_error import UnsupportedVersionError

FIRST_VERSION_WITH_REGEX = 1
REGEX_NEEDS_BROKERS_OF_4_0 = (
    "The cluster does not resolve regular expressions: it has ConsumerGroupHeartbeat of version 0 only. Upgrade the "
    "brokers to Kafka 4.0 or later, or subscribe by a compiled pattern of re, which the consumer resolves itself."
)


class Subscribed(NamedTuple):
    """A member's subscription, as heartbeats say it."""

    topics: frozenset[str]
    regex: str | None = None


@dataclass(slots=True)
class SentFields:
    """The fields that the coordinator knows. None: it knows nothing, so that the next heartbeat has to say it."""

    rebalance_timeout_ms: int | None = None
    topics: frozenset[str] | None = None
    regex: str | None = None
    server_assignor: str | None = None
    rack_id: str | None = None
    assignment: LocalAssignment | None = None


class HeartbeatState:
    """Remembers what was sent.

    A field that has not changed is left out, which the coordinator takes as *unchanged*. After an error the coordinator
    may be another, or may not have got the last heartbeat: then the next one has all fields.
    """

    def __init__(
        self,
        membership: Membership,
        subscribed: Callable[[], Subscribed],
        *,
        rebalance_timeout_ms: int,
        server_assignor: str | None,
        rack_id: str | None,
    ) -> None:
        self._membership = membership
        self._subscribed = subscribed
        self._rebalance_timeout_ms = rebalance_timeout_ms
        self._server_assignor = server_assignor
        self._rack_id = rack_id
        self._sent = SentFields()

    def reset(self) -> None:
        """The coordinator may know nothing: the next heartbeat says everything."""
        self._sent = SentFields()

    @property
    def is_subscription_unsent(self) -> bool:
        """Whether the coordinator does not know the subscription."""
        subscribed = self._subscribed()
        return (subscribed.topics, subscribed.regex or "") != (self._sent.topics, self._sent.regex)

    def next_request(self) -> RequestBuilder:
        """The next heartbeat. A broker without regular expressions cannot get one: UNSUPPORTED_VERSION."""
        request = self._request()

        def build(version: int) -> ConsumerGroupHeartbeatRequest:
            if version < FIRST_VERSION_WITH_REGEX and request.subscribed_topic_regex:
                raise UnsupportedVersionError(REGEX_NEEDS_BROKERS_OF_4_0)
            if version < FIRST_VERSION_WITH_REGEX:
                request.subscribed_topic_regex = None
            return request

        return RequestBuilder.by(ConsumerGroupHeartbeatRequest.API_KEY, build)

    def _request(self) -> ConsumerGroupHeartbeatRequest:
        member = self._membership
        request = ConsumerGroupHeartbeatRequest(
            group_id=member.group_id,
            member_id=member.member_id,
            member_epoch=member.epoch,
            instance_id=member.group_instance_id,
        )
        if member.state is MemberState.LEAVING:
            return request
        if member.state is MemberState.JOINING:
            self.reset()
        self._add_changes(request)
        return request

    def _add_changes(self, request: ConsumerGroupHeartbeatRequest) -> None:
        sent, subscribed = self._sent, self._subscribed()
        if sent.rebalance_timeout_ms is None:
            request.rebalance_timeout_ms = sent.rebalance_timeout_ms = self._rebalance_timeout_ms
        if sent.topics != subscribed.topics:
            request.subscribed_topic_names = sorted(subscribed.topics)
            sent.topics = subscribed.topics
        if sent.regex != (subscribed.regex or ""):
            # An empty one replaces that of an earlier subscription.
            request.subscribed_topic_regex = sent.regex = subscribed.regex or ""
        if sent.server_assignor != self._server_assignor:
            request.server_assignor = sent.server_assignor = self._server_assignor
        if sent.rack_id != self._rack_id:
            request.rack_id = sent.rack_id = self._rack_id
        assignment = self._membership.current
        if sent.assignment != assignment:
            request.topic_partitions = assignment.structs()
            sent.assignment = assignment
