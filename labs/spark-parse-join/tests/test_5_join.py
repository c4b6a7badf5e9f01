"""Task 5: delays by the weather."""

import itertools
import random

import pytest

from kafka_learn.labs.rows import must_be_column, must_equal, rows_of
from pipeline.weather_delays import FACTORS, KEY, Factor, delays_in_spark

AIRPORTS = ("EWR", "JFK", "LGA")
CLEAR = {"precip": 0.0, "visib": 10.0, "wind_speed": 7.0}


@pytest.mark.points(8, task=5)
def test_the_class_of_a_reading(spark):
    """Edges, null, an instrument error"""
    factor = Factor("wind", "wind_speed", "mph", (0, 5, 10, 25), ("calm", "breeze", "storm"))
    table = [
        (0.0, "calm", "the lowest edge belongs to the first class: low <= reading"),
        (4.999, "calm", "just below an edge"),
        (5.0, "breeze", "a reading at an edge belongs to the class above: low <= reading < high"),
        (24.9, "storm", "below the highest edge"),
        (25.0, None, "the highest edge is outside: reading < high"),
        (1048.0, None, "1,048 miles per hour are an instrument error: no class"),
        (-1.0, None, "below the lowest edge there is no class"),
        (None, None, "without a reading there is no class"),
    ]
    column = must_be_column(factor.spark_class(), "spark_class")
    frame = spark.createDataFrame([(n, value) for n, (value, _, _) in enumerate(table)], "n int, wind_speed double")
    got = {row["n"]: row["class"] for row in rows_of(frame.withColumn("class", column))}
    wrong = [
        f"{words}: {value} is {want!r}, you say {got[n]!r}"
        for n, (value, want, words) in enumerate(table)
        if got[n] != want
    ]
    assert not wrong, "\n".join(wrong)


def delays(
    flights,
    weather,
    *,
    same=("origin", "time_hour"),
    doubled=False,
    cancelled=False,
    unknown=False,
    outer=False,
    zero=False,
):
    """The rows of delays_in_spark, in plain Python; the switches are mistakes."""
    groups = {}
    for flight in flights:
        found = [each for each in weather if all(each[name] == flight[name] for name in same)]
        for factor in FACTORS:
            for each in found or ([{}] if outer else []):
                edges = zip(factor.edges, factor.edges[1:], factor.classes, strict=False)
                reading = each.get(factor.column)
                classes = [name for low, high, name in edges if reading is not None and low <= reading < high]
                for name in classes or ([None] if unknown or outer else []):
                    groups.setdefault((factor.name, name, flight["origin"]), []).append(flight["dep_delay"])
    rows = []
    for place, values in groups.items():
        known = (
            [0 if each is None else each for each in values] if zero else [each for each in values if each is not None]
        )
        rows.append({
            **dict(zip(KEY, place, strict=True)), "flights": len(known) if cancelled else len(values),
            "departed": len(values) if doubled else len([each for each in values if each is not None]),
            "mean_delay": sum(known) / len(known) if known else None,
        })  # fmt: skip
    return rows


PLACE = "origin string, time_hour string, hour int"


def place(row):
    return row["origin"], row["time_hour"], row["hour"]


@pytest.fixture
def check(spark):
    def run(flights, weather):
        mistakes = {
            "flights have the weather of all airports: the key of the weather is airport and hour": delays(
                flights, weather, same=("time_hour",)
            ),
            "flights have the weather of all hours: the key of the weather is airport and hour": delays(
                flights, weather, same=("origin",)
            ),
            "the local hour is no key: every day has it, and one in November twice. The key is time_hour": delays(
                flights, weather, same=("origin", "hour")
            ),
            "cancelled flights are flights: flights counts all of them": delays(flights, weather, cancelled=True),
            "a cancelled flight has not departed": delays(flights, weather, doubled=True),
            "a cancelled flight has no delay, and not one of 0": delays(flights, weather, zero=True),
            "a reading that has no class is left out": delays(flights, weather, unknown=True),
            "flights without weather, and readings without a class, are left out": delays(flights, weather, outer=True),
        }
        flight_rows = [(*place(each), each["dep_delay"], "2013") for each in flights]
        weather_rows = [(*place(each), each["precip"], each["visib"], each["wind_speed"], "13") for each in weather]
        found = delays_in_spark(
            spark.createDataFrame(flight_rows, f"{PLACE}, dep_delay int, year string"),
            spark.createDataFrame(
                weather_rows, f"{PLACE}, precip double, visib double, wind_speed double, year string"
            ),
        )
        must_equal(found, delays(flights, weather), KEY, mistakes=mistakes)

    return run


def at(hour, origin="EWR", **more):
    """A row at an hour of UTC, counted from 1 July 2013."""
    return {
        "origin": origin,
        "time_hour": f"2013-07-{1 + hour // 24:02}T{hour % 24:02}:00:00Z",
        "hour": (hour - 4) % 24,
        **more,
    }


@pytest.mark.points(7, task=5)
def test_flights_and_their_weather(check):
    """A cancelled flight, an hour without weather, another airport, the same hour of the next day"""
    flights = [
        at(10, dep_delay=5),
        at(10, dep_delay=None),
        at(12, dep_delay=50),
        at(10, "JFK", dep_delay=20),
        at(34, dep_delay=9),
        at(11, dep_delay=None),
    ]
    weather = [at(10, **CLEAR), at(10, "JFK", **{**CLEAR, "precip": 0.3}), at(34, **{**CLEAR, "wind_speed": 1048.0}),
               at(11, precip=None, visib=0.5, wind_speed=30.0)]  # fmt: skip
    check(flights, weather)


@pytest.mark.points(10, task=5)
def test_many_flights(check):
    """300 flights, 100 hours, against plain Python"""
    rnd = random.Random(85)
    flights = [
        at(rnd.randrange(100), rnd.choice(AIRPORTS), dep_delay=rnd.choice((None, *range(-9, 60)))) for _ in range(300)
    ]
    weather = []
    for hour, origin in itertools.product(range(100), AIRPORTS):
        if rnd.random() < 0.9:
            rain, sight = rnd.choice((0.0, 0.01, 0.1)), rnd.choice((0.5, 3.0, 10.0))
            weather.append(at(hour, origin, precip=rain, visib=sight, wind_speed=rnd.uniform(0, 30)))
    check(flights, weather)
