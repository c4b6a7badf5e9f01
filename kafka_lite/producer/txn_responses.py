"""The meaning of the responses to transactional requests, in tables.

Kafka 0.11: clients/.../producer/internals/TransactionManager.java (FindCoordinatorHandler, InitProducerIdHandler,
AddPartitionsToTxnHandler, AddOffsetsToTxnHandler, TxnOffsetCommitHandler, EndTxnHandler) · book 10.3
"""

from __future__ import annotations

import logging
from enum import IntEnum
from typing import cast

from kafka_lite.clients.cluster import Node
from kafka_lite.common.errors import Errors
from kafka_lite.common.producer_id_and_epoch import ProducerIdAndEpoch
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.producer.transaction_manager import TransactionManager
from kafka_lite.producer.txn_requests import (
    AddOffsetsToTxn,
    AddPartitionsToTxn,
    EndTxn,
    FindCoordinator,
    InitProducerId,
    TxnOffsetCommit,
    TxnRequest,
)
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorResponse
from kafka_lite.protocol.messages.api_22_init_producer_id import InitProducerIdResponse
from kafka_lite.protocol.messages.api_24_add_partitions_to_txn import AddPartitionsToTxnResponse
from kafka_lite.protocol.messages.api_26_end_txn import EndTxnResponse
from kafka_lite.protocol.messages.api_28_txn_offset_commit import TxnOffsetCommitResponse
from kafka_lite.protocol.schema import Response

logger = logging.getLogger(__name__)

EPOCH_OF_END_VERSION = 5
"""The version of EndTxn since which its response has the next epoch (KIP-890)."""
EPOCH_BUMP_VERSION = 3
"""The version of InitProducerId since which a producer can request its next epoch (KIP-360)."""


class Reaction(IntEnum):
    """The producer's reaction to an error. Of several errors in one response, the greatest reaction counts."""

    RETRY = 0
    """Send the request again after a backoff."""
    FIND_COORDINATOR = 1
    """Look up the coordinator first."""
    ABORTABLE = 2
    """Fail the transaction. The user aborts it, and begins the next one."""
    NEW_ID = 3
    """The same, and then request a new producer id; fatal with a coordinator that cannot give the next epoch."""
    FATAL = 4
    """Fail the producer."""
    FENCED = 5
    """Fail the producer: a newer one uses its transactional id."""


_EVERYWHERE = {
    Errors.COORDINATOR_NOT_AVAILABLE: Reaction.FIND_COORDINATOR,
    Errors.NOT_COORDINATOR: Reaction.FIND_COORDINATOR,
    Errors.COORDINATOR_LOAD_IN_PROGRESS: Reaction.RETRY,
    Errors.CONCURRENT_TRANSACTIONS: Reaction.RETRY,
    Errors.INVALID_PRODUCER_EPOCH: Reaction.FENCED,
    Errors.PRODUCER_FENCED: Reaction.FENCED,
    Errors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: Reaction.FATAL,
    Errors.TRANSACTION_ABORTABLE: Reaction.ABORTABLE,
}
_ID_IS_UNKNOWN = {Errors.UNKNOWN_PRODUCER_ID: Reaction.NEW_ID, Errors.INVALID_PRODUCER_ID_MAPPING: Reaction.NEW_ID}

REACTIONS: dict[ApiKey, dict[Errors, Reaction]] = {
    ApiKey.FIND_COORDINATOR: {
        Errors.COORDINATOR_NOT_AVAILABLE: Reaction.RETRY,
        Errors.GROUP_AUTHORIZATION_FAILED: Reaction.ABORTABLE,
        Errors.TRANSACTION_ABORTABLE: Reaction.ABORTABLE,
    },
    ApiKey.INIT_PRODUCER_ID: _EVERYWHERE | {Errors.TRANSACTION_ABORTABLE: Reaction.FATAL},
    ApiKey.ADD_PARTITIONS_TO_TXN: _EVERYWHERE | _ID_IS_UNKNOWN | {
        Errors.UNKNOWN_TOPIC_OR_PARTITION: Reaction.RETRY,
        Errors.TOPIC_AUTHORIZATION_FAILED: Reaction.ABORTABLE,
        Errors.OPERATION_NOT_ATTEMPTED: Reaction.ABORTABLE,
    },
    ApiKey.ADD_OFFSETS_TO_TXN: _EVERYWHERE | _ID_IS_UNKNOWN | {
        Errors.GROUP_AUTHORIZATION_FAILED: Reaction.ABORTABLE,
    },
    ApiKey.TXN_OFFSET_COMMIT: _EVERYWHERE | {
        Errors.REQUEST_TIMED_OUT: Reaction.FIND_COORDINATOR,
        Errors.UNKNOWN_TOPIC_OR_PARTITION: Reaction.RETRY,
        Errors.GROUP_AUTHORIZATION_FAILED: Reaction.ABORTABLE,
        Errors.FENCED_INSTANCE_ID: Reaction.ABORTABLE,
        Errors.UNKNOWN_MEMBER_ID: Reaction.ABORTABLE,
        Errors.ILLEGAL_GENERATION: Reaction.ABORTABLE,
    },
    ApiKey.END_TXN: _EVERYWHERE | _ID_IS_UNKNOWN,
}  # fmt: skip
"""The reactions by API. Errors that are not listed are retried if they are retriable, and fatal otherwise."""


