"""``/``: which version this worker has.

Kafka 0.10.2: connect/runtime/.../connect/runtime/rest/resources/RootResource.java,
entities/ServerInfo.java · book 8.3.1
"""

from __future__ import annotations

from kafka_lite.common.http.http_messages import HttpResponse
from kafka_lite.common.process.app_info_parser import get_commit_id, get_version
from kafka_lite.connect.runtime.rest.rest_messages import json_response
from kafka_lite.connect.runtime.rest.routed_request import RoutedRequest


def server_info(request: RoutedRequest) -> HttpResponse:  # noqa: ARG001  as all of them
    """Release and commit."""
    return json_response({"version": get_version(), "commit": get_commit_id()})
