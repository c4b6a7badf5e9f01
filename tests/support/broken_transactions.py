"""Brokers with known bugs in transactions, to show that the simulator finds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kafka_lite.coordinator.group.group_metadata_manager import GroupMetadataManager
from kafka_lite.coordinator.transaction.transaction_coordinator import TransactionCoordinator
from kafka_lite.coordinator.transaction.transaction_metadata import TransactionMetadata, TxnTransitMetadata
from kafka_lite.coordinator.transaction.transaction_state import TransactionState
from kafka_lite.coordinator.transaction.transaction_state_manager import TransactionStateManager
from kafka_lite.log.log import Log
from kafka_lite.log.producers.producer_append_info import ProducerAppendInfo
from kafka_lite.testing.simulation.programs import broker


def showing_open_transactions(properties: Mapping[str, str]) -> None:
    """The last stable offset is the high watermark, so consumers read records before their transaction has ended."""
    Log.last_stable_offset = lambda _, high_watermark: high_watermark  # type: ignore[method-assign, assignment]
    broker(properties)


def without_aborted_transactions(properties: Mapping[str, str]) -> None:
    """A consumer is not told which transactions of its records were aborted."""
    Log.aborted_transactions = lambda *_: []  # type: ignore[method-assign, assignment]
    broker(properties)


def without_timeouts(properties: Mapping[str, str]) -> None:
    """Transactions whose producers are gone stay open."""
    TransactionCoordinator.abort_timed_out_transactions = lambda _: None  # type: ignore[method-assign, assignment]
    broker(properties)


def without_fencing(properties: Mapping[str, str]) -> None:
    """A producer with an old epoch may go on: neither the coordinator nor the logs refuse it."""
    TransactionCoordinator._check_producer = staticmethod(lambda *_: None)  # type: ignore[method-assign]
    ProducerAppendInfo._check_producer_epoch = lambda *_: None  # type: ignore[method-assign, assignment]
    broker(properties)


def losing_transactions(properties: Mapping[str, str]) -> None:
    """A coordinator begins without the transactional ids that are in its log."""
    TransactionStateManager._read = lambda *_: {}  # type: ignore[method-assign, assignment]
    broker(properties)


def leaving_decided_transactions(properties: Mapping[str, str]) -> None:
    """A coordinator does not write the markers that its predecessor decided on and did not write."""
    load = TransactionStateManager.load
    TransactionStateManager.load = (  # type: ignore[method-assign]
        lambda self, partition, epoch, _: load(self, partition, epoch, lambda *_: None)
    )
    broker(properties)


def committing_offsets_early(properties: Mapping[str, str]) -> None:
    """The offsets of a transaction count at once, even if it is aborted later."""
    store = GroupMetadataManager.store_offsets
    GroupMetadataManager.store_offsets = (  # type: ignore[method-assign]
        lambda self, group, offsets, respond, *_: store(self, group, offsets, respond)
    )
    broker(properties)


def repeating_epochs(properties: Mapping[str, str]) -> None:
    """The end of a transaction does not raise the epoch, although the producer numbers its batches from 0 again."""
    prepare = TransactionMetadata.prepare_bumped_abort_or_commit

    def with_the_same_epoch(
        self: TransactionMetadata, state: TransactionState, next_producer_id: int, now_ms: int
    ) -> TxnTransitMetadata:
        transit = prepare(self, state, next_producer_id, now_ms)
        return replace(transit, producer_epoch=transit.producer_epoch - 1)

    TransactionMetadata.prepare_bumped_abort_or_commit = with_the_same_epoch  # type: ignore[method-assign]
    broker(properties)
