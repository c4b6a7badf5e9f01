"""SEMI_AUTO: the states go along a preference list, the most important state first.

    MASTER 1, SLAVE R    list w1 w2 w3    w1 is dead:    w2 MASTER, w3 SLAVE

The list's first usable instance gets the top state. But while another instance has it, only one that is a single
transition away may take it over: a new instance at the head of the list is first brought to SLAVE, while the old
MASTER, or another SLAVE, serves.

Helix 0.6.9: helix-core/.../controller/rebalancer/SemiAutoRebalancer.java (SemiAutoRebalancer) · book 8.2.2
"""

from __future__ import annotations

from collections.abc import Sequence

from kafka_lite.mirror.helix.model.state_model_definition import DROPPED, ERROR, REPLICAS
from kafka_lite.mirror.helix.rebalancer.partition_replicas import InstanceStates, PartitionReplicas


def semi_automatic_states(
    replicas: PartitionReplicas, preference_list: Sequence[str] | None, *, keep_top_state: bool = True
) -> InstanceStates:
    """The states of a partition's instances; the list is None once the ideal state does not have the partition.

    ``keep_top_state`` is the rule on taking over the top state; FULL_AUTO does without it.
    """
    result = _states_of_leavers(replicas, preference_list or ())
    if preference_list is None:
        return result
    model = replicas.model
    top_taken = sum(state == model.top_state for state in replicas.states.values())
    assigned: set[str] = set()
    for state in model.bounds:
        count = _wanted(replicas, state, preference_list)
        for instance in preference_list:
            if count <= 0:
                break
            if instance in assigned or not replicas.usable(instance):
                continue
            current = replicas.states.get(instance, model.initial_state)
            near = current == model.top_state or current in model.second_top_states
            if keep_top_state and state == model.top_state and count <= top_taken and not near:
                continue
            result[instance] = state
            assigned.add(instance)
            count -= 1
    return result


def _states_of_leavers(replicas: PartitionReplicas, preference_list: Sequence[str]) -> InstanceStates:
    """DROPPED off the list, disabled or not; the initial state if disabled on it."""
    result: InstanceStates = {}
    for instance, state in replicas.states.items():
        if instance not in preference_list:
            result[instance] = DROPPED
        elif state != ERROR and not replicas.enabled(instance):
            result[instance] = replicas.model.initial_state
    return result


def _wanted(replicas: PartitionReplicas, state: str, preference_list: Sequence[str]) -> int:
    """How many instances shall get a state: none of a state without a bound, R as many as the list is long."""
    if replicas.model.bounds[state] == REPLICAS:
        return len(preference_list)
    enabled = sum(replicas.enabled(instance) for instance in replicas.live)
    return replicas.model.upper_bound(state, replicas=None, live_instances=enabled) or 0
