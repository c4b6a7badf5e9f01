import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.connect.runtime.connector_config import ConnectorConfig, sink_config_def
from kafka_lite.connect.runtime.errors.error_handling_config import (
    ERROR_GROUP,
    ErrorHandlingConfig,
    dead_letter_topic_problem,
)

BASE = {"name": "a", "connector.class": "X"}
PROBLEM = (
    "The DLQ topic 'dead' may not be included in the list of topics ('topics=[t, dead]') consumed by the connector"
)


def test_the_defaults_are_kafkas() -> None:
    assert ConnectorConfig(BASE).error_handling() == ErrorHandlingConfig()
    assert ConnectorConfig(BASE, sink_config_def()).error_handling() == ErrorHandlingConfig()
    keys = [key.name for key in sink_config_def() if key.group == ERROR_GROUP]
    assert len(keys) == 8


def test_all_values_are_taken() -> None:
    errors = {
        "errors.tolerance": "all",
        "errors.retry.timeout": "-1",
        "errors.retry.delay.max.ms": "500",
        "errors.log.enable": "true",
        "errors.log.include.messages": "true",
        "errors.deadletterqueue.topic.name": " dead ",
        "errors.deadletterqueue.topic.replication.factor": "1",
        "errors.deadletterqueue.context.headers.enable": "true",
    }
    config = ConnectorConfig(BASE | {"topics": "t"} | errors, sink_config_def()).error_handling()
    assert config == ErrorHandlingConfig(True, -1, 500, True, True, "dead", 1, True)
    assert config.reports_errant_records
    assert not ErrorHandlingConfig().reports_errant_records


def test_another_tolerance_is_refused() -> None:
    with pytest.raises(ConfigError, match="String must be one of: none, all"):
        ConnectorConfig(BASE | {"errors.tolerance": "some"})


def test_a_sink_may_not_read_its_own_dead_letter_queue() -> None:
    assert dead_letter_topic_problem(["t", "dead"], "", "dead") == PROBLEM
    props = BASE | {"topics": "t, dead", "errors.deadletterqueue.topic.name": "dead"}
    with pytest.raises(ConfigError) as raised:
        ConnectorConfig(props, sink_config_def()).error_handling()
    assert PROBLEM in str(raised.value)
