"""New keys and certificates for a listener: by a changed key, or by a file that was written in place."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.security.ssl.ssl_factory import SslFactory
from kafka_lite.server.dynamic.dynamic_broker_config import DynamicBrokerConfig, validate_dynamic_configs
from kafka_lite.server.dynamic.dynamic_listener_stores import (
    DynamicListenerStores,
    dynamic_listener_stores,
    is_listener_store,
    listener_store_key,
)
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.testing.security.certificate_authority import CertificateAuthority, Credential

LOCATION = "listener.name.outside.ssl.keystore.location"
AUTHORITY = CertificateAuthority()
MAP = "PLAINTEXT:PLAINTEXT,OUTSIDE:SSL"


class Broker:
    """The dynamic configuration of a broker with one TLS listener, whose key store is a file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        listeners = "PLAINTEXT://127.0.0.1:1,OUTSIDE://127.0.0.1:2"
        keys = {"listeners": listeners, "listener.security.protocol.map": MAP, "ssl.keystore.type": "PEM"}
        first = self.write("first", renewed())
        static = KafkaConfig({"zookeeper.connect": "zk", "broker.id": "3", **keys, LOCATION: str(first)})
        self.config = DynamicBrokerConfig(static)
        (stores,) = dynamic_listener_stores(static.socket_server_config().listeners)
        self.tls: SslFactory = stores._tls  # type: ignore[assignment]
        self.config._stores = [stores]
        self.config.add_broker_reconfigurable(stores)

    def write(self, name: str, pem: Credential) -> Path:
        file = self.folder / f"{name}.pem"
        file.write_text(pem.key + pem.certificate)
        return file


@pytest.fixture
def broker(tmp_path: Path) -> Broker:
    return Broker(tmp_path)


def renewed() -> Credential:
    """Another certificate of the same name, as authorities sign them each year."""
    return AUTHORITY.issue("localhost", ["localhost"])


def test_another_file_is_loaded_and_the_former_one_again(broker: Broker) -> None:
    first = broker.tls._context
    second = broker.write("second", renewed())
    broker.config.validate({LOCATION: str(second)}, per_broker=True)
    assert broker.tls._context is first
    broker.config.update_broker({LOCATION: str(second)})
    assert broker.tls._context is not first
    assert broker.tls._config["ssl.keystore.location"] == str(second)
    broker.config.update_broker({})
    assert broker.tls._config["ssl.keystore.location"] == str(broker.folder / "first.pem")


def test_a_file_that_was_written_in_place_is_loaded_with_any_change(broker: Broker) -> None:
    first = broker.tls._context
    broker.config.update_broker({"log.cleaner.threads": "2"})
    assert broker.tls._context is first
    broker.write("first", renewed())
    broker.config.update_broker({})
    second = broker.tls._context
    assert second is not first
    broker.write("first", Credential("garbage", ""))
    broker.config.update_broker({"log.cleaner.threads": "2"})
    assert broker.tls._context is second
    assert broker.config.current_config.log_cleaner_threads == 2, "an unrelated key is not held up"
    with pytest.raises(ConfigError, match="cannot be loaded"):
        broker.config.validate({LOCATION: str(broker.folder / "first.pem")}, per_broker=True)


@pytest.mark.parametrize(
    ("pem", "says"),
    [
        (Credential("garbage", ""), "cannot be loaded"),
        (AUTHORITY.issue("else"), "Keystore DistinguishedName does not match: existing=.*CN=localhost"),
    ],
)
def test_a_store_that_would_lock_clients_out_is_refused(broker: Broker, pem: Credential, says: str) -> None:
    first = broker.tls._context
    wrong = {LOCATION: str(broker.write("wrong", pem))}
    with pytest.raises(ConfigError, match=says):
        broker.config.validate(wrong, per_broker=True)
    broker.config.update_broker(wrong)  # written to ZooKeeper by someone else
    assert broker.tls._context is first


def test_stores_are_of_one_broker() -> None:
    config = DynamicBrokerConfig(KafkaConfig({"zookeeper.connect": "zk"}))
    with pytest.raises(ConfigError, match="at default cluster level, broker id must be specified"):
        config.validate({LOCATION: "/a"}, per_broker=False)


def test_a_listener_in_plain_text_has_none() -> None:
    assert dynamic_listener_stores(KafkaConfig({"zookeeper.connect": "zk"}).socket_server_config().listeners) == []


@pytest.mark.parametrize(
    ("name", "is_store"),
    [
        (LOCATION, True),
        ("listener.name.sasl_ssl.ssl.truststore.type", True),
        ("listener.name.outside.ssl.keystore.password", False),
        ("listener.name.outside.ssl.client.auth", False),
        ("ssl.keystore.location", False),
    ],
)
def test_which_keys_can_change(name: str, is_store: bool) -> None:
    assert is_listener_store(name) is is_store
    if is_store:
        validate_dynamic_configs({name: "PEM"})
        assert (listener_store_key(name).name, listener_store_key(name).default) == (name, None)
    else:
        with pytest.raises(ConfigError, match="Cannot update these configs dynamically"):
            validate_dynamic_configs({name: "x"})


def test_only_the_keys_of_its_listener_concern_a_part(broker: Broker) -> None:
    stores = DynamicListenerStores("INSIDE", broker.tls)
    assert LOCATION not in stores.reconfigurable_configs
    assert "listener.name.inside.ssl.keystore.location" in stores.reconfigurable_configs
