"""Helps connectors to divide their work.

Kafka 0.10.2: connect/api/.../connect/util/ConnectorUtils.java · book 8.3.2
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import TypeVar

T = TypeVar("T")


class ConnectorUtils:
    """One function, in a class as Kafka has it."""

    @staticmethod
    def group_partitions(elements: Sequence[T], num_groups: int) -> list[list[T]]:
        """Divide the elements into groups of neighbours whose sizes differ by at most one; the first are the larger.

        Some groups are empty if there are fewer elements than groups. Raises ValueError if there is to be no group.
        """
        if num_groups <= 0:
            raise ValueError("Number of groups must be positive.")
        per_group, leftover = divmod(len(elements), num_groups)
        sizes = (per_group + (group < leftover) for group in range(num_groups))
        return [list(elements[begin:end]) for begin, end in pairwise(accumulate(sizes, initial=0))]
