"""The world's ``_ssl``: Python's own ``ssl.py`` over sockets of the world, whose bytes are as many in every run."""

from __future__ import annotations

import ssl
import sys
import types
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kafka_lite.testing.security.certificate_authority import CertificateAuthority
from kafka_lite.testing.simulation.event_log import EventLog
from kafka_lite.testing.simulation.network import Network
from kafka_lite.testing.simulation.scheduler import Owner, Scheduler
from kafka_lite.testing.simulation.secured.workload import CERTIFICATE, TLS
from kafka_lite.testing.simulation.system.kernel import NotSimulatedError
from kafka_lite.testing.simulation.system.modules import Modules
from tests.unit.testing.simulation.system.test_sockets import PORT, STEADY, Process

pytestmark = pytest.mark.skipif(sys.version_info >= (3, 14), reason="Python 3.14 is not simulated yet")
HOST = "10.0.0.1"
"""The server's address: the first machine of its world."""


class SecuredWorld:
    """A server and a client with modules of their own, ten milliseconds apart."""

    def __init__(self, seed: int = 1) -> None:
        self.sizes: list[str] = []
        self.scheduler = Scheduler(Random(seed), EventLog())
        self.network = Network(self.scheduler, Random(seed), STEADY, self._event)
        self.network.encrypted_ports.add(PORT)
        self.server, self.client = self._process("server"), self._process("client")

    def _event(self, what: str) -> None:
        self.sizes.append(what)

    def _process(self, name: str) -> Any:
        modules = Modules()
        kernel = modules.kernel
        kernel.scheduler, kernel.network, kernel.owner, kernel.machine = (
            self.scheduler, self.network, Owner(name), name,
        )  # fmt: skip
        self.network.add_machine(name)
        return types.SimpleNamespace(ssl=modules.load("ssl"), socket=modules.load("socket"))

    def run(self, *threads: Callable[[], None]) -> None:
        for each in threads:
            self.scheduler.spawn(Owner("threads"), "thread", each)
        self.scheduler.run(until_ns=self.scheduler.now_ns + 10 * 10**9)


def talk(world: SecuredWorld, folder: Path, *, trusted: str = CERTIFICATE, timeout_s: float | None = 5.0) -> list[Any]:
    """A handshake, and an echo; what became of it at both ends."""
    found: list[Any] = []
    keys = folder / "keys.pem"
    keys.write_text(TLS["ssl.keystore.key"] + TLS["ssl.keystore.certificate.chain"])
    server, client = world.server, world.client
    listener = server.socket.create_server((HOST, PORT))

    def serve() -> None:
        context = server.ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(keys)
        sock, _ = listener.accept()
        try:
            secured = context.wrap_socket(sock, server_side=True)
            secured.sendall(secured.recv(100)[::-1] * 50_000)
            found.append(secured.recv(100))
            secured.close()
        except OSError as error:
            found.append(type(error))

    def ask() -> None:
        context = client.ssl.create_default_context(cadata=trusted)
        sock = client.socket.create_connection((HOST, PORT), timeout=timeout_s)
        try:
            secured = context.wrap_socket(sock, server_hostname=HOST)
            secured.sendall(b"hello")
            buffer = bytearray(250_000)
            count = 0
            while count < len(buffer):
                count += secured.recv_into(memoryview(buffer)[count:])
            found.extend([secured.version(), bytes(buffer[:5]), type(secured)])
            secured.close()
        except OSError as error:
            found.append(type(error))

    world.run(serve, ask)
    return found


def test_pythons_own_sockets_of_tls_work_over_those_of_the_world(tmp_path: Path) -> None:
    world = SecuredWorld()
    assert talk(world, tmp_path) == ["TLSv1.3", b"olleh", world.client.ssl.SSLSocket, b""]
    assert world.client.ssl.SSLSocket is not ssl.SSLSocket, "over the world's sockets, not the real ones"


def test_another_run_has_as_many_bytes_at_the_same_times(tmp_path: Path) -> None:
    worlds = [SecuredWorld() for _ in range(8)]
    for number, world in enumerate(worlds):
        (tmp_path / str(number)).mkdir()
        talk(world, tmp_path / str(number))
    assert len(worlds[0].sizes) > 8
    assert [world.sizes for world in worlds] == [worlds[0].sizes] * len(worlds)
    assert not any(", " in each for each in worlds[0].sizes if each.endswith("bytes")), "no content, which differs"


def test_a_certificate_that_is_not_trusted_is_refused_at_both_ends(tmp_path: Path) -> None:
    found = talk(SecuredWorld(), tmp_path, trusted=CertificateAuthority().certificate)
    assert set(found) == {ssl.SSLCertVerificationError, ssl.SSLError}


def test_a_socket_that_may_not_wait_is_not_simulated() -> None:
    world = SecuredWorld()
    context = world.client.ssl.create_default_context()
    engine = context._wrap_socket(Process(_Apart(), "another").socket(), False, HOST, owner=None, session=None)
    engine._sock.setblocking(False)
    with pytest.raises(NotSimulatedError, match="does not wait"):
        engine.do_handshake()


class _Apart:
    """A network for a socket that connects to nothing."""

    def __init__(self) -> None:
        self.scheduler = Scheduler(Random(1), EventLog())
        self.network = Network(self.scheduler, Random(1), STEADY, lambda _event: None)
