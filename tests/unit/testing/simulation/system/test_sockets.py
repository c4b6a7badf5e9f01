"""The world's ``_socket``: Python's timeouts and errors over a network whose latency is known."""

from __future__ import annotations

import errno
import socket as real_socket
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from kafka_lite.testing.simulation.endpoint import CAPACITY_BYTES
from kafka_lite.testing.simulation.event_log import EventLog
from kafka_lite.testing.simulation.network import Conditions, Network
from kafka_lite.testing.simulation.scheduler import Owner, Scheduler, State
from kafka_lite.testing.simulation.system import linux
from kafka_lite.testing.simulation.system.kernel import Kernel, NotSimulatedError
from kafka_lite.testing.simulation.system.sockets import SocketFunctions

MS = 1_000_000
PORT = 9092
STEADY = Conditions(min_latency_ns=10 * MS, max_latency_ns=10 * MS, split_probability=0.0)


class Process:
    """A process on a machine of its own name, and its module ``_socket``."""

    def __init__(self, world: World, name: str) -> None:
        self.kernel = Kernel()
        self.kernel.scheduler, self.kernel.network = world.scheduler, world.network
        self.kernel.owner, self.kernel.machine = Owner(name), name
        self.ip = world.network.add_machine(name)
        self.module: Any = SocketFunctions(self.kernel).module()

    def socket(self) -> Any:
        return self.module.socket()

    def listening(self, port: int = PORT) -> Any:
        listener = self.socket()
        listener.bind(("", port))
        listener.listen()
        return listener

    def accept(self, listener: Any) -> Any:
        fd, _ = listener._accept()  # socket.py makes its accept of it
        return self.module.socket(fileno=fd)

    def connected(self) -> Any:
        client = self.socket()
        client.connect(("server", PORT))
        return client


class World:
    """A client and a server, ten milliseconds apart."""

    def __init__(self) -> None:
        self.began_ns = 0
        self.scheduler = Scheduler(Random(1), EventLog())
        self.network = Network(self.scheduler, Random(1), STEADY, lambda _event: None)
        self.server, self.client = Process(self, "server"), Process(self, "client")

    def run(self, *threads: Callable[[], object]) -> None:
        """Run these as threads until all of them have ended."""
        self.began_ns = self.scheduler.now_ns
        tasks = [self.scheduler.spawn(Owner("threads"), "thread", _without_result(each)) for each in threads]
        self.scheduler.run(until_ns=self.began_ns + 3_600 * 1_000 * MS)
        assert [task.state for task in tasks] == [State.ENDED] * len(tasks), "a thread is blocked"

    def sleep_ms(self, duration_ms: int) -> None:
        deadline_ns = self.scheduler.now_ns + duration_ms * MS
        while self.scheduler.park(deadline_ns):
            pass

    @property
    def now_ms(self) -> int:
        """Since the threads have started."""
        return (self.scheduler.now_ns - self.began_ns) // MS


def _without_result(function: Callable[[], object]) -> Callable[[], None]:
    def run() -> None:
        function()

    return run


def pair(world: World, port: int = PORT) -> tuple[Any, Any]:
    """A connection from the client to the server: both sockets."""
    listener, client = world.server.listening(port), world.client.socket()
    accepted: list[Any] = []
    world.run(lambda: accepted.append(world.server.accept(listener)), lambda: client.connect(("server", port)))
    return client, accepted[0]


# ── connecting ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_connecting_and_accepting_block_until_the_other_side_has_come() -> None:
    world, seen = World(), []
    listener = world.server.listening()

    def accept() -> None:
        fd, address = listener._accept()
        seen.append(("accepted", world.now_ms, address, world.server.module.socket(fileno=fd).getsockname()))

    def connect() -> None:
        client = world.client.connected()
        seen.append(("connected", world.now_ms, client.getsockname(), client.getpeername()))

    world.run(accept, connect)
    accepted, connected = seen
    assert (accepted[:2], connected[:2]) == (("accepted", 10), ("connected", 20))
    assert accepted[2:] == connected[2:]
    assert connected[3] == (world.server.ip, PORT)
    assert listener.getsockname() == ("0.0.0.0", PORT)


