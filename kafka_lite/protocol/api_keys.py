"""The table of APIs: the messages of each key, and the versions that their codecs support.

This is what can be read and written at all. The broker decides which versions it advertises.

Kafka 0.10.2: clients/.../common/protocol/Protocol.java, ApiKeys.java · book 2.3.5
"""

from __future__ import annotations

from typing import NamedTuple

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_00_produce import ProduceRequest, ProduceResponse
from kafka_lite.protocol.messages.api_01_fetch import FetchRequest, FetchResponse
from kafka_lite.protocol.messages.api_02_list_offsets import ListOffsetsRequest, ListOffsetsResponse
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataResponse
from kafka_lite.protocol.messages.api_04_leader_and_isr import LeaderAndIsrRequest, LeaderAndIsrResponse
from kafka_lite.protocol.messages.api_05_stop_replica import StopReplicaRequest, StopReplicaResponse
from kafka_lite.protocol.messages.api_06_update_metadata import UpdateMetadataRequest, UpdateMetadataResponse
from kafka_lite.protocol.messages.api_07_controlled_shutdown import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
)
from kafka_lite.protocol.messages.api_08_offset_commit import OffsetCommitRequest, OffsetCommitResponse
from kafka_lite.protocol.messages.api_09_offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from kafka_lite.protocol.messages.api_11_join_group import JoinGroupRequest, JoinGroupResponse
from kafka_lite.protocol.messages.api_12_heartbeat import HeartbeatRequest, HeartbeatResponse
from kafka_lite.protocol.messages.api_13_leave_group import LeaveGroupRequest, LeaveGroupResponse
from kafka_lite.protocol.messages.api_14_sync_group import SyncGroupRequest, SyncGroupResponse
from kafka_lite.protocol.messages.api_15_describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from kafka_lite.protocol.messages.api_16_list_groups import ListGroupsRequest, ListGroupsResponse
from kafka_lite.protocol.messages.api_17_sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kafka_lite.protocol.messages.api_19_create_topics import CreateTopicsRequest, CreateTopicsResponse
from kafka_lite.protocol.messages.api_20_delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from kafka_lite.protocol.messages.api_21_delete_records import DeleteRecordsRequest, DeleteRecordsResponse
from kafka_lite.protocol.messages.api_22_init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from kafka_lite.protocol.messages.api_23_offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
)
from kafka_lite.protocol.messages.api_24_add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
)
from kafka_lite.protocol.messages.api_25_add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from kafka_lite.protocol.messages.api_26_end_txn import EndTxnRequest, EndTxnResponse
from kafka_lite.protocol.messages.api_27_write_txn_markers import WriteTxnMarkersRequest, WriteTxnMarkersResponse
from kafka_lite.protocol.messages.api_28_txn_offset_commit import TxnOffsetCommitRequest, TxnOffsetCommitResponse
from kafka_lite.protocol.messages.api_29_describe_acls import DescribeAclsRequest, DescribeAclsResponse
from kafka_lite.protocol.messages.api_30_create_acls import CreateAclsRequest, CreateAclsResponse
from kafka_lite.protocol.messages.api_31_delete_acls import DeleteAclsRequest, DeleteAclsResponse
from kafka_lite.protocol.messages.api_32_describe_configs import DescribeConfigsRequest, DescribeConfigsResponse
from kafka_lite.protocol.messages.api_33_alter_configs import AlterConfigsRequest, AlterConfigsResponse
from kafka_lite.protocol.messages.api_34_alter_replica_log_dirs import (
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
)
from kafka_lite.protocol.messages.api_35_describe_log_dirs import DescribeLogDirsRequest, DescribeLogDirsResponse
from kafka_lite.protocol.messages.api_36_sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kafka_lite.protocol.messages.api_37_create_partitions import CreatePartitionsRequest, CreatePartitionsResponse
from kafka_lite.protocol.messages.api_38_create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from kafka_lite.protocol.messages.api_39_renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from kafka_lite.protocol.messages.api_40_expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from kafka_lite.protocol.messages.api_41_describe_delegation_token import (
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from kafka_lite.protocol.messages.api_42_delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from kafka_lite.protocol.messages.api_43_elect_leaders import ElectLeadersRequest, ElectLeadersResponse
from kafka_lite.protocol.messages.api_44_incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from kafka_lite.protocol.messages.api_45_alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)
from kafka_lite.protocol.messages.api_46_list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from kafka_lite.protocol.messages.api_47_offset_delete import OffsetDeleteRequest, OffsetDeleteResponse
from kafka_lite.protocol.messages.api_48_describe_client_quotas import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)
from kafka_lite.protocol.messages.api_49_alter_client_quotas import AlterClientQuotasRequest, AlterClientQuotasResponse
from kafka_lite.protocol.messages.api_50_describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
)
from kafka_lite.protocol.messages.api_51_alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
)
from kafka_lite.protocol.messages.api_57_update_features import UpdateFeaturesRequest, UpdateFeaturesResponse
from kafka_lite.protocol.messages.api_60_describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from kafka_lite.protocol.messages.api_61_describe_producers import DescribeProducersRequest, DescribeProducersResponse
from kafka_lite.protocol.messages.api_65_describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
)
from kafka_lite.protocol.messages.api_66_list_transactions import ListTransactionsRequest, ListTransactionsResponse
from kafka_lite.protocol.messages.api_68_consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from kafka_lite.protocol.messages.api_69_consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)
from kafka_lite.protocol.messages.api_71_get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)
from kafka_lite.protocol.messages.api_72_push_telemetry import PushTelemetryRequest, PushTelemetryResponse
from kafka_lite.protocol.messages.api_74_list_config_resources import (
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)
from kafka_lite.protocol.messages.api_75_describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
)
from kafka_lite.protocol.messages.api_76_share_group_heartbeat import (
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)
from kafka_lite.protocol.messages.api_77_share_group_describe import (
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
)
from kafka_lite.protocol.messages.api_78_share_fetch import ShareFetchRequest, ShareFetchResponse
from kafka_lite.protocol.messages.api_79_share_acknowledge import ShareAcknowledgeRequest, ShareAcknowledgeResponse
from kafka_lite.protocol.messages.api_83_initialize_share_group_state import (
    InitializeShareGroupStateRequest,
    InitializeShareGroupStateResponse,
)
from kafka_lite.protocol.messages.api_84_read_share_group_state import (
    ReadShareGroupStateRequest,
    ReadShareGroupStateResponse,
)
from kafka_lite.protocol.messages.api_85_write_share_group_state import (
    WriteShareGroupStateRequest,
    WriteShareGroupStateResponse,
)
from kafka_lite.protocol.messages.api_86_delete_share_group_state import (
    DeleteShareGroupStateRequest,
    DeleteShareGroupStateResponse,
)
from kafka_lite.protocol.messages.api_87_read_share_group_state_summary import (
    ReadShareGroupStateSummaryRequest,
    ReadShareGroupStateSummaryResponse,
)
from kafka_lite.protocol.messages.api_90_describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsResponse,
)
from kafka_lite.protocol.messages.api_91_alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsResponse,
)
from kafka_lite.protocol.messages.api_92_delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsResponse,
)
from kafka_lite.protocol.schema import Request, Response

