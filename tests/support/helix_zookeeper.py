"""Helix's managers on a ZooKeeper in memory: controllers, participants and an administrator, each with a session."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.mirror.helix.manager.generic_helix_controller import GenericHelixController
from kafka_lite.mirror.helix.manager.participant_manager import ParticipantManager
from kafka_lite.mirror.helix.manager.routing_table_provider import RoutingTableProvider
from kafka_lite.mirror.helix.manager.zk_helix_admin import ZKHelixAdmin
from kafka_lite.mirror.helix.manager.zk_helix_data_accessor import ZKHelixDataAccessor
from kafka_lite.mirror.helix.model.built_in_state_models import BUILT_IN_STATE_MODELS
from kafka_lite.mirror.helix.model.state_model_definition import StateModelDefinition
from kafka_lite.mirror.helix.participant.state_model import StateMachineEngine, StateModelFactory
from kafka_lite.mirror.helix.property_paths import PropertyPaths
from kafka_lite.mirror.helix.zn_record import ZNRecord
from tests.support.eventually import eventually
from tests.support.fake_zookeeper import FakeZooKeeper, Tree
from tests.support.helix_cluster import AnyTransition

PATHS = PropertyPaths("C")
View = dict[str, dict[str, str]]
"""Partition, instance: the state."""


class SharedTree(Tree):
    """A tree that several threads use. ``after_change`` gets the path of each change."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.RLock()
        self.after_change: Callable[[str], None] = lambda _path: None

    def changed(self, path: str) -> None:
        super().changed(path)
        self.after_change(path)


class FakeSession(FakeZooKeeper):
    """One client of the tree. Its session may expire, and is replaced."""

    tree: SharedTree

    def __init__(self, tree: SharedTree) -> None:
        super().__init__(tree)
        self._listeners: list[Callable[[], None]] = []
        self._own: dict[str, list[Callable[[], None]]] = {}

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name.startswith("_") or not callable(found):
            return found

        def locked(*args: Any, **kwargs: Any) -> Any:
            with super(FakeSession, self).__getattribute__("tree").lock:
                return found(*args, **kwargs)

        return locked

    def ensure_paths(self, wanted: Iterable[str]) -> None:
        for path in wanted:
            self.ensure_path(path)

    def watch_children(self, path: str, callback: Callable[[], None]) -> None:
        self._own.setdefault(path, []).append(callback)
        self.tree.watches.setdefault(path, []).append(callback)

    watch_data = watch_children

    def unwatch(self, path: str) -> None:
        for callback in self._own.pop(path, []):
            self.tree.watches[path].remove(callback)

    def add_session_listener(self, listener: Callable[[], None]) -> None:
        self._listeners.append(listener)

    def expire(self) -> None:
        """The session ends, and another one begins."""
        self.end_session()
        self.new_session()
        for listener in self._listeners:
            listener()


def _factory(model: StateModelDefinition, failing: set[str]) -> StateModelFactory:
    return lambda _resource, partition: AnyTransition(model, partition, failing)


class HelixOnZooKeeper:
    """A cluster. At each change of a current state, no partition may have two replicas in a state that allows one."""

    def __init__(self, connect: Callable[[], Any]) -> None:
        """``connect`` makes a session."""
        self._connect = connect
        self._stack = ExitStack()
        self.sessions: dict[str, Any] = {}
        self.failing: dict[str, set[str]] = {}
        self.accessor = ZKHelixDataAccessor(connect(), PATHS)
        self.admin = ZKHelixAdmin(self.accessor)
        self.admin.add_cluster(BUILT_IN_STATE_MODELS.values())

    def _session(self, name: str) -> ZKHelixDataAccessor:
        self.sessions[name] = self._connect()
        return ZKHelixDataAccessor(self.sessions[name], PATHS)

    def start_controller(self, name: str) -> GenericHelixController:
        controller = GenericHelixController(self._session(name), name, "1@here")
        controller.start()
        self._stack.callback(controller.shutdown)
        eventually(lambda: self.record(PATHS.leader) is not None)  # the first one to be started leads
        return controller

    def start_participant(self, name: str, time: Time = SYSTEM_TIME) -> ParticipantManager:
        engine, failing = StateMachineEngine(), self.failing.setdefault(name, set())
        for model in BUILT_IN_STATE_MODELS.values():
            engine.register(model.name, _factory(model, failing), initial_state=model.initial_state)
        participant = ParticipantManager(self._session(name), name, engine, "1@here", time)
        participant.start()
        self._stack.callback(participant.shutdown)
        return participant

    def start_spectator(self) -> RoutingTableProvider:
        spectator = RoutingTableProvider(self._session("spectator"))
        spectator.start()
        self._stack.callback(spectator.shutdown)
        return spectator

    def record(self, path: str) -> ZNRecord | None:
        return self.accessor.get(path)

    def view(self, resource: str = "t") -> View:
        record = self.record(PATHS.external_view(resource))
        return {} if record is None else {key: dict(states) for key, states in record.map_fields.items()}

    def await_view(self, view: View, resource: str = "t") -> None:
        eventually(lambda: self.view(resource) == view, lambda: self.view(resource))

    def close(self) -> None:
        self._stack.close()


@contextmanager
def helix_in_memory() -> Iterator[HelixOnZooKeeper]:
    """A cluster on a tree in memory, whose current states are checked at each change."""
    tree = SharedTree()
    cluster = HelixOnZooKeeper(lambda: FakeSession(tree))
    broken: list[str] = []

    def check(path: str) -> None:
        if "/CURRENTSTATES/" in path:
            broken.extend(broken_bounds(cluster))

    tree.after_change = check
    try:
        yield cluster
    finally:
        tree.after_change = lambda _path: None
        cluster.close()
    assert broken == []


def broken_bounds(cluster: HelixOnZooKeeper) -> list[str]:
    """The states of live instances that more replicas are in than may be, of resources with one replica or master."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for name in cluster.accessor.children(PATHS.live_instances):
        live = cluster.record(PATHS.live_instance(name))
        if live is None:
            continue
        session = live.simple_fields["SESSION_ID"]
        for resource in cluster.accessor.children(PATHS.current_states(name, session)):
            record = cluster.record(PATHS.current_state(name, session, resource))
            for partition, fields in ({} if record is None else record.map_fields).items():
                counts[resource, partition, fields["CURRENT_STATE"]] += 1
    return [f"{key} {count} times" for key, count in counts.items() if key[2] in ("ONLINE", "MASTER") and count > 1]
