"""A state model: one table, from which the next transition of a partition's replica is computed.

The table has the states with their bounds, most important state first, and the transitions, most urgent first. A path
between two states of several transitions is not in the table: it is computed, as the shortest one.

    bound   at most so many replicas of a partition are in the state
    1       that number
    R       the resource's number of replicas
    N       the number of live instances
    -1      any number; no replica is ever placed there

DROPPED and ERROR belong to every model. A replica that is DROPPED leaves the current state; one whose transition
failed is in ERROR until somebody resets it.

Helix 0.6.9: helix-core/.../model/StateModelDefinition.java,
helix-core/.../model/builder/StateTransitionTableBuilder.java · book 8.2.1
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kafka_lite.mirror.helix.helix_errors import UnreadableRecordError
from kafka_lite.mirror.helix.zn_record import ZNRecord, sorted_fields

DROPPED = "DROPPED"
ERROR = "ERROR"
REPLICAS = "R"
LIVE_INSTANCES = "N"
UNBOUNDED = "-1"

INITIAL_STATE = "INITIAL_STATE"
STATE_PRIORITY_LIST = "STATE_PRIORITY_LIST"
STATE_TRANSITION_PRIORITY_LIST = "STATE_TRANSITION_PRIORITYLIST"

Transition = tuple[str, str]
"""From a state, to a state."""


@dataclass(frozen=True)
class StateModelDefinition:
    """A state model of a cluster."""

    name: str
    initial_state: str
    bounds: Mapping[str, str]
    """From each state to its bound, in the order of their priorities."""
    transitions: tuple[Transition, ...]
    """In the order of their priorities."""
    next_states: Mapping[str, Mapping[str, str]]
    """From a state to where a replica can get from there, and the first state on the way."""

    @classmethod
    def of_table(
        cls, name: str, initial_state: str, bounds: Mapping[str, str], transitions: Sequence[Transition]
    ) -> StateModelDefinition:
        """The model of a table."""
        return cls(
            name, initial_state, dict(bounds), tuple(transitions), _next_states(initial_state, bounds, transitions)
        )

    @classmethod
    def of_priorities(
        cls,
        name: str,
        initial_state: str,
        bounds: Mapping[str, str],
        states: Mapping[str, int],
        transitions: Mapping[Transition, int],
    ) -> StateModelDefinition:
        """The model of a program that gives priorities as numbers, smallest first; equal ones go by name."""
        in_order = sorted(states, key=lambda state: (states[state], state))
        return cls.of_table(
            name,
            initial_state,
            {state: bounds.get(state, UNBOUNDED) for state in in_order},
            sorted(transitions, key=lambda transition: (transitions[transition], transition)),
        )

    # ------------------------------------------------------------------------------------------------------- records

    @classmethod
    def from_record(cls, record: ZNRecord) -> StateModelDefinition:
        """The model of a record, which may be of somebody else's making: its paths are taken as they are written."""
        initial_state = record.simple_fields.get(INITIAL_STATE)
        if initial_state is None:
            raise UnreadableRecordError(f"the state model {record.id} has no initial state")
        states = record.list_fields.get(STATE_PRIORITY_LIST, ())
        bounds = {state: record.map_fields.get(f"{state}.meta", {}).get("count", UNBOUNDED) for state in states}
        paths = {state: record.map_fields.get(f"{state}.next", {}) for state in states}
        others = {state: {to: via for to, via in hops.items() if to != state} for state, hops in paths.items()}
        transitions = record.list_fields.get(STATE_TRANSITION_PRIORITY_LIST, ())
        pairs = tuple((start, to) for start, _, to in (name.partition("-") for name in transitions))
        return cls(record.id, initial_state, bounds, pairs, _with_defaults(initial_state, others))

    def to_record(self, *, self_loops: bool = False) -> ZNRecord:
        """Its record; with ``self_loops`` as Helix's Builder writes it, where each state leads to itself."""
        maps: dict[str, Mapping[str, str]] = {f"{state}.meta": {"count": bound} for state, bound in self.bounds.items()}
        for state in self.bounds:
            loop = {state: state} if self_loops else {}
            hops = {**self.next_states.get(state, {}), **loop}
            if hops:
                maps[f"{state}.next"] = sorted_fields(hops)
        lists = {
            STATE_PRIORITY_LIST: list(self.bounds),
            STATE_TRANSITION_PRIORITY_LIST: [f"{start}-{to}" for start, to in self.transitions],
        }
        return ZNRecord(self.name, {INITIAL_STATE: self.initial_state}, lists, sorted_fields(maps))

    # ------------------------------------------------------------------------------------------------------ questions

    @property
    def top_state(self) -> str:
        """The most important state: MASTER, LEADER or ONLINE."""
        return next(iter(self.bounds))

    @property
    def second_top_states(self) -> frozenset[str]:
        """The states from which one transition leads to the top state."""
        top = self.top_state
        return frozenset(state for state, hops in self.next_states.items() if hops.get(top) == top)

    def next_state(self, current: str, desired: str) -> str | None:
        """The first state on the way; None if there is no way."""
        return self.next_states.get(current, {}).get(desired)

    def transition_priority(self, start: str, to: str) -> int:
        """0 for the most urgent transition; one that the model does not list comes last."""
        return self.transitions.index((start, to)) if (start, to) in self.transitions else len(self.transitions)

    def upper_bound(self, state: str, *, replicas: int | None, live_instances: int) -> int | None:
        """How many replicas of a partition may be in the state; None for any number.

        ``replicas`` is None once the resource is dropped: nobody knows R then, and R bounds nothing.
        """
        bound = self.bounds.get(state, UNBOUNDED)
        if bound == REPLICAS:
            return replicas
        number = live_instances if bound == LIVE_INSTANCES else _number(bound)
        return None if number < 0 else number

    def replica_counts(self, *, replicas: int, live_instances: int) -> dict[str, int]:
        """How many replicas of a partition each state gets, if all live: R is what the numbers leave over."""
        counts: dict[str, int] = {}
        for state, bound in self.bounds.items():
            if bound == LIVE_INSTANCES:
                counts[state] = live_instances
            elif _number(bound) > 0:
                counts[state] = _number(bound)
                replicas -= counts[state]
        for state, bound in self.bounds.items():
            if bound == REPLICAS:
                counts[state] = replicas
                break
        return counts


