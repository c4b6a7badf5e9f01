"""How many examples hypothesis draws for a property: a part of them in each run, and all of them every night.

Examples differ from run to run, so that many short runs see what one long run would have seen. ``make nightly`` draws
all, for properties with ``derandomize`` as well, whose examples are the same in each run.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

PART = 4
"""One of so many examples is drawn in a usual run."""
FEWEST = 8
VARIABLE = "KAFKA_LITE_EXAMPLES"
"""``all``: draw every example."""
BY_DEFAULT = 100
"""What hypothesis draws for a property that says nothing."""


def examples(count: int, environ: Mapping[str, str] = os.environ) -> int:
    """The number of examples to draw in this run, of ``count``: never more, and never fewer than ``FEWEST`` of them."""
    return count if environ.get(VARIABLE) == "all" else min(count, max(count // PART, FEWEST))
