"""Both ends of TLS in one thread, over a pair of sockets."""

from __future__ import annotations

import contextlib
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from kafka_lite.common.security.kafka_principal import ANONYMOUS, KafkaPrincipal
from kafka_lite.common.security_protocol import SecurityProtocol
from kafka_lite.network.authentication_error import AuthenticationError, SslAuthenticationError
from kafka_lite.network.nio_selector import WRITE, NioSelector
from kafka_lite.network.selector import Selector
from kafka_lite.network.send import NetworkSend
from kafka_lite.security.auth.distinguished_name import subject_of
from kafka_lite.security.channel_builders import server_channel_builder
from kafka_lite.security.ssl.ssl_factory import SslFactory
from kafka_lite.security.ssl.ssl_transport_layer import SslTransportLayer, is_refusal
from tests.support.certificates import Pem, certificate, keys_and_trust, server_certificate


def server_factory(own: Pem | None = None, **settings: object) -> SslFactory:
    return SslFactory(keys_and_trust(own or server_certificate(), server_certificate(), **settings), server=True)


def client_factory(own: Pem | None = None, trusted: Pem | None = None, **settings: object) -> SslFactory:
    return SslFactory(keys_and_trust(own, trusted or server_certificate(), **settings), server=False)


class Ends:
    """A client and a server on a pair of sockets, without handshake so far."""

    def __init__(self, client: SslFactory, server: SslFactory, host: str, selector: NioSelector) -> None:
        self.client_socket, self.server_socket = socket.socketpair()
        for sock in (self.client_socket, self.server_socket):
            sock.setblocking(False)
        self.client = self._built(client.build_transport(selector, self.client_socket, host))
        self.server = self._built(server.build_transport(selector, self.server_socket, ""))

    @staticmethod
    def _built(transport: object) -> SslTransportLayer:
        assert isinstance(transport, SslTransportLayer)
        return transport

    def shake(self) -> None:
        """Until both are done; each step has something to read, so ten are plenty."""
        for _ in range(10):
            if self.client.handshake() & self.server.handshake():
                return
        raise AssertionError("no end of the handshake")


@pytest.fixture
def ends() -> Iterator[Callable[..., Ends]]:
    with _ends() as make:
        yield make


@contextmanager
def _ends() -> Iterator[Callable[..., Ends]]:
    made: list[Ends] = []
    selector = NioSelector()

    def make(client: SslFactory | None = None, server: SslFactory | None = None, host: str = "localhost") -> Ends:
        made.append(Ends(client or client_factory(), server or server_factory(), host, selector))
        return made[-1]

    yield make
    for pair in made:
        pair.client.close()
        pair.server.close()
    selector.close()


def send_of(data: bytes, *more: object) -> NetworkSend:
    return NetworkSend("x", [data, *more])  # type: ignore[list-item]


def transferred(sender: SslTransportLayer, receiver: SslTransportLayer, send: NetworkSend, room: int = 4096) -> bytes:
    """All bytes of a send, as they arrive."""
    received = bytearray()
    buffer = bytearray(room)
    size = send.size_in_bytes
    while len(received) < size:
        sender.write(send)
        received += buffer[: receiver.recv_into(buffer)]
    assert send.completed
    return bytes(received[4:])


# ── A handshake, and bytes ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("version", ["TLSv1.2", "TLSv1.3"])
def test_a_handshake_and_bytes_in_both_directions(ends: Callable[..., Ends], version: str) -> None:
    pair = ends(client_factory(ssl_enabled_protocols=[version]))
    pair.shake()

    assert pair.client.version == pair.server.version == version
    assert transferred(pair.client, pair.server, send_of(b"question")) == b"question"
    assert transferred(pair.server, pair.client, send_of(b"response")) == b"response"
    assert pair.server.peer_certificate is None


@pytest.mark.parametrize("room", [7, 1000, 64 * 1024])
def test_megabytes_pass_through_small_sockets(ends: Callable[..., Ends], room: int) -> None:
    pair = ends()
    pair.shake()
    pair.server_socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    data = bytes(range(256)) * (400 if room < 1000 else 8000)

    assert transferred(pair.server, pair.client, send_of(data), room) == data


def test_a_send_is_not_completed_before_its_bytes_are_with_the_kernel(ends: Callable[..., Ends]) -> None:
    pair = ends()
    pair.shake()
    send = send_of(b"x" * 3_000_000)

    assert not pair.server.write(send)
    assert not send.completed
    before = send.remaining_bytes
    assert not pair.server.write(send)  # the socket is still full
    assert send.remaining_bytes == before


