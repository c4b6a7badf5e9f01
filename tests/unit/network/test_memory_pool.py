"""The bytes of large requests have one bound, and whoever finds none gets them later."""

from __future__ import annotations

import socket
import struct

import pytest

from kafka_lite.network.memory_pool import UNLIMITED, MemoryPool
from kafka_lite.network.receive import FIRST_ALLOCATION_BYTES
from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import RequestChannel
from kafka_lite.network.socket_server import SocketServer
from kafka_lite.protocol.framing import encode_request
from kafka_lite.protocol.messages.api_00_produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataRequestTopic
from tests.support.eventually import eventually
from tests.support.network import connect, echo_correlation_id, read_correlation_id, request_frame, running_server

SIZE = 3 * FIRST_ALLOCATION_BYTES


class Waiters:
    """Counts who is told that there is memory."""

    def __init__(self) -> None:
        self.told = 0

    def tell(self) -> None:
        self.told += 1


def test_a_lease_may_exceed_what_is_available_but_needs_something() -> None:
    pool, waiters = MemoryPool(100), Waiters()
    first = pool.try_lease(99, waiters.tell)
    second = pool.try_lease(1000, waiters.tell)
    assert first is not None
    assert second is not None
    assert pool.leased_bytes == 1099
    assert pool.try_lease(1, waiters.tell) is None
    second.release()
    second.release()
    assert (pool.leased_bytes, waiters.told) == (99, 1)
    assert pool.try_lease(1, waiters.tell) is not None
    first.release()
    assert waiters.told == 1


def test_all_who_wait_may_try_again() -> None:
    pool, waiters = MemoryPool(10), Waiters()
    lease = pool.try_lease(10, waiters.tell)
    assert lease is not None
    assert [pool.try_lease(5, waiters.tell) for _ in range(3)] == [None] * 3
    lease.release()
    assert waiters.told == 3


def test_a_lease_that_is_forgotten_goes_back() -> None:
    pool = MemoryPool(10)
    lease = pool.try_lease(10, Waiters().tell)
    assert lease is not None
    assert pool.leased_bytes == 10
    del lease
    assert pool.leased_bytes == 0


def test_without_a_bound_every_lease_is_granted() -> None:
    pool = MemoryPool(UNLIMITED)
    leases = [pool.try_lease(10**12, Waiters().tell) for _ in range(3)]
    assert all(leases)


def test_responses_never_wait_but_have_a_bound_of_their_own() -> None:
    pool, waiters = MemoryPool(100), Waiters()
    request = pool.try_lease(100, waiters.tell)
    first, second = pool.new_response(), pool.new_response()
    assert first.grow(60)
    assert first.grow(10)
    assert second.grow(30)
    assert not second.grow(1)
    assert (first.size, second.size, pool.leased_bytes) == (70, 30, 200)
    assert request is not None
    request.release()
    assert pool.try_lease(1, waiters.tell) is None, "responses count for requests"
    first.release()
    assert waiters.told == 1
    assert pool.leased_bytes == 30
    assert second.grow(70)
    assert not first.grow(1), "it has ended"
    second.release()
    second.release()
    assert pool.leased_bytes == 0


def test_without_a_bound_responses_may_have_any_size() -> None:
    lease = MemoryPool(UNLIMITED).new_response()
    assert lease.grow(10**12)
    assert lease.grow(1)


# ---- in the network layer --------------------------------------------------------------------------------------------


def produce_frame(correlation_id: int, size: int = SIZE) -> bytes:
    data = [PartitionProduceData(index=0, records=memoryview(bytes(size)))]
    body = ProduceRequest(topic_data=[TopicProduceData(name="t", partition_data=data)])
    frame = encode_request(body, 7, correlation_id, "test")
    return struct.pack(">i", len(frame)) + frame


def metadata_frame(correlation_id: int) -> bytes:
    names = ["a name of forty bytes, more or less, say"] * (SIZE // 40)
    frame = encode_request(
        MetadataRequest(topics=[MetadataRequestTopic(name=n) for n in names]), 4, correlation_id, "t"
    )
    return struct.pack(">i", len(frame)) + frame


def send_all_but(client: socket.socket, frame: bytes, last: int) -> None:
    client.sendall(frame[: len(frame) - last])


def leased(server: SocketServer) -> int:
    return server.request_channel.memory_pool.leased_bytes


@pytest.mark.parametrize("frame", [produce_frame(1), metadata_frame(1)], ids=["produce", "metadata"])
def test_a_large_request_gives_its_memory_back_with_its_response(frame: bytes) -> None:
    with running_server(queued_max_request_bytes=SIZE) as server, connect(server) as client:
        send_all_but(client, frame, 1)
        eventually(lambda: leased(server) == len(frame) - 4)
        client.sendall(frame[-1:] + request_frame(2))
        assert [read_correlation_id(client) for _ in range(2)] == [1, 2]
        eventually(lambda: leased(server) == 0)


def test_a_connection_that_ends_in_the_middle_of_a_frame_gives_its_memory_back() -> None:
    with running_server(queued_max_request_bytes=SIZE) as server:
        with connect(server) as client:
            send_all_but(client, produce_frame(1), 1)
            eventually(lambda: leased(server) > 0)
        eventually(lambda: leased(server) == 0)


def test_large_requests_wait_for_memory_and_small_ones_do_not() -> None:
    handled: list[int] = []

    def handle(request: Request, channel: RequestChannel) -> None:
        handled.append(request.header.correlation_id)
        echo_correlation_id(request, channel)

    frame = produce_frame(1)
    with (
        running_server(handle, queued_max_request_bytes=1) as server,
        connect(server) as first,
        connect(server) as second,
        connect(server) as small,
    ):
        send_all_but(first, frame, 1)
        eventually(lambda: leased(server) > 0)
        second.sendall(produce_frame(2))  # the socket's buffers take it
        for number in range(10, 14):
            small.sendall(request_frame(number))
            assert read_correlation_id(small) == number
        assert handled == [10, 11, 12, 13]
        assert leased(server) == len(frame) - 4
        first.sendall(frame[-1:])
        assert [read_correlation_id(first), read_correlation_id(second)] == [1, 2]
        assert handled[4:] == [1, 2]
        eventually(lambda: leased(server) == 0)
