"""The nodes under /config as a dictionary, in place of a ZooKeeper client."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any


class ConfigStore:
    """Node below /config → its values; and the notifications that were written."""

    def __init__(self) -> None:
        self.nodes: dict[str, dict[str, str]] = {}
        self.changes: list[str] = []
        self.zookeeper: Any = self

    @contextlib.contextmanager
    def refusing_without_room(self) -> Iterator[None]:
        yield

    def get_entity_config(self, path: str) -> dict[str, str]:
        return dict(self.nodes.get(path, {}))

    def set_entity_config(self, path: str, config: Mapping[str, str]) -> None:
        folders = path.split("/")
        for depth in range(2, len(folders), 2):  # a user's node is made for that of a client of it
            self.nodes.setdefault("/".join(folders[:depth]), {})
        self.nodes[path] = dict(config)

    def delete_entity_config(self, path: str) -> None:
        self.nodes.pop(path, None)

    def get_entities(self, folder: str) -> list[str]:
        depth = folder.count("/") + 1
        names = {path.split("/")[depth] for path in self.nodes if path.startswith(f"{folder}/")}
        return sorted(names)

    def create_config_change(self, path: str) -> None:
        self.changes.append(path)
