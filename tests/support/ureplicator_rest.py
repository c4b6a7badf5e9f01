"""uReplicator's REST interface on a FakeMirror, without a server."""

from __future__ import annotations

import json

from kafka_lite.common.http.http_messages import HttpRequest, HttpResponse
from kafka_lite.mirror.helix.writes import Put
from kafka_lite.mirror.helix.zn_record import ZNRecord
from kafka_lite.mirror.ureplicator.controller.auto_topic_whitelisting_manager import (
    AutoTopicWhitelistingManager,
    Whitelisting,
)
from kafka_lite.mirror.ureplicator.controller.rest.admin_restlet_resource import AdminRestletResource
from kafka_lite.mirror.ureplicator.controller.rest.controller_rest_application import (
    ControllerRestApplication,
    Resources,
)
from kafka_lite.mirror.ureplicator.controller.rest.topic_management_restlet_resource import (
    TopicManagementRestletResource,
)
from kafka_lite.mirror.ureplicator.controller.rest.validation_restlet_resource import ValidationRestletResource
from kafka_lite.mirror.ureplicator.controller.source_kafka_cluster_validation_manager import (
    SourceKafkaClusterValidationManager,
)
from kafka_lite.mirror.ureplicator.controller.validation_manager import ValidationManager
from tests.support.ureplicator import UR, FakeMirror, FakeTopics


class RestInterface:
    """An interface with or without what the flags add to it."""

    def __init__(self, mirror: FakeMirror, *, more: bool) -> None:
        self.manager = manager = mirror.start_controller().manager
        for name in ("w1", "w2"):
            mirror.start_worker(name)
        source = mirror.observe(FakeTopics(t=4, src=3)) if more else None
        self.whitelisting = whitelisting = (
            AutoTopicWhitelistingManager(source, source, manager, mirror.scheduler, Whitelisting()) if source else None
        )
        self.application = ControllerRestApplication(
            Resources(
                TopicManagementRestletResource(manager, whitelisting, source),
                ValidationRestletResource(
                    ValidationManager(manager, mirror.scheduler),
                    SourceKafkaClusterValidationManager(source, manager, mirror.scheduler) if source else None,
                ),
                AdminRestletResource(manager),
            )
        )

    def response(self, method: str, path: str, body: str = "", **headers: str) -> HttpResponse:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.application.answer(HttpRequest(method, path, named, body.encode()))

    def ask(self, method: str, path: str, body: str = "") -> tuple[int, str]:
        response = self.response(method, path, body)
        assert response.headers["Content-Type"] == "text/plain; charset=UTF-8"
        return int(response.status), response.body.decode()

    def online(self, topic: str, **partitions: str) -> None:
        maps = {name[1:]: {worker: "ONLINE"} for name, worker in partitions.items()}
        self.manager.accessor.apply([Put(UR.external_view(topic), ZNRecord(topic, map_fields=maps))])


def topic(name: str, number: object) -> str:
    return json.dumps({"topic": name, "numPartitions": number})
