"""A broker that refuses a client's certificate, before the first response with TLS 1.3: no lost connection."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kafka_lite.network.authentication_error import SslAuthenticationError
from kafka_lite.network.blocking_channel import BlockingChannel, NotConnectedError
from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatRequest
from kafka_lite.security.ssl.ssl_factory import SslFactory
from kafka_lite.testing.security.certificate_authority import CertificateAuthority, Credential
from tests.support.network import LOOPBACK

HEARTBEAT = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")
AUTHORITY = CertificateAuthority()
STRANGER = CertificateAuthority("strangers")


@contextmanager
def broker(folder: Path, version: ssl.TLSVersion) -> Iterator[int]:
    """Asks one client for a certificate, reads its first request and hangs up."""
    own = AUTHORITY.issue("broker", ["localhost"])
    store = folder / "broker.pem"
    store.write_text(own.key + own.certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = context.maximum_version = version
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_cert_chain(store)
    context.load_verify_locations(cadata=AUTHORITY.certificate)

    def serve() -> None:
        sock, _ = server.accept()
        try:
            with context.wrap_socket(sock, server_side=True) as secured:
                secured.recv(1000)
        except OSError:
            sock.close()

    with socket.create_server((LOOPBACK, 0)) as server:
        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()[1]
        thread.join(30)


def channel(port: int, own: Credential | None) -> BlockingChannel:
    keys: dict[str, Any] = {"ssl.truststore.certificates": AUTHORITY.certificate}
    if own is not None:
        keys |= {"ssl.keystore.key": own.key, "ssl.keystore.certificate.chain": own.certificate}
    return BlockingChannel("localhost", port, security=SslFactory(keys, server=False))


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize(
    "own",
    [None, STRANGER.issue("alice"), AUTHORITY.issue("alice", expired=True)],
    ids=["none", "of a stranger", "expired"],
)
def test_a_certificate_that_is_refused(tmp_path: Path, version: ssl.TLSVersion, own: Credential | None) -> None:
    with broker(tmp_path, version) as port:
        refused = channel(port, own)
        with pytest.raises(SslAuthenticationError, match=f"localhost:{port}: SSL handshake failed: .*alert"), refused:
            refused.exchange(HEARTBEAT, 0)
        assert not refused.is_connected


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_broker_that_hangs_up_is_a_lost_connection(tmp_path: Path, version: ssl.TLSVersion) -> None:
    with (
        broker(tmp_path, version) as port,
        channel(port, AUTHORITY.issue("alice")) as accepted,
        pytest.raises(NotConnectedError, match="lost the connection"),
    ):
        accepted.exchange(HEARTBEAT, 0)