def test_parts_of_all_kinds_arrive_in_order(ends: Callable[..., Ends]) -> None:
    class Slice:
        size_in_bytes = 100_000

        def send_to(self, sock: socket.socket, offset: int, length: int) -> int:
            raise AssertionError("sendfile would send plain text")

        def to_bytes(self) -> bytes:
            return b"s" * self.size_in_bytes

    pair = ends()
    pair.shake()
    send = send_of(b"a" * 5000, bytearray(b"b"), Slice(), memoryview(b"c" * 70_000), b"d")

    assert transferred(pair.server, pair.client, send) == (b"a" * 5000 + b"b" + b"s" * 100_000 + b"c" * 70_000 + b"d")


def test_a_slice_that_ended_early_breaks_the_connection(ends: Callable[..., Ends]) -> None:
    class Cut:
        size_in_bytes = 10

        def send_to(self, sock: socket.socket, offset: int, length: int) -> int:
            raise AssertionError

        def to_bytes(self) -> bytes:
            return b"1234"

    pair = ends()
    pair.shake()
    with pytest.raises(ConnectionError, match="ended 6 bytes early"):
        pair.server.write(send_of(b"head", Cut()))


def test_what_the_kernel_no_longer_has_is_announced(ends: Callable[..., Ends]) -> None:
    pair = ends()
    pair.shake()
    pair.client.write(send_of(b"x" * 96))

    assert pair.server.recv_into(bytearray(60)) == 60
    assert pair.server.has_buffered_bytes
    assert pair.server.recv_into(bytearray(60)) == 40
    assert not pair.server.has_buffered_bytes
    assert pair.server.recv_into(bytearray(60)) == 0


def test_bytes_that_come_with_the_end_of_the_handshake_are_announced(ends: Callable[..., Ends]) -> None:
    pair = ends()
    while not pair.client.handshake():
        pair.server.handshake()
    pair.client.write(send_of(b"at once"))

    assert pair.server.handshake()
    assert pair.server.has_buffered_bytes
    buffer = bytearray(100)
    assert buffer[4 : pair.server.recv_into(buffer)] == b"at once"


def test_a_handshake_waits_for_a_full_socket(ends: Callable[..., Ends]) -> None:
    pair = ends()
    pair.client_socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
    filled = 0
    while True:
        try:
            filled += pair.client_socket.send(b"\0" * 1000)
        except BlockingIOError:
            break

    assert not pair.client.handshake()
    assert pair.client._interest & WRITE
    pair.server_socket.setblocking(True)
    while filled:
        filled -= len(pair.server_socket.recv(filled))
    pair.server_socket.setblocking(False)
    pair.shake()
    assert not pair.client._interest & WRITE


# ── Who is who ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_client_certificate_gives_the_principal_s_name(ends: Callable[..., Ends]) -> None:
    alice = certificate("alice.example", common_name="alice")
    for mode in ("requested", "required"):
        pair = ends(client_factory(alice), server_factory(ssl_client_auth=mode))
        pair.shake()
        found = pair.server.peer_certificate
        assert found is not None
        assert subject_of(found).startswith("CN=alice,")


def test_a_client_certificate_names_a_user_and_one_that_no_rule_maps_is_refused(ends: Callable[..., Ends]) -> None:
    alice = certificate("alice.example", common_name="alice")
    for rules, principal in (
        ("RULE:^CN=(.*?),.*$/$1/U", KafkaPrincipal("User", "ALICE")),
        ("RULE:^CN=bob,.*$/bob/", None),
    ):
        config = keys_and_trust(server_certificate(), server_certificate(), ssl_client_auth="required")
        server = server_channel_builder(SecurityProtocol.SSL, "SSL", config | {"ssl.principal.mapping.rules": rules})
        pair = ends(client_factory(alice), server)
        if principal is None:
            assert failure(pair)[1].startswith("SslAuthenticationError: No rules apply to CN=alice,")
        else:
            pair.shake()
            assert pair.server.principal == principal
            assert pair.client.principal == ANONYMOUS


def test_a_client_without_a_certificate_is_let_in_if_it_is_only_requested(ends: Callable[..., Ends]) -> None:
    pair = ends(server=server_factory(ssl_client_auth="requested"))
    pair.shake()
    assert pair.server.peer_certificate is None