def test_a_socket_that_may_not_wait_connects_in_the_background() -> None:
    world, seen = World(), []
    world.server.listening()
    client = world.client.socket()
    client.setblocking(False)

    def connect() -> None:
        seen.extend(client.connect_ex(("server", PORT)) for _ in range(2))
        world.sleep_ms(25)
        seen.extend([client.connect_ex(("server", PORT)), client.getpeername()])

    world.run(connect)
    assert seen == [errno.EINPROGRESS, errno.EALREADY, errno.EISCONN, (world.server.ip, PORT)]


def test_a_refused_connection_raises_or_is_asked_for() -> None:
    world = World()
    blocking, other = world.client.socket(), world.client.socket()
    other.settimeout(0)

    def connect() -> None:
        with pytest.raises(ConnectionRefusedError):
            blocking.connect(("server", PORT))
        assert other.connect_ex(("server", PORT)) == errno.EINPROGRESS
        world.sleep_ms(25)
        errors = [other.getsockopt(linux.SOL_SOCKET, linux.SO_ERROR) for _ in range(2)]
        assert errors == [errno.ECONNREFUSED, 0]

    world.run(connect)


def test_a_connection_that_takes_too_long_is_given_up() -> None:
    world = World()
    world.server.listening()
    world.network.cut("client", "server")
    client = world.client.socket()
    client.settimeout(1.5)

    def connect() -> None:
        with pytest.raises(TimeoutError):
            client.connect(("server", PORT))
        assert world.now_ms == 1_500

    world.run(connect)


def test_names_are_those_of_machines() -> None:
    world = World()
    module = world.client.module
    assert module.gethostname() == "client"
    assert module.gethostbyname("server") == world.server.ip
    assert module.getaddrinfo(b"localhost", "80") == [(linux.AF_INET, linux.SOCK_STREAM, 6, "", ("127.0.0.1", 80))]
    assert module.gethostbyaddr(world.server.ip) == (world.server.ip, [], [world.server.ip])
    for ask in (lambda: module.getaddrinfo("nowhere", 1), lambda: world.client.socket().connect(("nowhere", 1))):
        with pytest.raises(real_socket.gaierror, match="Name or service not known") as caught:
            ask()
        assert caught.value.errno == linux.EAI_NONAME


# ── listening ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_port_is_free_again_once_its_listener_is_closed() -> None:
    world = World()
    first, second = world.server.listening(), world.server.socket()
    with pytest.raises(OSError, match="Address already in use"):
        second.bind(("127.0.0.1", PORT))
    first.close()
    second.bind(("127.0.0.1", PORT))
    assert second.getsockname() == ("127.0.0.1", PORT)


def test_port_zero_is_a_port_of_the_machines_choice() -> None:
    world = World()
    bound, unbound = world.server.socket(), world.server.socket()
    bound.bind(("", 0))
    for listener in (bound, unbound):
        listener.listen()
        listener.listen()  # again: no change
    ports = [listener.getsockname()[1] for listener in (bound, unbound)]
    assert all(port > 1024 for port in ports)
    assert ports[0] != ports[1]


def test_accepting_needs_a_listener_and_a_connection() -> None:
    world = World()
    listener, plain = world.server.listening(), world.server.socket()
    with pytest.raises(OSError, match="Invalid argument"):
        plain._accept()
    listener.setblocking(False)
    with pytest.raises(BlockingIOError):
        listener._accept()
    with pytest.raises(OSError, match="Transport endpoint is not connected"):
        listener.recv(1)


def test_a_thread_that_accepts_wakes_up_when_another_one_closes_the_listener() -> None:
    world = World()
    listener = world.server.listening()

    def accept() -> None:
        with pytest.raises(OSError, match="Invalid argument"):
            listener._accept()
        assert world.now_ms == 50

    def close() -> None:
        world.sleep_ms(50)
        listener.close()

    world.run(accept, close)


def test_a_process_without_descriptors_accepts_once_it_has_one_again() -> None:
    world = World()
    listener = world.server.listening()
    world.server.kernel.most_descriptors = 1

    def accept() -> None:
        world.sleep_ms(15)
        with pytest.raises(OSError, match="Too many open files"):
            listener._accept()
        with pytest.raises(OSError, match="Too many open files"):
            world.server.socket()
        world.server.kernel.most_descriptors = 2
        assert world.server.accept(listener).getpeername()[0] == world.client.ip

    world.run(accept, world.client.connected)


