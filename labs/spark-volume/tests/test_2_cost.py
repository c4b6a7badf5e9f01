"""Task 2: the line through the batches."""

import pytest

from kafka_learn.labs.raising import must_raise
from pipeline.tuning.volume import Batch, Cost, cost_of


def measured(*pairs):
    return [Batch(number, records, seconds, 0) for number, (records, seconds) in enumerate(pairs)]


def must_be(got, fixed_s, per_record_s, why):
    close = pytest.approx((fixed_s, per_record_s), rel=1e-9, abs=1e-9)
    assert tuple(got) == close, f"{why}: {Cost(fixed_s, per_record_s)}, not {got}"


@pytest.mark.points(4, task=2)
def test_a_line_through_two_batches():
    """100 and 300 records, after the first batch"""
    got = cost_of(measured((500, 30.0), (100, 2.0), (300, 3.0)))
    assert got.fixed_s > 0, (
        "100 records take 2 s and 300 take 3: 1.5 s are there without a record, if the first batch, which warms up, is "
        "left out"
    )
    must_be(got, 1.5, 0.005, "the line through (100, 2) and (300, 3); the first batch, which warms up, is left out")


@pytest.mark.points(4, task=2)
def test_the_line_with_the_least_squares():
    """Five batches that are on no line"""
    got = cost_of(measured((900, 90.0), (100, 2.0), (200, 2.0), (300, 4.0), (400, 4.0)))
    must_be(got, 1.0, 0.008, "the least squares, not a line through two of the points")


@pytest.mark.points(3, task=2)
def test_batches_of_one_size():
    """A limit has made all batches equal"""
    got = cost_of(measured((900, 90.0), (100, 2.0), (100, 4.0)))
    must_be(got, 0.0, 0.03, "with one size nobody knows what is fixed: 6 s for 200 records")


@pytest.mark.points(3, task=2)
def test_a_line_that_cannot_be():
    """Batches that get cheaper; batches that begin below zero"""
    must_be(cost_of(measured((1, 9.0), (100, 4.0), (300, 2.0))), 0.0, 0.015, "no record costs less than nothing")
    must_be(cost_of(measured((1, 9.0), (100, 1.0), (300, 9.0))), 0.0, 0.025, "no batch costs less than nothing")
    free = cost_of(measured((1, 9.0), (100, 3.0), (300, 3.0)))
    must_be(free, 0.0, 0.015, "a record that costs nothing would allow any limit")
    must_be(cost_of(measured((1, 9.0), (100, 1.0), (300, 3.0))), 0.0, 0.01, "a line through nothing is a line")
    steep = cost_of(measured((1, 9.0), (10, 1.0), (20, 2.0), (30, 3.0)))
    must_be(steep, 0.0, 0.1, "a line through nothing is a line")


@pytest.mark.points(3, task=2)
def test_one_batch_or_none():
    """Only the first"""
    must_be(cost_of(measured((200, 4.0))), 0.0, 0.02, "the first batch counts if there is no other")
    must_raise(ValueError, "without a batch there is no cost", cost_of, [])
