"""The headers that let a browser's page of another origin use the REST interface.

Kafka 0.10.2: connect/runtime/.../connect/runtime/rest/RestServer.java (start), Jetty's CrossOriginFilter · book 8.3.1
"""

from __future__ import annotations

from collections.abc import Mapping

DEFAULT_METHODS = "GET,POST,HEAD"
ALLOWED_HEADERS = "X-Requested-With,Content-Type,Accept,Origin"
MAX_AGE_S = 1800


class CrossOriginFilter:
    """Without allowed origins it adds nothing: then browsers show answers only to pages of the worker's own origin."""

    def __init__(self, allowed_origins: str, allowed_methods: str) -> None:
        """Both are comma separated; ``*`` allows any origin."""
        self._origins = _words(allowed_origins)
        self._methods = _words(allowed_methods or DEFAULT_METHODS)

    def headers(self, method: str, request: Mapping[str, str]) -> dict[str, str]:
        """The headers to add to the response to a request with these headers."""
        origin = request.get("origin")
        if origin is None or not ("*" in self._origins or origin in self._origins):
            return {}
        found = {"Access-Control-Allow-Origin": origin, "Access-Control-Allow-Credentials": "true", "Vary": "Origin"}
        asked = request.get("access-control-request-method")
        if method == "OPTIONS" and asked in self._methods:
            found |= {
                "Access-Control-Allow-Methods": ",".join(self._methods),
                "Access-Control-Allow-Headers": ALLOWED_HEADERS,
                "Access-Control-Max-Age": str(MAX_AGE_S),
            }
        return found


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
