"""A pytest plugin that runs kafka-python's own tests, and those of SASL and TLS, on secured brokers of ours.

In the suite a ``KafkaFixture`` is a Java server with a protocol and a mechanism. This plugin makes it a broker of ours,
and has each test that asks for none connect by SASL_SSL, with SCRAM-SHA-512. There are ACLs, and as in the suite,
whoever has logged in may use what no ACL speaks of. Loaded after ``tests.support.kafka_python_suite_plugin``.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any, Self

from kafka_lite.testing.cluster import Cluster
from kafka_lite.testing.security.cluster_security import ClusterSecurity
from tests.support.kafka_python_suite_plugin import DESELECTED

USER, PASSWORD = "alice", "alice-secret"
BROKER = {
    "num.partitions": "4",
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1000",
    "allow.everyone.if.no.acl.found": "true",
}


class SecuredFixture:
    """In place of ``KafkaFixture``: one broker, with what its tests ask of it."""

    @classmethod
    def instance(cls, broker_id: int, **wanted: Any) -> Self:
        return cls(broker_id, **wanted)

    def __init__(
        self, broker_id: int, transport: str = "SASL_SSL", sasl_mechanism: str = "SCRAM-SHA-512",
        tmp_dir: object = None, partitions: int = 4,
    ) -> None:  # fmt: skip
        security = ClusterSecurity(transport, sasl_mechanism, {USER: PASSWORD}, acls=transport != "SSL")
        self._cluster = Cluster(BROKER | {"num.partitions": partitions}, security=security).start()
        self.host, port = self._cluster.bootstrap_servers.split(":")
        self.port, self.partitions, self.replicas, self.zookeeper = int(port), partitions, 1, None
        self.child = self
        self._client = {"bootstrap_servers": self._cluster.bootstrap_servers, "security_protocol": transport}
        if security.has_sasl:
            self._client |= {"sasl_mechanism": sasl_mechanism, "sasl_plain_username": USER}
            self._client["sasl_plain_password"] = PASSWORD
        self.ssl_dir = str(tmp_dir or self._cluster.data_dir)
        if security.has_tls:
            authority = Path(self.ssl_dir, "ca-cert")
            authority.write_text(self._cluster.client_configs(USER)["ssl.truststore.certificates"])
            self._client["ssl_cafile"] = str(authority)

    def start(self) -> None:
        """It runs already."""

    def close(self) -> None:
        self._cluster.stop()

    def dump_logs(self) -> None:
        """There is no process whose output would be kept."""

    def get_topic_names(self) -> list[str]:
        """What Kafka's tool would say: not asked through kafka-python."""
        return list(self._cluster.topics)

    def _enrich_client_params(self, params: dict[str, Any], **defaults: Any) -> dict[str, Any]:
        return self._client | defaults | params


DESELECTED.pop("test_admin_integration.py::test_create_describe_delete_acls")
# The suite's own package, which the other plugin has put in place of the one of that name in Python's library.
importlib.import_module("test.integration.fixtures").KafkaFixture = SecuredFixture  # type: ignore[attr-defined]
