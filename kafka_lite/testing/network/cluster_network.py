"""The network of a test cluster: the ways between its brokers, and between them and ZooKeeper.

Kafka has no such thing; its system tests use tc and iptables for it, which need root · book 6.2
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol

from kafka_lite.testing.network.tcp_proxy import HOST, Route, TcpProxy
from kafka_lite.testing.network.way import Way

ZOOKEEPER = "zookeeper"
"""Names ZooKeeper where a broker id is expected."""
CLIENTS = "clients"
"""Names all clients together where a broker id is expected, in a network that carries their connections, too."""


class HasId(Protocol):
    """A broker of the cluster."""

    @property
    def id(self) -> int:
        """Its broker id."""
        ...


Machine = HasId | int | str
"""A broker, its id, or ``ZOOKEEPER``."""


class ClusterNetwork:
    """Ways from each machine to each other one, which can be cut, slowed down and restored::

        network.cut(1, 2)                          # brokers 1 and 2 do not reach each other
        network.cut(1, 2, one_way=True)            # bytes of 1 do not reach 2; those of 2 reach 1
        with network.cut(leader, ZOOKEEPER): ...   # until the end of the block
        network.slow(1, 2, delay_ms=100)

    It needs no help from the broker. A broker reaches the others at the addresses of the listener that is its own
    ``inter.broker.listener.name``. So each broker of the cluster has one listener for every other broker, ``FROM_1``
    for broker 1, and advertises for it the port of a TCP proxy that is between broker 1 and itself. The proxy knows
    from the port who sends to whom. ``zookeeper.connect`` names a proxy, too. Clients connect directly, unless the
    network is made ``with_clients``.

    A cut holds bytes back: like TCP, a connection survives a short cut, and delivers everything after it.
    """

    def __init__(self, broker_ids: Iterable[int], *, with_clients: bool = False) -> None:
        self._machines = [*map(_name, broker_ids), ZOOKEEPER, *([CLIENTS] if with_clients else [])]
        self._proxy = TcpProxy()
        pairs = list(itertools.permutations(self._machines, 2))
        self._ways = {pair: Way() for pair in pairs}
        self._cut: set[tuple[str, str]] = set()
        self._frozen: set[str] = set()
        self._dead: set[str] = set()
        self._ports: dict[tuple[str, str], int] = {}

    @property
    def has_clients(self) -> bool:
        """Whether clients connect through it, too."""
        return CLIENTS in self._machines

    # ── for the cluster ───────────────────────────────────────────────────────────────────────────────────────────

    def start(self, target_ports: Mapping[tuple[Machine, Machine], int]) -> None:
        """Listen. ``target_ports`` is the port of the receiver for each pair of a sender and a receiver."""
        for (sender, receiver), target_port in target_ports.items():
            pair = _name(sender), _name(receiver)
            there, back = self._ways[pair], self._ways[pair[::-1]]
            self._ports[pair] = self._proxy.open(Route(*pair, target_port, there, back, self._is_dead(pair[0])))
        self._proxy.start()

    def _is_dead(self, machine: str) -> Callable[[], bool]:
        return lambda: machine in self._dead

    def stop(self) -> None:
        """Close all ports and connections."""
        if self._proxy.ident is not None:
            self._proxy.shutdown()

    def address(self, sender: Machine, receiver: Machine) -> str:
        """``host:port`` at which the sender reaches the receiver."""
        return f"{HOST}:{self._ports[_name(sender), _name(receiver)]}"

    def freeze(self, machine: Machine) -> None:
        """Hold back everything from and to a machine, until ``thaw``."""
        self._frozen.add(_name(machine))
        self._apply()

    def thaw(self, machine: Machine) -> None:
        """End ``freeze``."""
        self._frozen.discard(_name(machine))
        self._apply()

    def kill(self, machine: Machine) -> None:
        """Reset the connections of a machine; it opens no more, until ``revive``."""
        self._dead.add(_name(machine))
        self._proxy.reset(_name(machine))

    def reset(self, machine: Machine) -> None:
        """Reset the connections of a machine; new ones may be opened at once."""
        self._proxy.reset(_name(machine))

    def revive(self, machine: Machine) -> None:
        """End ``kill``."""
        self._dead.discard(_name(machine))

    # ── for tests ─────────────────────────────────────────────────────────────────────────────────────────────────

    def cut(self, a: Machine, b: Machine, *, one_way: bool = False) -> contextlib.AbstractContextManager[None]:
        """Let nothing pass from ``a`` to ``b``, and unless ``one_way``, from ``b`` to ``a``.

        Lasts until ``restore``, or until the end of a ``with`` block.
        """
        pairs = self._pairs(a, b, one_way)
        self._cut |= pairs
        self._apply()
        return self._restored_at_the_end(pairs)

    def isolate(self, machine: Machine, *, zookeeper: bool = False) -> contextlib.AbstractContextManager[None]:
        """Cut a broker off from all other brokers, and from ZooKeeper if ``zookeeper``."""
        left = {_name(machine), CLIENTS} | (set() if zookeeper else {ZOOKEEPER})
        others = [other for other in self._machines if other not in left]
        pairs = set().union(*(self._pairs(machine, other, False) for other in others))
        self._cut |= pairs
        self._apply()
        return self._restored_at_the_end(pairs)

    def slow(
        self,
        a: Machine,
        b: Machine,
        *,
        delay_ms: float = 0,
        bytes_per_s: float = math.inf,
        one_way: bool = False,
    ) -> contextlib.AbstractContextManager[None]:
        """Delay all bytes from ``a`` to ``b``, or limit their rate; unless ``one_way``, also from ``b`` to ``a``.

        Lasts until ``restore``, or until the end of a ``with`` block. Raises ValueError for values without a meaning.
        """
        if delay_ms == 0 and bytes_per_s == math.inf:
            raise ValueError("slow() by how much? Say delay_ms=… or bytes_per_s=…; restore() ends slowness")
        if delay_ms < 0 or bytes_per_s <= 0:
            raise ValueError(f"delay_ms={delay_ms:g}, bytes_per_s={bytes_per_s:g}: call cut() to let nothing pass")
        pairs = self._pairs(a, b, one_way)
        for pair in pairs:
            self._ways[pair].delay_ms, self._ways[pair].bytes_per_s = delay_ms, bytes_per_s
        self._apply()
        return self._restored_at_the_end(pairs)

    def restore(self, a: Machine | None = None, b: Machine | None = None) -> None:
        """End cuts and slowness: between two machines, of one machine, or, without arguments, of all."""
        named = {_name(machine) for machine in (a, b) if machine is not None}
        for machine in named:
            self._check(machine)
        self._restore({pair for pair in self._ways if named <= set(pair)})

    def _restore(self, pairs: set[tuple[str, str]]) -> None:
        self._cut -= pairs
        for pair in pairs:
            self._ways[pair].delay_ms, self._ways[pair].bytes_per_s = 0.0, math.inf
        self._apply()

    @contextlib.contextmanager
    def _restored_at_the_end(self, pairs: set[tuple[str, str]]) -> Iterator[None]:
        try:
            yield
        finally:
            self._restore(pairs)

    def _pairs(self, a: Machine, b: Machine, one_way: bool) -> set[tuple[str, str]]:
        pair = _name(a), _name(b)
        for machine in pair:
            self._check(machine)
        if pair not in self._ways:
            raise ValueError(f"there is no network between {pair[0]} and itself")
        return {pair} if one_way else {pair, pair[::-1]}

    def _check(self, machine: str) -> None:
        if machine not in self._machines:
            raise ValueError(f"there is no {machine} in this cluster: {', '.join(self._machines)}")

    def _apply(self) -> None:
        for pair, way in self._ways.items():
            way.is_cut = pair in self._cut or not self._frozen.isdisjoint(pair)
        self._proxy.wake_up()


def _name(machine: Machine) -> str:
    if isinstance(machine, str):
        return machine
    return f"broker {machine if isinstance(machine, int) else machine.id}"
