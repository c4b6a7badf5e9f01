"""Finds the resource of a request.

A page of a browser gets no answer: what changes a mirror needs no password, only to be on this machine, and a page
from anywhere may make a browser send requests to it.

uReplicator kafka-0.10.2.1: uReplicator-Controller/.../mirrormaker/controller/rest/ControllerRestApplication.java
(ControllerRestApplication) · book 8.2.2
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import unquote

from kafka_lite.common.http.http_messages import HttpRequest, HttpResponse
from kafka_lite.mirror.ureplicator.controller.rest.admin_restlet_resource import AdminRestletResource
from kafka_lite.mirror.ureplicator.controller.rest.rest_messages import RestRequest, refusal, text_response
from kafka_lite.mirror.ureplicator.controller.rest.topic_management_restlet_resource import (
    TopicManagementRestletResource,
)
from kafka_lite.mirror.ureplicator.controller.rest.validation_restlet_resource import ValidationRestletResource

logger = logging.getLogger(__name__)

Answer = Callable[[RestRequest], HttpResponse]


@dataclass(frozen=True)
class Resources:
    """The resources that are served."""

    topics: TopicManagementRestletResource
    validation: ValidationRestletResource
    admin: AdminRestletResource


@dataclass(frozen=True)
class Route:
    """A row of the table. ``{topicName}`` in its path stands for any name."""

    method: str
    path: str
    answer: Answer


def routes(resources: Resources) -> list[Route]:
    """All that clients can ask for. A resource has the same verbs with a name and without one."""
    topics = resources.topics
    return [
        *(Route("GET", path, topics.get) for path in ("/topics", "/topics/{topicName}")),
        *(Route("POST", path, topics.post) for path in ("/topics", "/topics/{topicName}")),
        *(Route("PUT", path, topics.put) for path in ("/topics", "/topics/{topicName}")),
        *(Route("DELETE", path, topics.delete) for path in ("/topics", "/topics/{topicName}")),
        *(Route("GET", path, resources.validation.get) for path in ("/validation", "/validation/{option}")),
        *(Route("GET", path, resources.admin.get) for path in ("/admin", "/admin/{opt}")),
        Route("GET", "/health", lambda _request: text_response("OK")),
    ]


class ControllerRestApplication:
    """Answers requests."""

    def __init__(self, resources: Resources) -> None:
        self._table = [(re.compile(_pattern(route.path)), route) for route in routes(resources)]

    def answer(self, request: HttpRequest) -> HttpResponse:
        """The response, also to a request that is wrong or fails."""
        if _is_of_a_page(request):
            return refusal(HTTPStatus.FORBIDDEN, "this interface is not for pages of a browser")
        path = request.target.partition("?")[0]
        matches = [(match, route) for pattern, route in self._table if (match := pattern.fullmatch(path))]
        if not matches:
            return refusal(HTTPStatus.NOT_FOUND, "there is no such resource")
        method = "GET" if request.method == "HEAD" else request.method
        for match, route in matches:
            if route.method == method:
                variables = {name: unquote(value) for name, value in match.groupdict().items()}
                return self._call(route.answer, RestRequest(request.body, variables))
        allowed = ", ".join(sorted({route.method for _, route in matches}))
        return text_response(f"Allowed: {allowed}\n", HTTPStatus.METHOD_NOT_ALLOWED, Allow=allowed)

    def _call(self, answer: Answer, request: RestRequest) -> HttpResponse:
        try:
            return answer(request)
        except Exception as error:
            logger.exception("A request has failed")
            return refusal(HTTPStatus.INTERNAL_SERVER_ERROR, str(error))


def _pattern(path: str) -> str:
    """The regular expression of a path; a slash at the end does not matter."""
    return re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path) + "/?"


def _is_of_a_page(request: HttpRequest) -> bool:
    """A browser names the page that a request comes from, or says that there is one: none if a user typed the URL.

    A page of this interface does not exist, so one of the same origin has got its name by DNS rebinding.
    """
    return "origin" in request.headers or request.headers.get("sec-fetch-site", "none") != "none"