__all__ = ["API_SPECS", "ApiKey", "ApiSpec", "api_name"]


class ApiSpec(NamedTuple):
    """One API: its key and its messages."""

    key: ApiKey
    request: type[Request]
    response: type[Response]

    @property
    def min_version(self) -> int:
        """The lowest version that can be encoded and decoded."""
        return self.request.VERSIONS.lowest

    @property
    def max_version(self) -> int:
        """The highest version that can be encoded and decoded."""
        return self.request.VERSIONS.highest

    def request_header_version(self, version: int) -> int:
        """The header version of a request of this version."""
        if self.key is ApiKey.CONTROLLED_SHUTDOWN and version == 0:
            return 0  # without a client id, which came later
        return 2 if version in self.request.FLEXIBLE else 1

    def response_header_version(self, version: int) -> int:
        """The header version of a response to a request of this version."""
        if self.key is ApiKey.API_VERSIONS:
            return 0  # the client may not know yet what the broker supports
        return 1 if version in self.response.FLEXIBLE else 0


_MESSAGES: tuple[tuple[type[Request], type[Response]], ...] = (
    (ProduceRequest, ProduceResponse),
    (FetchRequest, FetchResponse),
    (ListOffsetsRequest, ListOffsetsResponse),
    (MetadataRequest, MetadataResponse),
    (LeaderAndIsrRequest, LeaderAndIsrResponse),
    (StopReplicaRequest, StopReplicaResponse),
    (UpdateMetadataRequest, UpdateMetadataResponse),
    (ControlledShutdownRequest, ControlledShutdownResponse),
    (OffsetCommitRequest, OffsetCommitResponse),
    (OffsetFetchRequest, OffsetFetchResponse),
    (FindCoordinatorRequest, FindCoordinatorResponse),
    (JoinGroupRequest, JoinGroupResponse),
    (HeartbeatRequest, HeartbeatResponse),
    (LeaveGroupRequest, LeaveGroupResponse),
    (SyncGroupRequest, SyncGroupResponse),
    (DescribeGroupsRequest, DescribeGroupsResponse),
    (ListGroupsRequest, ListGroupsResponse),
    (SaslHandshakeRequest, SaslHandshakeResponse),
    (ApiVersionsRequest, ApiVersionsResponse),
    (CreateTopicsRequest, CreateTopicsResponse),
    (DeleteTopicsRequest, DeleteTopicsResponse),
    (DeleteRecordsRequest, DeleteRecordsResponse),
    (InitProducerIdRequest, InitProducerIdResponse),
    (OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse),
    (AddPartitionsToTxnRequest, AddPartitionsToTxnResponse),
    (AddOffsetsToTxnRequest, AddOffsetsToTxnResponse),
    (EndTxnRequest, EndTxnResponse),
    (WriteTxnMarkersRequest, WriteTxnMarkersResponse),
    (TxnOffsetCommitRequest, TxnOffsetCommitResponse),
    (DescribeAclsRequest, DescribeAclsResponse),
    (CreateAclsRequest, CreateAclsResponse),
    (DeleteAclsRequest, DeleteAclsResponse),
    (DescribeConfigsRequest, DescribeConfigsResponse),
    (AlterConfigsRequest, AlterConfigsResponse),
    (AlterReplicaLogDirsRequest, AlterReplicaLogDirsResponse),
    (DescribeLogDirsRequest, DescribeLogDirsResponse),
    (SaslAuthenticateRequest, SaslAuthenticateResponse),
    (CreatePartitionsRequest, CreatePartitionsResponse),
    (CreateDelegationTokenRequest, CreateDelegationTokenResponse),
    (RenewDelegationTokenRequest, RenewDelegationTokenResponse),
    (ExpireDelegationTokenRequest, ExpireDelegationTokenResponse),
    (DescribeDelegationTokenRequest, DescribeDelegationTokenResponse),
    (DeleteGroupsRequest, DeleteGroupsResponse),
    (ElectLeadersRequest, ElectLeadersResponse),
    (IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse),
    (AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse),
    (ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse),
    (OffsetDeleteRequest, OffsetDeleteResponse),
    (DescribeClientQuotasRequest, DescribeClientQuotasResponse),
    (AlterClientQuotasRequest, AlterClientQuotasResponse),
    (DescribeUserScramCredentialsRequest, DescribeUserScramCredentialsResponse),
    (AlterUserScramCredentialsRequest, AlterUserScramCredentialsResponse),
    (UpdateFeaturesRequest, UpdateFeaturesResponse),
    (DescribeClusterRequest, DescribeClusterResponse),
    (DescribeProducersRequest, DescribeProducersResponse),
    (DescribeTransactionsRequest, DescribeTransactionsResponse),
    (ListTransactionsRequest, ListTransactionsResponse),
    (ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse),
    (ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse),
    (GetTelemetrySubscriptionsRequest, GetTelemetrySubscriptionsResponse),
    (PushTelemetryRequest, PushTelemetryResponse),
    (ListConfigResourcesRequest, ListConfigResourcesResponse),
    (DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse),
    (ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse),
    (ShareGroupDescribeRequest, ShareGroupDescribeResponse),
    (ShareFetchRequest, ShareFetchResponse),
    (ShareAcknowledgeRequest, ShareAcknowledgeResponse),
    (InitializeShareGroupStateRequest, InitializeShareGroupStateResponse),
    (ReadShareGroupStateRequest, ReadShareGroupStateResponse),
    (WriteShareGroupStateRequest, WriteShareGroupStateResponse),
    (DeleteShareGroupStateRequest, DeleteShareGroupStateResponse),
    (ReadShareGroupStateSummaryRequest, ReadShareGroupStateSummaryResponse),
    (DescribeShareGroupOffsetsRequest, DescribeShareGroupOffsetsResponse),
    (AlterShareGroupOffsetsRequest, AlterShareGroupOffsetsResponse),
    (DeleteShareGroupOffsetsRequest, DeleteShareGroupOffsetsResponse),
)

API_SPECS: dict[ApiKey, ApiSpec] = {
    request.API_KEY: ApiSpec(request.API_KEY, request, response) for request, response in _MESSAGES
}
"""All APIs with a codec, in the order of their keys."""


def api_name(key: int) -> str:
    """Kafka's name of the API, such as ``OffsetCommit``. Raises ValueError if there is no codec for it."""
    return API_SPECS[ApiKey(key)].request.__name__.removesuffix("Request")
