import pytest

from kafka_lite.connect.api import ConnectorUtils


@pytest.mark.parametrize(
    ("elements", "groups", "expected"),
    [
        ([1, 2, 3, 4, 5], 2, [[1, 2, 3], [4, 5]]),
        ([1, 2, 3, 4, 5], 3, [[1, 2], [3, 4], [5]]),
        ([1, 2], 3, [[1], [2], []]),
        ([], 1, [[]]),
    ],
)
def test_neighbours_stay_together(elements: list[int], groups: int, expected: list[list[int]]) -> None:
    assert ConnectorUtils.group_partitions(elements, groups) == expected


def test_there_is_at_least_one_group() -> None:
    with pytest.raises(ValueError, match=r"Number of groups must be positive."):
        ConnectorUtils.group_partitions([1], 0)
