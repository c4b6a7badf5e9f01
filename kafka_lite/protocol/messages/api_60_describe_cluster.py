"""DescribeCluster: cluster id, controller and brokers.

Kafka 2.8: clients/.../common/requests/DescribeClusterRequest.java · book 7.3.1
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, boolean, int8, int16, int32, string


class DescribeClusterRequest(Request, api_key=ApiKey.DESCRIBE_CLUSTER, versions="0-2", flexible="0+"):
    """The optional parts of the response.

    v1  endpoint_type: controllers too (KIP-919)
    v2  include_fenced_brokers: with those that are registered but do not serve (KIP-1073)
    """

    include_cluster_authorized_operations: bool = boolean()
    endpoint_type: int = int8(versions="1+", default=1)  # 1 brokers, 2 controllers
    include_fenced_brokers: bool = boolean(versions="2+")


class DescribeClusterBroker(Struct):
    """A broker."""

    broker_id: int = int32()
    host: str = string()
    port: int = int32()
    rack: str | None = string(nullable="0+", default=None)
    is_fenced: bool = boolean(versions="2+")  # never with ZooKeeper, where a fenced broker is not registered


class DescribeClusterResponse(Response, api_key=ApiKey.DESCRIBE_CLUSTER, versions="0-2", flexible="0+"):
    """The cluster.

    v1  endpoint_type
    v2  is_fenced
    """

    throttle_time_ms: int = int32()  # how long a quota delays the client
    error_code: int = int16()
    error_message: str | None = string(nullable="0+", default=None)
    endpoint_type: int = int8(versions="1+", default=1)  # 1 brokers, 2 controllers
    cluster_id: str = string()
    controller_id: int = int32(default=-1)  # -1 for none
    brokers: list[DescribeClusterBroker] = array(DescribeClusterBroker)
    # one bit per operation; only computed on request
    cluster_authorized_operations: int = int32(default=-2147483648)
