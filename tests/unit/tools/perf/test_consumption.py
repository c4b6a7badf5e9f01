"""What consumer-perf-test counts, under a mock clock."""

from kafka_lite.common.time import MockTime
from kafka_lite.tools.perf import consumption
from kafka_lite.tools.perf.consumption import MIB, Consumption, total_line


def test_an_interval_line_covers_its_interval_and_the_totals():
    time = MockTime()
    start = time.milliseconds()
    counted = Consumption(3, lambda ms: f"@{ms - start:.0f}", with_rebalance=True, interval_ms=1000, time=time)
    time.sleep(200)
    counted.partitions_assigned()
    time.sleep(300)
    assert counted.add(10, MIB) is None
    time.sleep(500)
    assert counted.add(30, MIB) == "@1000, 3, 2.0000, 2.0000, 40, 40.0000, 200, 800, 2.5000, 50.0000"
    time.sleep(2000)
    assert counted.add(10, 0) == "@3000, 3, 2.0000, 0.0000, 50, 5.0000, 0, 2000, 0.0000, 5.0000"
    counted.partitions_revoked()
    time.sleep(50)
    counted.partitions_assigned()
    assert (counted.messages, counted.bytes, counted.rebalance_ms) == (50, 2 * MIB, 250)


def test_total_line():
    def date(ms):
        return f"@{ms:.0f}"

    assert total_line(date, 0, 2000, 100, MIB, None) == "@0, @2000, 1.0000, 0.5000, 100, 50.0000"
    with_rebalance = total_line(date, 0, 2000, 100, MIB, 1000)
    assert with_rebalance == "@0, @2000, 1.0000, 0.5000, 100, 50.0000, 1000, 1000, 1.0000, 100.0000"
    assert total_line(date, 5, 5, 0, 0, None) == "@5, @5, 0.0000, 0.0000, 0, 0.0000"


def test_lines_have_as_many_columns_as_the_header():
    counted = Consumption(0, str, with_rebalance=True, interval_ms=1)
    assert counted.interval_line().count(",") == consumption.header(detailed=True, with_rebalance=True).count(",")
    line = total_line(str, 0, 1, 1, 1, None)
    assert line.count(",") == consumption.header(detailed=False, with_rebalance=False).count(",")
