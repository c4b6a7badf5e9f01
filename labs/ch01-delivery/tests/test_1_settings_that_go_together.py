"""Task 1: whether a producer numbers its batches follows from four settings."""

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.producer.producer_config import ProducerConfig

IN_FLIGHT = "max.in.flight.requests.per.connection"
NUMBERED = "enable.idempotence"


def configured(settings):
    return ProducerConfig({"bootstrap.servers": "localhost:9092", **settings})


def refused(settings, why):
    """The key that the error for these settings names."""
    try:
        config = configured(settings)
    except ConfigError as error:
        return error.name
    return pytest.fail(f"{settings}: raise a ConfigError, since {why}; yours has idempotence={config.idempotence}")


@pytest.mark.points(4, task=1)
def test_the_defaults_number():
    """Without any setting, and at the limits"""
    assert configured({}).idempotence is True, (
        "the defaults number their batches: acks=all, many retries and 5 requests in flight allow it"
    )
    config = configured({IN_FLIGHT: 5, "retries": 1})
    assert config.idempotence is True, "5 requests in flight are allowed, and one retry is enough"


@pytest.mark.points(1, task=1)
@pytest.mark.parametrize(("key", "value"), [("acks", "1"), ("acks", "0"), ("retries", 0), (IN_FLIGHT, 6)])
def test_a_setting_that_forbids_it(key, value):
    """acks=1, acks=0, retries=0, six requests in flight"""
    try:
        config = configured({key: value})
    except ConfigError as error:
        pytest.fail(f"nobody has asked for idempotence: {key}={value} turns it off, and is no error; yours: {error}")
    assert config.idempotence is False, f"{key}={value} does not go with idempotence: it is off"


@pytest.mark.points(2, task=1)
@pytest.mark.parametrize("asked", [{NUMBERED: True}, {"transactional.id": "till-1"}], ids=["explicit", "transactional"])
def test_it_is_needed(asked):
    """enable.idempotence=true, or a transactional.id, beside a setting that forbids it"""
    config = configured({**asked})
    assert config.idempotence is True, f"{asked} asks for it, and nothing forbids it"
    for key, value in (("acks", "1"), ("retries", 0), (IN_FLIGHT, 6)):
        name = refused({**asked, key: value}, f"{asked} needs idempotence, and {key}={value} forbids it")
        assert name == key, f"the error names the setting that forbids it: {key}, not {name}"
    name = refused({**asked, "acks": "1", "retries": 0, IN_FLIGHT: 6}, "three settings forbid it")
    assert name == "acks", f"of several the error names the first, acks, not {name}"


@pytest.mark.points(3, task=1)
def test_it_is_disabled():
    """enable.idempotence=false, without and with a transactional.id"""
    config = configured({NUMBERED: False})
    assert config.idempotence is False, "enable.idempotence=false: the user does not want it"
    both = {NUMBERED: False, "transactional.id": "till-1"}
    name = refused(both, "a transaction cannot do without numbers")
    assert name == NUMBERED, f"the error names enable.idempotence, not {name}"
