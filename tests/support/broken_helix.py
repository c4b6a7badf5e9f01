"""Members of Helix with known bugs, to show that the simulator finds them. A world runs one of them."""

from __future__ import annotations

from typing import Any

from kafka_lite.mirror.helix.participant.state_model import StateMachineEngine
from kafka_lite.mirror.helix.stages import message_selection
from kafka_lite.testing.simulation.helix.programs import controller, participant


def forgetting_pending_messages(*args: Any) -> None:
    """A controller counts replicas where they are, and not where a message that is under way brings them."""
    right = message_selection.count_states
    message_selection.count_states = lambda model, live, states, _pending: right(model, live, states, ())
    controller(*args)


def keeping_states_of_old_sessions(*args: Any) -> None:
    """A participant whose session has expired goes on as if its replicas were what they were."""
    StateMachineEngine.reset = lambda _self: None  # type: ignore[method-assign]
    participant(*args)
