"""The demo's question: how late do flights leave, by airport and weather? Computed in Spark and checked in pandas.

Spark 4.2: python/pyspark/sql/functions · book 1.1
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import pandas as pd
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812


@dataclass(frozen=True)
class Factor:
    """A kind of weather and its classes: ``classes[i]`` is ``edges[i] <= reading < edges[i+1]``.

    Readings outside the edges are instrument errors (one wind speed is 1,048 mph) and have no class.
    """

    name: str
    column: str
    unit: str
    edges: tuple[float, ...]
    classes: tuple[str, ...]
    low_is_bad: bool = False

    @property
    def classes_to_worse(self) -> tuple[str, ...]:
        """The classes, from harmless to bad."""
        return self.classes[::-1] if self.low_is_bad else self.classes

    def spark_class(self) -> Column:
        """The class of a row in Spark, from its column ``self.column``; null if it has none."""
        reading = F.col(self.column)
        classes = F.lit(None).cast("string")
        for (low, high), name in zip(pairwise(self.edges), self.classes, strict=True):
            classes = F.when((reading >= low) & (reading < high), F.lit(name)).otherwise(classes)
        return classes

    def pandas_class(self, frame: pd.DataFrame) -> pd.Series[str]:
        """The class of every row in pandas."""
        classes = pd.cut(frame[self.column], list(self.edges), right=False, labels=list(self.classes))
        return classes.astype(object)


_RAIN = Factor(
    "precipitation", "precip", "inches per hour", (0, 0.005, 0.05, 0.2, 10), ("none", "under 0.05", "0.05–0.2", "0.2+")
)
_SIGHT = Factor("visibility", "visib", "miles", (0, 1, 3, 6, 10, 11), ("under 1", "1–3", "3–6", "6–10", "10"), True)
_WIND = Factor(
    "wind", "wind_speed", "miles per hour", (0, 5, 10, 15, 20, 25, 100),
    ("under 5", "5–10", "10–15", "15–20", "20–25", "25+"),
)  # fmt: skip

FACTORS = (_RAIN, _SIGHT, _WIND)
"""The kinds of weather that the demo analyses."""

KEY = ["factor", "class", "origin"]


def delays_in_spark(flights: DataFrame, weather: DataFrame) -> DataFrame:
    """One row per factor, class and origin: ``flights``, ``departed`` (not cancelled), ``mean_delay`` in minutes.

    A flight has the weather of its ``origin`` and ``time_hour``. A flight without weather is left out, and so is a
    reading without a class. The columns are KEY and the three figures; the mean is over the flights that departed.
    """
    readings = weather.select("origin", "time_hour", *(factor.column for factor in FACTORS))
    joined = flights.select("origin", "time_hour", "dep_delay").join(readings, ["origin", "time_hour"])
    classes = F.array(
        *(F.struct(F.lit(factor.name).alias("factor"), factor.spark_class().alias("class")) for factor in FACTORS)
    )
    classified = joined.select("origin", "dep_delay", F.inline(classes)).where(F.col("class").isNotNull())
    return classified.groupBy(*KEY).agg(
        F.count("*").alias("flights"), F.count("dep_delay").alias("departed"), F.avg("dep_delay").alias("mean_delay")
    )


def delays_in_pandas(flights: pd.DataFrame, weather: pd.DataFrame) -> pd.DataFrame:
    """The same, computed without Spark from the original tables, before they went through Kafka."""
    joined = flights.merge(weather, on=["origin", "time_hour"], validate="many_to_one")
    frames = []
    for factor in FACTORS:
        classified = joined.assign(factor=factor.name, **{"class": factor.pandas_class(joined)}).dropna(subset="class")
        frames.append(
            classified.groupby(KEY).agg(
                flights=("origin", "size"), departed=("dep_delay", "count"), mean_delay=("dep_delay", "mean")
            )
        )
    return pd.concat(frames).reset_index()


@dataclass(frozen=True)
class LeftOut:
    """Numbers of flights that are in no row: ``without_weather`` of any factor, ``without_class`` by factor."""

    without_weather: int
    without_class: dict[str, int]


def left_out(flights: pd.DataFrame, weather: pd.DataFrame) -> LeftOut:
    """Count the flights that ``delays_in_pandas`` leaves out, and say why: no weather for the hour, or no reading."""
    joined = flights.merge(weather, on=["origin", "time_hour"], how="left", indicator=True)
    found = joined[joined["_merge"] == "both"]
    without_class = {factor.name: int(factor.pandas_class(found).isna().sum()) for factor in FACTORS}
    return LeftOut(len(joined) - len(found), {name: count for name, count in without_class.items() if count})


def differences(got: pd.DataFrame, expected: pd.DataFrame, tolerance: float = 1e-9) -> list[str]:
    """Describe the differences of two results. Counts must be equal, means within ``tolerance`` minutes."""
    both = expected.merge(got, on=KEY, how="outer", suffixes=("_expected", "_got"), indicator=True)
    found = []
    for row in both.to_dict("records"):
        where = ", ".join(str(row[column]) for column in KEY)
        if row["_merge"] != "both":
            found.append(f"{where}: {'not in Spark' if row['_merge'] == 'left_only' else 'in Spark only'}")
            continue
        unequal = [column for column in ("flights", "departed") if row[f"{column}_got"] != row[f"{column}_expected"]]
        found += [f"{where}: {name} {row[f'{name}_got']} instead of {row[f'{name}_expected']}" for name in unequal]
        if not abs(row["mean_delay_got"] - row["mean_delay_expected"]) <= tolerance:
            found.append(f"{where}: mean delay {row['mean_delay_got']} instead of {row['mean_delay_expected']}")
    return found
