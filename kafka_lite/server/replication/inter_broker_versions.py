"""The versions of the requests between brokers, by ``inter.broker.protocol.version``.

Kafka 0.10.2: core/.../server/ReplicaFetcherThread.scala (fetchRequestVersion),
controller/ControllerChannelManager.scala (sendRequestsToBrokers) · book 6.2.1, 7.1.7

Brokers do not negotiate versions with each other. During an upgrade, the setting names the protocol of the oldest one.
"""

from __future__ import annotations

from kafka_lite.common.api_version import ApiVersion
from kafka_lite.protocol.api_key import ApiKey

FIRST_USES: dict[ApiKey, tuple[tuple[ApiVersion, int], ...]] = {
    ApiKey.FETCH: (
        (ApiVersion.KAFKA_3_1_IV0, 13),
        (ApiVersion.KAFKA_2_7_IV1, 12),
        (ApiVersion.KAFKA_2_3_IV1, 11),
        (ApiVersion.KAFKA_2_1_IV2, 10),
        (ApiVersion.KAFKA_2_0_IV1, 8),
        (ApiVersion.KAFKA_1_1_IV0, 7),
        (ApiVersion.KAFKA_0_11_0_IV1, 5),
        (ApiVersion.KAFKA_0_11_0_IV0, 4),
        (ApiVersion.KAFKA_0_10_1_IV1, 3),
        (ApiVersion.KAFKA_0_10_0_IV0, 2),
    ),
    ApiKey.LIST_OFFSETS: (
        (ApiVersion.KAFKA_2_2_IV1, 5),
        (ApiVersion.KAFKA_2_1_IV1, 4),
        (ApiVersion.KAFKA_2_0_IV1, 3),
        (ApiVersion.KAFKA_0_11_0_IV0, 2),
        (ApiVersion.KAFKA_0_10_1_IV2, 1),
    ),
    ApiKey.OFFSET_FOR_LEADER_EPOCH: (
        (ApiVersion.KAFKA_2_3_IV1, 3),
        (ApiVersion.KAFKA_2_1_IV1, 2),
        (ApiVersion.KAFKA_2_0_IV0, 1),
    ),
    ApiKey.LEADER_AND_ISR: (
        (ApiVersion.KAFKA_2_8_IV1, 5),
        (ApiVersion.KAFKA_2_4_IV1, 4),
        (ApiVersion.KAFKA_2_4_IV0, 3),
        (ApiVersion.KAFKA_2_2_IV0, 2),
        (ApiVersion.KAFKA_1_0_IV0, 1),
    ),
    ApiKey.STOP_REPLICA: (),
    ApiKey.UPDATE_METADATA: (
        (ApiVersion.KAFKA_2_8_IV1, 7),
        (ApiVersion.KAFKA_2_4_IV1, 6),
        (ApiVersion.KAFKA_2_2_IV0, 5),
        (ApiVersion.KAFKA_1_0_IV0, 4),
        (ApiVersion.KAFKA_0_10_2_IV0, 3),
        (ApiVersion.KAFKA_0_10_0_IV1, 2),
    ),
    ApiKey.CONTROLLED_SHUTDOWN: ((ApiVersion.KAFKA_0_10_0_IV0, 1),),
    ApiKey.WRITE_TXN_MARKERS: ((ApiVersion.KAFKA_2_8_IV0, 1),),
}
"""For each request, newest first: a protocol version and the request version that is sent from then on."""

LOWEST_VERSIONS = {ApiKey.FETCH: 1, ApiKey.UPDATE_METADATA: 1, ApiKey.CONTROLLED_SHUTDOWN: 1}


def inter_broker_version(api_key: ApiKey, protocol: ApiVersion) -> int:
    """The version of a request between brokers that agree on ``protocol``."""
    for first, version in FIRST_USES[api_key]:
        if protocol >= first:
            return version
    return LOWEST_VERSIONS.get(api_key, 0)


def leader_epochs_are_known(protocol: ApiVersion) -> bool:
    """Whether leaders say where their epochs end (KIP-101). Otherwise followers truncate to their high watermarks."""
    return protocol >= ApiVersion.KAFKA_0_11_0_IV2


def truncation_on_fetch_is_known(protocol: ApiVersion) -> bool:
    """Whether leaders compare the epochs of a fetch with their logs (KIP-595). Otherwise followers ask beforehand."""
    return protocol >= ApiVersion.KAFKA_2_7_IV1


def topic_ids_are_known(protocol: ApiVersion) -> bool:
    """Whether topics have ids (KIP-516), which controllers and brokers write to the topics' znodes."""
    return protocol >= ApiVersion.KAFKA_2_8_IV0


def log_dirs_are_known(protocol: ApiVersion) -> bool:
    """Whether controllers know which log directories have failed (KIP-112). Otherwise a broker stops with the first."""
    return protocol >= ApiVersion.KAFKA_1_0_IV0