REFUSED = (certificate("m.example", of="Foreign CA"), certificate("m.example", expired=True))


def failure(pair: Ends) -> tuple[str, str]:
    """The errors that client and server report, empty for none."""
    errors = ["", ""]
    buffer = bytearray(100)
    for _ in range(10):
        for index, end in enumerate((pair.client, pair.server)):
            try:
                if not errors[index] and end.handshake():
                    end.recv_into(buffer)  # in TLS 1.3 the client hears of a refused certificate only here
            except OSError as error:
                errors[index] = f"{type(error).__name__}: {error.strerror}"
    return errors[0], errors[1]


def test_a_client_without_a_certificate_is_refused_if_one_is_required(ends: Callable[..., Ends]) -> None:
    client, server = failure(ends(server=server_factory(ssl_client_auth="required")))
    assert server == "SslAuthenticationError: SSL handshake failed: peer did not return a certificate"
    assert client == "SslAuthenticationError: SSL handshake failed: tlsv13 alert certificate required"


@pytest.mark.parametrize("version", ["TLSv1.2", "TLSv1.3"])
@pytest.mark.parametrize("own", [None, *REFUSED], ids=["none", "of a stranger", "expired"])
def test_a_refused_client_hears_it(ends: Callable[..., Ends], own: Pem | None, version: str) -> None:
    """Even if it only writes, and has sent a request before the broker could refuse it."""
    for writes in (False, True):
        pair = ends(client_factory(own, ssl_enabled_protocols=[version]), server_factory(ssl_client_auth="required"))
        with pytest.raises(SslAuthenticationError, match=r"SSL handshake failed: .*alert"):
            talk(pair, writes=writes)


def talk(pair: Ends, *, writes: bool) -> None:
    """A client that sends requests, or waits for a response; the server hangs up once it has refused it."""
    for _ in range(10):
        ready = pair.client.handshake()
        with contextlib.suppress(AuthenticationError):
            pair.server.handshake()
            continue
        pair.server_socket.close()
        for _ in range(3):
            if not ready:
                pair.client.handshake()
            elif writes:
                pair.client.write(send_of(b"request"))
            else:
                pair.client.recv_into(bytearray(100))


def test_a_broker_that_hangs_up_after_the_handshake_has_refused_nothing(ends: Callable[..., Ends]) -> None:
    pair = ends()
    pair.shake()
    pair.server_socket.close()
    with pytest.raises(ConnectionError) as raised:
        pair.client.write(send_of(b"request"))
    assert not isinstance(raised.value, AuthenticationError)


@pytest.mark.parametrize(
    ("own", "why"),
    [
        (REFUSED[0], "certificate verify failed: unable to get local issuer certificate"),
        (REFUSED[1], "certificate verify failed: certificate has expired"),
    ],
)
def test_a_bad_client_certificate_is_refused(ends: Callable[..., Ends], own: Pem, why: str) -> None:
    _, server = failure(ends(client_factory(own), server_factory(ssl_client_auth="required")))
    assert server == f"SslAuthenticationError: SSL handshake failed: {why}"


@pytest.mark.parametrize(
    ("own", "host", "why"),
    [
        (certificate("localhost", of="Foreign CA"), "localhost", "unable to get local issuer certificate"),
        (certificate("localhost", expired=True), "localhost", "certificate has expired"),
        (server_certificate(), "other.example", "Hostname mismatch, certificate is not valid for 'other.example'."),
        (server_certificate(), "127.0.0.2", "IP address mismatch, certificate is not valid for '127.0.0.2'."),
    ],
)
def test_a_client_refuses_a_server_that_it_did_not_ask_for(
    ends: Callable[..., Ends], own: Pem, host: str, why: str
) -> None:
    client, server = failure(ends(server=server_factory(own), host=host))
    assert client == f"SslAuthenticationError: SSL handshake failed: certificate verify failed: {why}"
    assert "alert" in server


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("TLSV13_ALERT_CERTIFICATE_REQUIRED", True),
        ("SSLV3_ALERT_BAD_CERTIFICATE", True),
        ("TLSV1_ALERT_UNKNOWN_CA", True),
        ("TLSV1_ALERT_INTERNAL_ERROR", False),
        ("CERTIFICATE_VERIFY_FAILED", False),
        (None, False),
    ],
)
def test_which_alerts_refuse_a_certificate(reason: str | None, expected: bool) -> None:
    error = ssl.SSLError()
    error.reason = reason  # type: ignore[assignment]
    assert is_refusal(error) is expected


