"""``python -m bench.request_parts``: where the time of a produce request goes.

It runs the broker's network processor without its thread: requests arrive over a socket, the processor's loop is called
explicitly, and processor time is read before and after. ``PYTHONPATH=build/compiled python -m bench.request_parts``
measures the compiled package.
"""

from __future__ import annotations

import argparse
import logging
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

from rich.console import Console
from rich.table import Table

from bench.appends import TOPIC_PARTITION, replica_manager
from bench.filled_log import batch_of_payloads
from bench.raw_client import PRODUCE_VERSION, produce_batch_frame
from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.network import processor as processor_module
from kafka_lite.network.connection_quotas import ConnectionQuotas
from kafka_lite.network.metrics.request_metrics import RequestChannelMetrics
from kafka_lite.network.processor import Processor
from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import RequestChannel, Response
from kafka_lite.network.send import NetworkSend
from kafka_lite.network.unserved_requests import UnservedRequests
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.framing import encode_response
from kafka_lite.protocol.messages.api_00_produce import (
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from kafka_lite.server.apis.produce_apis import ProduceApis
from kafka_lite.server.quick_requests import InlineRequestHandler
from kafka_lite.server.replica_manager import ReplicaManager
from kafka_lite.server.transactions.transaction_verification import TransactionVerification

TIMES = 8000
WARMING = 4000
NO_TRANSACTIONS = cast(TransactionVerification, None)
"""No request is part of a transaction, so that nothing has to be verified."""


class DataOnly:
    """KafkaApis with one API."""

    def __init__(self, channel: RequestChannel, replicas: ReplicaManager) -> None:
        self._channel = channel
        self._produce = ProduceApis(replicas, channel.close_connection, NO_TRANSACTIONS)

    def handle(self, request: Request) -> None:
        """Handle a produce request and respond."""

        def respond(response: Any) -> None:
            parts = encode_response(response, request.header.api_version, request.header.correlation_id)
            self._channel.send_response(Response(request, NetworkSend(request.connection_id, parts)))

        self._produce.handle_produce(request, request.body, respond)  # type: ignore[arg-type]


class ReadyResponses:
    """Responds with prebuilt bytes, so that only the network layer is measured."""

    def __init__(self, channel: RequestChannel, response: bytes) -> None:
        self._channel = channel
        self._response = response

    def handle(self, request: Request) -> None:
        """Respond at once."""
        self._channel.send_response(Response(request, NetworkSend(request.connection_id, [self._response])))


class Appending(ReadyResponses):
    """The same, after appending the records."""

    def __init__(self, channel: RequestChannel, replicas: ReplicaManager, response: bytes) -> None:
        super().__init__(channel, response)
        self._replicas = replicas

    def handle(self, request: Request) -> None:
        """Append the records, then respond."""
        body: Any = request.body
        records = body.topic_data[0].partition_data[0].records
        self._replicas.append_records(1000, 1, False, {TOPIC_PARTITION: records}, lambda _: None)
        super().handle(request)


@contextmanager
def one_connection(make_apis: Callable[[RequestChannel], Any]) -> Iterator[Callable[[bytes], float]]:
    """Yield a function that sends a frame and returns the processor time in ns until its response has arrived."""
    channel = RequestChannel(1, 500, SYSTEM_TIME)
    metrics = RequestChannelMetrics(MetricsRegistry(), SYSTEM_TIME, [ApiKey.PRODUCE])
    channel.add_completion_listener(metrics.request_completed)
    quotas = ConnectionQuotas(1, {})
    processor = Processor(
        0, "network", "PLAINTEXT", "PLAINTEXT", SYSTEM_TIME, 100 << 20, 600_000, channel, quotas, UnservedRequests()
    )
    InlineRequestHandler(channel, make_apis(channel), lambda _: True)
    buffer = bytearray(1 << 16)
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        accepted, (host, port) = server.accept()
        for sock in (accepted, client):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        accepted.setblocking(False)
        quotas.inc(host)
        processor.accept(accepted, host, port)
        client.setblocking(False)

        def exchange(frame: bytes) -> float:
            client.sendall(frame)
            took = 0
            while True:
                began = time.thread_time_ns()
                processor.do_work()
                took += time.thread_time_ns() - began
                try:
                    client.recv_into(buffer)
                except BlockingIOError:
                    continue
                return took

        try:
            yield exchange
        finally:
            processor.close_all()


def usual_exchange(make_apis: Callable[[RequestChannel], Any], frame: bytes) -> float:
    """Microseconds of processor time from a request to its response: the 10th percentile.

    Slower requests were disturbed by other work on the machine.
    """
    with one_connection(make_apis) as exchange:
        for _ in range(WARMING):
            exchange(frame)
        took = sorted(exchange(frame) for _ in range(TIMES))
        return took[TIMES // 10] / 1000


@dataclass(frozen=True)
class Parts:
    """Microseconds of processor time."""

    network: float
    append: float
    handler: float

    @property
    def whole(self) -> float:
        """The sum of the parts."""
        return self.network + self.append + self.handler


def parts_of(replicas: ReplicaManager, batch: bytes) -> Parts:
    """The parts, as differences between three handlers: in a loop of its own, each part would be faster than here."""
    frame = produce_batch_frame(TOPIC_PARTITION.topic, batch)
    outcome = PartitionProduceResponse(base_offset=1, log_start_offset=0)
    response = ProduceResponse(
        responses=[TopicProduceResponse(name=TOPIC_PARTITION.topic, partition_responses=[outcome])]
    )
    prebuilt = b"".join(map(bytes, encode_response(response, PRODUCE_VERSION, 1)))  # type: ignore[arg-type]
    network = usual_exchange(lambda channel: ReadyResponses(channel, prebuilt), frame)
    appending = usual_exchange(lambda channel: Appending(channel, replicas, prebuilt), frame)
    whole = usual_exchange(lambda channel: DataOnly(channel, replicas), frame)
    return Parts(network, appending - network, whole - appending)


def main() -> None:
    """Measure the parts of a small and of a large produce request and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.request_parts", description=(__doc__ or "").splitlines()[0])
    parser.parse_args()
    logging.disable(logging.INFO)
    with replica_manager() as replicas:
        one = parts_of(replicas, batch_of_payloads(100, batch_bytes=109)[0])
        many = parts_of(replicas, batch_of_payloads(100)[0])
    table = Table(
        "µs of processor time", title=f"a produce request, one in flight, acks 1 ({processor_module.__file__})"
    )
    for column in ("1 record", "150 records (16 KB)"):
        table.add_column(column, justify="right")
    for name, of_one, of_many in (
        ("network and request: epoll_wait, recv, decode, send, times, metrics", one.network, many.network),
        ("log: check, offsets, write, index, high watermark", one.append, many.append),
        ("handler: validation, the response and its encoding", one.handler, many.handler),
        ("total", one.whole, many.whole),
    ):
        table.add_row(name, f"{of_one:.1f}", f"{of_many:.1f}")
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
