"""A network of byte streams: latency, bandwidth, bytes in pieces, cuts, resets, refused and half-open connections.

Not in Kafka. A model without I/O: time and chance come from outside, so a test moves them by hand::

    Endpoint ──send──▶ pieces in flight ──latency, in order──▶ inbox ──receive──▶ Endpoint
       │                   │ link cut: held until it is healed
       └ watchers          └ machine gone: lost; once it is back: reset

Each connection has two endpoints; each direction keeps its order, as TCP does. A connection inside one machine has the
latency of a loopback interface, and a socket pair none.
"""

from __future__ import annotations

import errno
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, Protocol

from kafka_lite.testing.simulation.endpoint import Address, Endpoint, Listener

LOOPBACK_NS: Final = (5_000, 50_000)
CONNECT_RETRY_NS: Final = 1_000_000_000
CONNECT_RETRIES: Final = 127
"""A connection request without a response is repeated each second, and ends with ETIMEDOUT."""
BACKLOG: Final = 128
FIRST_EPHEMERAL_PORT: Final = 32_768
LAST_PORT: Final = 65_535


class Clock(Protocol):
    """The part of the scheduler that the network needs."""

    now_ns: int

    def after(self, delay_ns: int, call: Callable[..., None], *args: Any) -> object:
        """Call later."""
        ...


class Observer(Protocol):
    """Sees the bytes between machines, for a recording. It must not change anything."""

    def sent(self, source: Endpoint, piece: bytes) -> None:
        """A piece has left."""
        ...

    def arrived(self, target: Endpoint, piece: bytes) -> None:
        """A piece has reached the other end."""
        ...


@dataclass
class Conditions:
    """How the links between machines are. Times in ns."""

    min_latency_ns: int = 100_000
    max_latency_ns: int = 1_000_000
    bytes_per_s: float | None = None
    split_probability: float = 0.1
    """How often data that is sent arrives in two pieces."""

    @classmethod
    def drawn(cls, random: Random) -> Conditions:
        """Links as slow as the draw says: from 0.1 ms to 100 ms, each order of magnitude as likely."""
        highest_ms = 10 ** random.uniform(-0.7, 2)
        lowest_ms = 0.1 + (highest_ms - 0.1) * random.random() ** 2
        return cls(
            min_latency_ns=int(lowest_ms * 1e6),
            max_latency_ns=int(max(highest_ms, lowest_ms) * 1e6),
            bytes_per_s=10 ** random.uniform(5.5, 8) if random.random() < 0.3 else None,
            split_probability=random.choice((0.0, 0.05, 0.5)),
        )


@dataclass
class Link:
    """One direction between two machines."""

    is_cut: bool = False
    extra_ns: int = 0
    """More latency for every piece."""
    held_for: list[Endpoint] = field(default_factory=list)
    """Endpoints with pieces that wait until the link is healed."""


