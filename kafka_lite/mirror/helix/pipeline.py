"""The controller's pipeline: what it does after a change in ZooKeeper, as a chain of pure stages.

    change                              messages    external view
    ideal state, configuration             x
    current state, live instance           x             x
    message                                x
    resume, timer                          x             x

    cluster data -> resources -> current states -> best possible state -> messages -> selected -> throttled -> sent
                                       |
                                       +-> external view

One run looks at the whole cluster, and keeps nothing for the next one. So a controller that takes over does not need
to know what its predecessor did: what is on its way is in the messages.

Helix 0.6.9: helix-core/.../controller/GenericHelixController.java (GenericHelixController),
helix-core/.../controller/pipeline/Pipeline.java (Pipeline) · book 8.2.2
"""

from __future__ import annotations

from enum import Enum

from kafka_lite.mirror.helix.property_paths import PropertyPaths
from kafka_lite.mirror.helix.stages.best_possible_state import compute_best_possible_state
from kafka_lite.mirror.helix.stages.cluster_data import ClusterData
from kafka_lite.mirror.helix.stages.current_state_computation import CurrentStateOutput, compute_current_state
from kafka_lite.mirror.helix.stages.external_view import compute_external_views
from kafka_lite.mirror.helix.stages.message_generation import MessageSource, generate_messages
from kafka_lite.mirror.helix.stages.message_selection import select_messages
from kafka_lite.mirror.helix.stages.message_throttle import throttle_messages
from kafka_lite.mirror.helix.stages.resource_computation import Resources, compute_resources
from kafka_lite.mirror.helix.stages.task_assignment import assign_tasks
from kafka_lite.mirror.helix.writes import Create, Write


class ClusterEvent(Enum):
    """Why the pipeline runs. The value is Helix's name, which goes into the messages."""

    IDEAL_STATE_CHANGE = "idealStateChange"
    CONFIG_CHANGE = "configChange"
    CURRENT_STATE_CHANGE = "currentStateChange"
    LIVE_INSTANCE_CHANGE = "liveInstanceChange"
    MESSAGE_CHANGE = "messageChange"
    RESUME = "resume"
    PERIODICAL_REBALANCE = "periodicalRebalance"


EVENTS_WITH_EXTERNAL_VIEW = frozenset(
    {
        ClusterEvent.CURRENT_STATE_CHANGE,
        ClusterEvent.LIVE_INSTANCE_CHANGE,
        ClusterEvent.RESUME,
        ClusterEvent.PERIODICAL_REBALANCE,
    }
)
"""The others change no replica's state."""


def run_pipeline(
    event: ClusterEvent, data: ClusterData, source: MessageSource, paths: PropertyPaths, *, paused: bool = False
) -> list[Write]:
    """The writes that follow from an event, in their order; none while the cluster is paused."""
    if paused:
        return []
    resources = compute_resources(data)
    current = compute_current_state(data, resources)
    writes: list[Write] = [*rebalance(data, resources, current, source, paths)]
    if event in EVENTS_WITH_EXTERNAL_VIEW:
        writes += compute_external_views(data, resources, current, paths)
    return writes


def rebalance(
    data: ClusterData, resources: Resources, current: CurrentStateOutput, source: MessageSource, paths: PropertyPaths
) -> list[Create]:
    """The part of the pipeline that ends in messages."""
    best_possible = compute_best_possible_state(data, resources, current)
    generated = generate_messages(data, resources, current, best_possible, source)
    selected = select_messages(data, resources, current, generated)
    return assign_tasks(throttle_messages(data, selected), paths)
