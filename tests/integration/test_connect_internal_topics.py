"""The topics of Connect's workers: created if they are missing, refused if they would lose what they keep."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.runtime.topic_admin import TopicAdmin
from kafka_lite.testing.cluster import Cluster
from kafka_lite.testing.connect.connect_cluster import ConnectCluster
from tests.support.eventually import eventually

COMPACTED = {"cleanup.policy": "compact"}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    settings = {"group.initial.rebalance.delay.ms": 0, "auto.create.topics.enable": "false"}
    with Cluster(settings) as cluster:
        yield cluster


def _props(name: str, **more: object) -> dict[str, object]:
    """A group with topics of its own."""
    topics = {f"{kind}.storage.topic": f"{name}-{kind}" for kind in ("config", "offset", "status")}
    return {"group.id": name, **topics, **{key.replace("_", "."): value for key, value in more.items()}}


def test_workers_create_them_compacted(cluster: Cluster) -> None:
    props = _props("new", status_storage_partitions=2) | {"config.storage.segment.bytes": 1_000_000}
    with ConnectCluster(cluster, workers=2, props=props) as connect:
        assert connect.connectors() == []
    topics = cluster.topics
    assert {name: topics[f"new-{name}"] for name in ("config", "offset", "status")} == {
        "config": 1, "offset": 5, "status": 2,
    }  # fmt: skip
    admin = TopicAdmin({"bootstrap.servers": cluster.bootstrap_servers})
    assert [admin.cleanup_policy(f"new-{name}") for name in ("config", "offset", "status")] == [{"compact"}] * 3


@pytest.mark.parametrize(("kind", "purpose"), [
    ("offset", "source connector offsets"), ("config", "connector configurations"),
    ("status", "connector and task statuses"),
])  # fmt: skip
@pytest.mark.parametrize("policy", ["delete", "compact,delete"])
def test_a_topic_that_is_not_only_compacted_ends_the_worker(
    cluster: Cluster, kind: str, purpose: str, policy: str
) -> None:
    name = f"{kind}-{policy.replace(',', '-')}"
    cluster.create_topic(f"{name}-{kind}", 1, {"cleanup.policy": policy})
    expected = rf"Topic '{name}-{kind}' supplied via the '{kind}\.storage\.topic' property is required to have "
    expected += (
        rf"'cleanup\.policy=compact' to guarantee consistency and durability of {purpose}, but found .*={policy}'"
    )
    with pytest.raises(ConnectError, match=expected):
        ConnectCluster(cluster, props=_props(name)).start()


def test_a_config_topic_of_two_partitions_ends_the_worker(cluster: Cluster) -> None:
    cluster.create_topic("two-config", 2, COMPACTED)
    with pytest.raises(ConnectError, match=r"a single partition .* connector configurations, but found 2 partitions\."):
        ConnectCluster(cluster, props=_props("two")).start()


def test_too_few_brokers_end_the_worker(cluster: Cluster) -> None:
    props = _props("three", status_storage_replication_factor=3, default_api_timeout_ms=300)
    with pytest.raises(
        ConnectError, match=r"Error while attempting to create/find topic\(s\) 'three-status': .*factor"
    ):
        ConnectCluster(cluster, props=props).start()


def test_garbage_in_them_stops_nothing(cluster: Cluster, tmp_path: Path) -> None:
    for kind in ("config", "offset", "status"):
        cluster.create_topic(f"garbage-{kind}", 1, COMPACTED)
        for key in (f"{kind}-of-nothing", "connector-a", "commit-a", "task-a-x", "status-task-a-x", "\udcff", "",
                    "logger-cluster-a", "status-topic-a:connector-a", "status-topic-a"):  # fmt: skip
            for value in (b"{ not JSON", b"[]", b'{"properties":7}', b'{"tasks":"many"}', b"\xff\xfe"):
                cluster.produce(f"garbage-{kind}", value, key=key.encode(errors="surrogateescape"))
    file = tmp_path / "lines.txt"
    file.write_text("eins\n")
    with ConnectCluster(cluster, props=_props("garbage")) as connect:
        cluster.create_topic("lines", 1)
        connect.put_connector("lines", {"connector.class": "FileStreamSource", "file": file, "topic": "lines"})
        connect.await_running("lines", tasks=1)
        eventually(lambda: len(cluster.records("lines")) == 1)
        assert connect.connectors() == ["lines"]
