"""A run whose clients come by SASL_SSL, with a right for each thing that they do: ``make chaos ARGS=--security``.

::

    clients   ──SASL_SSL, SCRAM──▶  CLIENTS      through the network, which is cut
    brokers   ──SASL, PLAIN──────▶  FROM_n       through the network
    operator  ──plain text───────▶  OPERATOR     beside the network; it is a super user

Kafka 0.10.2: tests/kafkatest/services/security/security_config.py · book 2.3.1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from kafka_lite.testing.any_broker import HOST
from kafka_lite.testing.chaos.client import ClientSpec
from kafka_lite.testing.cluster_client import ClusterClient
from kafka_lite.testing.security.cluster_security import ClusterSecurity
from kafka_lite.testing.security.secured_cluster import SecuredCluster

OPERATOR_LISTENER: Final = "OPERATOR"
WRITER, READER = "alice", "bob"
"""The users of producers, and of consumers."""
RIGHTS: Final = {
    WRITER: ("WRITE TOPIC {topic}", "WRITE TRANSACTIONAL_ID *"),
    # Transformers write what they make of records.
    READER: ("READ TOPIC {topic}", "READ GROUP *", "WRITE TOPIC {target}", "WRITE TRANSACTIONAL_ID *"),
}
"""The rights of each user: operation, type of resource, its name."""
_LISTENERS, _ADVERTISED, _PROTOCOLS = "listeners", "advertised.listeners", "listener.security.protocol.map"


class ChaosSecurity:
    """The keys, users and rights of a run."""

    def __init__(self) -> None:
        """Raises ImportError without the package that makes certificates."""
        self._secured = SecuredCluster(ClusterSecurity("SASL_SSL", acls=True))

    def broker_settings(self, own: Mapping[str, str], operator_port: int) -> dict[str, str]:
        """The settings of a broker with these listeners and one for the operator, which comes last."""
        names = [listener.partition("://")[0] for listener in own[_LISTENERS].split(",")]
        secured = self._secured.broker_properties(names[1:])
        operator = f",{OPERATOR_LISTENER}://{HOST}:{operator_port}"
        secured[_PROTOCOLS] += f",{OPERATOR_LISTENER}:PLAINTEXT"
        secured["super.users"] += ";User:ANONYMOUS"
        lines = {key: value.replace("\n", "\\n") for key, value in secured.items()}  # certificates
        return {**own, _LISTENERS: own[_LISTENERS] + operator, _ADVERTISED: own[_ADVERTISED] + operator, **lines}

    def create_users(self, zookeeper_connect: str) -> None:
        """Before the first broker starts."""
        self._secured.create_users(zookeeper_connect)

    def rights(self, specs: Iterable[ClientSpec]) -> Iterator[tuple[str, str, str, str]]:
        """The rights that these clients need: principal, operation, type of resource, its name."""
        found = []
        for spec in specs:
            user = user_of(spec)
            for right in RIGHTS[user]:
                operation, kind, name = right.format(topic=spec.topic, target=spec.target).split(" ")
                if name:
                    found.append((f"User:{user}", operation, kind, name))
        yield from dict.fromkeys(found)

    def allow(self, operator: ClusterClient, specs: Iterable[ClientSpec]) -> None:
        """Give the clients their rights. Raises ApiError."""
        for right in self.rights(specs):
            operator.allow(*right)

    def client_configs(self, spec: ClientSpec) -> dict[str, Any]:
        """The configuration of a client, with its user's password."""
        configs_of = self._secured.client_configs if spec.library == "ours" else self._secured.librdkafka_configs
        return {**spec.configs, **configs_of(user_of(spec))}


def user_of(spec: ClientSpec) -> str:
    """The user that a client is."""
    return WRITER if spec.is_producer else READER