# ── data ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_bytes_and_the_end_of_the_stream_arrive() -> None:
    world = World()
    client, server = pair(world)

    def send() -> None:
        assert client.send(b"one ") == 4
        assert client.sendmsg([b"two ", bytearray(b"three")]) == 9
        client.shutdown(linux.SHUT_WR)
        assert client.recv(100) == b"response"

    def receive() -> None:
        world.sleep_ms(15)
        buffer = bytearray(b"........")
        assert server.recv(3, linux.MSG_PEEK) == b"one"
        assert server.recv_into(buffer) == 8
        assert server.recv_into(buffer, 2) == 2
        assert (bytes(buffer), server.recv(100)) == (b"the two ", b"ree")
        assert server.recv(100) == b""
        server.sendall(b"response")

    world.run(send, receive)


def test_receiving_waits_as_long_as_the_timeout_says() -> None:
    world = World()
    client, _ = pair(world)

    def receive() -> None:
        client.settimeout(2.5)
        with pytest.raises(TimeoutError):
            client.recv(1)
        assert world.now_ms == 2_500
        client.setblocking(False)
        with pytest.raises(BlockingIOError):
            client.recv(1)
        assert world.now_ms == 2_500

    world.run(receive)


def test_a_sender_waits_until_the_receiver_has_read() -> None:
    world = World()
    client, server = pair(world)
    sent = bytes(range(256)) * (CAPACITY_BYTES // 128)
    received = bytearray()

    def send() -> None:
        client.sendall(sent)
        assert world.now_ms >= 500, "it did not wait"

    def receive() -> None:
        world.sleep_ms(500)
        while len(received) < len(sent):
            received.extend(server.recv(10_000))

    world.run(send, receive)
    assert received == sent


def test_a_sender_that_may_not_wait_sends_what_there_is_room_for() -> None:
    world = World()
    client, _ = pair(world)
    client.settimeout(0)

    def send() -> None:
        assert client.send(bytes(CAPACITY_BYTES + 1)) == CAPACITY_BYTES
        with pytest.raises(BlockingIOError):
            client.send(b"x")

    world.run(send)


def test_a_block_of_memory_that_the_process_cannot_get_is_not_received() -> None:
    world = World()
    client, server = pair(world)
    server_kernel = world.server.kernel
    server_kernel.largest_block_bytes = 1_000

    def exchange() -> None:
        client.send(b"data")
        with pytest.raises(MemoryError):
            server.recv(1_001)
        assert server.recv(1_000) == b"data"

    world.run(exchange)


def test_sizes_of_buffers_count_twice_and_are_inherited() -> None:
    world = World()
    listener = world.server.socket()
    listener.setsockopt(linux.SOL_SOCKET, linux.SO_RCVBUF, 500)
    listener.bind(("", PORT))
    listener.listen()
    client = world.client.socket()
    client.setsockopt(linux.SOL_SOCKET, linux.SO_SNDBUF, 300)

    def send() -> None:
        client.connect(("server", PORT))
        client.setblocking(False)
        assert client.send(bytes(10_000)) == 2 * 500 + 2 * 300

    world.run(lambda: world.server.accept(listener), send)


def test_options_are_remembered() -> None:
    sock = World().client.socket()
    assert sock.getsockopt(linux.SOL_SOCKET, linux.SO_KEEPALIVE) == 0
    sock.setsockopt(linux.SOL_SOCKET, linux.SO_KEEPALIVE, 1)
    assert sock.getsockopt(linux.SOL_SOCKET, linux.SO_KEEPALIVE) == 1
    assert sock.getsockopt(linux.SOL_SOCKET, linux.SO_KEEPALIVE, 4) == b"\1\0\0\0"
    assert sock.getsockopt(linux.IPPROTO_TCP, linux.TCP_NODELAY) == 0


# ── ends ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_closing_ends_the_stream_unless_data_was_not_read() -> None:
    world = World()
    client, server = pair(world)

    def close_with_unread_data() -> None:
        server.send(b"unread")
        client.send(b"last")
        world.sleep_ms(15)
        assert server.recv(100) == b"last"
        server.close()
        assert client.recv(100) == b"unread"
        assert client.recv(100) == b""
        client.close()

    world.run(close_with_unread_data)
    client, server = pair(world, PORT + 1)

    def close_before_reading() -> None:
        client.send(b"last")
        world.sleep_ms(15)
        server.close()
        with pytest.raises(ConnectionResetError):
            client.recv(100)

    world.run(close_before_reading)


def test_a_closed_socket_is_a_bad_descriptor() -> None:
    world = World()
    client, _ = pair(world)
    client.close()
    client.close()
    assert client.fileno() == -1
    with pytest.raises(OSError, match="Bad file descriptor"):
        client.recv(1)
    with pytest.raises(OSError, match="Bad file descriptor"):
        client.getsockopt(linux.SOL_SOCKET, linux.SO_ERROR)


def test_a_descriptor_that_was_given_away_is_closed_by_its_number() -> None:
    world = World()
    client, server = pair(world)
    fd = client.detach()
    assert (client.fileno(), fd in world.client.kernel.sockets) == (-1, True)
    world.client.module.close(fd)

    def receive() -> None:
        assert server.recv(1) == b""

    world.run(receive)


def test_one_direction_can_be_shut_down() -> None:
    world = World()
    client, server = pair(world)
    with pytest.raises(OSError, match="Transport endpoint is not connected"):
        world.client.socket().shutdown(linux.SHUT_RDWR)

    def shut_down() -> None:
        client.shutdown(linux.SHUT_RD)
        assert client.recv(1) == b""
        client.send(b"still sends")
        assert server.recv(100) == b"still sends"
        client.shutdown(linux.SHUT_RDWR)
        with pytest.raises(BrokenPipeError):
            client.send(b"x")

    world.run(shut_down)


def test_a_socket_without_a_connection_has_no_peer() -> None:
    sock = World().client.socket()
    for call in (sock.getpeername, lambda: sock.recv(1), lambda: sock.send(b"x")):
        with pytest.raises(OSError, match="Transport endpoint is not connected"):
            call()


# ── the module ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_timeout_of_a_new_socket_is_the_processes_own() -> None:
    world = World()
    one, other = world.client.module, world.server.module
    assert (one.getdefaulttimeout(), one.socket().gettimeout(), one.socket().getblocking()) == (None, None, True)
    one.setdefaulttimeout(3.0)
    assert (one.socket().gettimeout(), one.socket().timeout, other.socket().gettimeout()) == (3.0, 3.0, None)
    impatient = one.socket(linux.AF_INET6, linux.SOCK_STREAM | linux.SOCK_NONBLOCK)
    assert (impatient.getblocking(), impatient.gettimeout()) == (False, 0.0)
    assert (impatient.family, impatient.type) == (linux.AF_INET6, linux.SOCK_STREAM)
    impatient.setblocking(True)
    assert impatient.gettimeout() is None
    with pytest.raises(ValueError, match="Timeout value out of range"):
        impatient.settimeout(-1)


def test_a_pair_of_sockets_is_connected_without_a_latency() -> None:
    world = World()
    first, second = world.client.module.socketpair()
    assert first.family == linux.AF_UNIX

    def exchange() -> None:
        first.send(b"wake up")
        assert second.recv(100) == b"wake up"
        assert world.now_ms == 0

    world.run(exchange)


def test_what_the_world_does_not_have_is_refused() -> None:
    world = World()
    with pytest.raises(NotSimulatedError, match="sockets of type 2"):
        world.client.module.socket(linux.AF_INET, linux.SOCK_DGRAM)
    importing: Any = SocketFunctions(Kernel()).module()
    for call in (importing.socket, importing.socketpair):
        with pytest.raises(NotSimulatedError, match="while modules are imported"):
            call()


def test_constants_are_those_of_linux_on_every_host() -> None:
    module = World().client.module
    assert (module.SOL_SOCKET, module.SO_RCVBUF, module.MSG_PEEK) == (1, 8, 2)
    assert module.gaierror is real_socket.gaierror
