"""ApiVersions: the APIs and versions that the broker supports.

Kafka 0.10.2: clients/.../common/requests/ApiVersionsRequest.java, ApiVersionsResponse.java (ApiVersion) · book 2.3.5
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, boolean, int16, int32, int64, string


class ApiVersionsRequest(Request, api_key=ApiKey.API_VERSIONS, versions="0-4", flexible="3+"):
    """The first request of most clients.

    A broker that does not know the version returns error 35 in the layout of version 0.

        v3  compact lengths and tagged fields, the client's software and its version, for the broker's metrics
        v4  the client accepts features with level 0
    """

    client_software_name: str = string(versions="3+", ignorable=True)
    client_software_version: str = string(versions="3+", ignorable=True)


class ApiVersion(Struct):
    """An API and its versions."""

    api_key: int = int16()
    min_version: int = int16()
    max_version: int = int16()


class SupportedFeatureKey(Struct):
    """A feature that this broker supports."""

    name: str = string(versions="3+")
    min_version: int = int16(versions="3+")
    max_version: int = int16(versions="3+")


class FinalizedFeatureKey(Struct):
    """A feature that is enabled in the whole cluster."""

    name: str = string(versions="3+")
    max_version_level: int = int16(versions="3+")
    min_version_level: int = int16(versions="3+")


class ApiVersionsResponse(Response, api_key=ApiKey.API_VERSIONS, versions="0-4", flexible="3+"):
    """All APIs and the range of versions of each.

    Its header never has tagged fields, whatever the version: the client may not know yet what the broker supports.

        v1  throttle_time_ms
        v2  a throttling broker responds at once and mutes the connection afterwards
        v3  compact lengths and tagged fields, the features of the cluster
        v4  features may have level 0
    """

    error_code: int = int16()
    api_keys: list[ApiVersion] = array(ApiVersion)
    throttle_time_ms: int = int32(versions="1+", ignorable=True)  # how long a quota delays the client
    supported_features: list[SupportedFeatureKey] = array(SupportedFeatureKey, versions="3+", tag=0, ignorable=True)
    finalized_features_epoch: int = int64(versions="3+", default=-1, tag=1, ignorable=True)  # -1 unknown
    finalized_features: list[FinalizedFeatureKey] = array(FinalizedFeatureKey, versions="3+", tag=2, ignorable=True)
    zk_migration_ready: bool = boolean(versions="3+", tag=3, ignorable=True)
