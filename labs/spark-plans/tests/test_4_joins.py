"""Task 4: which join, and which side is in memory."""

import pytest
from pyspark.sql import functions as F  # noqa: N812

from kafka_learn.labs.rows import must_be_frame, must_equal
from pipeline.tuning.plans import JoinStep, joins, plan_text, with_airlines


@pytest.mark.points(4, task=4)
def test_joins_of_plans(plans):
    """A sort-merge join, a broadcast, none"""
    got = joins(plans["sort-merge"])
    assert got == [JoinStep("sort-merge", None)], f"one join that sorts both sides and builds none, not {got}"
    got = joins(plans["reused"])
    assert got == [JoinStep("broadcast", "left")], f"one broadcast join with BuildLeft, not {got}"
    got = joins(plans["single"])
    assert got == [], f"this plan joins nothing, you have {got}"


@pytest.mark.parametrize(
    ("hint", "want"),
    [
        ("broadcast", JoinStep("broadcast", "right")),
        ("merge", JoinStep("sort-merge", None)),
        ("shuffle_hash", JoinStep("shuffled hash", "right")),
    ],
)
@pytest.mark.points(1, task=4)
def test_joins_of_this_session(spark, hint, want):
    """A hint, and the join that it makes"""
    numbers = spark.range(10)
    got = joins(plan_text(numbers.join(numbers.select((F.col("id") * 2).alias("id")).hint(hint), "id")))
    assert got == [want], f"with the hint {hint} it is {want}, not {got}"


@pytest.mark.points(2, task=4)
def test_two_joins_without_equal_keys(spark, configured):
    """A nested loop above a product"""
    configured("spark.sql.autoBroadcastJoinThreshold", "-1")
    numbers = spark.range(10)
    pairs = numbers.crossJoin(numbers.toDF("other")).join(F.broadcast(numbers.toDF("more")), F.expr("id < more"))
    got = joins(plan_text(pairs))
    want = [JoinStep("nested loop", "right"), JoinStep("product", None)]
    assert got == want, f"in the order of the lines they are {want}, not {got}"


@pytest.mark.points(3, task=4)
def test_every_flight_has_its_airline(files, airlines, flights):
    """Names of airlines, one of them unknown"""
    names = {row["airline"]: row["name"] for row in airlines.collect()}
    want = [row | {"name": names.get(row["airline"])} for row in flights]
    known = [row for row in want if row["name"]]
    lost = {"flights of an airline that is not in airlines are lost: a left join": known}
    must_equal(with_airlines(files, airlines), want, ["flight", "time"], mistakes=lost)


@pytest.mark.points(4, task=4)
def test_no_flight_moves(files, airlines, configured):
    """Spark's threshold is off"""
    configured("spark.sql.autoBroadcastJoinThreshold", "-1")
    frame = must_be_frame(with_airlines(files, airlines))
    plan = plan_text(frame)
    step = joins(plan)[0]
    assert step.kind == "broadcast", (
        f"a {step.kind} join: {len(exchanges_of(plan))} shuffles of all rows; broadcast(airlines) says what is small"
    )
    assert step.built == "right", "the small side is the one that every task gets whole: the airlines, not the flights"
    assert not exchanges_of(plan), "the plan still has a shuffle"


def exchanges_of(plan):
    return [line for line in plan.splitlines() if "Exchange " in line and "BroadcastExchange" not in line]
