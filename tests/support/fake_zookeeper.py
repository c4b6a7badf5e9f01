"""A ZooKeeper in memory, with sessions and watches, in place of ZooKeeperClient."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.node_operations import ZnodeStat
from kafka_lite.zookeeper.zk_errors import BadVersionError, NodeExistsError, NoNodeError, NotEmptyError, ZkError


@dataclass
class Node:
    data: bytes | None
    owner: int = 0
    version: int = 0
    created_ms: int = 0


@dataclass
class Tree:
    """The data that all sessions see."""

    nodes: dict[str, Node] = field(default_factory=lambda: {"/": Node(None)})
    watches: dict[str, list[Callable[[], None]]] = field(default_factory=dict)
    writes: list[str] = field(default_factory=list)
    """``+ path`` and ``- path``, in order."""
    sessions: int = 0

    def changed(self, path: str) -> None:
        for watched in (path, path.rpartition("/")[0]):
            for callback in list(self.watches.get(watched, [])):
                callback()


class FakeZooKeeper:
    """One session."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.new_session()

    def new_session(self) -> None:
        self.tree.sessions += 1
        self.session_id = self.tree.sessions

    @property
    def session(self) -> tuple[int, bytes]:
        return self.session_id, b""

    def end_session(self) -> None:
        for path in [path for path, node in self.tree.nodes.items() if node.owner == self.session_id]:
            self.delete(path)

    def _node(self, path: str) -> Node:
        if path not in self.tree.nodes:
            raise NoNodeError(path)
        return self.tree.nodes[path]

    @staticmethod
    def _stat(node: Node) -> ZnodeStat:
        return ZnodeStat(node.version, node.created_ms, 0, node.owner, 0, 0, 0, 0, 0, len(node.data or b""), 0)

    def get(self, path: str) -> tuple[bytes | None, ZnodeStat]:
        node = self._node(path)
        return node.data, self._stat(node)

    def get_all(self, paths: Sequence[str]) -> list[tuple[bytes | None, ZnodeStat] | ZkError]:
        return [self.get(path) if path in self.tree.nodes else NoNodeError(path) for path in paths]

    def exists(self, path: str) -> ZnodeStat | None:
        node = self.tree.nodes.get(path)
        return None if node is None else self._stat(node)

    def children(self, path: str) -> list[str]:
        below = [each.rpartition("/") for each in self.tree.nodes]
        return sorted(name for parent, _, name in below if parent == path and name)

    def create(self, path: str, data: bytes | None, *, ephemeral: bool = False, sequential: bool = False) -> str:
        if sequential:
            path = f"{path}{len(self.tree.writes):010d}"
        if path in self.tree.nodes:
            raise NodeExistsError(path)
        self._node(path.rpartition("/")[0] or "/")
        self.tree.nodes[path] = Node(data, self.session_id if ephemeral else 0)
        self.tree.writes.append(f"+ {path}")
        self.tree.changed(path)
        return path

    def create_recursive(self, path: str, data: bytes | None = None) -> None:
        self.ensure_path(path.rpartition("/")[0])
        self.create(path, data)

    def ensure_path(self, path: str) -> None:
        if path and path not in self.tree.nodes:
            self.create_recursive(path)

    def ensure_paths(self, wanted: Iterable[str]) -> None:
        for path in wanted:
            self.ensure_path(path)

    def set(self, path: str, data: bytes | None, version: int = -1) -> int:
        node = self._node(path)
        if version not in (-1, node.version):
            raise BadVersionError(path)
        node.data, node.version = data, node.version + 1
        self.tree.changed(path)
        return node.version

    def set_or_create(self, path: str, data: bytes) -> None:
        if path in self.tree.nodes:
            self.set(path, data)
        else:
            self.create_recursive(path, data)

    def delete(self, path: str, version: int = -1) -> None:
        node = self._node(path)
        if version not in (-1, node.version):
            raise BadVersionError(path)
        if self.children(path):
            raise NotEmptyError(path)
        del self.tree.nodes[path]
        self.tree.writes.append(f"- {path}")
        self.tree.changed(path)

    def delete_recursive(self, path: str) -> bool:
        below = [each for each in self.tree.nodes if each == path or each.startswith(f"{path}/")]
        for each in sorted(below, reverse=True):
            self.delete(each)
        return bool(below)

    def watch_children(self, path: str, callback: Callable[[], None]) -> None:
        self.tree.watches.setdefault(path, []).append(callback)

    watch_data = watch_children

    def refusing_without_room(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    def unwatch(self, path: str) -> None:
        self.tree.watches.pop(path, None)


def fake_zk(tree: Tree) -> KafkaZkClient:
    """A KafkaZkClient with a session of its own on the tree."""
    zk = KafkaZkClient("127.0.0.1:1")
    fake: Any = FakeZooKeeper(tree)
    zk.zookeeper = fake
    return zk
