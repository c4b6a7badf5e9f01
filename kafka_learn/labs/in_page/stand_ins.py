"""The modules that labs' tests import and a page does not have: they can be imported, most cannot be used.

Not in Kafka. The stand-ins for ``ssl``, ``fcntl`` and ``mmap`` are the simulator's. ``confluent_kafka`` is imported by
tests with the broker, which a page leaves out.
"""

from __future__ import annotations

import importlib.util
import sys
import types
from collections.abc import Iterator
from typing import Any

CLIENTS = ("confluent_kafka", "confluent_kafka.admin")


class NeedsCloneError(Exception):
    """A page has no sockets, and so no real client."""


def install() -> None:
    """Provide those that this host does not have."""
    for name, module in _missing():
        sys.modules[name] = module
    if sys.platform == "emscripten":
        _map_without_pages()


def _missing() -> Iterator[tuple[str, types.ModuleType]]:
    from kafka_lite.testing.simulation.system.kernel import stand_in
    from kafka_lite.testing.simulation.system.linux import FCNTL
    from kafka_lite.testing.simulation.system.tls import ssl_module

    if not _is_there("_ssl"):
        yield "ssl", ssl_module()
    if not _is_there("fcntl"):
        yield "fcntl", stand_in("fcntl", None, {**FCNTL, **dict.fromkeys(("lockf", "flock", "fcntl"), _nothing)})
    for name in CLIENTS:
        if not _is_there(name):
            yield name, _Client(name)


def _nothing(*_: object) -> int:
    """A page is the only process that sees its files: any lock is free."""
    return 0


class _Client(types.ModuleType):
    """Has every name, so that a file of tests can be loaded; what it names cannot be made."""

    __path__: list[str] = []  # noqa: RUF012 - a package

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        def refuse(*_: object, **__: object) -> None:
            raise NeedsCloneError(f"{self.__name__}.{name} needs sockets: check this lab in a clone")

        return type(name, (Exception,), {"__init__": refuse})


def _map_without_pages() -> None:
    """A mapping of WebAssembly is a copy of the file: use one that reads and writes."""
    import mmap

    from kafka_lite.testing.simulation.system.mappings import mapping_class

    kernel: Any = types.SimpleNamespace(disk=None, open_files={})
    mmap.mmap = mapping_class(kernel, has_pages=False)  # type: ignore[misc]


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ValueError, ModuleNotFoundError):
        return False