def _number(bound: str) -> int:
    """A bound that is a number; -1 for R, and for one that cannot be read."""
    try:
        return int(bound)
    except ValueError:
        return -1


def _next_states(
    initial_state: str, states: Iterable[str], transitions: Sequence[Transition]
) -> dict[str, Mapping[str, str]]:
    following: dict[str, list[str]] = {state: [] for state in states}
    for start, to in transitions:
        following[start].append(to)
    return _with_defaults(initial_state, {state: _first_hops(state, following) for state in following})


def _first_hops(start: str, following: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """From each state that can be reached to the first state of its shortest path: a breadth-first search."""
    hops = {state: state for state in following[start]}
    waiting = deque(following[start])
    while waiting:
        state = waiting.popleft()
        for further in following[state]:
            if further != start and further not in hops:
                hops[further] = hops[state]
                waiting.append(further)
    return hops


def _with_defaults(initial_state: str, hops: Mapping[str, Mapping[str, str]]) -> dict[str, Mapping[str, str]]:
    """With the transitions of every model: out of ERROR by a reset or a drop, and from the initial state to DROPPED.

    A path does not use them: a replica in ERROR that should be MASTER has no next state, and waits for its reset.
    """
    result = {state: dict(further) for state, further in hops.items() if further}
    for start, to in ((ERROR, DROPPED), (ERROR, initial_state), (initial_state, DROPPED)):
        result.setdefault(start, {}).setdefault(to, to)
    return dict(result)
