"""Sends the requests of a producer's transactions, one at a time.

Kafka 0.11: clients/.../producer/internals/Sender.java (maybeSendAndPollTransactionalRequest) · book 10.3
"""

from __future__ import annotations

import math
from functools import partial

from kafka_lite.clients.client_request import ClientResponse
from kafka_lite.clients.cluster import Node
from kafka_lite.clients.network_client import NetworkClient
from kafka_lite.common.errors import Errors
from kafka_lite.producer.transaction_manager import TransactionManager
from kafka_lite.producer.txn_requests import AddPartitionsToTxn, InitProducerId, TxnRequest
from kafka_lite.producer.txn_responses import handle_response

ADD_PARTITIONS_RETRY_BACKOFF_MS = 20
"""The backoff of a transaction's first AddPartitionsToTxn, which usually comes while the markers of the transaction
before it are being written."""


class TransactionalRequests:
    """The sender's part that asks the manager what is needed next, and finds the broker for it.

    ::

        manager.next_request ─▶ its coordinator ─▶ connected? ─▶ send ─▶ handle_response ─▶ manager
                   ▲                                  │ no: wait, or forget the coordinator     │ again: backoff
                   └──────────────────────────────────┴─────────────────────────────────────────┘

    Only used in the sender's thread.
    """

    def __init__(self, manager: TransactionManager, client: NetworkClient, retry_backoff_ms: float) -> None:
        self._manager = manager
        self._client = client
        self._retry_backoff_ms = retry_backoff_ms
        self._in_flight = False
        self._backoff_until_ms = -math.inf

    def maybe_send(self, has_incomplete_batches: bool, now_ms: float) -> float:
        """Send the next request if there is one; returns how long the next turn may wait, ms."""
        if self._in_flight:
            return math.inf
        if now_ms < self._backoff_until_ms:
            return self._backoff_until_ms - now_ms
        request = self._manager.next_request(has_incomplete_batches)
        if request is None:
            return math.inf
        coordinator = self._manager.coordinator(request)
        node = coordinator or self._client.least_loaded_node(now_ms)
        if node is None:
            return self._retry_backoff_ms
        if not self._client.ready(node, now_ms):
            if coordinator is not None and self._client.connection_failed(coordinator):
                self._manager.coordinator_lost(request)
            return self._retry_backoff_ms
        self._send(request, node, now_ms)
        return math.inf

    def _send(self, request: TxnRequest, node: Node, now_ms: float) -> None:
        if isinstance(request, InitProducerId) and request.transactional_id is None:
            self._manager.initializing()
        self._in_flight = True
        callback = partial(self._on_complete, request)
        self._client.send(
            self._client.new_client_request(node.id_string, request.builder(), now_ms, callback=callback), now_ms
        )

    def _on_complete(self, request: TxnRequest, response: ClientResponse) -> None:
        self._in_flight = False
        if response.version_mismatch is not None:
            self._manager.unsupported(Errors.UNSUPPORTED_VERSION.exception(str(response.version_mismatch)))
        elif response.response is None:
            self._manager.coordinator_lost(request)
            if isinstance(request, InitProducerId) and request.transactional_id is None:
                self._manager.initialization_failed()
            self._back_off(request, response.received_time_ms)
        elif handle_response(self._manager, request, response.response, response.api_version):
            self._back_off(request, response.received_time_ms)

    def _back_off(self, request: TxnRequest, now_ms: float) -> None:
        is_first = isinstance(request, AddPartitionsToTxn) and not self._manager.has_partitions
        backoff_ms = (
            min(self._retry_backoff_ms, ADD_PARTITIONS_RETRY_BACKOFF_MS) if is_first else self._retry_backoff_ms
        )
        self._backoff_until_ms = now_ms + backoff_ms
