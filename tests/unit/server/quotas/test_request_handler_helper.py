"""What requests cost, whose quota they exceed, and whether the connection is muted or the response held back."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.stats import MetricConfig
from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import RequestChannel, ResponseAction
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.api_keys import API_SPECS
from kafka_lite.protocol.messages.api_01_fetch import FetchableTopicResponse, FetchRequest, FetchResponse, PartitionData
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.server.kafka_apis import SERVED_VERSIONS
from kafka_lite.server.quotas.client_quota_entity import KafkaQuotaEntity
from kafka_lite.server.quotas.client_quota_manager import ClientQuotaManager
from kafka_lite.server.quotas.client_quota_managers import client_quota_managers
from kafka_lite.server.quotas.controller_mutation_quota_manager import StrictControllerMutationQuota
from kafka_lite.server.quotas.request_handler_helper import (
    EXEMPT,
    FIRST_VERSION_WHOSE_CLIENTS_WAIT,
    RequestHandlerHelper,
)

CLIENT = KafkaQuotaEntity(client_id="c")
START, END = ResponseAction.START_THROTTLING, ResponseAction.END_THROTTLING


class Broker:
    """A helper, with quotas for the client ``c``; notes what is sent."""

    def __init__(self) -> None:
        self.time = MockTime()
        config = MetricConfig(11, 1000)
        self.quotas = client_quota_managers(config, config, Metrics(time=self.time), self.time)
        self.channel = RequestChannel(1, 10, self.time)
        self.helper = RequestHandlerHelper(self.channel, self.quotas, self.time)
        self.sent: list[Any] = []

    def limit(self, **config: str) -> None:
        self.quotas.update_quotas(CLIENT, config)

    def request(self, api_key: ApiKey, version: int, size: int = 100, body: Any = None) -> Request:
        header = RequestHeader(api_key=api_key, api_version=version, client_id="c")
        body = body or API_SPECS[api_key].request()
        now_ms = self.time.hi_res_ms()
        request = Request(0, "connection", "PLAINTEXT", "PLAINTEXT", "127.0.0.1", header, body, size, now_ms)
        request.request_dequeue_time_ms = now_ms
        return request

    def respond(self, request: Request, response: Any = "default") -> Any:
        if response == "default":
            response = API_SPECS[ApiKey(request.header.api_key)].response()
        self.helper.respond(request, response, self.sent.append)
        return response

    def actions(self) -> list[ResponseAction]:
        return [response.action for response in self.channel.receive_responses(0)]

    def let_time_pass(self, manager: ClientQuotaManager, time_ms: int) -> None:
        self.time.sleep(time_ms)
        manager._reaper.do_work()


@pytest.fixture
def broker() -> Broker:
    return Broker()


# ── who waits


def test_a_producer_that_waits_by_itself_has_its_response_at_once_and_is_muted(broker: Broker) -> None:
    broker.limit(producer_byte_rate="100")
    request = broker.request(ApiKey.PRODUCE, 6, size=1100)  # 10 s x 100 are free; the rest takes 1 s
    response = broker.respond(request)
    assert broker.sent == [response]
    assert (response.throttle_time_ms, request.api_throttle_time_ms) == (1000, 1000)
    assert broker.actions() == [START]
    broker.time.sleep(999)
    assert broker.quotas.produce._delay_queue.poll(0) is None
    broker.let_time_pass(broker.quotas.produce, 1)
    assert broker.actions() == [END]


def test_the_response_to_an_older_producer_is_held_back(broker: Broker) -> None:
    broker.limit(producer_byte_rate="100")
    request = broker.request(ApiKey.PRODUCE, 5, size=1100)
    response = broker.respond(request)
    assert broker.sent == []
    broker.time.sleep(999)
    assert broker.quotas.produce._delay_queue.poll(0) is None
    broker.let_time_pass(broker.quotas.produce, 1)
    assert broker.sent == [response]
    assert response.throttle_time_ms == 1000
    assert broker.actions() == []
    request.response_complete_time_ms = request.response_dequeue_time_ms = broker.time.hi_res_ms()
    assert request.times(broker.time.hi_res_ms()).throttle_ms == 1000


@pytest.mark.parametrize("version", [5, 6])
def test_a_producer_without_responses_is_delayed_too(broker: Broker, version: int) -> None:
    broker.limit(producer_byte_rate="100")
    broker.respond(broker.request(ApiKey.PRODUCE, version, size=1100), None)
    assert (broker.sent, broker.actions()) == (([None], [START]) if version == 6 else ([], []))
    broker.let_time_pass(broker.quotas.produce, 1000)
    assert (broker.sent, broker.actions()) == ([None], [END] if version == 6 else [])


def test_a_client_within_its_quota_and_one_without_get_their_responses(broker: Broker) -> None:
    broker.limit(producer_byte_rate="100")
    within = broker.respond(broker.request(ApiKey.PRODUCE, 9, size=1000))
    other = broker.request(ApiKey.PRODUCE, 9, size=1_000_000)
    other.header.client_id = None
    without = broker.respond(other)
    assert broker.sent == [within, without]
    assert (within.throttle_time_ms, without.throttle_time_ms, broker.actions()) == (0, 0, [])


def test_the_versions_whose_clients_wait_are_versions_of_served_apis() -> None:
    """0.10.2's clients never wait; its versions are all below."""
    newest_of_0_10_2 = {ApiKey.PRODUCE: 2, ApiKey.FETCH: 3, ApiKey.METADATA: 2, ApiKey.JOIN_GROUP: 1}
    for api_key, version in FIRST_VERSION_WHOSE_CLIENTS_WAIT.items():
        assert 0 < version <= SERVED_VERSIONS[api_key].max_version
        assert newest_of_0_10_2.get(api_key, 0) < version
    assert not EXEMPT & FIRST_VERSION_WHOSE_CLIENTS_WAIT.keys()


