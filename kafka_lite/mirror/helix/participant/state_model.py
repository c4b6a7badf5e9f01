"""A participant's replica of a partition, and the factories that make replicas.

The author of a participant writes a StateModel with its transitions, and registers a factory for it under the name of
a state model.

Helix 0.6.9: helix-core/.../participant/statemachine/StateModel.java,
helix-core/.../participant/statemachine/StateModelFactory.java (StateModelFactory), helix-core/.../participant/
HelixStateMachineEngine.java (HelixStateMachineEngine) · book 8.2.3
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from kafka_lite.mirror.helix.model.message import Message
from kafka_lite.mirror.helix.model.state_model_definition import DROPPED, ERROR, Transition

Action = Callable[[Message], str | None]
"""The work of a transition. It returns the INFO of the current state; an exception is the transition's failure."""


class StateModel:
    """A replica. A subclass has its transitions."""

    def __init__(self, initial_state: str) -> None:
        self.current_state = initial_state
        """The participant's own view; after a mismatch the current state in ZooKeeper is set to it."""

    def transitions(self) -> Mapping[Transition, Action]:
        """The actions, by the states from which and to which they lead."""
        return {}

    def action(self, start: str, to: str) -> Action | None:
        """The action of a transition; a drop out of ERROR needs none of its own."""
        own = self.transitions().get((start, to))
        return _nothing if own is None and (start, to) == (ERROR, DROPPED) else own

    def rollback_on_error(self, message: Message, error: Exception) -> None:
        """Called after a transition failed, before the replica is in ERROR."""

    def reset(self) -> None:
        """Called when the session is lost: the replica must stop, since another instance may get its state."""


def _nothing(_message: Message) -> str | None:
    """The action of a transition that has nothing to do."""
    return None


StateModelFactory = Callable[[str, str], StateModel]
"""Makes the replica of a resource and a partition."""


class StateMachineEngine:
    """The replicas of one participant, and its factories."""

    def __init__(self) -> None:
        self._factories: dict[tuple[str, str], tuple[StateModelFactory, str]] = {}
        self._replicas: dict[tuple[str, str], tuple[StateModel, str]] = {}

    def register(self, state_model: str, factory: StateModelFactory, initial_state: str, name: str = "DEFAULT") -> None:
        """Take ``factory`` for the replicas of a state model."""
        self._factories[state_model, name] = (factory, initial_state)

    def replica_for(self, message: Message) -> StateModel | None:
        """The replica that a message is for, made now if it is new; None without a factory for it."""
        key = (message.resource, message.partition)
        if key not in self._replicas:
            entry = self._factories.get((message.state_model, message.factory))
            if entry is None:
                return None
            factory, initial_state = entry
            replica = factory(*key)
            replica.current_state = initial_state
            self._replicas[key] = (replica, initial_state)
        return self._replicas[key][0]

    def remove(self, resource: str, partition: str) -> None:
        """Forget a replica that was dropped."""
        self._replicas.pop((resource, partition), None)

    def reset(self) -> None:
        """Stop all replicas: the session has gone, and with it every state that they had."""
        for replica, initial_state in self._replicas.values():
            replica.reset()
            replica.current_state = initial_state

    def __iter__(self) -> Iterator[tuple[str, str, StateModel]]:
        """Resource, partition and replica."""
        return ((*key, replica) for key, (replica, _) in self._replicas.items())
