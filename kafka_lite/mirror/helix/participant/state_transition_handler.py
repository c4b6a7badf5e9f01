"""One transition in a participant: what it leaves in ZooKeeper, whichever way it ends.

    end                                          current state           then
    it succeeds                                  the target              message deleted
    to DROPPED                                   partition removed       message deleted
    the message expects another state            what it really is       message deleted, nothing was run
    it fails, no such transition, bad message    ERROR                   message deleted; out of ERROR: partition
    disabled here the session changed while it ran             as the new session has  message deleted

The current state is always written before the message is deleted. The controller counts on it.

Helix 0.6.9: helix-core/.../messaging/handling/HelixStateTransitionHandler.java (HelixStateTransitionHandler) · book
8.2.3
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from kafka_lite.mirror.helix.helix_errors import HelixError
from kafka_lite.mirror.helix.model.current_state import CurrentState
from kafka_lite.mirror.helix.model.instance_config import InstanceConfig
from kafka_lite.mirror.helix.model.message import ANY_SESSION, ANY_STATE, Message
from kafka_lite.mirror.helix.model.state_model_definition import DROPPED, ERROR
from kafka_lite.mirror.helix.participant.state_model import StateModel
from kafka_lite.mirror.helix.property_paths import PropertyPaths
from kafka_lite.mirror.helix.writes import Delete, Put, Write

logger = logging.getLogger(__name__)


class StateMismatchError(HelixError):
    """A message that expects a state in which the replica is not. Helix: HelixStateMismatchException."""


@dataclass(frozen=True)
class TransitionResult:
    """How a transition ended."""

    message: Message
    state: str
    """The replica's state after it."""
    info: str = ""
    error: Exception | None = None

    @property
    def disables_partition(self) -> bool:
        """Whether even the way out of ERROR failed."""
        mismatch = isinstance(self.error, StateMismatchError)
        return self.error is not None and not mismatch and self.message.from_state == ERROR


def run_transition(replica: StateModel, message: Message) -> TransitionResult:
    """Check the message, run the action of its transition, and take its outcome as the replica's state."""
    try:
        info = _run(replica, message)
    except StateMismatchError as error:
        logger.error("%s/%s: %s", message.resource, message.partition, error)
        return TransitionResult(message, replica.current_state, error=error)
    except Exception as error:  # whatever an author's action raises puts its replica into ERROR, not the participant
        logger.exception("%s/%s failed from %s", message.resource, message.partition, message.from_state)
        replica.rollback_on_error(message, error)
        replica.current_state = ERROR
        return TransitionResult(message, ERROR, error=error)
    replica.current_state = message.to_state
    return TransitionResult(message, message.to_state, info)


def _run(replica: StateModel, message: Message) -> str:
    missing = message.missing_fields()
    if missing:
        raise HelixError(f"a transition without {', '.join(missing)}")
    start, to = message.from_state, message.to_state
    if start not in (ANY_STATE, replica.current_state):
        raise StateMismatchError(f"the message expects {start}, but the replica is {replica.current_state}")
    action = replica.action(start, to)
    if action is None:
        raise HelixError(f"{type(replica).__name__} has no transition from {start} to {to}")
    return action(message) or ""


def writes_after(
    result: TransitionResult, current: CurrentState | None, config: InstanceConfig, session: str, paths: PropertyPaths
) -> list[Write]:
    """The writes of a participant after a transition; ``session`` is the one it has now.

    ``current`` is the present record of the resource. Without partitions it is deleted.
    """
    message = result.message
    delete_message = Delete(paths.message(message.instance, message.id))
    if message.session not in (session, ANY_SESSION):
        logger.warning("the session changed while %s ran: its outcome is of no interest", delete_message.path)
        return [delete_message]
    before = current or CurrentState.empty(message.resource, session, message.state_model, message.factory)
    after = before.with_state(message.partition, result.state, result.info)
    if result.state == DROPPED:
        after = before.without(message.partition)
    path = paths.current_state(message.instance, session, message.resource)
    writes: list[Write] = []
    if result.disables_partition:
        disabled = config.with_partition_disabled(message.resource, message.partition)
        writes.append(Put(paths.instance_config(message.instance), disabled.record))
    writes.append(Put(path, after.record) if after.record.map_fields else Delete(path))
    return [*writes, delete_message]
