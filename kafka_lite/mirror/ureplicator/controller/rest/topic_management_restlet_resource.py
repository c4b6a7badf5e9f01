"""``/topics``: the topics that are mirrored.

    GET    /topics      their names
    GET    /topics/T    where T should be, and where it is
    POST   /topics      mirror a topic; it leaves the blacklist
    POST   /topics/T    mirror T with as many partitions as the source has
    PUT    /topics      mirror more partitions of a topic
    DELETE /topics/T    mirror T no longer; it is put on the blacklist

uReplicator kafka-0.10.2.1: uReplicator-Controller/.../controller/rest/resources/TopicManagementRestletResource.java
(TopicManagementRestletResource) · book 8.2.2
"""

from __future__ import annotations

import logging
from http import HTTPStatus

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.http.http_messages import HttpResponse
from kafka_lite.common.topic_names import is_valid_topic_name
from kafka_lite.mirror.ureplicator.controller.auto_topic_whitelisting_manager import AutoTopicWhitelistingManager
from kafka_lite.mirror.ureplicator.controller.controller_errors import FewerPartitionsError
from kafka_lite.mirror.ureplicator.controller.helix_mirror_maker_manager import HelixMirrorMakerManager
from kafka_lite.mirror.ureplicator.controller.kafka_broker_topic_observer import KafkaBrokerTopicObserver
from kafka_lite.mirror.ureplicator.controller.rest.rest_messages import RestRequest, json_text, text_response
from kafka_lite.mirror.ureplicator.controller.rest.topic_info import TopicInfo
from kafka_lite.mirror.ureplicator.controller.topic_mappings import topic_mappings

logger = logging.getLogger(__name__)


class TopicManagementRestletResource:
    """Answers requests about topics."""

    def __init__(
        self,
        manager: HelixMirrorMakerManager,
        whitelisting: AutoTopicWhitelistingManager | None = None,
        source: KafkaBrokerTopicObserver | None = None,
    ) -> None:
        """With white-listing there is a blacklist; ``source`` comes with the validation of the source cluster."""
        self._manager = manager
        self._whitelisting = whitelisting
        self._source = source

    # ----------------------------------------------------------------------------------------------------------- GET

    def get(self, request: RestRequest) -> HttpResponse:
        """The names of all topics, or one topic."""
        topic = request.topic
        if topic is None:
            return text_response(self._names())
        try:
            if not self._manager.is_topic_existed(topic):
                return _not_found(f"Failed to get ExternalView for topic: {topic}, it is not existed!")
            ideal_state, view = self._manager.ideal_state(topic), self._manager.external_view(topic)
            return json_text(topic_mappings(topic, ideal_state, view))
        except KafkaError as error:
            return _failed(f"Failed to get ExternalView for topic: {topic}", error)

    def _names(self) -> str:
        topics = self._manager.topics()
        if not topics:
            return "No topic is added in MirrorMaker Controller!"
        return f"Current serving topics: [{', '.join(topics)}]"

    # ---------------------------------------------------------------------------------------------------- POST, PUT

    def post(self, request: RestRequest) -> HttpResponse:
        """Add a topic."""
        if request.topic is not None and not request.body.strip():
            return self._add_as_in_source(request.topic)
        try:
            info = TopicInfo.parse(request.body)
        except KafkaError as error:
            return _bad_request("Failed to add new topic", error)
        return self._add(info)

    def _add_as_in_source(self, topic: str) -> HttpResponse:
        if self._source is None:
            return text_response(
                f"Failed to add new topic: {topic}, its number of partitions is known only with "
                "-enableSrcKafkaValidation true",
                HTTPStatus.BAD_REQUEST,
            )
        number = self._source.num_partitions(topic)
        if number is None:
            return text_response(f"Failed to add new topic: {topic}, it's not exsited in source kafka cluster!")
        return self._add(TopicInfo(topic, number))

    def _add(self, info: TopicInfo) -> HttpResponse:
        try:
            self._take_off_blacklist(info.topic)
            if self._manager.is_topic_existed(info.topic):
                return _not_found(f"Failed to add new topic: {info.topic}, it is already existed!")
            self._manager.add_topic_to_mirror_maker(info.topic, info.num_partitions)
        except KafkaError as error:
            return _failed("Failed to add new topic", error)
        return text_response(f"Successfully add new topic: {info}")

    def put(self, request: RestRequest) -> HttpResponse:
        """Expand a topic."""
        try:
            info = TopicInfo.parse(request.body)
        except KafkaError as error:
            return _bad_request("Failed to expand topic", error)
        try:
            self._take_off_blacklist(info.topic)
            if not self._manager.is_topic_existed(info.topic):
                return _not_found(f"Failed to expand topic, topic: {info.topic} is not existed!")
            self._manager.expand_topic_in_mirror_maker(info.topic, info.num_partitions)
        except FewerPartitionsError as error:
            return _bad_request("Failed to expand topic", error)
        except KafkaError as error:
            return _failed("Failed to expand topic", error)
        return text_response(f"Successfully expand topic: {info}")

    def _take_off_blacklist(self, topic: str) -> None:
        if self._whitelisting is not None:
            self._whitelisting.remove_from_blacklist(topic)

    # -------------------------------------------------------------------------------------------------------- DELETE

    def delete(self, request: RestRequest) -> HttpResponse:
        """Delete a topic. One that is not mirrored is put on the blacklist all the same, as in uReplicator."""
        topic = request.topic
        try:
            if self._whitelisting is not None and topic is not None and is_valid_topic_name(topic):
                self._whitelisting.add_into_blacklist(topic)
            if topic is None or not self._manager.is_topic_existed(topic):
                return _not_found(f"Failed to delete not existed topic: {'null' if topic is None else topic}")
            self._manager.delete_topic_in_mirror_maker(topic)
        except KafkaError as error:
            return _failed(f"Failed to delete topic: {topic}", error)
        return text_response(f"Successfully finished delete topic: {topic}")


def _not_found(text: str) -> HttpResponse:
    return text_response(text, HTTPStatus.NOT_FOUND)


def _bad_request(what: str, error: Exception) -> HttpResponse:
    return text_response(f"{what}, with exception: {error}", HTTPStatus.BAD_REQUEST)


def _failed(what: str, error: Exception) -> HttpResponse:
    logger.error("%s", what, exc_info=error)
    return text_response(f"{what}, with exception: {error}", HTTPStatus.INTERNAL_SERVER_ERROR)
