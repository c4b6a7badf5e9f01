"""Stage 5, messages: the next transition of each replica that is not where it should be.

One message per replica: while one is pending, no second one is made, even if the ideal state has changed since.

Helix 0.6.9: helix-core/.../controller/stages/MessageGenerationPhase.java,
helix-core/.../controller/stages/MessageGenerationOutput.java (MessageGenerationOutput) · book 8.2.2
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kafka_lite.mirror.helix.model.message import Message
from kafka_lite.mirror.helix.rebalancer.partition_replicas import InstanceStates
from kafka_lite.mirror.helix.stages.best_possible_state import BestPossibleState
from kafka_lite.mirror.helix.stages.cluster_data import ClusterData
from kafka_lite.mirror.helix.stages.current_state_computation import CurrentStateOutput, PartitionKey
from kafka_lite.mirror.helix.stages.resource_computation import Resource, Resources

logger = logging.getLogger(__name__)

Messages = Mapping[PartitionKey, Sequence[Message]]


@dataclass(frozen=True)
class MessageSource:
    """The controller as the sender of messages."""

    name: str
    session: str
    event: str
    """Why the pipeline runs: the name of a ClusterEvent."""
    now_ms: int
    new_id: Callable[[], str]
    """A new UUID at each call."""


def generate_messages(
    data: ClusterData,
    resources: Resources,
    current: CurrentStateOutput,
    best_possible: BestPossibleState,
    source: MessageSource,
) -> Messages:
    """The messages of each partition; those that lead to the most important state come first."""
    messages: dict[PartitionKey, list[Message]] = {}
    for name, resource in resources.items():
        order = {state: place for place, state in enumerate(resource.state_model.bounds)}
        for partition in resource.partitions:
            desired = best_possible.get((name, partition), {})
            steps = _next_steps(resource, partition, desired, current)
            steps.sort(key=lambda step: order.get(desired[step[0]], len(order)))
            messages[name, partition] = [
                _message(source, data.live_instances[instance].session, resource, partition, step)
                for step in steps
                if (instance := step[0]) in data.live_instances
            ]
    return messages


def _next_steps(
    resource: Resource, partition: str, desired: InstanceStates, current: CurrentStateOutput
) -> list[tuple[str, str, str]]:
    """Instance, present state, next state of each replica that has to move, and does not move already."""
    steps = []
    for instance, state in sorted(desired.items()):
        now = current.states_of((resource.name, partition)).get(instance, resource.state_model.initial_state)
        if now == state or instance in current.pending_of((resource.name, partition)):
            continue
        following = resource.state_model.next_state(now, state)
        if following is None:
            logger.error("%s/%s on %s: no way from %s to %s", resource.name, partition, instance, now, state)
        else:
            steps.append((instance, now, following))
    return steps


def _message(
    source: MessageSource, session: str, resource: Resource, partition: str, step: tuple[str, str, str]
) -> Message:
    instance, now, following = step
    return Message.transition(
        source.new_id(),
        source.now_ms,
        source=(source.name, source.session),
        target=(instance, session),
        resource=resource.name,
        partition=partition,
        from_state=now,
        to_state=following,
        state_model=resource.state_model.name,
        factory=resource.factory,
        event=source.event,
    )
