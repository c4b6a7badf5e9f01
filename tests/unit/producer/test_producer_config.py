"""The producer's configuration."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.producer.producer_config import ProducerConfig

SERVERS = {"bootstrap.servers": "localhost:9092"}


def config(**more: Any) -> ProducerConfig:
    return ProducerConfig(SERVERS | {key.replace("_", "."): value for key, value in more.items()})


def test_defaults() -> None:
    defaults = config()
    assert (defaults.acks, defaults.idempotence, defaults.idempotence_is_explicit) == (-1, True, False)
    assert defaults["client.id"].startswith("producer-")
    assert defaults["batch.size"] == 16384


@pytest.mark.parametrize(("given", "acks"), [("all", -1), ("-1", -1), ("0", 0), ("1", 1), (1, 1)])
def test_acks(given: object, acks: int) -> None:
    assert config(acks=given).acks == acks


@pytest.mark.parametrize("more", [{"acks": "1"}, {"retries": 0}, {"max_in_flight_requests_per_connection": 6}])
def test_idempotence_requires_other_settings(more: dict[str, object]) -> None:
    assert not config(**more).idempotence
    with pytest.raises(ConfigError, match=r"enable\.idempotence needs"):
        config(**more, enable_idempotence=True)
    assert not config(**more, enable_idempotence=False).idempotence


def test_a_transactional_id_needs_idempotence() -> None:
    assert config().transactional_id is None
    transactional = config(transactional_id="id")
    assert (transactional.transactional_id, transactional.idempotence_is_explicit) == ("id", True)
    assert transactional["client.id"] == "producer-id"
    assert transactional["transaction.timeout.ms"] == 60_000
    for more in ({"enable_idempotence": False}, {"acks": "1"}, {"retries": 0}):
        with pytest.raises(ConfigError):
            config(transactional_id="id", **more)
    with pytest.raises(ConfigError, match="must not be empty"):
        config(transactional_id="")


@pytest.mark.parametrize("client_id", ["x" * 40_000, "\ud800"], ids=["too long", "no unicode"])
def test_a_client_id_that_no_request_can_carry_is_refused(client_id: str) -> None:
    assert config(client_id="名" * 3)["client.id"] == "名" * 3
    with pytest.raises(ConfigError, match=r"client\.id"):
        config(client_id=client_id)


def test_the_delivery_timeout_is_at_least_a_request_timeout() -> None:
    with pytest.raises(ConfigError, match="equal to or larger than"):
        config(delivery_timeout_ms=100)
    assert config(linger_ms=200_000)["delivery.timeout.ms"] == 230_000


def test_invalid_values_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"bootstrap\.servers"):
        ProducerConfig({})
    with pytest.raises(ConfigError, match=r"compression\.type"):
        config(compression_type="rar")
    with pytest.raises(ConfigError, match=r"batch\.size"):
        config(batch_size="large")


def test_unknown_keys_are_warned_about(caplog: pytest.LogCaptureFixture) -> None:
    assert config(lingr_ms=5).originals["lingr.ms"] == 5
    assert "'lingr.ms' was supplied but isn't a known config" in caplog.text
