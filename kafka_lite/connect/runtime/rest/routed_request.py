"""A request of which it is known what it is about.

Kafka 0.10.2: JAX-RS' annotations PathParam and QueryParam in connect/runtime/.../connect/runtime/rest/resources ·
book 8.3.1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class RoutedRequest:
    """The request, and the variables of its path."""

    method: str
    path: str
    """Without the query, still quoted."""
    body: bytes
    base_url: str
    """As the client knows this worker: ``http://127.0.0.1:8083/``."""
    variables: Mapping[str, str]
    forward: bool | None
    """Whether it may be forwarded, if the request says so."""
    query: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The query's parameters, each with all its values."""

    def flag(self, name: str) -> bool:
        """A parameter of the query as Java's Boolean reads it: everything but ``true`` is false."""
        return self.query.get(name, ("false",))[0].lower() == "true"

    @property
    def connector(self) -> str:
        """The name of the connector."""
        return self.variables["connector"]

    @property
    def connector_type(self) -> str:
        """The class of a connector, or its alias."""
        return self.variables["connectorType"]

    @property
    def logger(self) -> str:
        """The name of a logger, or ``root``."""
        return self.variables["logger"]

    @property
    def task(self) -> int:
        """The number of the task."""
        return int(self.variables["task"])
