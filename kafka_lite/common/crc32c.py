"""CRC-32C, the checksum of record batches, computed in C and with the CPU's CRC instruction if it has one.

Kafka 3.9: clients/.../common/utils/Crc32C.java · book 6.1.2

The package ``crc32c`` looks up its own version when it is imported, which pulls in parsers for mail and zip files: a
twentieth of a broker's start-up time, and a quarter of a small tool's. So we load only its extension module. If that is
not a separate file in the package, we import the whole package. A host without the package computes it in Python.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from types import ModuleType

from kafka_lite.common import pure_python_crc32c

__all__ = ["crc32c"]


def _extension() -> ModuleType:
    package = PathFinder.find_spec("crc32c")
    locations = package.submodule_search_locations if package is not None else None
    spec = PathFinder.find_spec("_crc32c", locations) if locations else None
    if spec is None or spec.loader is None:
        return _package()
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _package() -> ModuleType:
    try:
        import crc32c
    except ImportError:
        return pure_python_crc32c
    return crc32c


crc32c: Callable[..., int] = _extension().crc32c
"""``crc32c(data, value=0)``: the checksum of ``data``, continuing from ``value``."""
