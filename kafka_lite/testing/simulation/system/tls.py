"""The module ``ssl`` on a host that has none, such as a page in a browser: it can be imported, not used.

Not in Kafka. ZooKeeper's client imports ``ssl`` for connections that a world never makes. On any other host all
processes share the real module, which does no I/O of its own.
"""

from __future__ import annotations

import importlib.util
import socket
import types
from collections.abc import Mapping
from typing import Final

from kafka_lite.testing.simulation.system.kernel import stand_in
from kafka_lite.testing.simulation.system.refusals import refusing

USED: Final = ("SSLContext", "create_default_context", "wrap_socket")
"""Names by which TLS begins."""


class SSLError(OSError):
    """``ssl.SSLError``: programs name it, and nothing raises it."""


class SSLWantReadError(SSLError):
    """``ssl.SSLWantReadError``."""


class SSLWantWriteError(SSLError):
    """``ssl.SSLWantWriteError``."""


class SSLEOFError(SSLError):
    """``ssl.SSLEOFError``."""


class SSLSocket(socket.socket):
    """``ssl.SSLSocket``, which programs extend. Only a context makes one, and there is none."""


def tls_modules() -> Mapping[str, types.ModuleType]:
    """The stand-in by its name, if the host has no ``ssl``."""
    return {} if _is_there("_ssl") else {"ssl": ssl_module()}


def ssl_module() -> types.ModuleType:
    """An ``ssl`` that raises NotSimulatedError when a context is made."""
    names: dict[str, object] = {
        "SSLError": SSLError, "SSLWantReadError": SSLWantReadError, "SSLWantWriteError": SSLWantWriteError,
        "SSLEOFError": SSLEOFError, "SSLSocket": SSLSocket, "SSL_ERROR_WANT_READ": 2, "SSL_ERROR_WANT_WRITE": 3,
    }  # fmt: skip
    return stand_in("ssl", None, names | {name: refusing(f"ssl.{name}") for name in USED})


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ValueError:  # sys.modules has None for it, so that its import raises ImportError
        return False
