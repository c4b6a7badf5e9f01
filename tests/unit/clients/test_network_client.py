"""The network client over a selector without sockets."""

from __future__ import annotations

import random

import pytest

from kafka_lite.clients.client_request import ClientResponse, RequestBuilder
from kafka_lite.clients.cluster import Cluster, Node
from kafka_lite.clients.metadata import Metadata
from kafka_lite.clients.metadata_updater import ManualMetadataUpdater
from kafka_lite.clients.network_client import NetworkClient, NetworkClientNotReadyError
from kafka_lite.common.errors import Errors
from kafka_lite.common.time import MockTime
from kafka_lite.network.authentication_error import SaslAuthenticationError
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.framing import decode_request
from kafka_lite.protocol.messages.api_03_metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatRequest, HeartbeatResponse
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersion, ApiVersionsResponse
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.protocol.schema import Request
from tests.support.mock_selector import MockSelector

NODE = Node(0, "localhost", 9092)
TIMEOUT_MS = 1000


class Client:
    """A network client, its selector and clock, and the responses passed to callbacks."""

    def __init__(self, metadata: Metadata | None = None, discover: bool = True) -> None:
        self.time = MockTime()
        self.selector = MockSelector(self.time)
        self.ended: list[ClientResponse] = []
        self.client = NetworkClient(
            self.selector,  # type: ignore[arg-type]
            metadata or ManualMetadataUpdater([NODE]),
            "me",
            max_in_flight_requests_per_connection=2,
            request_timeout_ms=TIMEOUT_MS,
            connection_setup_timeout_ms=500,
            discover_broker_versions=discover,
            time=self.time,
            random_source=random.Random(1),
        )

    def poll(self, timeout_ms: float = 0) -> list[ClientResponse]:
        return self.client.poll(timeout_ms, self.time.hi_res_ms())

    def ready(self, node: Node = NODE) -> bool:
        return self.client.ready(node, self.time.hi_res_ms())

    def connect(self, heartbeat_versions: tuple[int, int] = (0, 4)) -> None:
        """Connect, and respond to the client's first request."""
        assert not self.ready()
        self.poll()  # connected; ApiVersions is queued
        self.poll()  # and sent
        header, _ = self.last_request()
        self.selector.answer("0", header.correlation_id, versions(heartbeat_versions), header.api_version)
        self.poll()
        assert self.ready()

    def send(self, expect_response: bool = True) -> int:
        """Queue a request; returns its correlation id."""
        now_ms = self.time.hi_res_ms()
        builder = RequestBuilder.of(HeartbeatRequest(group_id="g", member_id="m"))
        request = self.client.new_client_request("0", builder, now_ms, expect_response, self.ended.append)
        self.client.send(request, now_ms)
        return request.correlation_id

    def last_request(self) -> tuple[RequestHeader, Request]:
        parts = list(self.selector.sent[-1]._parts)
        return decode_request(b"".join(bytes(part) for part in parts)[4:])  # type: ignore[arg-type]


def versions(heartbeat: tuple[int, int]) -> ApiVersionsResponse:
    return ApiVersionsResponse(
        api_keys=[
            ApiVersion(api_key=ApiKey.HEARTBEAT, min_version=heartbeat[0], max_version=heartbeat[1]),
            ApiVersion(api_key=ApiKey.METADATA, min_version=0, max_version=5),
            ApiVersion(api_key=ApiKey.API_VERSIONS, min_version=0, max_version=2),
        ]
    )


def test_a_request_gets_its_response() -> None:
    client = Client()
    client.connect()
    correlation_id = client.send()
    assert client.poll() == []
    client.selector.answer("0", correlation_id, HeartbeatResponse(error_code=27), 4)
    (response,) = client.poll()
    assert client.ended == [response]
    assert isinstance(response.response, HeartbeatResponse)
    assert response.response.error_code == 27
    assert not response.was_disconnected
    assert client.client.in_flight_request_count() == 0


def test_the_newest_common_version_is_used() -> None:
    client = Client()
    client.connect(heartbeat_versions=(1, 2))
    client.send()
    client.poll()
    assert client.last_request()[0].api_version == 2


def test_a_missing_version_fails_the_request() -> None:
    client = Client()
    client.connect(heartbeat_versions=(90, 95))
    sent = len(client.selector.sent)
    client.send()
    (response,) = client.poll()
    assert "HEARTBEAT" in str(response.version_mismatch)
    assert client.ended == [response]
    assert len(client.selector.sent) == sent
    assert client.ready(), "the connection remains usable"


