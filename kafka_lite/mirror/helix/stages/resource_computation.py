"""Stage 2, resources: whose partitions the controller has to look after.

They are the partitions of the ideal states, and those of the current states, too: a resource that was dropped has no
ideal state any more, but its replicas must still get to DROPPED.

Helix 0.6.9: helix-core/.../controller/stages/ResourceComputationStage.java,
helix-core/.../controller/stages/ResourceValidationStage.java, helix-core/.../model/Resource.java (Resource) · book
8.2.2
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from kafka_lite.mirror.helix.model.state_model_definition import StateModelDefinition
from kafka_lite.mirror.helix.stages.cluster_data import ClusterData

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Resource:
    """A resource with all its partitions, wanted or not."""

    name: str
    state_model: StateModelDefinition
    factory: str
    partitions: tuple[str, ...]


Resources = Mapping[str, Resource]
"""By name, in the order of the names."""


def compute_resources(data: ClusterData) -> Resources:
    """All resources. One whose state model is not in the cluster is left alone."""
    models: dict[str, str | None] = {}
    factories: dict[str, str] = {}
    partitions: dict[str, set[str]] = {}
    for name, ideal_state in data.ideal_states.items():
        models[name], factories[name] = ideal_state.state_model, ideal_state.state_model_factory
        partitions[name] = set(ideal_state.partitions)
    for states in data.current_states.values():
        for name, current in states.items():
            if current.states:  # an empty record of a dropped resource does not bring it back
                models.setdefault(name, current.state_model)
                factories.setdefault(name, current.state_model_factory)
                partitions.setdefault(name, set()).update(current.states)

    resources = {}
    for name in sorted(models):
        model = data.state_models.get(models[name] or "")
        if model is None:
            logger.warning("the state model %s of the resource %s is not in the cluster", models[name], name)
        else:
            resources[name] = Resource(name, model, factories[name], tuple(sorted(partitions[name])))
    return resources
