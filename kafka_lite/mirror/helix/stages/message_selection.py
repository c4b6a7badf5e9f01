"""Stage 6, selection: which messages can be sent without a state ever having more replicas than its bound allows.

The count of a state has all replicas that are in it, and all that a pending message brings there, or takes from
there: a replica may be in either state while its transition runs. A new message that would exceed the bound of its
target waits for a later run. So the old MASTER is a SLAVE in ZooKeeper before the new one is even told.

Helix 0.6.9: helix-core/.../controller/stages/MessageSelectionStage.java,
helix-core/.../controller/stages/MessageSelectionStageOutput.java (MessageSelectionStageOutput) · book 8.2.2
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from kafka_lite.mirror.helix.model.message import Message
from kafka_lite.mirror.helix.model.state_model_definition import StateModelDefinition
from kafka_lite.mirror.helix.stages.cluster_data import ClusterData
from kafka_lite.mirror.helix.stages.current_state_computation import CurrentStateOutput, PartitionKey
from kafka_lite.mirror.helix.stages.message_generation import Messages
from kafka_lite.mirror.helix.stages.resource_computation import Resources


def select_messages(
    data: ClusterData, resources: Resources, current: CurrentStateOutput, messages: Messages
) -> Messages:
    """The messages of each partition that may be sent now, most urgent transition first."""
    live = len(data.live_instances)
    selected: dict[PartitionKey, Sequence[Message]] = {}
    for name, resource in resources.items():
        ideal_state = data.ideal_states.get(name)
        replicas = None if ideal_state is None else ideal_state.replicas(live)
        model = resource.state_model
        bounds = {state: model.upper_bound(state, replicas=replicas, live_instances=live) for state in model.bounds}
        for partition in resource.partitions:
            key = (name, partition)
            counts = count_states(model, data.live_instances, current.states_of(key), current.pending_of(key).values())
            selected[key] = within_bounds(model, bounds, counts, messages.get(key, ()))
    return selected


def count_states(
    model: StateModelDefinition,
    live_instances: Iterable[str],
    states: Mapping[str, str],
    pending: Iterable[Message],
) -> Counter[str]:
    """How many replicas of a partition are, or may be, in each state."""
    counts = Counter(states.get(instance, model.initial_state) for instance in live_instances)
    for message in pending:
        counts.update((message.from_state, message.to_state))
    return counts


def within_bounds(
    model: StateModelDefinition,
    bounds: Mapping[str, int | None],
    counts: Counter[str],
    messages: Sequence[Message],
) -> list[Message]:
    """Take messages one by one, by the priority of their transitions, while the target's bound allows it."""
    counts = counts.copy()
    selected = []
    for message in sorted(messages, key=lambda m: model.transition_priority(m.from_state, m.to_state)):
        bound = bounds.get(message.to_state)
        if bound is None or counts[message.to_state] < bound:
            counts[message.to_state] += 1
            selected.append(message)
    return selected
