"""Futures of requests, two threads, wakeups, and requests that cannot be sent."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from kafka_lite.clients.client_request import ClientResponse, RequestBuilder
from kafka_lite.clients.cluster import Cluster, Node
from kafka_lite.clients.metadata import Metadata
from kafka_lite.clients.network_client import NetworkClient
from kafka_lite.clients.request_future import DisconnectError, RequestFuture
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.time import MockTime
from kafka_lite.consumer.consumer_errors import WakeupError
from kafka_lite.consumer.consumer_network_client import ConsumerNetworkClient
from kafka_lite.consumer.timer import Timer
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatRequest
from kafka_lite.protocol.messages.api_29_describe_acls import DescribeAclsRequest
from kafka_lite.protocol.schema_error import SchemaError
from tests.support.patience import patient_s
from tests.support.scripted_broker import HOST, PORT, ScriptedBroker

NODE = Node(0, HOST, PORT)


class Client(ConsumerNetworkClient):
    """A client of a scripted broker that is known already."""

    def __init__(self, time: MockTime, broker: ScriptedBroker) -> None:
        self.time, self.metadata = time, Metadata(100, time=time)
        self.metadata.update(Cluster((NODE,)), time.hi_res_ms())
        network = NetworkClient(broker, self.metadata, "me", request_timeout_ms=500, time=time)  # type: ignore[arg-type]
        super().__init__(network, self.metadata, retry_backoff_ms=100, unsent_expiry_ms=400, time=time)

    def timer(self, ms: float) -> Timer:
        return Timer(self.time, ms)

    def heartbeat(self, **options: Any) -> RequestFuture[ClientResponse]:
        request = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")
        return self.send(NODE, RequestBuilder.of(request), **options)


@pytest.fixture
def client(time: MockTime, broker: ScriptedBroker) -> Client:
    return Client(time, broker)


def test_polling_for_a_future_connects_sends_and_receives(client: Client) -> None:
    future = client.heartbeat()
    assert client.pending_request_count(NODE) == 1
    assert client.poll_future(future, client.timer(1000))
    assert future.value.response is not None
    assert client.pending_request_count() == 0


def test_a_future_without_a_response_times_out(client: Client, broker: ScriptedBroker) -> None:
    broker.handlers[ApiKey.HEARTBEAT] = lambda _request, _version: None
    future = client.heartbeat()
    assert not client.poll_future(future, client.timer(300))
    assert not future.is_done
    assert client.poll_future(future, client.timer(1000))
    assert isinstance(future.exception, DisconnectError), "request.timeout.ms has passed"


def test_a_request_may_have_a_longer_timeout(client: Client, broker: ScriptedBroker) -> None:
    broker.handlers[ApiKey.HEARTBEAT] = lambda _request, _version: None
    future = client.heartbeat(request_timeout_ms=5000)
    assert not client.poll_future(future, client.timer(4000))
    assert client.poll_future(future, client.timer(2000))


def test_a_lost_connection_fails_requests_in_flight_and_unsent_ones(client: Client, broker: ScriptedBroker) -> None:
    broker.handlers[ApiKey.HEARTBEAT] = lambda _request, _version: None
    sent = client.heartbeat()
    client.poll_future(sent, client.timer(10))
    broker.lose("0")
    waiting = client.heartbeat()
    client.poll_future(sent, client.timer(10))
    client.poll_future(waiting, client.timer(10))
    assert isinstance(sent.exception, DisconnectError)
    assert isinstance(waiting.exception, DisconnectError)
    assert client.is_unavailable(NODE)


def test_a_request_of_the_other_thread_during_a_poll_waits_for_the_first_attempt_to_connect(
    client: Client, broker: ScriptedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    futures: list[RequestFuture[ClientResponse]] = []
    poll = broker.poll

    def poll_meanwhile(timeout_ms: float) -> None:
        if not futures:
            futures.append(client.heartbeat())
        poll(timeout_ms)

    monkeypatch.setattr(broker, "poll", poll_meanwhile)
    client.poll(client.timer(0))
    assert client.poll_future(futures[0], client.timer(100))
    assert futures[0].succeeded, futures[0].exception


def test_a_request_that_cannot_be_sent_expires(client: Client, broker: ScriptedBroker) -> None:
    broker.hold_connections = True
    future = client.heartbeat()
    assert client.poll_future(future, client.timer(2000))
    assert isinstance(future.exception, ApiError)
    assert future.exception.error is Errors.REQUEST_TIMED_OUT


def test_a_request_that_cannot_be_encoded_fails_its_future(client: Client) -> None:
    """And not the thread that happens to send it, such as the heartbeat thread."""
    request = HeartbeatRequest(group_id="g", generation_id=1 << 31, member_id="m")
    future = client.send(NODE, RequestBuilder.of(request))
    other = client.heartbeat()
    client.poll(client.timer(100))
    client.poll_in_background()
    assert client.poll_future(future, client.timer(100))
    assert isinstance(future.exception, SchemaError)
    assert client.poll_future(other, client.timer(100))
    assert client.pending_request_count() == 0


def test_an_api_that_the_broker_lacks_fails_the_future(client: Client) -> None:
    request = DescribeAclsRequest(resource_type_filter=1, operation=1, permission_type=1)
    future = client.send(NODE, RequestBuilder.of(request))
    assert client.poll_future(future, client.timer(1000))
    assert isinstance(future.exception, ApiError)
    assert future.exception.error is Errors.UNSUPPORTED_VERSION


def test_a_wakeup_is_raised_once_and_not_while_disabled(client: Client) -> None:
    client.wakeup()
    client.poll_no_wakeup()
    with pytest.raises(WakeupError):
        client.poll(client.timer(0))
    client.poll(client.timer(0))
    client.wakeup()
    client.disable_wakeups()
    client.poll(client.timer(0))


def test_requests_in_progress_survive_a_wakeup(client: Client) -> None:
    future = client.heartbeat()
    client.wakeup()
    with pytest.raises(WakeupError):
        client.poll_future(future, client.timer(1000))
    assert client.poll_future(future, client.timer(1000))
    assert future.succeeded


def test_the_heartbeat_thread_completes_its_own_requests_only(client: Client) -> None:
    users, heartbeats = client.heartbeat(), client.heartbeat(background=True)
    for _ in range(10):
        client.poll_in_background()
    assert heartbeats.succeeded
    assert not users.is_done
    client.poll_no_wakeup()
    assert users.succeeded


def test_the_heartbeat_thread_does_not_wait_for_the_polling_thread(client: Client) -> None:
    future = client.heartbeat(background=True)
    done = threading.Event()

    def in_background() -> None:
        client.poll_in_background()
        client.is_unavailable(NODE)
        client.least_loaded_node()
        client.disconnect_async(Node(7, HOST, PORT))
        done.set()

    with client._lock:
        thread = threading.Thread(target=in_background)
        thread.start()
        assert done.wait(patient_s(30))
    thread.join()
    assert client.poll_future(future, client.timer(1000))


def test_listeners_of_a_future_may_send_and_poll(client: Client) -> None:
    outcomes: list[bool] = []

    def and_again(_response: ClientResponse) -> None:
        outcomes.append(client.poll_future(client.heartbeat(), client.timer(1000)))

    future = client.heartbeat()
    future.add_listener(and_again)
    client.poll_future(future, client.timer(1000))
    assert outcomes == [True]


def test_await_metadata_update_waits_for_metadata(client: Client, broker: ScriptedBroker) -> None:
    version = client.metadata.version
    assert client.await_metadata_update(client.timer(1000))
    assert client.metadata.version == version + 1
    assert client.ensure_fresh_metadata(client.timer(0))
    client.metadata.request_update()
    broker.handlers[ApiKey.METADATA] = lambda _request, _version: None
    assert not client.ensure_fresh_metadata(client.timer(300))


def test_await_pending_requests_waits_for_responses(client: Client, broker: ScriptedBroker) -> None:
    client.heartbeat()
    assert client.await_pending_requests(NODE, client.timer(1000))
    broker.handlers[ApiKey.HEARTBEAT] = lambda _request, _version: None
    client.heartbeat()
    assert not client.await_pending_requests(NODE, client.timer(100))


def test_an_asynchronous_disconnect_fails_requests_in_progress(client: Client, broker: ScriptedBroker) -> None:
    broker.handlers[ApiKey.HEARTBEAT] = lambda _request, _version: None
    future = client.heartbeat()
    client.poll_future(future, client.timer(10))
    client.disconnect_async(NODE)
    client.poll_future(future, client.timer(10))
    assert isinstance(future.exception, DisconnectError)