# ── Fetch


def test_a_throttled_fetch_is_recorded_once_and_its_bytes_do_not_count(broker: Broker) -> None:
    broker.limit(consumer_byte_rate="100")
    request = broker.request(ApiKey.FETCH, 8)
    assert broker.helper.max_fetch_bytes(request) == 1000
    assert broker.helper.throttle_fetch(request, 900) == 0
    throttled = broker.request(ApiKey.FETCH, 8)
    assert broker.helper.throttle_fetch(throttled, 200) == 1000
    broker.respond(throttled)
    assert [response.throttle_time_ms for response in broker.sent] == [1000]
    assert broker.actions() == [START]
    assert broker.helper.throttle_fetch(broker.request(ApiKey.FETCH, 8), 100) == 0


def test_an_older_fetch_is_held_back_with_its_records(broker: Broker) -> None:
    broker.limit(consumer_byte_rate="100")
    partition = PartitionData(partition_index=0, high_watermark=1, records=b"x" * 1100)
    response = FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=[partition])])
    size = len(response.encode(3))
    broker.respond(broker.request(ApiKey.FETCH, 3), response)
    assert (broker.sent, response.throttle_time_ms) == ([], (size - 1000) * 10)
    broker.let_time_pass(broker.quotas.fetch, response.throttle_time_ms)
    assert broker.sent == [response]


@pytest.mark.parametrize("version", [3, 12])
def test_followers_and_other_requests_of_brokers_are_never_delayed(broker: Broker, version: int) -> None:
    broker.limit(consumer_byte_rate="1", request_percentage="0.001")
    requests = [broker.request(ApiKey.FETCH, version, body=FetchRequest(replica_id=1))]
    requests += [broker.request(api_key, 0) for api_key in EXEMPT]
    for request in requests:
        broker.time.sleep(1000)
        broker.respond(request)
    assert (len(broker.sent), broker.actions()) == (len(requests), [])
    assert [request.api_throttle_time_ms for request in requests] == [0] * len(requests)
    (shown,) = broker.quotas.request.exempt_sensor.metrics
    assert shown.value > 0


# ── request time, and which quota counts


def test_the_time_of_threads_counts_for_every_api(broker: Broker) -> None:
    broker.limit(request_percentage="10")
    request = broker.request(ApiKey.METADATA, 6)
    broker.time.sleep(1100)  # in the handler: 10 s x 10 % are free
    response = broker.respond(request)
    assert (response.throttle_time_ms, broker.actions()) == (1000, [START])
    following = broker.request(ApiKey.METADATA, 6)
    assert request.record_network_thread_time is not None
    request.record_network_thread_time(500)
    assert broker.respond(following).throttle_time_ms == 1000, "a delay is one window at most"


def test_the_wait_in_a_purgatory_costs_nothing(broker: Broker) -> None:
    broker.limit(request_percentage="10")
    request = broker.request(ApiKey.JOIN_GROUP, 5)
    request.api_local_complete_time_ms = broker.time.hi_res_ms()
    broker.time.sleep(60_000)
    assert broker.respond(request).throttle_time_ms == 0


@pytest.mark.parametrize(("size", "expected"), [(1100, "request"), (1300, "produce")])
def test_the_longer_of_two_delays_counts(broker: Broker, size: int, expected: str) -> None:
    """The sensor of the other one does not note that its quota was exceeded."""
    broker.limit(producer_byte_rate="100", request_percentage="100")
    request = broker.request(ApiKey.PRODUCE, 6, size=size)
    request.request_dequeue_time_ms -= 12_000
    response = broker.respond(request)
    assert response.throttle_time_ms == {"request": 1000, "produce": 3000}[expected]
    waiting = {manager.quota_type.value: len(manager._delay_queue) for manager in broker.quotas}
    assert [name.lower() for name, count in waiting.items() if count] == [expected]


# ── changes of topics


def test_changes_of_topics_delay_the_client(broker: Broker) -> None:
    broker.limit(controller_mutation_rate="1")
    request = broker.request(ApiKey.CREATE_TOPICS, 5)
    quota = broker.helper.new_mutation_quota(request, 6)
    quota.record(14)  # eleven are saved up
    broker.time.sleep(1000)  # until the topics have leaders
    broker.helper.throttle_mutation(request, quota)
    response = broker.respond(request)
    assert (response.throttle_time_ms, broker.actions()) == (2000, [START])
    assert len(broker.quotas.controller_mutation._delay_queue) == 1
    strict = broker.helper.new_mutation_quota(broker.request(ApiKey.CREATE_TOPICS, 6), 6)
    assert isinstance(strict, StrictControllerMutationQuota)


def test_without_quotas_nothing_is_enabled(broker: Broker) -> None:
    assert not broker.quotas.is_enabled
    assert broker.helper.new_mutation_quota(broker.request(ApiKey.CREATE_TOPICS, 6), 6).is_unbounded
    broker.limit(controller_mutation_rate="1")
    assert broker.quotas.is_enabled