def test_without_discovery_the_connection_is_ready_at_once() -> None:
    client = Client(discover=False)
    assert not client.ready()
    client.poll()
    assert client.ready()
    client.send()
    client.poll()
    assert client.last_request()[0].api_version == RequestBuilder.of(HeartbeatRequest()).latest_version


def test_api_versions_is_retried_in_a_version_that_the_broker_has() -> None:
    client = Client()
    client.ready()
    client.poll()
    client.poll()
    header, _ = client.last_request()
    assert header.api_version == 3
    refusal = ApiVersionsResponse(error_code=Errors.UNSUPPORTED_VERSION.code)
    client.selector.answer("0", header.correlation_id, refusal, 0)
    client.poll()
    client.poll()
    header, _ = client.last_request()
    assert header.api_version == 0
    client.selector.answer("0", header.correlation_id, versions((0, 0)), 0)
    client.poll()
    assert client.ready()


def test_any_other_api_versions_error_closes_the_connection() -> None:
    client = Client()
    client.ready()
    client.poll()
    client.poll()
    header, _ = client.last_request()
    client.selector.answer("0", header.correlation_id, ApiVersionsResponse(error_code=31), 3)
    client.poll()
    assert client.selector.closed == ["0"]
    assert client.client.connection_failed(NODE)


def test_no_more_in_flight_than_allowed() -> None:
    client = Client()
    client.connect()
    first = client.send()
    client.poll()
    client.send()
    client.poll()
    assert not client.ready()
    with pytest.raises(NetworkClientNotReadyError):
        client.send()
    client.selector.answer("0", first, HeartbeatResponse(), 4)
    client.poll()
    assert client.ready()


def test_no_request_is_queued_behind_an_incompletely_sent_one() -> None:
    client = Client()
    client.connect()
    client.selector.hold_sends = True
    client.send()
    client.poll()
    assert not client.ready()
    client.selector.hold_sends = False
    client.poll()
    assert client.ready()


def test_a_request_without_a_response_completes_once_sent() -> None:
    client = Client()
    client.connect()
    client.send(expect_response=False)
    (response,) = client.poll()
    assert response.response is None
    assert not response.was_disconnected
    assert client.client.in_flight_request_count() == 0


def test_a_lost_connection_fails_its_requests_in_order() -> None:
    client = Client()
    client.connect()
    ids = []
    for _ in range(2):
        ids.append(client.send())
        client.poll()
    client.selector.lose("0")
    client.poll()
    assert [response.correlation_id for response in client.ended] == ids
    assert all(response.was_disconnected for response in client.ended)


def test_a_timed_out_request_closes_the_connection() -> None:
    client = Client()
    client.connect()
    client.send()
    client.poll()
    client.poll(timeout_ms=10 * TIMEOUT_MS)  # ends when the request times out
    client.poll(timeout_ms=1)
    assert client.time.hi_res_ms() <= TIMEOUT_MS + 2
    (response,) = client.ended
    assert response.was_disconnected
    assert client.selector.closed == ["0"]


def test_a_connection_that_cannot_be_established() -> None:
    client = Client()
    client.selector.hold_connections = True
    client.ready()
    client.poll(timeout_ms=501)
    assert client.selector.closed == ["0"]
    assert client.client.connection_failed(NODE)


def test_a_refused_connection_is_retried_after_the_backoff() -> None:
    client = Client()
    client.selector.refuse_connections = True
    assert not client.ready()
    delay_ms = client.client.connection_delay_ms(NODE, client.time.hi_res_ms())
    assert 40 <= delay_ms <= 60
    client.selector.refuse_connections = False
    client.ready()
    assert client.client.connection_failed(NODE), "too early"
    client.time.sleep(delay_ms)
    client.connect()


def test_a_failed_authentication_ends_the_wait_for_metadata_until_the_cluster_is_heard_of(
    caplog: pytest.LogCaptureFixture,
) -> None:
    client = Client(metadata := Metadata(time=MockTime()))
    metadata.update(Cluster.bootstrap([("localhost", 9092)]), 0)
    node = metadata.fetch().nodes[0]
    client.ready(node)
    client.selector.hold_connections = True
    client.selector.lose(node.id_string, SaslAuthenticationError("the password is wrong"))
    client.poll()
    with pytest.raises(SaslAuthenticationError, match="the password is wrong"):
        metadata.await_update(metadata.version, 1000)
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    metadata.update(Cluster.bootstrap([("localhost", 9092)]), 0)
    assert metadata.authentication_error is None


