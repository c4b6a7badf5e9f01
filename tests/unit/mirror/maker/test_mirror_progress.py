"""Rates and lags between two looks."""

from kafka_lite.mirror.maker.mirror_maker_base_consumer import PartitionProgress
from kafka_lite.mirror.maker.mirror_progress import MirrorProgress, PartitionRow
from tests.support.mirrors import P0, P1


def test_the_first_look_has_lags_and_no_rates() -> None:
    first = MirrorProgress().look(1000, [PartitionProgress(P0, 10, 14), PartitionProgress(P1, 5, None)], 15, 0)
    assert first.rows == [PartitionRow(P0, 10, 4, 0), PartitionRow(P1, 5, None, 0)]
    assert (first.rate, first.lag, first.acknowledged, first.dropped) == (0, 4, 15, 0)


def test_rates_are_per_second_since_the_last_look() -> None:
    progress = MirrorProgress()
    progress.look(1000, [PartitionProgress(P0, 10, 14)], 10, 0)
    second = progress.look(1500, [PartitionProgress(P0, 30, 29), PartitionProgress(P1, 7, 9)], 35, 2)
    assert second.rows == [PartitionRow(P0, 30, 0, 40), PartitionRow(P1, 7, 2, 0)]
    assert (second.rate, second.lag, second.dropped) == (50, 2, 2)


def test_a_partition_that_is_read_again_has_no_negative_rate() -> None:
    progress = MirrorProgress()
    progress.look(1000, [PartitionProgress(P0, 10, None)], 10, 0)
    again = progress.look(2000, [PartitionProgress(P0, 4, None)], 10, 0)
    assert again.rows == [PartitionRow(P0, 4, None, 0)]
    assert again.lag is None
    assert progress.look(2000, [], 10, 0).rate == 0
