"""The two kinds of SCRAM, which differ in the hash.

Kafka 0.10.2: clients/.../common/security/scram/ScramMechanism.java · book 2.3.2
"""

from __future__ import annotations

from enum import Enum


class ScramMechanism(Enum):
    """The number on the wire, the name of the hash, and the limits of iterations."""

    SCRAM_SHA_256 = (1, "SHA-256", 4096, 16384)
    SCRAM_SHA_512 = (2, "SHA-512", 4096, 16384)

    def __init__(self, type_: int, hash_algorithm: str, min_iterations: int, max_iterations: int) -> None:
        self.type = type_
        """The id in the requests about credentials."""
        self.mechanism_name = f"SCRAM-{hash_algorithm}"
        self.digest = hash_algorithm.replace("-", "").lower()
        """The name of the hash in ``hashlib``."""
        self.min_iterations = min_iterations
        """Fewer make guessing too cheap: such a credential is refused by both ends."""
        self.max_iterations = max_iterations

    @staticmethod
    def for_mechanism_name(name: str) -> ScramMechanism | None:
        """The mechanism ``SCRAM-SHA-…``; None if it is none of SCRAM's."""
        return next((mechanism for mechanism in ScramMechanism if mechanism.mechanism_name == name), None)


SCRAM_MECHANISM_NAMES = tuple(mechanism.mechanism_name for mechanism in ScramMechanism)
