"""librdkafka pushes its metrics to our broker, as a subscription says (KIP-714)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import confluent_kafka
import pytest
from confluent_kafka.admin import AdminClient, ConfigResource

from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.patience import patient_s


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster({"metrics.http.port": "0"}) as cluster:
        yield cluster


def tool(cluster: Cluster, *arguments: str) -> str:
    command = [sys.executable, "-m", "kafka_lite.tools.main", "client-metrics", *arguments]
    if "--watch" not in arguments:
        command += ["--bootstrap-server", cluster.bootstrap_servers]
    done = subprocess.run(command, capture_output=True, text=True, timeout=patient_s(60), check=False)
    return done.stdout + done.stderr


def watched(cluster: Cluster) -> str:
    http = cluster.server.metrics.http_server
    assert http is not None
    return tool(cluster, "--watch", "--once", "--metrics-url", http.url)


def test_a_producer_pushes_what_a_subscription_asks_for(cluster: Cluster) -> None:
    assert "Altered client metrics config for sends." in tool(
        cluster, "--alter", "--name", "sends", "--metrics", "org.apache.kafka.producer.", "--interval", "100",
        "--match", "client_software_name=.*confluent.*|.*rdkafka.*",
    )  # fmt: skip
    producer = confluent_kafka.Producer({"bootstrap.servers": cluster.bootstrap_servers, "client.id": "orders"})
    for _ in range(100):
        producer.produce("t", b"x")
    assert producer.flush(patient_s(30)) == 0
    cluster.requests.wait_for("PushTelemetry", count=2)
    push = cluster.requests.of("PushTelemetry")[-1]
    assert push.client_id == "orders"
    shown = eventually(lambda: text if "client_id=orders" in (text := watched(cluster)) else "")
    assert "org.apache.kafka.producer." in shown, shown
    assert "client_software_name=" in shown


def test_the_tool_shows_changes_and_ends_subscriptions(cluster: Cluster) -> None:
    tool(cluster, "--alter", "--name", "a/b", "--interval", "5000")
    tool(cluster, "--alter", "--name", "a/b", "--metrics", "x.,y.")
    assert tool(cluster, "--describe", "--name", "a/b") == (
        "Client metrics configs for a/b are:\n  interval.ms=5000\n  metrics=x.,y.\n"
    )
    assert "a/b" in tool(cluster, "--list").splitlines()
    tool(cluster, "--delete", "--name", "a/b")
    assert "a/b" not in tool(cluster, "--list").splitlines()
    assert "must be between 100 and 3600000" in tool(cluster, "--alter", "--name", "c", "--interval", "1")
    assert "Illegal client matching pattern" in tool(cluster, "--alter", "--name", "c", "--match", "colour=red")


def test_other_admin_clients_know_the_resource(cluster: Cluster) -> None:
    tool(cluster, "--alter", "--name", "seen", "--interval", "7000")
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    kinds = [kind for kind in ConfigResource.Type if kind.name == "CLIENT_METRICS"]
    for kind in kinds:
        resource = ConfigResource(kind, "seen")
        (found,) = admin.describe_configs([resource]).values()
        assert found.result(patient_s(30))["interval.ms"].value == "7000"
