"""A regular expression that the broker resolves.

Kafka 4.0: clients/.../consumer/SubscriptionPattern.java · book 4.1.1
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SubscriptionPattern:
    """A regular expression in the syntax of RE2, for ``subscribe`` with ``group.protocol=consumer``.

    The broker matches it against the whole names of the topics. It is sent as it is: a broker that cannot compile it
    responds with INVALID_REGULAR_EXPRESSION, which ``poll`` raises.
    """

    pattern: str
