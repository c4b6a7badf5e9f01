"""The configuration of a test cluster's brokers.

Kafka 0.10.2: core/src/test/.../utils/TestUtils.scala (createBrokerConfig) · book 1.4.2
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafka_lite.testing.network.cluster_network import CLIENTS, ZOOKEEPER, ClusterNetwork, Machine

HOST = "127.0.0.1"
PLAINTEXT = "PLAINTEXT"
"""The name of the listener for clients, unless the cluster is secured."""

TEST_DEFAULTS: dict[str, str] = {
    "broker.id": "0",
    "listeners": "PLAINTEXT://127.0.0.1:0",
    "zookeeper.connect": "embedded",
    "offsets.topic.num.partitions": "5",
    "offsets.topic.replication.factor": "1",
    # The first consumer of a group does not wait for others to join.
    "group.initial.rebalance.delay.ms": "0",
    # Files of deleted topics and segments are removed soon: a test's folder is short-lived.
    "log.segment.delete.delay.ms": "1000",
    "num.io.threads": "4",
    # A clock jump must not close every client's connection.
    "connections.max.idle.ms": "-1",
}
"""Differences from a broker's defaults, for a quick start and nothing left behind."""

SEVERAL_DEFAULTS: dict[str, str] = {
    "num.network.threads": "1",  # for each listener, and every broker has one for each other broker
    "num.io.threads": "3",
    "zookeeper.session.timeout.ms": "4000",
    # A follower that makes no progress leaves the ISR after one and a half times this.
    "replica.lag.time.max.ms": "1500",
    "replica.fetch.backoff.ms": "50",
    # The longest that a broker waits for a response of a broker that is cut off.
    "replica.socket.timeout.ms": "3000",
    "controller.socket.timeout.ms": "3000",
    "controlled.shutdown.retry.backoff.ms": "50",
    # Leadership moves only if the test moves it, or takes a broker away.
    "auto.leader.rebalance.enable": "false",
}
"""More differences, for a cluster of several brokers: what is lost is noticed soon."""

MAX_REPLICAS = 3


def several_defaults(brokers: int) -> dict[str, str]:
    """The defaults of each broker in a cluster of several."""
    replicas = str(min(MAX_REPLICAS, brokers))
    factors = ("default.replication.factor", "offsets.topic.replication.factor")
    return TEST_DEFAULTS | SEVERAL_DEFAULTS | dict.fromkeys(factors, replicas)


def listener_of(sender: int) -> str:
    """The name of the listeners that only one broker uses to reach the others."""
    return f"FROM_{sender}"


def network_properties(
    broker_id: int, port: int, inner_ports: Sequence[int], network: ClusterNetwork, client_listener: str = PLAINTEXT
) -> dict[str, str]:
    """Listeners and addresses of one broker: see ``ClusterNetwork``.

    ``port`` is for clients, ``inner_ports[i]`` for broker i, which reaches it through the network. So do clients
    if the network has them.
    """
    bound = {client_listener: f"{HOST}:{port}"}
    bound |= {listener_of(sender): f"{HOST}:{inner}" for sender, inner in enumerate(inner_ports)}
    advertised = {
        listener_of(sender): network.address(sender, broker_id)
        for sender in range(len(inner_ports))
        if sender != broker_id
    }
    if network.has_clients:
        advertised[client_listener] = network.address(CLIENTS, broker_id)
    return {
        "broker.id": str(broker_id),
        "listeners": _listeners(bound),
        "advertised.listeners": _listeners(bound | advertised),
        "listener.security.protocol.map": ",".join(f"{name}:PLAINTEXT" for name in bound),
        "inter.broker.listener.name": listener_of(broker_id),
        "zookeeper.connect": network.address(broker_id, ZOOKEEPER),
    }


def _listeners(addresses: Mapping[str, str]) -> str:
    return ",".join(f"{name}://{address}" for name, address in addresses.items())


def target_ports(inner_ports: Sequence[Sequence[int]], zookeeper_port: int) -> dict[tuple[Machine, Machine], int]:
    """The port that each machine listens on for each other; ``inner_ports[receiver][sender]`` are those of brokers."""
    brokers = range(len(inner_ports))
    ports: dict[tuple[Machine, Machine], int] = {
        (sender, receiver): inner_ports[receiver][sender]
        for sender in brokers
        for receiver in brokers
        if sender != receiver
    }
    return ports | {(broker, ZOOKEEPER): zookeeper_port for broker in brokers}
