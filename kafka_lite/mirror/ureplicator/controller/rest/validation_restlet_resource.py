"""``/validation``: what should be mirrored beside what is; ``/validation/srcKafka``: beside the source cluster.

uReplicator kafka-0.10.2.1: uReplicator-Controller/.../controller/rest/resources/ValidationRestletResource.java
(ValidationRestletResource) · book 8.2.2
"""

from __future__ import annotations

from kafka_lite.common.http.http_messages import HttpResponse
from kafka_lite.mirror.ureplicator.controller.rest.rest_messages import RestRequest, json_text, text_response
from kafka_lite.mirror.ureplicator.controller.source_kafka_cluster_validation_manager import (
    SourceKafkaClusterValidationManager,
)
from kafka_lite.mirror.ureplicator.controller.validation_manager import ValidationManager


class ValidationRestletResource:
    """Validates when it is asked."""

    def __init__(self, validation: ValidationManager, source: SourceKafkaClusterValidationManager | None) -> None:
        self._validation = validation
        self._source = source

    def get(self, request: RestRequest) -> HttpResponse:
        """Any option but srcKafka is the validation of the cluster."""
        if request.variables.get("option") != "srcKafka":
            return json_text(self._validation.validate_external_view())
        if self._source is None:
            return text_response("SrcKafkaValidationManager is not been initialized!")
        return json_text(self._source.validate_source_kafka_cluster())
