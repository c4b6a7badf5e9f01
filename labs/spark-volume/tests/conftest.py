"""What the tests of this lab share: reports of progress, as a stream makes them."""

import pytest


@pytest.fixture
def report():
    """``report(3, rows=100, ms=2500, ends=[…], latest=[…])``: offsets of partitions 0, 1, … of the topic flights."""

    def offsets(numbers):
        return {"flights": {str(number): offset for number, offset in enumerate(numbers)}}

    def make(number, rows, ms, ends=(0,), latest=None, more=()):
        sources = [(ends, ends if latest is None else latest), *more]
        return {
            "batchId": number,
            "numInputRows": rows,
            "durationMs": {"addBatch": ms - 30, "triggerExecution": ms},
            "sources": [{"endOffset": offsets(end), "latestOffset": offsets(last)} for end, last in sources],
        }

    return make