def test_a_client_may_be_told_not_to_check_the_host(ends: Callable[..., Ends]) -> None:
    lenient = client_factory(ssl_endpoint_identification_algorithm="")
    ends(lenient, host="other.example").shake()


def test_no_common_version(ends: Callable[..., Ends]) -> None:
    pair = ends(client_factory(ssl_enabled_protocols=["TLSv1.2"]), server_factory(ssl_enabled_protocols=["TLSv1.3"]))
    client, server = failure(pair)
    assert server == "SslAuthenticationError: SSL handshake failed: unsupported protocol"
    assert "version" in client


# ── Strangers ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "garbage",
    [b"\0\0\0\x14\0\x12\0\0" + b"\0" * 16, b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 100, b"\x16\x03\x01\xff\xff" * 9],
)
def test_bytes_that_are_no_tls_are_refused(ends: Callable[..., Ends], garbage: bytes) -> None:
    pair = ends()
    pair.client_socket.send(garbage)
    with pytest.raises(AuthenticationError, match="SSL handshake failed"):
        pair.server.handshake()


@pytest.mark.parametrize("length", [0, 1, 5, 100])
def test_a_handshake_that_ends_in_the_middle_ends_the_connection(ends: Callable[..., Ends], length: int) -> None:
    pair = ends()
    pair.client.handshake()
    hello = pair.server_socket.recv(10_000)
    other = ends()
    other.client_socket.send(hello[:length])
    assert not other.server.handshake()  # half open: it waits
    other.client_socket.shutdown(socket.SHUT_WR)
    with pytest.raises(ConnectionError, match="the peer closed the connection"):
        other.server.handshake()


def test_a_hello_in_single_bytes_is_taken(ends: Callable[..., Ends]) -> None:
    pair = ends()
    pair.client.handshake()
    hello = pair.server_socket.recv(10_000)
    other = ends()
    for byte in hello:
        other.client_socket.send(bytes([byte]))
        assert not other.server.handshake()
    assert other.client_socket.recv(10)[:1] == b"\x16"  # the server's hello


def test_a_damaged_record_breaks_the_connection(ends: Callable[..., Ends]) -> None:
    pair = ends()
    pair.shake()
    pair.client_socket.send(b"\x17\x03\x03\x00\x20" + b"\0" * 32)
    with pytest.raises(OSError, match=r"(?i)decryption failed or bad record mac"):
        pair.server.recv_into(bytearray(100))


def test_an_end_of_the_stream_without_goodbye_is_noticed(ends: Callable[..., Ends]) -> None:
    pair = ends()
    pair.shake()
    pair.client.write(send_of(b"last"))
    pair.client_socket.shutdown(socket.SHUT_WR)

    assert pair.server.recv_into(bytearray(100)) == 8
    with pytest.raises(ConnectionError):
        pair.server.recv_into(bytearray(100))


def test_a_goodbye_behind_bytes_is_an_end_though_the_socket_stays_open(ends: Callable[..., Ends]) -> None:
    pair = ends()
    pair.shake()
    assert pair.client.write(send_of(b"last"))
    with contextlib.suppress(ssl.SSLWantReadError):
        pair.client._ssl.unwrap()
    pair.client._flush()
    buffer = bytearray(100)
    assert pair.server.recv_into(buffer) == 8
    with pytest.raises(ConnectionError):
        pair.server.recv_into(buffer)


