"""Scenarios of the live cluster: states that the chapters are about, each as a link that leads there.

Not in Kafka. ``chapters/live.toml`` has them.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from kafka_learn.live.link import ACTIONS, FIRST_SEED, SEED, UNTIL, Link

TABLE: Final = Path(__file__).parents[2] / "chapters" / "live.toml"


@dataclass(frozen=True)
class Scenario:
    """A state of the cluster, and the way there."""

    name: str
    titles: dict[str, str]
    """By language: what the state is."""
    watch: dict[str, str]
    """By language: what will happen next."""
    page: str
    """The page of the chapter, a path in the repository."""
    link: Link

    @property
    def query(self) -> str:
        """Its link: the query of an address."""
        until = f"&{UNTIL}={self.link.until_s:g}"
        return f"?{SEED}={self.link.seed}&{ACTIONS}={self.link.actions}{until}"


def scenarios(table: Path = TABLE) -> dict[str, Scenario]:
    """All scenarios by their names. Raises KeyError if one of them lacks something, ValueError for a name twice."""
    found: dict[str, Scenario] = {}
    for row in tomllib.loads(table.read_text(encoding="utf-8"))["scenario"]:
        if row["name"] in found:
            raise ValueError(f"two scenarios are called {row['name']}")
        found[row["name"]] = _scenario(row)
    return found


def _scenario(row: dict[str, Any]) -> Scenario:
    titles, watch = ({"en": row[key], "zh": row[f"{key}_zh"]} for key in ("title", "watch"))
    link = Link(row.get("seed", FIRST_SEED), ",".join(row["actions"]), row["until"])
    return Scenario(row["name"], titles, watch, row["page"], link)
