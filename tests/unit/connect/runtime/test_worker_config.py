import pytest

from kafka_lite.common.config_def import ConfigError, MissingConfigError
from kafka_lite.connect.runtime.distributed.distributed_config import DistributedConfig
from kafka_lite.connect.runtime.standalone.standalone_config import StandaloneConfig
from kafka_lite.connect.runtime.worker_config import sink_group_id

BASE = {
    "bootstrap.servers": "a:1, b:2",
    "key.converter": "K",
    "value.converter": "V",
    "internal.key.converter": "IK",
    "internal.value.converter": "IV",
    "key.converter.schemas.enable": "false",
    "offset.storage.file.filename": "/tmp/connect.offsets",
}
GROUP = BASE | {
    "group.id": "connect-cluster",
    "offset.storage.topic": "connect-offsets",
    "config.storage.topic": "connect-configs",
    "status.storage.topic": "connect-status",
    "client.id": "w",
    "producer.linger.ms": "5",
    "consumer.group.id": "mine",
    "metadata.max.age.ms": "1000",
}


def test_defaults_of_a_standalone_worker() -> None:
    config = StandaloneConfig(BASE)
    assert (config["rest.port"], config["rest.host.name"], config["rest.advertised.port"]) == (8083, None, None)
    assert (config["offset.flush.interval.ms"], config["offset.flush.timeout.ms"]) == (60_000, 5000)
    assert config["task.shutdown.graceful.timeout.ms"] == 5000
    assert config["bootstrap.servers"] == ["a:1", "b:2"]
    assert config.originals_with_prefix("key.converter.") == {"schemas.enable": "false"}


def test_defaults_of_a_distributed_worker() -> None:
    config = DistributedConfig(GROUP)
    assert (config["session.timeout.ms"], config["rebalance.timeout.ms"]) == (10_000, 60_000)
    assert (config["worker.sync.timeout.ms"], config["worker.unsync.backoff.ms"]) == (3000, 300_000)


@pytest.mark.parametrize("missing", ["key.converter", "internal.value.converter", "group.id", "config.storage.topic"])
def test_required_keys(missing: str) -> None:
    with pytest.raises(MissingConfigError, match=missing):
        DistributedConfig({key: value for key, value in GROUP.items() if key != missing})


@pytest.mark.parametrize(("key", "value"), [("rest.port", "70000"), ("group.id", ""), ("session.timeout.ms", "x")])
def test_invalid_values(key: str, value: str) -> None:
    with pytest.raises(ConfigError, match=key):
        DistributedConfig(GROUP | {key: value})


def test_tasks_clients_have_the_prefixed_keys() -> None:
    config = DistributedConfig(GROUP)
    producer = config.source_task_producer()
    assert (producer["bootstrap.servers"], producer["linger.ms"], producer["acks"]) == ("a:1,b:2", "5", "all")
    assert "client.id" not in producer
    consumer = config.sink_task_consumer("files")
    assert consumer["group.id"] == "mine"  # the user's own
    assert StandaloneConfig(BASE).sink_task_consumer("files")["group.id"] == sink_group_id("files") == "connect-files"


def test_internal_clients_have_the_workers_own_keys() -> None:
    config = DistributedConfig(GROUP)
    producer, consumer = config.internal_producer(retries=0), config.internal_consumer()
    assert producer == {
        "bootstrap.servers": "a:1,b:2", "client.id": "w", "metadata.max.age.ms": "1000", "retries": 0,
    }  # fmt: skip
    assert consumer == {"bootstrap.servers": "a:1,b:2", "client.id": "w", "metadata.max.age.ms": "1000"}


def test_admin_clients_have_the_workers_own_keys_and_the_prefixed_ones() -> None:
    secured = {
        "security.protocol": "SSL",
        "ssl.truststore.location": "ca.pem",
        "admin.ssl.truststore.location": "a.pem",
    }
    admin = DistributedConfig(GROUP | secured).admin("role")
    assert admin == {
        "bootstrap.servers": "a:1,b:2",
        "client.id": "role",
        "security.protocol": "SSL",
        "ssl.truststore.location": "a.pem",
    }


def test_a_distributed_worker_joins_its_group_through_the_protocol_that_it_is_given() -> None:
    assert DistributedConfig(GROUP)["security.protocol"] == "PLAINTEXT"
    with pytest.raises(ConfigError, match=r"security\.protocol"):
        DistributedConfig(GROUP | {"security.protocol": "TLS"})
