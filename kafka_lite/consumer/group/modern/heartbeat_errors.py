"""The reactions of a member of KIP-848 to the errors of its heartbeats.

Kafka 4.1: clients/.../consumer/internals/AbstractHeartbeatRequestManager.java (onErrorResponse),
ConsumerHeartbeatRequestManager.java (handleSpecificError) · book 4.3.5
"""

from __future__ import annotations

from enum import Enum, auto

from kafka_lite.common.errors import ApiError, Errors

CONSUMER_PROTOCOL_NOT_SUPPORTED = (
    "The cluster does not support the new consumer group protocol. Set group.protocol=classic to use the classic "
    "protocol until the cluster is upgraded; the brokers need group.coordinator.rebalance.protocols=classic,consumer, "
    "which is the default since Kafka 4.0."
)


class Reaction(Enum):
    """The reaction to an error."""

    RETRY = auto()
    """Send it again after the backoff."""
    FIND_COORDINATOR = auto()
    """Look for the coordinator, and send it again there after the backoff."""
    REJOIN = auto()
    """The partitions are lost; join again with epoch 0."""
    TELL_THE_USER = auto()
    """The next poll raises the error. The member stays, since an administrator may mend it."""
    GIVE_UP = auto()
    """Every poll raises the error."""


REACTIONS = {
    Errors.NOT_COORDINATOR: Reaction.FIND_COORDINATOR,
    Errors.COORDINATOR_NOT_AVAILABLE: Reaction.FIND_COORDINATOR,
    Errors.COORDINATOR_LOAD_IN_PROGRESS: Reaction.RETRY,
    Errors.REQUEST_TIMED_OUT: Reaction.RETRY,
    Errors.FENCED_MEMBER_EPOCH: Reaction.REJOIN,
    Errors.UNKNOWN_MEMBER_ID: Reaction.REJOIN,
    Errors.TOPIC_AUTHORIZATION_FAILED: Reaction.TELL_THE_USER,
}
"""All others: GIVE_UP. Among them GROUP_AUTHORIZATION_FAILED, UNSUPPORTED_ASSIGNOR, UNRELEASED_INSTANCE_ID,
FENCED_INSTANCE_ID, GROUP_MAX_SIZE_REACHED, INVALID_REGULAR_EXPRESSION, INVALID_REQUEST and UNSUPPORTED_VERSION."""


def reaction_to(error: Errors) -> Reaction:
    """The reaction to an error of a response."""
    return REACTIONS.get(error, Reaction.GIVE_UP)


def heartbeat_error(error: Errors, message: str | None, group_id: str, group_instance_id: str | None) -> ApiError:
    """The exception that poll raises. It says what to do where that is known."""
    said = message or error.message
    match error:
        case Errors.UNSUPPORTED_VERSION:
            said = CONSUMER_PROTOCOL_NOT_SUPPORTED
        case Errors.GROUP_AUTHORIZATION_FAILED:
            said = f"Not authorized to access group: {group_id}"
        case Errors.INVALID_REGULAR_EXPRESSION:
            said = f"Invalid SubscriptionPattern provided in the call to subscribe. {said}"
        case Errors.UNRELEASED_INSTANCE_ID:
            said = f"{said} Close the other consumer with group.instance.id={group_instance_id}, or use another id."
        case Errors.FENCED_INSTANCE_ID:
            said = (
                f"{said} An administrator has removed this consumer, and another one with "
                f"group.instance.id={group_instance_id} has joined."
            )
        case _:
            pass
    return error.exception(f"group {group_id}: {said}")