class Network:
    """Machines, their ports, and the connections between them."""

    def __init__(self, clock: Clock, random: Random, conditions: Conditions, event: Callable[[str], None]) -> None:
        self.conditions = conditions
        self.observer: Observer | None = None
        self.encrypted_ports: set[int] = set()
        """Ports whose connections have random bytes: an event says only how many."""
        self._clock = clock
        self._random = random
        self._event = event
        self._names: dict[str, str] = {}
        self._machines: dict[str, str] = {}
        self._down: set[str] = set()
        self._refusing: set[str] = set()
        self._listeners: dict[Address, Listener] = {}
        self._links: dict[tuple[str, str], Link] = {}
        self._endpoints: dict[Endpoint, None] = {}
        self._last_port: dict[str, int] = {}
        self._connections = 0

    # ── machines ──────────────────────────────────────────────────────────────────────────────────────────────────

    def add_machine(self, name: str) -> str:
        """A new machine; returns its IP address."""
        if name in self._names:
            raise ValueError(f"there is a machine {name} already")
        ip = f"10.0.0.{len(self._names) + 1}"
        self._names[name] = ip
        self._machines[ip] = name
        return ip

    def resolve(self, host: str, machine: str) -> str | None:
        """The IP address of a host name, as ``machine`` sees it; None if there is no such host."""
        if host in ("localhost", machine):
            return "127.0.0.1" if host == "localhost" else self._names[machine]
        if host.replace(".", "").isdigit():
            return host
        return self._names.get(host)

    def is_down(self, machine: str) -> bool:
        """Whether the machine has crashed."""
        return machine in self._down

    def crash(self, machine: str) -> None:
        """The machine vanishes without closing anything: its connections stay half-open."""
        self._down.add(machine)
        for address in [address for address, listener in self._listeners.items() if listener.machine == machine]:
            self._listeners.pop(address).is_closed = True
        for endpoint in [endpoint for endpoint in self._endpoints if endpoint.machine == machine]:
            endpoint.has_vanished = True
            self.forget(endpoint)

    def restart(self, machine: str) -> None:
        """The machine answers again: what still talks to its former connections gets a reset."""
        self._down.discard(machine)

    # ── faults ────────────────────────────────────────────────────────────────────────────────────────────────────

    def link(self, source: str, target: str) -> Link:
        """One direction between two machines."""
        return self._links.setdefault((source, target), Link())

    def cut(self, source: str, target: str) -> None:
        """Nothing arrives from ``source`` at ``target`` until ``heal``; the other direction is another link."""
        self.link(source, target).is_cut = True

    def heal(self, source: str, target: str) -> None:
        """End a cut. The bytes that were held arrive now, because TCP retransmits them."""
        link = self.link(source, target)
        link.is_cut = False
        held, link.held_for = link.held_for, []
        for endpoint in held:
            self._clock.after(self._latency_ns(source, target), self._release, endpoint, link)

    def refuse(self, machine: str, is_refusing: bool = True) -> None:
        """Whether the machine refuses new connections."""
        (self._refusing.add if is_refusing else self._refusing.discard)(machine)

    def reset_connections(self, machine: str | None = None, share: float = 1.0) -> int:
        """Break the connections of a machine, or of all machines, or a share of them; returns how many."""
        candidates = {
            endpoint.number: endpoint
            for endpoint in self._endpoints
            if endpoint.is_connected and not endpoint.is_pair and endpoint.peer is not None
            and machine in (None, endpoint.machine, endpoint.peer.machine)
        }  # fmt: skip
        chosen = [endpoint for endpoint in candidates.values() if share >= 1 or self._random.random() < share]
        for endpoint in chosen:
            assert endpoint.peer is not None
            endpoint.reset()
            endpoint.peer.reset()
        return len(chosen)

    # ── ports ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def bind(self, machine: str, address: Address) -> Address:
        """Choose the address that a socket is bound to. Raises OSError if the port is taken."""
        host, port = address
        if port == 0:
            return host, self._ephemeral_port(machine)
        if self._listener_at(machine, host, port) is not None:
            raise OSError(errno.EADDRINUSE, "Address already in use")
        return address

    def listen(self, machine: str, address: Address) -> Listener:
        """Take connections at an address: one of the machine's, or 0.0.0.0 for all of them."""
        if self._listener_at(machine, *address) is not None:
            raise OSError(errno.EADDRINUSE, "Address already in use")
        listener = Listener(machine, address)
        self._listeners[self._key(machine, *address)] = listener
        return listener

    def close_listener(self, listener: Listener) -> None:
        """Refuse connections again; those that were not accepted are reset."""
        listener.is_closed = True
        self._listeners.pop(self._key(listener.machine, *listener.address), None)
        for endpoint in listener.backlog:
            endpoint.abort()
        listener.backlog.clear()
        listener.notify()

    def _key(self, machine: str, host: str, port: int) -> Address:
        return f"{machine}/{host}", port

    def _listener_at(self, machine: str, host: str, port: int) -> Listener | None:
        hosts = ("127.0.0.1", self._names[machine], "0.0.0.0") if host == "0.0.0.0" else (host, "0.0.0.0")
        found = (self._listeners.get(self._key(machine, name, port)) for name in hosts)
        return next((listener for listener in found if listener is not None), None)

    def _ephemeral_port(self, machine: str) -> int:
        port = self._last_port.get(machine, FIRST_EPHEMERAL_PORT - 1) + 1
        while self._listener_at(machine, "0.0.0.0", port) is not None:
            port += 1
        self._last_port[machine] = port if port < LAST_PORT else FIRST_EPHEMERAL_PORT - 1
        return port

    # ── connections ───────────────────────────────────────────────────────────────────────────────────────────────

    def socket_pair(self, machine: str) -> tuple[Endpoint, Endpoint]:
        """Two connected endpoints inside a process: data arrives as soon as it is sent."""
        first, second = Endpoint(self, machine), Endpoint(self, machine)
        first.is_pair = second.is_pair = True
        self._join(first, second)
        first.is_connected = second.is_connected = True
        return first, second

    def connect(self, endpoint: Endpoint, address: Address) -> None:
        """Begin to connect; the endpoint is notified at the end, with ``is_connected`` or an error."""
        endpoint.is_connecting = True
        endpoint.remote = address
        if endpoint.local[1] == 0:
            endpoint.local = self._source_ip(endpoint.machine, address[0]), self._ephemeral_port(endpoint.machine)
        self._request(endpoint, address, 0)

    def _source_ip(self, machine: str, target_ip: str) -> str:
        return target_ip if target_ip.startswith("127.") else self._names[machine]

    def _request(self, endpoint: Endpoint, address: Address, tries: int) -> None:
        if endpoint.is_closed or not endpoint.is_connecting or endpoint.has_vanished:
            return
        target = self._machine_at(endpoint.machine, address[0])
        if target is None or target in self._down or self.link(endpoint.machine, target).is_cut:
            if tries >= CONNECT_RETRIES:
                self._fail(endpoint, errno.ETIMEDOUT)
            else:
                self._clock.after(CONNECT_RETRY_NS, self._request, endpoint, address, tries + 1)
            return
        self._clock.after(self._latency_ns(endpoint.machine, target), self._requested, endpoint, target, address, tries)

    def _requested(self, endpoint: Endpoint, target: str, address: Address, tries: int) -> None:
        """The request has arrived."""
        listener = self._listener_at(target, *address)
        back_ns = self._latency_ns(target, endpoint.machine)
        if target in self._down or self.link(target, endpoint.machine).is_cut:
            self._clock.after(CONNECT_RETRY_NS, self._request, endpoint, address, tries + 1)
        elif listener is None or target in self._refusing or len(listener.backlog) >= BACKLOG:
            self._clock.after(back_ns, self._fail, endpoint, errno.ECONNREFUSED)
        else:
            accepted = Endpoint(self, target)
            accepted.buffers = listener.buffers
            accepted.local, accepted.remote = address, endpoint.local
            self._join(endpoint, accepted)
            accepted.is_connected = True
            listener.backlog.append(accepted)
            self._event(f"connection {endpoint.number}: {endpoint.machine} to {target}:{address[1]}")
            self._clock.after(back_ns, self._accepted, endpoint)
            listener.notify()

    def _accepted(self, endpoint: Endpoint) -> None:
        if endpoint.is_connecting and not endpoint.is_closed:
            endpoint.is_connecting = False
            endpoint.is_connected = True
            endpoint.notify()

    def _fail(self, endpoint: Endpoint, error: int) -> None:
        if endpoint.is_connecting and not endpoint.is_closed:
            endpoint.is_connecting = False
            endpoint.error = error
            endpoint.notify()

    def _join(self, first: Endpoint, second: Endpoint) -> None:
        self._connections += 1
        first.number = second.number = self._connections
        first.peer, second.peer = second, first
        self._endpoints[first] = self._endpoints[second] = None

    def forget(self, endpoint: Endpoint) -> None:
        """Forget a closed endpoint: resets and crashes no longer reach it."""
        self._endpoints.pop(endpoint, None)

    def _machine_at(self, source: str, ip: str) -> str | None:
        return source if ip.startswith("127.") else self._machines.get(ip)

    # ── data ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def pieces_of(self, data: bytes, sender: Endpoint) -> list[bytes]:
        """The pieces in which data arrives: usually one, else two."""
        if sender.is_pair or len(data) < 2 or self._random.random() >= self.conditions.split_probability:
            return [data]
        cut = self._random.randrange(1, len(data))
        return [data[:cut], data[cut:]]

    def carry(self, source: Endpoint, target: Endpoint, piece: bytes | None) -> None:
        """Bring a piece to the other end: after the latency, and after all that was sent before."""
        if source.is_pair:
            target.arrive(piece)
            return
        if self.observer is not None and piece is not None:
            self.observer.sent(source, piece)
        now_ns = self._clock.now_ns
        arrival_ns = now_ns + self._latency_ns(source.machine, target.machine)
        if self.conditions.bytes_per_s is not None and piece is not None and source.machine != target.machine:
            arrival_ns += int(len(piece) * 1e9 / self.conditions.bytes_per_s)
        target._next_arrival_ns = arrival_ns = max(arrival_ns, target._next_arrival_ns)
        self._clock.after(arrival_ns - now_ns, self._arrive, source, target, piece)

    def _arrive(self, source: Endpoint, target: Endpoint, piece: bytes | None) -> None:
        if self.is_down(target.machine):
            return
        link = self._links.get((source.machine, target.machine))
        if target._held or (link is not None and link.is_cut):
            target._held.append(piece)
            if link is not None and link.is_cut and target not in link.held_for:
                link.held_for.append(target)
            return
        self._deliver(target, piece)

    def _release(self, target: Endpoint, link: Link) -> None:
        if link.is_cut:
            link.held_for.append(target)
            return
        held, target._held = target._held, []
        for piece in held:
            self._deliver(target, piece)

    def _deliver(self, target: Endpoint, piece: bytes | None) -> None:
        what = "end" if piece is None else f"{len(piece)} bytes{self._content(target, piece)}"
        self._event(f"connection {target.number} to {target.machine}: {what}")
        if self.observer is not None and piece is not None:
            self.observer.arrived(target, piece)
        target.arrive(piece)

    def _content(self, target: Endpoint, piece: bytes) -> str:
        is_encrypted = target.local[1] in self.encrypted_ports or (target.remote or ("", 0))[1] in self.encrypted_ports
        return "" if is_encrypted else f", {zlib.crc32(piece):08x}"

    def send_reset(self, source: Endpoint, target: Endpoint) -> None:
        """Tell the other end that the connection is gone."""
        if source.is_pair:
            target.reset()
        elif not self.link(source.machine, target.machine).is_cut:
            now_ns = self._clock.now_ns
            arrival_ns = max(now_ns + self._latency_ns(source.machine, target.machine), target._next_arrival_ns)
            self._clock.after(arrival_ns - now_ns, target.reset)

    def _latency_ns(self, source: str, target: str) -> int:
        if source == target:
            low, high = LOOPBACK_NS
        else:
            low, high = self.conditions.min_latency_ns, self.conditions.max_latency_ns
            link = self._links.get((source, target))
            if link is not None:
                low, high = low + link.extra_ns, high + link.extra_ns
        return low + int(self._random.random() * (high - low))
