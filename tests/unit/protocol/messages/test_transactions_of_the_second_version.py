"""The bytes of the requests of KIP-890's second part, and of those about features."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_lite.protocol.messages.api_00_produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from kafka_lite.protocol.messages.api_18_api_versions import (
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from kafka_lite.protocol.messages.api_26_end_txn import EndTxnRequest, EndTxnResponse
from kafka_lite.protocol.messages.api_28_txn_offset_commit import TxnOffsetCommitRequest
from kafka_lite.protocol.messages.api_57_update_features import (
    FeatureUpdateKey,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from kafka_lite.protocol.messages.transaction_records import TransactionLogValue
from kafka_lite.protocol.schema import Message

TOPIC_ID = UUID(bytes=bytes(range(16)))
ID_BYTES = "000102030405060708090a0b0c0d0e0f"


def bytes_of(message: Message, version: int) -> str:
    return message.encode(version).hex()


def test_the_end_of_a_transaction_has_the_next_epoch_in_version_5() -> None:
    response = EndTxnResponse(producer_id=1000, producer_epoch=4)
    assert bytes_of(response, 5) == "00000000" + "0000" + "00000000000003e8" + "0004" + "00"
    assert bytes_of(response, 4) == "00000000" + "0000" + "00"
    assert EndTxnResponse.decode(response.encode(5), 5) == response
    refused = EndTxnResponse.decode(EndTxnResponse(error_code=90).encode(5), 5)
    assert (refused.producer_id, refused.producer_epoch) == (-1, -1)


@pytest.mark.parametrize("version", [3, 4, 5])
def test_the_request_to_end_a_transaction_is_that_of_version_3(version: int) -> None:
    request = EndTxnRequest(transactional_id="x", producer_id=7, producer_epoch=3, committed=True)
    assert bytes_of(request, version) == "0278" + "0000000000000007" + "0003" + "01" + "00"


def test_topics_are_named_by_ids_from_produce_13_on() -> None:
    data = [PartitionProduceData(index=2, records=b"abc")]
    request = ProduceRequest(
        acks=1, timeout_ms=5, topic_data=[TopicProduceData(name="t", topic_id=TOPIC_ID, partition_data=data)]
    )
    head, partition = "00" + "0001" + "00000005" + "02", "02" + "00000002" + "04616263" + "00" + "00"
    assert bytes_of(request, 12) == head + "0274" + partition + "00"
    assert bytes_of(request, 13) == head + ID_BYTES + partition + "00"
    result = [PartitionProduceResponse(index=2, error_code=0, base_offset=9)]
    response = ProduceResponse(
        responses=[TopicProduceResponse(name="t", topic_id=TOPIC_ID, partition_responses=result)]
    )
    assert bytes_of(response, 13).startswith("02" + ID_BYTES + "02" + "00000002")
    assert bytes_of(response, 12).startswith("02" + "0274" + "02" + "00000002")


@pytest.mark.parametrize("version", [4, 5])
def test_offsets_of_a_transaction_have_the_same_layout_without_add_offsets(version: int) -> None:
    request = TxnOffsetCommitRequest(transactional_id="x", group_id="g", producer_id=7, producer_epoch=3, topics=[])
    assert TxnOffsetCommitRequest.decode(request.encode(version), version) == request
    assert request.encode(version) == request.encode(3)


def test_features_are_updated_by_level_and_direction() -> None:
    key = FeatureUpdateKey(feature="f", max_version_level=1, upgrade_type=2)
    request = UpdateFeaturesRequest(timeout_ms=1000, feature_updates=[key], validate_only=True)
    assert bytes_of(request, 1) == "000003e8" + "02" + "0266" + "0001" + "02" + "00" + "01" + "00"
    assert bytes_of(request, 2) == bytes_of(request, 1)
    old = UpdateFeaturesRequest(
        timeout_ms=1000, feature_updates=[FeatureUpdateKey(feature="f", max_version_level=1, allow_downgrade=True)]
    )
    assert bytes_of(old, 0) == "000003e8" + "02" + "0266" + "0001" + "01" + "00" + "00"


def test_results_of_single_features_end_with_version_1() -> None:
    result = UpdatableFeatureResult(feature="f", error_code=0, error_message=None)
    response = UpdateFeaturesResponse(error_message=None, results=[result])
    assert bytes_of(response, 1) == "00000000" + "0000" + "00" + "02" + "0266" + "0000" + "00" + "00" + "00"
    assert bytes_of(response, 2) == "00000000" + "0000" + "00" + "00"


def test_features_are_tagged_fields_of_api_versions() -> None:
    response = ApiVersionsResponse(
        supported_features=[SupportedFeatureKey(name="f", min_version=0, max_version=2)],
        finalized_features_epoch=3,
        finalized_features=[FinalizedFeatureKey(name="f", max_version_level=2, min_version_level=2)],
    )
    supported, finalized = "0266" + "0000" + "0002" + "00", "0266" + "0002" + "0002" + "00"
    tags = "00" + "08" + "02" + supported + "01" + "08" + "0000000000000003" + "02" + "08" + "02" + finalized
    assert bytes_of(response, 4) == "0000" + "01" + "00000000" + "03" + tags


def test_the_tagged_fields_of_a_transactional_id_are_left_out_if_they_say_nothing() -> None:
    value = TransactionLogValue(
        producer_id=1, producer_epoch=2, transaction_timeout_ms=3, transaction_status=0, transaction_partitions=None,
        transaction_last_update_timestamp_ms=4, transaction_start_timestamp_ms=5,
    )  # fmt: skip
    fixed = "0000000000000001" + "0002" + "00000003" + "00" + "00" + "0000000000000004" + "0000000000000005"
    assert bytes_of(value, 1) == fixed + "00"
    value.previous_producer_id, value.next_producer_id, value.client_transaction_version = 8, 9, 2
    tags = "03" + "0008" + "0000000000000008" + "0108" + "0000000000000009" + "0202" + "0002"
    assert bytes_of(value, 1) == fixed + tags
