"""A spectator: knows from the external views which instance has which partition in which state.

Helix 0.6.9: helix-core/.../spectator/RoutingTableProvider.java · book 8.2.1
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kafka_lite.mirror.helix.manager.event_thread import EventThread
from kafka_lite.mirror.helix.manager.zk_helix_data_accessor import ZKHelixDataAccessor

View = Mapping[str, Mapping[str, Mapping[str, str]]]
"""Resource, partition, instance: the state."""


class RoutingTableProvider:
    """Follows the external views of a cluster. The last complete table may be read from any thread."""

    def __init__(self, accessor: ZKHelixDataAccessor, on_change: Callable[[View], None] = lambda _view: None) -> None:
        self._accessor = accessor
        self._paths = accessor.paths
        self._on_change = on_change
        self._thread: EventThread[str] = EventThread("HelixSpectator", self._read)
        self._watched: set[str] = set()
        self.view: View = {}

    def start(self) -> None:
        """Read the views, and follow their changes."""
        self._accessor.zk.watch_children(self._paths.external_views, self._changed)
        self._changed()
        self._thread.start()

    def shutdown(self) -> None:
        """Follow no further changes."""
        self._thread.shutdown()

    def instances(self, resource: str, partition: str, state: str) -> list[str]:
        """The instances that have a partition in this state, by name."""
        states = self.view.get(resource, {}).get(partition, {})
        return sorted(instance for instance, found in states.items() if found == state)

    def _changed(self) -> None:
        self._thread.put("views")

    def _read(self, _event: str) -> None:
        names = self._accessor.children(self._paths.external_views)
        for name in set(names) - self._watched:
            self._accessor.zk.watch_data(self._paths.external_view(name), self._changed)
        for name in self._watched - set(names):
            self._accessor.zk.unwatch(self._paths.external_view(name))
        self._watched = set(names)
        records = {name: self._accessor.get(self._paths.external_view(name)) for name in names}
        self.view = {name: record.map_fields for name, record in records.items() if record is not None}
        self._on_change(self.view)
