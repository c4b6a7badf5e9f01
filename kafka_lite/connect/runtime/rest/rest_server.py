"""The HTTP server of a worker.

Kafka 0.10.2: connect/runtime/.../connect/runtime/rest/RestServer.java · book 8.3.3
"""

from __future__ import annotations

import logging

from kafka_lite.common.http.http_messages import HttpRequest, HttpResponse
from kafka_lite.common.http.http_server import HttpServer
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.runtime.herder import Herder
from kafka_lite.connect.runtime.rest.cross_origin_filter import CrossOriginFilter
from kafka_lite.connect.runtime.rest.request_forwarder import RequestForwarder
from kafka_lite.connect.runtime.rest.rest_messages import error_response
from kafka_lite.connect.runtime.rest.router import Router, routes
from kafka_lite.connect.runtime.worker_config import WorkerConfig

logger = logging.getLogger(__name__)

DEFAULT_HOST = "127.0.0.1"
"""A client of the REST interface may run any connector, and so read and write files. So it is for this machine, unless
``rest.host.name`` says otherwise. (Kafka listens at all addresses.)"""


class RestServer:
    """Answers each connection in a thread of its own: a request may wait for the herder.

    The port is taken when it is created, so that the worker knows its URL. Requests before ``start`` wait for it.
    """

    def __init__(self, config: WorkerConfig, forwarder: RequestForwarder | None = None) -> None:
        """Raises ConnectError if the port is taken."""
        self._forwarder = forwarder or RequestForwarder()
        self._cross_origin = CrossOriginFilter(
            config["access.control.allow.origin"], config["access.control.allow.methods"]
        )
        host, port = config["rest.host.name"] or DEFAULT_HOST, config["rest.port"]
        try:
            self._http = HttpServer(host, port, error_response)
        except OSError as error:
            raise ConnectError(
                f"The REST interface cannot listen at {host}:{port}: {error.strerror or error}. "
                "Choose another rest.port or rest.host.name."
            ) from None
        self._advertised_host = config["rest.advertised.host.name"] or host
        self._advertised_port = config["rest.advertised.port"] or self._http.port

    @property
    def advertised_url(self) -> str:
        """Where other workers reach this one: ``http://127.0.0.1:8083/``."""
        return f"http://{self.worker_id}/"

    @property
    def worker_id(self) -> str:
        """``host:port`` of the advertised URL, which names the worker in statuses."""
        host = f"[{self._advertised_host}]" if ":" in self._advertised_host else self._advertised_host
        return f"{host}:{self._advertised_port}"

    def start(self, herder: Herder) -> None:
        """Serve requests."""
        router = Router(routes(herder, self._forwarder), self.advertised_url)
        self._http.start(_Answer(router, self._cross_origin))
        logger.info("REST server listening at port %d, advertising URL %s", self._http.port, self.advertised_url)

    def stop(self) -> None:
        """Accept no more requests, let the current ones end, and release the port."""
        self._http.stop()
        logger.info("REST server stopped")


class _Answer:
    """Router and filter."""

    def __init__(self, router: Router, cross_origin: CrossOriginFilter) -> None:
        self._router = router
        self._cross_origin = cross_origin

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self._router.answer(request)
        more = self._cross_origin.headers(request.method, request.headers)
        return HttpResponse(response.status, response.body, {**response.headers, **more})
