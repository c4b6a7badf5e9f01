"""The state that a user wants for a connector and its tasks.

Kafka 0.10.2: connect/runtime/.../connect/runtime/TargetState.java; STOPPED: Kafka 3.5, KIP-875 · book 8.3.4
"""

from __future__ import annotations

from enum import Enum


class TargetState(Enum):
    """Each worker applies a change to its own connectors and tasks as soon as it reads it from the config topic."""

    STARTED = "STARTED"
    """action: run · transition: PAUSED by ``PUT /connectors/NAME/pause``"""
    PAUSED = "PAUSED"
    """action: stop the connector, keep its tasks waiting · transition: STARTED by ``PUT /connectors/NAME/resume``"""
    STOPPED = "STOPPED"
    """action: stop the connector, end its tasks · transition: STARTED by a resume, which asks for tasks again"""


_S = TargetState
VALID_PREVIOUS_STATES: dict[TargetState, frozenset[TargetState]] = {
    _S.STARTED: frozenset(TargetState),
    _S.PAUSED: frozenset(TargetState),
    _S.STOPPED: frozenset(TargetState),
}
"""The states that may come before a state. A request that changes nothing is valid, and is written again."""