@pytest.mark.parametrize("payload", [b"", b"\0\0\0\0", b"\0\0\0\x63" + bytes(6)], ids=["nothing", "short", "another's"])
def test_an_invalid_response_closes_the_connection(payload: bytes) -> None:
    client = Client()
    client.connect()
    client.send()
    client.poll()
    client.selector.receive("0", payload)
    (response,) = client.poll()
    assert response.was_disconnected
    assert client.selector.closed == ["0"]


def test_a_response_without_a_request_closes_the_connection() -> None:
    client = Client()
    client.connect()
    client.selector.receive("0", bytes(10))
    assert client.poll() == []
    assert client.selector.closed == ["0"]


def test_a_failing_callback_does_not_stop_the_others() -> None:
    client = Client()
    client.connect()

    def fail(_: ClientResponse) -> None:
        raise ValueError("a mistake of the user")

    builder = RequestBuilder.of(HeartbeatRequest())
    client.client.send(client.client.new_client_request("0", builder, 0, callback=fail), 0)
    client.poll()
    client.send()
    client.selector.lose("0")
    assert len(client.poll()) == 2
    assert len(client.ended) == 1


class TestMetadata:
    """With a :class:`Metadata`, the client requests metadata itself, before anything else."""

    def client(self) -> tuple[Client, Metadata]:
        time = MockTime()
        metadata = Metadata(refresh_backoff_ms=100, time=time)
        metadata.update(Cluster.bootstrap([("localhost", 9092)]), time.hi_res_ms())
        return Client(metadata), metadata

    def answered(self) -> MetadataResponse:
        partition = MetadataResponsePartition(partition_index=0, leader_id=7, replica_nodes=[7], isr_nodes=[7])
        return MetadataResponse(
            brokers=[MetadataResponseBroker(node_id=7, host="there", port=1234)],
            cluster_id="c",
            controller_id=7,
            topics=[
                MetadataResponseTopic(name="t", partitions=[partition]),
                MetadataResponseTopic(name="bad", error_code=Errors.INVALID_TOPIC_EXCEPTION.code),
            ],
        )

    def asked(self, client: Client) -> RequestHeader:
        """Poll until the metadata request is sent."""
        for _ in range(4):
            client.poll()
            if client.selector.sent:
                header, _ = client.last_request()
                if header.api_key == ApiKey.API_VERSIONS and client.client.in_flight_request_count() == 1:
                    client.selector.answer("-1", header.correlation_id, versions((0, 4)), header.api_version)
        client.poll()
        header, _ = client.last_request()
        assert header.api_key == ApiKey.METADATA
        assert header.api_version == 5
        return header

    def test_metadata_of_a_new_topic_is_requested(self) -> None:
        client, metadata = self.client()
        metadata.add("t")
        version = metadata.version
        header = self.asked(client)
        client.selector.answer("-1", header.correlation_id, self.answered(), header.api_version)
        client.poll()
        assert metadata.version == version + 1
        cluster = metadata.fetch()
        assert [node.id for node in cluster.nodes] == [7]
        assert cluster.cluster_id == "c"
        assert cluster.invalid_topics == {"bad"}
        (partition,) = cluster.partitions_for_topic("t")
        assert partition.leader == Node(7, "there", 1234)

    def test_an_empty_metadata_response_is_ignored(self) -> None:
        client, metadata = self.client()
        metadata.add("t")
        version = metadata.version
        header = self.asked(client)
        client.selector.answer("-1", header.correlation_id, MetadataResponse(), header.api_version)
        client.poll()
        assert metadata.version == version
        assert metadata.time_to_next_update(client.time.hi_res_ms()) == 100

    def test_metadata_is_requested_again_after_a_disconnect(self) -> None:
        client, metadata = self.client()
        metadata.add("t")
        self.asked(client)
        client.selector.lose("-1")
        client.poll()
        assert metadata.update_requested
        client.time.sleep(1000)
        self.asked(client)

    def test_nothing_else_is_sent_while_an_update_is_due(self) -> None:
        client, metadata = self.client()
        client.ready(Node(-1, "localhost", 9092))
        metadata.add("t")
        assert not client.ready(Node(-1, "localhost", 9092))
