"""``/admin/disable_autobalancing`` and ``/admin/enable_autobalancing``: whether dead workers' partitions move.

uReplicator kafka-0.10.2.1: uReplicator-Controller/.../controller/rest/resources/AdminRestletResource.java
(AdminRestletResource) · book 8.2.2
"""

from __future__ import annotations

from kafka_lite.common.http.http_messages import HttpResponse
from kafka_lite.mirror.ureplicator.controller.helix_mirror_maker_manager import HelixMirrorMakerManager
from kafka_lite.mirror.ureplicator.controller.rest.rest_messages import RestRequest, text_response


class AdminRestletResource:
    """Sets AutoBalancing in the cluster's configuration. That this is done by GET is uReplicator's choice."""

    def __init__(self, manager: HelixMirrorMakerManager) -> None:
        self._manager = manager

    def get(self, request: RestRequest) -> HttpResponse:
        """Capitals in the option do not matter."""
        option = request.variables.get("opt", "").lower()
        if option == "disable_autobalancing":
            self._manager.disable_auto_balancing()
            return text_response("Disabled autobalancing!\n")
        if option == "enable_autobalancing":
            self._manager.enable_auto_balancing()
            return text_response("Enabled autobalancing!\n")
        return text_response("No valid input!\n")
