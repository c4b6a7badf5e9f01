"""Clients ask which metrics to push, push them, and are throttled if they come too early (KIP-714)."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID, uuid4

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.ids.uuids import ZERO_UUID, encode_uuid
from kafka_lite.common.time import MockTime
from kafka_lite.network.request import ClientInformation, Request
from kafka_lite.protocol.messages.api_71_get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)
from kafka_lite.protocol.messages.api_72_push_telemetry import PushTelemetryRequest
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.record.compression import CompressionType, compress
from kafka_lite.server.client_telemetry import client_metrics_manager, client_metrics_store
from kafka_lite.server.client_telemetry.client_metrics_manager import ClientMetricsManager
from kafka_lite.server.client_telemetry.client_metrics_store import ClientMetricsStore
from tests.support.metrics_data import counter, gauge, metrics_data

MAX_BYTES = 2000
PUSHED = metrics_data(gauge("age", 1.5), counter("sent", 12, delta=True))


class Broker:
    """A manager, and the requests of clients."""

    def __init__(self) -> None:
        self.time, self.store = MockTime(), ClientMetricsStore()
        self.manager = ClientMetricsManager(MAX_BYTES, self.store, self.time)

    def subscribe(self, name: str, **config: str) -> None:
        self.manager.process_config_changes(name, {key.replace("_", "."): value for key, value in config.items()})

    @staticmethod
    def request(client_id: str, software: str) -> Request:
        header = RequestHeader(api_key=71, api_version=0, client_id=client_id)
        request = Request(0, "10.0.0.2:9092-10.0.0.7:50112-3", "", "", "10.0.0.7", header, cast(Any, None), 0, 0)
        request.client_information = ClientInformation()
        request.client_information.software_name = software
        return request

    def get(
        self, instance: UUID = ZERO_UUID, client_id: str = "c", software: str = "x"
    ) -> GetTelemetrySubscriptionsResponse:
        body = GetTelemetrySubscriptionsRequest(client_instance_id=instance)
        return self.manager.get_subscriptions(self.request(client_id, software), body)

    def push(self, to: GetTelemetrySubscriptionsResponse, metrics: bytes = PUSHED, **fields: Any) -> Errors:
        body = PushTelemetryRequest(
            **{
                "client_instance_id": to.client_instance_id,
                "subscription_id": to.subscription_id,
                "metrics": metrics,
                **fields,
            }
        )
        return Errors.for_code(self.manager.push(self.request("c", "x"), body).error_code)

    def values(self) -> list[dict[str, object]]:
        return [dict(values) for values in self.store.beans().values()]


@pytest.fixture
def broker() -> Broker:
    return Broker()


def test_without_subscriptions_a_client_is_asked_for_nothing(broker: Broker) -> None:
    told = broker.get()
    assert told.client_instance_id.int
    assert (told.error_code, told.requested_metrics, told.push_interval_ms) == (0, [], 300_000)
    assert (told.accepted_compression_types, told.telemetry_max_bytes) == ([4, 3, 1, 2], MAX_BYTES)
    assert told.delta_temporality


def test_a_client_gets_all_that_match_it_together(broker: Broker) -> None:
    broker.subscribe("of-c", metrics="b.,a.", interval_ms="2000", match="client_id=c")
    broker.subscribe(
        "of-x", metrics="a.,c.", interval_ms="1000", match="client_software_name=x,client_source_port=50112"
    )
    broker.subscribe("of-others", metrics="d.", interval_ms="100", match="client_id=d")
    told = broker.get()
    assert (told.requested_metrics, told.push_interval_ms) == (["a.", "b.", "c."], 1000)
    assert broker.get(client_id="d", software="y").requested_metrics == ["d."]


def test_a_subscription_to_all_metrics_takes_the_others_in(broker: Broker) -> None:
    broker.subscribe("some", metrics="a.")
    broker.subscribe("all", metrics="*")
    assert broker.get().requested_metrics == ["*"]


def test_the_id_of_a_subscription_is_the_same_until_it_changes(broker: Broker) -> None:
    broker.subscribe("s", metrics="a.", interval_ms="1000")
    told = broker.get()
    broker.time.sleep(1000)
    assert broker.get(told.client_instance_id).subscription_id == told.subscription_id
    broker.subscribe("s", metrics="a.", interval_ms="2000")
    assert broker.get(told.client_instance_id).subscription_id != told.subscription_id


def test_a_push_is_kept_and_changes_are_added_up(broker: Broker) -> None:
    broker.subscribe("s", metrics="*", interval_ms="1000")
    told = broker.get()
    assert broker.push(told) is Errors.NONE
    broker.time.sleep(1000)
    assert broker.push(told, metrics_data(gauge("age", 3), counter("sent", 3, delta=True))) is Errors.NONE
    assert broker.values() == [{"age": 3, "sent": 15}]
    (name,) = broker.store.beans()
    assert name.properties["client_instance_id"] == encode_uuid(told.client_instance_id)
    assert name.properties["client_source_address"] == "10.0.0.7"


@pytest.mark.parametrize("codec", list(CompressionType))
def test_every_compression_is_read(broker: Broker, codec: CompressionType) -> None:
    told = broker.get()
    assert broker.push(told, compress(codec, PUSHED, 2), compression_type=codec.code) is Errors.NONE
    assert broker.values() == [{"age": 1.5, "sent": 12}]


class TestTooEarly:
    """One Get and one Push in an interval; a Push right after a Get is never too early."""

    @pytest.fixture
    def told(self, broker: Broker) -> GetTelemetrySubscriptionsResponse:
        broker.subscribe("s", metrics="*", interval_ms="1000")
        return broker.get()

    def test_a_second_get(self, broker: Broker, told: GetTelemetrySubscriptionsResponse) -> None:
        broker.time.sleep(999)
        assert broker.get(told.client_instance_id).error_code == Errors.THROTTLING_QUOTA_EXCEEDED.code
        broker.time.sleep(1)
        assert broker.get(told.client_instance_id).error_code == 0

    def test_a_second_push(self, broker: Broker, told: GetTelemetrySubscriptionsResponse) -> None:
        assert broker.push(told) is Errors.NONE
        broker.time.sleep(999)
        assert broker.push(told) is Errors.THROTTLING_QUOTA_EXCEEDED
        broker.time.sleep(1)
        assert broker.push(told) is Errors.NONE

    def test_the_last_push_may_come_early_and_nothing_after_it(
        self, broker: Broker, told: GetTelemetrySubscriptionsResponse
    ) -> None:
        assert broker.push(told) is Errors.NONE
        assert broker.push(told, terminating=True) is Errors.NONE
        assert broker.push(told) is Errors.INVALID_REQUEST

    def test_after_a_change_of_subscriptions_a_client_may_ask_at_once(
        self, broker: Broker, told: GetTelemetrySubscriptionsResponse
    ) -> None:
        broker.subscribe("more", metrics="a.", interval_ms="500")
        assert broker.push(told) is Errors.UNKNOWN_SUBSCRIPTION_ID
        assert broker.manager.unknown_subscriptions == 1
        broker.subscribe("more")
        assert broker.get(told.client_instance_id).subscription_id == told.subscription_id


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"client_instance_id": UUID(int=0)}, Errors.INVALID_REQUEST),
        ({"client_instance_id": UUID(int=1)}, Errors.INVALID_REQUEST),
        ({"subscription_id": -1}, Errors.UNKNOWN_SUBSCRIPTION_ID),
        ({"client_instance_id": uuid4()}, Errors.UNKNOWN_SUBSCRIPTION_ID),
        ({"compression_type": 5}, Errors.UNSUPPORTED_COMPRESSION_TYPE),
        ({"compression_type": -1}, Errors.UNSUPPORTED_COMPRESSION_TYPE),
        ({"metrics": b"x" * (MAX_BYTES + 1)}, Errors.TELEMETRY_TOO_LARGE),
        ({"metrics": b"\x0a\x05ab"}, Errors.INVALID_RECORD),
        ({"metrics": b"no gzip", "compression_type": 1}, Errors.INVALID_RECORD),
        ({"metrics": compress(CompressionType.GZIP, bytes(100_000), 2), "compression_type": 1}, Errors.INVALID_RECORD),
    ],
    ids=lambda value: value.name if isinstance(value, Errors) else "",
)
def test_bad_pushes_are_refused(broker: Broker, fields: dict[str, Any], error: Errors) -> None:
    told = broker.get()
    assert broker.push(told, **fields) is error
    assert broker.values() == []


def test_clients_that_are_silent_are_forgotten_with_their_metrics(broker: Broker) -> None:
    broker.subscribe("s", metrics="*", interval_ms="30000", match="client_id=c")
    slow, other = broker.get(), broker.get(client_id="quick")
    broker.push(slow)
    broker.time.sleep(90_001)
    broker.manager.expire()
    assert (broker.manager.instance_count, broker.values()) == (1, []), "the other may push every five minutes"
    assert broker.get(other.client_instance_id, "quick").error_code == Errors.THROTTLING_QUOTA_EXCEEDED.code


def test_the_number_of_clients_is_bounded(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_metrics_manager, "MAX_INSTANCES", 2)
    first = broker.get()
    broker.push(first)
    broker.get()
    broker.get()
    assert (broker.manager.instance_count, broker.values()) == (2, [])


def test_the_number_of_kept_values_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_metrics_store, "MAX_KEPT_VALUES", 5)
    broker = Broker()
    pushes = [broker.get() for _ in range(3)]
    for told in pushes:
        broker.push(told)
    assert [name.properties["client_instance_id"] for name in broker.store.beans()] == [
        encode_uuid(told.client_instance_id) for told in pushes[1:]
    ]
