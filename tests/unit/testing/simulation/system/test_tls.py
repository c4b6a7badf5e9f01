"""The stand-ins for ``_ssl``, and for the ``ssl`` of a host that has none."""

from __future__ import annotations

import _ssl
import socket
import sys

import pytest

from kafka_lite.testing.simulation.system.kernel import NotSimulatedError
from kafka_lite.testing.simulation.system.tls import ssl_module, tls_modules


def test_a_host_with_ssl_has_a_stand_in_for_what_is_below_it() -> None:
    (module,) = tls_modules().values()
    assert module.__name__ == "_ssl"
    assert issubclass(module._SSLContext, _ssl._SSLContext)


def test_a_host_without_ssl_gets_one_that_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "_ssl", None)
    assert set(tls_modules()) == {"ssl"}


def test_the_stand_in_is_caught_by_its_errors_and_refuses_to_begin() -> None:
    ssl = ssl_module()
    assert issubclass(ssl.SSLWantReadError, ssl.SSLError)
    with pytest.raises(NotSimulatedError, match=r"ssl\.SSLContext"):
        ssl.SSLContext()


def test_no_socket_is_one_of_the_stand_in() -> None:
    """ZooKeeper's client asks each of its sockets, and clients' sockets extend it."""
    with socket.socket() as plain:
        assert not isinstance(plain, ssl_module().SSLSocket)
