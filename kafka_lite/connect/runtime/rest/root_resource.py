"""``/``: which version this worker has, and which cluster it works on.

Kafka 0.10.2: connect/runtime/.../connect/runtime/rest/resources/RootResource.java,
entities/ServerInfo.java; kafka_cluster_id: Kafka 2.0 · book 8.3.1
"""

from __future__ import annotations

from kafka_lite.common.http.http_messages import HttpResponse
from kafka_lite.common.process.app_info_parser import get_commit_id, get_version
from kafka_lite.connect.runtime.herder import Herder
from kafka_lite.connect.runtime.rest.rest_messages import json_response
from kafka_lite.connect.runtime.rest.routed_request import RoutedRequest


class RootResource:
    """Answers one kind of request."""

    def __init__(self, herder: Herder) -> None:
        self._herder = herder

    def server_info(self, request: RoutedRequest) -> HttpResponse:  # noqa: ARG002  as all of them
        """Release, commit, and the id of the cluster."""
        cluster_id = self._herder.kafka_cluster_id
        return json_response({"version": get_version(), "commit": get_commit_id(), "kafka_cluster_id": cluster_id})
