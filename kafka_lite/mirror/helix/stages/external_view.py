"""Stage 9, external view: the states that live instances have, for spectators, which ask where a resource is served.

Helix 0.6.9: helix-core/.../controller/stages/ExternalViewComputeStage.java, helix-core/.../model/ExternalView.java
(ExternalView) · book 8.2.2
"""

from __future__ import annotations

from kafka_lite.mirror.helix.property_paths import PropertyPaths
from kafka_lite.mirror.helix.stages.cluster_data import ClusterData
from kafka_lite.mirror.helix.stages.current_state_computation import CurrentStateOutput
from kafka_lite.mirror.helix.stages.resource_computation import Resource, Resources
from kafka_lite.mirror.helix.writes import Delete, Put
from kafka_lite.mirror.helix.zn_record import ZNRecord, sorted_fields


def compute_external_views(
    data: ClusterData, resources: Resources, current: CurrentStateOutput, paths: PropertyPaths
) -> list[Put | Delete]:
    """The views that have changed, and those whose resource has gone."""
    writes: list[Put | Delete] = []
    for name, resource in resources.items():
        view = external_view(data, resource, current)
        if view != data.external_views.get(name):
            writes.append(Put(paths.external_view(name), view))
    writes += [Delete(paths.external_view(name)) for name in data.external_views if name not in resources]
    return writes


def external_view(data: ClusterData, resource: Resource, current: CurrentStateOutput) -> ZNRecord:
    """The view of one resource, with the simple fields of its ideal state, or of the last view once it is dropped."""
    ideal_state = data.ideal_states.get(resource.name)
    last_view = data.external_views.get(resource.name)
    template = ideal_state.record if ideal_state is not None else last_view
    fields = {"BUCKET_SIZE": "0", **(template.simple_fields if template is not None else {})}
    states = {partition: current.states_of((resource.name, partition)) for partition in resource.partitions}
    maps = {partition: sorted_fields(of_partition) for partition, of_partition in states.items() if of_partition}
    return ZNRecord(resource.name, sorted_fields(fields), {}, maps)
