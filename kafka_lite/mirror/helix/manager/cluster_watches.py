"""The znodes that a controller watches, and the events that their changes are.

    IDEALSTATES, IDEALSTATES/R                       ideal state
    CONFIGS/PARTICIPANT, CONFIGS/PARTICIPANT/I       configuration
    LIVEINSTANCES                                    live instance
    INSTANCES/I/MESSAGES                             message           of live instances
    INSTANCES/I/CURRENTSTATES, …/SESSION, …/R        current state
    CONTROLLER/PAUSE                                 resume

Helix 0.6.9: helix-core/.../controller/GenericHelixController.java (GenericHelixController),
helix-core/.../manager/zk/CallbackHandler.java (CallbackHandler) · book 8.2.2
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from kafka_lite.mirror.helix.manager.zk_helix_data_accessor import ZKHelixDataAccessor
from kafka_lite.mirror.helix.pipeline import ClusterEvent
from kafka_lite.mirror.helix.property_paths import PropertyPaths
from kafka_lite.mirror.helix.stages.cluster_data import ClusterData

CHILDREN, DATA = "children", "data"
Wanted = Mapping[tuple[str, str], ClusterEvent]


def wanted_watches(data: ClusterData, paths: PropertyPaths) -> Wanted:
    """The watches for a cluster as it was read: kind and path, and the event that follows."""
    return dict(_watches(data, paths))


def _watches(data: ClusterData, paths: PropertyPaths) -> Iterator[tuple[tuple[str, str], ClusterEvent]]:
    yield (CHILDREN, paths.ideal_states), ClusterEvent.IDEAL_STATE_CHANGE
    yield (CHILDREN, paths.configs("PARTICIPANT")), ClusterEvent.CONFIG_CHANGE
    yield (CHILDREN, paths.live_instances), ClusterEvent.LIVE_INSTANCE_CHANGE
    yield (DATA, paths.pause), ClusterEvent.RESUME
    for resource in data.ideal_states:
        yield (DATA, paths.ideal_state(resource)), ClusterEvent.IDEAL_STATE_CHANGE
    for instance in data.instance_configs:
        yield (DATA, paths.instance_config(instance)), ClusterEvent.CONFIG_CHANGE
    for name, live in data.live_instances.items():
        yield (CHILDREN, paths.messages(name)), ClusterEvent.MESSAGE_CHANGE
        yield (CHILDREN, paths.instance(name, "CURRENTSTATES")), ClusterEvent.CURRENT_STATE_CHANGE
        yield (CHILDREN, paths.current_states(name, live.session)), ClusterEvent.CURRENT_STATE_CHANGE
        for resource in data.current_states.get(name, {}):
            yield (DATA, paths.current_state(name, live.session, resource)), ClusterEvent.CURRENT_STATE_CHANGE


class ClusterWatches:
    """Keeps the watches in ZooKeeper those that are wanted. Used by one thread."""

    def __init__(self, accessor: ZKHelixDataAccessor, on_event: Callable[[ClusterEvent], None]) -> None:
        self._accessor = accessor
        self._on_event = on_event
        self._set: dict[tuple[str, str], ClusterEvent] = {}

    def update(self, wanted: Wanted) -> bool:
        """Set what is missing, and remove what is not wanted any more. Returns whether anything was set.

        What was set may have changed since the cluster was read: then it has to be read once more.
        """
        for kind, path in self._set.keys() - wanted.keys():
            self._accessor.zk.unwatch(path)
            del self._set[kind, path]
        missing = [watch for watch in wanted if watch not in self._set and self._is_there(*watch)]
        for watch in missing:
            kind, path = watch
            callback = partial(self._on_event, wanted[watch])
            if kind == CHILDREN:
                self._accessor.zk.watch_children(path, callback)
            else:
                self._accessor.zk.watch_data(path, callback)
            self._set[watch] = wanted[watch]
        return bool(missing)

    def _is_there(self, kind: str, path: str) -> bool:
        """A watch for children needs the znode; if it comes later, its parent's watch reports it."""
        return kind == DATA or self._accessor.zk.exists(path) is not None

    def remove_all(self) -> None:
        """Watch nothing any more."""
        self.update({})
