"""The APIs of a broker, over parts that only record what reaches them."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

import pytest

from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import SYSTEM_TIME, MockTime
from kafka_lite.network.request_channel import RequestChannel
from kafka_lite.network.unserved_requests import UnservedRequests
from kafka_lite.protocol.messages.api_06_update_metadata import UpdateMetadataPartitionState, UpdateMetadataRequest
from kafka_lite.server import missing_logs
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.startup.request_handling import BrokerParts, RequestHandling

CONFIG = KafkaConfig({"broker.id": 1, "zookeeper.connect": "embedded", "num.io.threads": 2})


@pytest.fixture
def parts() -> Any:
    made = MagicMock(spec_set=[*BrokerParts.__dataclass_fields__])
    made.config = CONFIG
    made.time = SYSTEM_TIME  # the purgatory needs a clock that advances by itself
    made.socket_server.request_channel = RequestChannel(1, 10)
    made.socket_server.unserved_requests = UnservedRequests()
    made.healthcheck.broker_epoch = -1
    made.security.tokens.enabled = False
    return made


def test_new_metadata_of_a_topic_completes_what_waits_for_it(parts: Any) -> None:
    parts.replicas.state_changes.maybe_update_metadata_cache.return_value = []
    handling = RequestHandling(parts)
    state = UpdateMetadataPartitionState(topic_name="t", partition_index=0)
    response = handling.apis.handle_own(UpdateMetadataRequest(ungrouped_partition_states=[state]), 2)
    handling.shutdown()

    assert response.error_code == 0  # type: ignore[attr-defined]
    parts.admin_manager.try_complete_delayed_topic_operations.assert_called_once_with("t")


def test_missing_logs_are_retried_as_long_as_the_broker_runs(parts: Any) -> None:
    clock = MockTime()
    parts.scheduler = MockScheduler(clock)
    RequestHandling(parts).shutdown()
    parts.replicas.state_changes.make_missing_logs.return_value = ["t-0"]
    clock.sleep(2 * missing_logs.RETRY_MS)

    assert parts.replicas.notify_controller.call_count == 2


def test_the_controller_deletes_expired_tokens_if_there_are_tokens(parts: Any) -> None:
    clock = MockTime()
    parts.scheduler = MockScheduler(clock)
    tokens = parts.security.tokens
    tokens.enabled, tokens.config.expiry_check_interval_ms = True, 1000
    parts.controller.is_active = False
    RequestHandling(parts).shutdown()
    clock.sleep(1000)
    assert tokens.expire_tokens.call_count == 0
    parts.controller.is_active = True
    clock.sleep(2000)
    assert tokens.expire_tokens.call_count == 2


def test_the_pool_has_the_threads_that_the_dynamic_configuration_asks_for(parts: Any) -> None:
    parts.dynamic_config.current_config.num_io_threads = 3
    handling = RequestHandling(parts)
    pool = handling.start_handlers()
    try:
        assert len(pool._threads) == 3
        parts.metrics.measure_handlers.assert_called_once_with(pool)
    finally:
        pool.shutdown()
        handling.shutdown()