def reaction_to(api_key: ApiKey, error: Errors) -> Reaction:
    """The producer's reaction to the error of a response."""
    return REACTIONS[api_key].get(error, Reaction.RETRY if error.retriable else Reaction.FATAL)


def handle_response(manager: TransactionManager, request: TxnRequest, response: Response, version: int) -> bool:
    """Tell the manager what came of a request. Returns whether the same request must be sent again, after a backoff."""
    if isinstance(request, TxnOffsetCommit):
        _accept_offsets(manager, request, cast(TxnOffsetCommitResponse, response))
    errors = errors_of(response)
    if not errors:
        manager.responded()
        _succeed(manager, request, response, version)
        return False
    # If one partition is refused, the coordinator does not try the others: their error says nothing.
    worst = max(
        errors, key=lambda each: (reaction_to(request.api_key, each), each is not Errors.OPERATION_NOT_ATTEMPTED)
    )
    reaction = reaction_to(request.api_key, worst)
    logger.debug("%s: %s, so: %s", request.api_key.name, worst.name, reaction.name)
    if reaction >= Reaction.ABORTABLE:
        manager.responded()
        _fail(manager, request, worst, reaction)
        return False
    if reaction is Reaction.FIND_COORDINATOR:
        manager.coordinator_lost(request)
    if isinstance(request, InitProducerId) and request.transactional_id is None:
        manager.initialization_failed()
    return True


def errors_of(response: Response) -> list[Errors]:
    """The errors of all partitions of a response, or of the response itself."""
    codes: list[int]
    if isinstance(response, AddPartitionsToTxnResponse):
        topics = response.results_by_topic_v3_and_below
        codes = [each.partition_error_code for topic in topics for each in topic.results_by_partition]
    elif isinstance(response, TxnOffsetCommitResponse):
        codes = [each.error_code for topic in response.topics for each in topic.partitions]
    else:
        codes = [cast(InitProducerIdResponse, response).error_code]
    return [Errors.for_code(code) for code in codes if code != Errors.NONE.code]


def _accept_offsets(manager: TransactionManager, request: TxnOffsetCommit, response: TxnOffsetCommitResponse) -> None:
    accepted = [
        TopicPartition(topic.name, each.partition_index)
        for topic in response.topics
        for each in topic.partitions
        if each.error_code == Errors.NONE.code
    ]
    manager.offsets_accepted(request.offsets, accepted)


def _succeed(manager: TransactionManager, request: TxnRequest, response: Response, version: int) -> None:
    if isinstance(request, FindCoordinator):
        found = cast(FindCoordinatorResponse, response)
        manager.coordinator_found(request.type, request.key, Node(found.node_id, found.host, found.port))
    elif isinstance(request, InitProducerId):
        new = cast(InitProducerIdResponse, response)
        can_bump_epoch = version >= EPOCH_BUMP_VERSION
        manager.initialized(new.producer_id, new.producer_epoch, can_bump_epoch=can_bump_epoch)
    elif isinstance(request, AddPartitionsToTxn):
        manager.partitions_added(request.partitions)
    elif isinstance(request, AddOffsetsToTxn):
        manager.group_added(request.offsets)
    elif isinstance(request, EndTxn):
        end = cast(EndTxnResponse, response)
        bumped = version >= EPOCH_OF_END_VERSION
        manager.transaction_ended(ProducerIdAndEpoch(end.producer_id, end.producer_epoch) if bumped else None)


def _fail(manager: TransactionManager, request: TxnRequest, error: Errors, reaction: Reaction) -> None:
    exception = error.exception(f"{request.failure}: {error.message}")
    if reaction is Reaction.FENCED:
        manager.fatal(manager.fenced())
    elif reaction is Reaction.FATAL:
        manager.fatal(exception)
    elif reaction is Reaction.NEW_ID:
        manager.abortable_if_epoch_can_be_bumped(exception)
    else:
        manager.abortable(exception)
