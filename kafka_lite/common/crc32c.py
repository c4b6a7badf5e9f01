"""CRC-32C, the checksum of record batches: in C, by the processor's own instruction where it has one.

Kafka 3.9: clients/.../common/utils/Crc32C.java · book 6.1.2

The package ``crc32c`` looks up its own version when it is imported, and for that imports parsers of mail and of zip
files: a twentieth of a broker's start, and a quarter of that of a small tool. So the extension module in it is loaded
by itself. Where it does not lie as a file beside the package's others, the package is imported after all.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from types import ModuleType

__all__ = ["crc32c"]


def _extension() -> ModuleType:
    package = PathFinder.find_spec("crc32c")
    locations = package.submodule_search_locations if package is not None else None
    spec = PathFinder.find_spec("_crc32c", locations) if locations else None
    if spec is None or spec.loader is None:
        import crc32c

        return crc32c
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


crc32c: Callable[..., int] = _extension().crc32c
"""``crc32c(data, value=0)``: the checksum of the data, continued from ``value``."""
