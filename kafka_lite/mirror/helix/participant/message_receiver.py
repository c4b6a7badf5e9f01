"""Decides what a participant does with its messages, after each change of them.

    message                                      what happens
    NO_OP                                        deleted
    for another session                          deleted unseen: an older session of this participant was meant
    read already                                 nothing: its transition runs
    no factory for its state model               nothing: it waits until one is registered
    any other transition                         set to read, and run
    of a type that nobody handles                deleted

Helix 0.6.9: helix-core/.../messaging/handling/HelixTaskExecutor.java (HelixTaskExecutor) · book 8.2.3
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from kafka_lite.mirror.helix.model.current_state import CurrentState
from kafka_lite.mirror.helix.model.message import ANY_SESSION, Message, MessageType
from kafka_lite.mirror.helix.participant.state_model import StateMachineEngine, StateModel
from kafka_lite.mirror.helix.property_paths import PropertyPaths
from kafka_lite.mirror.helix.writes import Create, Delete, Put, Write

logger = logging.getLogger(__name__)


@dataclass
class Received:
    """The consequences of messages: first the writes, then the transitions."""

    writes: list[Write] = field(default_factory=list)
    transitions: list[tuple[StateModel, Message]] = field(default_factory=list)
    """In the order in which the messages were created."""


def receive_messages(
    messages: Sequence[Message],
    engine: StateMachineEngine,
    session: str,
    resources: Collection[str],
    paths: PropertyPaths,
    now_ms: int,
) -> Received:
    """Decide about all messages of a participant. ``resources`` are those with a current state in this session."""
    received = Received()
    created: dict[str, Create] = {}
    read: list[Write] = []
    for message in sorted(messages, key=lambda message: message.created_ms):
        path = paths.message(message.instance, message.id)
        if message.type == MessageType.NO_OP.value or message.session not in (session, ANY_SESSION):
            logger.info("%s is dropped: %s for the session %s", path, message.type, message.session)
            received.writes.append(Delete(path))
        elif not message.is_new:
            continue
        elif not message.is_transition:
            logger.error("%s is dropped: nobody handles %s", path, message.type)
            received.writes.append(Delete(path))
        elif (replica := engine.replica_for(message)) is not None:
            taken = message.read(session, now_ms)
            read.append(Put(path, taken.record))
            received.transitions.append((replica, taken))
            if message.resource not in resources:
                empty = CurrentState.empty(message.resource, session, message.state_model, message.factory)
                record_path = paths.current_state(message.instance, session, message.resource)
                created.setdefault(message.resource, Create(record_path, empty.record))
        else:
            logger.warning("%s waits: no factory %s of %s", path, message.factory, message.state_model)
    received.writes += [*created.values(), *read]
    return received
