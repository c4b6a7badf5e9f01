"""The link to a run of the live cluster: its seed, and what its reader did when.

Not in Kafka. A link is the address of the page, or only its query; a page and a terminal play the same run of it::

    https://…/live/?seed=1&actions=2.5:kill:1,6:start:1          the page
    make simulate LINK='?seed=1&actions=2.5:kill:1&until=20'     a terminal, for 20 simulated seconds

The same link is the same run in each version of Python, under WebAssembly too: the digests of its events are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qs, urlsplit

from kafka_learn.live.commands import Action, actions_of

SEED, ACTIONS, UNTIL = "seed", "actions", "until"
FIRST_SEED: Final = 1
BROKERS: Final = 3
AFTER_S: Final = 30.0
"""How long a run continues after its last action, in simulated seconds, if the link does not say it."""


@dataclass(frozen=True)
class Link:
    """The parts of a link. ``until_s`` is None if the run has no end."""

    seed: int = FIRST_SEED
    actions: str = ""
    until_s: float | None = None

    @classmethod
    def of(cls, link: str) -> Link:
        """Read a link. Raises ValueError if it has no numbers where it should."""
        query = parse_qs(urlsplit(link).query)
        given = {name: query.get(name, [""])[-1] for name in (SEED, ACTIONS, UNTIL)}
        until_s = float(given[UNTIL]) if given[UNTIL] else None
        return cls(int(given[SEED] or FIRST_SEED), given[ACTIONS], until_s)

    def actions_on(self, machines: Sequence[str]) -> list[Action]:
        """Its actions, for a cluster with these machines. Raises ValueError if they are damaged."""
        return actions_of(self.actions, BROKERS, machines)

    def end_s(self, actions: Sequence[Action]) -> float:
        """When the run ends, in simulated seconds."""
        if self.until_s is not None:
            return self.until_s
        return AFTER_S + (actions[-1].at_ns / 1e9 if actions else 0.0)
