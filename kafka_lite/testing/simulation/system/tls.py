"""The module ``ssl``: OpenSSL over the world's sockets, or what can only be imported, on a host that has none.

Not in Kafka. A page in a browser has none. ZooKeeper's client imports ``ssl`` for connections that are never made
there.
"""

from __future__ import annotations

import importlib
import importlib.util
import socket
import types
from collections.abc import Mapping
from typing import Final

from kafka_lite.testing.simulation.system.kernel import stand_in
from kafka_lite.testing.simulation.system.refusals import refusing
from kafka_lite.testing.simulation.system.tls_sockets import tls_module

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
    """The stand-in by its name: for ``_ssl``, and for all of ``ssl`` if the host has none."""
    return {"_ssl": tls_module(importlib.import_module("_ssl"))} if _is_there("_ssl") else {"ssl": ssl_module()}


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
