"""A recorded run's figure as a page shows it: the names of its lanes stay in sight, and its steps can be played."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from kafka_learn.drawing.run_steps import PlayedStep, to_json

ALONG_Y, ALONG_X = "y", "x"
Along = Literal["x", "y"]
_STEPS = re.compile(r'<script type="application/json">(.*?)</script>', re.DOTALL)


@dataclass(frozen=True)
class PlayableFigure:
    """Two drawings, and the steps that ``docs/assets/stepper/`` plays in them. Without a script it is a static figure.

    ``heads`` has the names of the lanes, above the ``body`` if time runs down (``along`` is y), else left of it.
    Shapes with ``data-step`` belong to that step, those with ``data-lanes`` to the lanes of these numbers.
    """

    heads: str
    body: str
    along: Along
    lanes: Sequence[str]
    steps: Sequence[PlayedStep]

    def sources(self) -> set[str]:
        """The paths of the files whose lines run."""
        return {step.source.rpartition(":")[0] for step in self.steps if step.source}

    def html(self, source_root: str = "") -> str:
        """The figure's inner HTML, without empty lines; ``source_root`` is the address of the site's source pages.

        The site moves the steps into a file of their own (``kafka_learn/site/built/page_weight.py``).
        """
        root = f' data-source="{source_root}"' if source_root else ""
        return "\n".join(
            [
                f'<div class="recorded-run recorded-run--{self.along}"{root}>',
                f'<div class="recorded-run__heads">\n{self.heads}\n</div>',
                f'<div class="recorded-run__body" tabindex="0">\n{self.body}\n</div>',
                f'<script type="application/json">{to_json(self.lanes, self.steps)}</script>',
                "</div>",
            ]
        )


def sources_of(html: str) -> set[str]:
    """The paths of the files whose lines run, from the HTML of a figure."""
    run = json.loads(_STEPS.findall(html)[0])
    return {step["source"][0] for step in run["steps"] if "source" in step}


class Playable(Protocol):
    """A figure that can be played."""

    def playable(self) -> PlayableFigure:
        """The figure in parts, with its steps."""
