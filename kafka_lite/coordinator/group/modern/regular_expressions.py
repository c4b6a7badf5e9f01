"""The topics that a subscription by regular expression means.

Kafka 4.1: group-coordinator/.../group/Utils.java (throwIfRegularExpressionIsInvalid), GroupMetadataManager.java
(refreshRegularExpressions) · book 4.1.1
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from types import ModuleType

from kafka_lite.common.errors import Errors

MAX_EXPRESSION_LENGTH = 4096
"""Characters. Kafka's only bound is that of a string."""


def matching_topics(expression: str, topics: Iterable[str]) -> frozenset[str]:
    """The topics whose whole name the expression matches, in the syntax of RE2.

    RE2 takes time in proportion to the name, whatever the expression. Python's own engine can take years, and clients
    could stop a coordinator with it. So without the library google-re2 (``pip install kafka-lite[re2]``) every
    expression is refused. Raises INVALID_REGULAR_EXPRESSION.
    """
    engine = _engine()
    if engine is None:
        raise Errors.INVALID_REGULAR_EXPRESSION.exception(
            "Subscriptions by regular expression need the library google-re2 on the broker."
        )
    if len(expression) > MAX_EXPRESSION_LENGTH:
        raise Errors.INVALID_REGULAR_EXPRESSION.exception(
            f"The regular expression has more than {MAX_EXPRESSION_LENGTH} characters."
        )
    options = engine.Options()
    options.log_errors = False
    try:
        compiled = engine.compile(expression, options)
    except engine.error as failure:
        raise Errors.INVALID_REGULAR_EXPRESSION.exception(
            f"SubscribedTopicRegex `{expression}` is not a valid regular expression: {_text_of(failure)}."
        ) from failure
    return frozenset(topic for topic in topics if compiled.fullmatch(topic))


def _text_of(failure: Exception) -> str:
    """The library's reason, which is bytes."""
    reason = failure.args[0] if failure.args else ""
    return reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)


def _engine() -> ModuleType | None:
    try:
        return importlib.import_module("re2")
    except ImportError:
        return None
