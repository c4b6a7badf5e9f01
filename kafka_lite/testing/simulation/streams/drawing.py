"""The drawing of a Streams application from a seed: the operators of its topology, and how it runs.

Not in Kafka. A drawing is plain data, since each simulated process has its own copy of every class.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import Final, Self

WINDOWED_JOINS: Final = ("join", "left_join", "outer_join")
JOINS: Final = ("", "", *WINDOWED_JOINS, "table_join")
STEPS: Final = ("filter", "map_values", "flat_map_values", "select_key")
AGGREGATIONS: Final = ("count", "reduce", "aggregate")
WINDOWS: Final = ("keys", "tumbling windows", "hopping windows", "sessions")
TABLE_STEPS: Final = ("filter", "map_values")
GUARANTEES: Final = ("exactly_once", "exactly_once_v2")
CACHES: Final = (0, 1_000, 10_000_000)
"""Sizes of caches in bytes: none, one that evicts, and one that is flushed at commits only."""


@dataclass(frozen=True)
class Drawing:
    """The operators from the source to the sink::

        text ─▶ (join) ─▶ steps ─▶ (a repartition topic) ─▶ aggregation over windows ─▶ table steps
             ─▶ (a repartition topic ─▶ the groups aggregated) ─▶ counts

    Text is joined with itself, or with a table of what it has had so far: of two topics, the results would depend on
    which record is read first. There is a first repartition topic if a step changes the key. Only results of keys are
    cached, and only the last ones. A window that has expired stays in a cache until that is flushed, so that when a
    task commits would decide what a late record finds there; and the records of a table that is grouped depend on the
    results before.
    """

    steps: tuple[str, ...] = ()
    aggregation: str = "count"
    windows: str = "keys"
    table_steps: tuple[str, ...] = ()
    is_grouped: bool = False
    """Whether the table is regrouped, and the groups are aggregated in turn."""
    guarantee: str = GUARANTEES[0]
    standbys: int = 0
    cache_bytes: int = 0
    """Size of the cache. If there is one, some results never leave it, but each key's last one does."""
    join: str = ""

    @classmethod
    def drawn(cls, random: Random) -> Self:
        """A drawing of a seed's."""
        drawn = cls(
            steps=tuple(random.choices(STEPS, k=random.randint(0, 3))),
            aggregation=random.choice(AGGREGATIONS),
            windows=random.choice(WINDOWS),
            table_steps=tuple(step for step in TABLE_STEPS if random.random() < 0.3),
            is_grouped=random.random() < 0.35,
            guarantee=random.choice(GUARANTEES),
            standbys=random.randint(0, 1),
            cache_bytes=random.choice(CACHES),
            join=random.choice(JOINS),
        )
        return drawn if drawn.windows == "keys" and not drawn.is_grouped else replace(drawn, cache_bytes=0)

    @property
    def needs_distinct_times(self) -> bool:
        """Whether records of the same key and time would have results that depend on when a task began.

        The stores of a join in windows number them, to keep them all, and begin again with 1 after a restart, as
        Kafka's do: a record then takes the place of another one, or comes before it.
        """
        return self.join in WINDOWED_JOINS

    def __str__(self) -> str:
        before = (*filter(None, [self.join]), *self.steps)
        groups = ("groups",) if self.is_grouped else ()
        operators = ("text", *before, f"{self.aggregation} of {self.windows}", *self.table_steps, *groups, "counts")
        return (
            f"{' ─▶ '.join(operators)}, {self.guarantee}, {self.standbys} standby replicas, "
            f"a cache of {self.cache_bytes:,} bytes"
        )
