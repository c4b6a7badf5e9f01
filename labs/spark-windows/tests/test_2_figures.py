"""Task 2: what is said of a group of flights."""

import pytest
from pyspark.sql import functions as F  # noqa: N812

from kafka_learn.labs.flight_events import flight
from kafka_learn.labs.rows import must_be_column, must_equal
from pipeline.jobs.delays import delay_figures

NAMES = ["flights", "departed", "late", "mean_delay"]
# By airport, one case each.
DELAYS = {
    "EWR": [15, 14, 16, -5],
    "JFK": [30, None, None, 10],
    "LGA": [None, None],
    "BOS": [0],
}


@pytest.fixture
def aggregates():
    """The learner's columns, checked to be columns."""
    columns = delay_figures()
    assert columns is not None, "delay_figures returned None: is a return missing?"
    assert isinstance(columns, tuple | list), f"delay_figures returns a tuple, yours returned {type(columns).__name__}"
    assert len(columns) == len(NAMES), f"four figures are asked for, {', '.join(NAMES)}; you have {len(columns)}"
    return [must_be_column(each, "each figure") for each in columns]


@pytest.mark.points(13, task=2)
def test_the_figures_of_four_airports(frame, figures, aggregates):
    """Exactly 15 minutes, cancelled flights, an airport that all flights were cancelled at"""
    events = [flight("10:00", origin, delay, number)
              for origin, delays in DELAYS.items() for number, delay in enumerate(delays)]  # fmt: skip

    def rows(**mistake):
        return [{"origin": origin, **figures(delays, **mistake)} for origin, delays in DELAYS.items()]

    mistakes = {
        "a delay of exactly 15 minutes is late": rows(late_from=16),
        "late are the flights that left 15 minutes late or more, not all that left after their time": rows(late_from=1),
        "a cancelled flight has not departed: count the delays, not the rows": rows(departed=False),
        "a cancelled flight has no delay, and not one of 0: the mean is over those that departed": rows(over_all=True),
        "if no flight departed there is no mean: null, and not 0": rows(none=0.0),
        "a cancelled flight is a flight, too: flights counts rows": [
            {**row, "flights": row["departed"]} for row in rows()
        ],
    }
    must_equal(frame(events).groupBy(F.col("origin")).agg(*aggregates), rows(), ["origin"], mistakes=mistakes)
