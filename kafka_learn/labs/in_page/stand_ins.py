"""The modules that labs' tests import and a page does not have: they can be imported, most cannot be used.

Not in Kafka. The stand-ins for ``ssl``, ``fcntl`` and ``mmap`` are the simulator's. ``confluent_kafka`` is imported by
tests with the broker, which a page leaves out.
"""

from __future__ import annotations

import functools
import hashlib
import hmac
import importlib.util
import os
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any, Final

from kafka_lite.testing.simulation.system import linux

BLOCK: Final = 4096
"""Bytes of a block of a disk: a hole has whole ones."""
CLIENTS = ("confluent_kafka", "confluent_kafka.admin")


class NeedsCloneError(Exception):
    """A page has no sockets, and so no real client."""


def install() -> None:
    """Provide those that this host does not have."""
    for name, module in _missing():
        sys.modules[name] = module
    if sys.platform == "emscripten":
        _map_without_pages()
    if not hasattr(hashlib, "pbkdf2_hmac"):
        hashlib.pbkdf2_hmac = pbkdf2_hmac  # type: ignore[assignment]
    if not hasattr(os, "SEEK_HOLE"):
        os.SEEK_DATA, os.SEEK_HOLE = linux.SEEK_DATA, linux.SEEK_HOLE  # type: ignore[misc]
        os.lseek = functools.partial(lseek, os.lseek)


def _missing() -> Iterator[tuple[str, types.ModuleType]]:
    from kafka_lite.testing.simulation.system.kernel import stand_in
    from kafka_lite.testing.simulation.system.tls import ssl_module

    if not _is_there("_ssl"):
        yield "ssl", ssl_module()
    if not _is_there("fcntl"):
        yield "fcntl", stand_in("fcntl", None, {**linux.FCNTL, **dict.fromkeys(("lockf", "flock", "fcntl"), _nothing)})
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


def pbkdf2_hmac(hash_name: str, password: bytes, salt: bytes, iterations: int, dklen: int | None = None) -> bytes:
    """``hashlib.pbkdf2_hmac`` (RFC 2898, 5.2), which comes with OpenSSL."""
    keyed = hmac.new(password, digestmod=hash_name)

    def mac(text: bytes) -> bytes:
        own = keyed.copy()
        own.update(text)
        return own.digest()

    key = b""
    wanted = keyed.digest_size if dklen is None else dklen
    for block in range(1, -(-wanted // keyed.digest_size) + 1):
        last = mac(salt + block.to_bytes(4, "big"))
        mixed = int.from_bytes(last, "big")
        for _ in range(iterations - 1):
            last = mac(last)
            mixed ^= int.from_bytes(last, "big")
        key += mixed.to_bytes(keyed.digest_size, "big")
    return key[:wanted]


def lseek(plain: Callable[[int, int, int], int], fd: int, position: int, whence: int) -> int:
    """``os.lseek`` that knows holes: the first block of zeros from a position on, else the end of the file."""
    if whence != linux.SEEK_HOLE:
        return plain(fd, position, whence)
    size = os.fstat(fd).st_size
    starts = range(position - position % BLOCK, size, BLOCK)
    hole = next((start for start in starts if not any(os.pread(fd, BLOCK, start))), size)
    return plain(fd, max(hole, position), os.SEEK_SET)


def _map_without_pages() -> None:
    """A mapping of WebAssembly is a copy of the file: use one that reads and writes. Memory stays the host's."""
    import mmap

    from kafka_lite.testing.simulation.system.kernel import stand_in
    from kafka_lite.testing.simulation.system.mappings import mapping_class

    kernel: Any = types.SimpleNamespace(disk=None, open_files={})
    sys.modules["mmap"] = stand_in("mmap", mmap, {"mmap": mapping_class(kernel, has_pages=False)})


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ValueError, ModuleNotFoundError):
        return False
