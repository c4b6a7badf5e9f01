"""An authorizer of a user's own, which a broker loads by its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from kafka_lite.security.authorizer.authorizer import Action, AuthorizableRequestContext
from kafka_lite.security.authorizer.custom_authorizer import CustomAuthorizer
from kafka_lite.security.authorizer.resource_pattern import CLUSTER_NAME


class NoSecrets(CustomAuthorizer):
    """Everyone may use all topics but those whose names begin with what ``my.secrets`` says."""

    closed: ClassVar[int] = 0

    def __init__(self) -> None:
        self._secrets = ""

    def configure(self, configs: Mapping[str, object]) -> None:
        self._secrets = str(configs["my.secrets"])

    def authorize(self, context: AuthorizableRequestContext, actions: Sequence[Action]) -> list[bool]:
        names = [action.resource.name for action in actions]
        if "broken" in names:
            raise RuntimeError(f"{context.request_name} is too much")
        return [not name.startswith((self._secrets, CLUSTER_NAME)) for name in names]

    def close(self) -> None:
        type(self).closed += 1


class NoAuthorizer:
    """Of the wrong kind."""