def test_a_read_that_finds_all_records_decrypted_asks_the_engine_no_more(
    ends: Callable[..., Ends], monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = ends()
    pair.shake()
    engine, asked = pair.server._ssl, list[int]()

    class Counting:
        def read(self, size: int, room: memoryview) -> int:
            asked.append(size)
            return engine.read(size, room)  # type: ignore[return-value]

        def pending(self) -> int:
            return engine.pending()

    monkeypatch.setattr(pair.server, "_ssl", Counting())
    for part in (b"first", b"second"):
        assert pair.client.write(send_of(part))
    assert pair.server.recv_into(bytearray(100)) == 4 + 5 + 4 + 6
    assert pair.server.recv_into(bytearray(100)) == 0
    assert asked == [100, 91]


def test_a_goodbye_is_an_end(ends: Callable[..., Ends]) -> None:
    pair = ends()
    pair.shake()
    pair.client.write(send_of(b"last"))
    pair.client.close()

    assert pair.server.recv_into(bytearray(100)) == 8
    with pytest.raises(ConnectionError, match="the peer closed"):
        pair.server.recv_into(bytearray(100))


def test_renegotiation_is_refused(ends: Callable[..., Ends]) -> None:
    """Python cannot make OpenSSL ask for one, so another connection's hello comes in the middle."""
    pair = ends(client_factory(ssl_enabled_protocols=["TLSv1.2"]))
    pair.shake()
    other = ends(client_factory(ssl_enabled_protocols=["TLSv1.2"]))
    other.client.handshake()
    pair.client_socket.send(other.server_socket.recv(10_000))

    with pytest.raises(ssl.SSLError):
        pair.server.recv_into(bytearray(100))


# ── In selectors ──────────────────────────────────────────────────────────────────────────────────────────────────


class Peers:
    """A client's and a server's selector, each polled in turn."""

    def __init__(self, client: SslFactory, server: SslFactory) -> None:
        self.client, self.server = Selector(channel_builder=client), Selector(channel_builder=server)
        with socket.create_server(("127.0.0.1", 0)) as listening:
            self.client.connect("c", "localhost", listening.getsockname()[1])
            sock, _ = listening.accept()
        sock.setblocking(False)
        self.server.register("s", sock, "client")

    def poll_until(self, done: Callable[[], object]) -> None:
        for _ in range(1000):
            if done():
                return
            self.client.poll(1)
            self.server.poll(1)
        raise AssertionError("it did not come")

    def close(self) -> None:
        self.client.close()
        self.server.close()


@pytest.fixture
def peers() -> Iterator[Callable[..., Peers]]:
    made: list[Peers] = []

    def make(client: SslFactory | None = None, server: SslFactory | None = None) -> Peers:
        made.append(Peers(client or client_factory(), server or server_factory()))
        return made[-1]

    yield make
    for pair in made:
        pair.close()


def test_a_channel_is_ready_after_its_handshake(peers: Callable[..., Peers]) -> None:
    pair = peers()
    pair.client.poll(0)
    assert not pair.client.is_channel_ready("c")

    pair.poll_until(lambda: pair.client.is_channel_ready("c") and pair.server.is_channel_ready("s"))


@pytest.mark.parametrize("sizes", [[10], [0, 1, 2, 3], [500_000], [100, 300_000, 5] * 5])
def test_frames_arrive_in_order_though_the_reader_stops_in_between(
    peers: Callable[..., Peers], sizes: list[int]
) -> None:
    """All are sent before the first is handed out: most wait decrypted, or as records that the kernel has forgotten."""
    pair = peers()
    pair.poll_until(lambda: pair.client.is_channel_ready("c"))
    send = NetworkSend("c", [b"0" * sizes[0]])
    for number, size in enumerate(sizes[1:], 1):
        send.append(NetworkSend("c", [str(number % 10).encode() * size]))
    pair.client.send(send)
    received: list[bytes] = []

    def take() -> bool:
        for receive in pair.server.completed_receives:
            received.append(bytes(receive.payload))
            pair.server.mute("s")
            pair.server.unmute("s")
        return len(received) == len(sizes)

    pair.poll_until(take)
    assert received == [str(number % 10).encode() * size for number, size in enumerate(sizes)]


def test_a_refused_handshake_is_a_disconnection_with_its_reason(peers: Callable[..., Peers]) -> None:
    pair = peers(client_factory(trusted=certificate("localhost", of="Foreign CA")))
    reasons: dict[str, str] = {}

    def refused() -> bool:
        reasons.update(pair.client.disconnected | pair.server.disconnected)
        return len(reasons) == 2

    pair.poll_until(refused)
    assert "certificate verify failed" in reasons["c"]
    assert "alert" in reasons["s"]


def test_a_bad_frame_size_waits_for_the_frames_before_it(peers: Callable[..., Peers]) -> None:
    pair = peers()
    pair.poll_until(lambda: pair.client.is_channel_ready("c"))
    channel = pair.client.channel("c")
    assert channel is not None
    channel._transport.write(_raw(b"\0\0\0\x02ok\xff\xff\xff\xff"))
    pair.poll_until(lambda: pair.server.completed_receives)
    assert bytes(pair.server.completed_receives[0].payload) == b"ok"
    pair.poll_until(lambda: pair.server.disconnected)
    assert "Invalid receive" in pair.server.disconnected["s"]


def _raw(data: bytes) -> NetworkSend:
    """A send without the size in front."""
    send = NetworkSend("c", [data])
    send.advance(4)
    return send
