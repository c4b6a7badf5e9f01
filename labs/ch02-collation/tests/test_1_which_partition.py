"""Task 1: by the key; without one, the same partition until the metadata is fetched again."""

import pytest

from kafka_lite.common.errors import ApiError, Errors


class Says:
    """A user's partitioner."""

    def __init__(self, place):
        self.place = place

    def partition(self, _key, _count):
        return self.place


def place_of(handler, key):
    (message,) = handler.messages(key)
    return handler._partition(message, handler.metadata.get_broker_partition_info("t"))


@pytest.mark.points(5, task=1)
def test_with_a_key(new_handler):
    """Keys 0 to 5, three partitions, one without a leader"""
    handler = new_handler({"t": [0, -1, 1]})
    places = [place_of(handler, key) for key in range(6)]
    assert places == [0, 1, 2, 0, 1, 2], f"the key decides, whether the partition has a leader or not; yours: {places}"


@pytest.mark.points(4, task=1)
@pytest.mark.parametrize("place", [-1, 3], ids=["minus-one", "three-of-three"])
def test_an_invalid_partition_of_the_partitioner(new_handler, error_of, place):
    """The user's partitioner returns"""
    error = error_of(lambda: place_of(new_handler({"t": [0, 0, 0]}, Says(place)), "key"))
    refused = isinstance(error, ApiError) and error.error is Errors.UNKNOWN_TOPIC_OR_PARTITION
    assert refused, (
        f"{place} is not one of the partitions 0 to 2 (Python's negative indexes do not count): "
        f"UNKNOWN_TOPIC_OR_PARTITION, not {error!r}"
    )


@pytest.mark.points(6, task=1)
def test_without_a_key(new_handler):
    """Twenty messages without a key"""
    handler = new_handler({"t": [0, -1, 0, -1, 0, 0]})
    try:
        places = {place_of(handler, None) for _ in range(20)}
    except ApiError as error:
        pytest.fail(f"broker 0 is a broker as any other, and leads four partitions: choose one of them ({error})")
    assert len(places) == 1, f"until the metadata is fetched again, all go to one partition, not to {sorted(places)}"
    drawn = set()
    for _ in range(60):
        handler._send_partition_per_topic_cache.clear()
        drawn.add(place_of(handler, None))
    assert not drawn & {1, 3}, f"partitions 1 and 3 have no leader: do not choose them. You chose {sorted(drawn)}"
    assert drawn == {0, 2, 4, 5}, f"0, 2, 4 and 5 must each have a chance; in sixty draws you chose {sorted(drawn)}"


@pytest.mark.points(2, task=1)
def test_the_partition_in_use(new_handler):
    """Partition 0, then partition 1 after it has lost its leader; the partition of another topic"""
    handler = new_handler({"t": [0, -1, 0, 0]})
    for place in (0, 1):
        handler._send_partition_per_topic_cache = {"t": place}
        places = {place_of(handler, None) for _ in range(20)}
        assert places == {place}, (
            f"partition {place} is in use, with or without a leader, until the metadata is fetched again; "
            f"yours {sorted(places)}"
        )
    handler = new_handler({"t": [-1, -1, 0]})
    handler._send_partition_per_topic_cache = {"u": 0}
    place = place_of(handler, None)
    assert place == 2, f"partition 0 is in use for topic u; of t only partition 2 has a leader, and you chose {place}"


@pytest.mark.points(4, task=1)
def test_no_partition_has_a_leader(new_handler, error_of):
    """No partition has a leader"""
    error = error_of(lambda: place_of(new_handler({"t": [-1, -1]}), None))
    refused = isinstance(error, ApiError) and error.error is Errors.LEADER_NOT_AVAILABLE
    assert refused, f"no partition has a leader, so none can be chosen: LEADER_NOT_AVAILABLE, not {error!r}"
