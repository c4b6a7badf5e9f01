import pytest

from kafka_lite.connect.runtime.distributed.assignment_resolution import may_start, must_read_to_end
from kafka_lite.connect.runtime.distributed.connect_protocol import CONFIG_MISMATCH, NO_ERROR, Assignment

GOOD, FAILED = Assignment(NO_ERROR, "m", "u", 7), Assignment(CONFIG_MISMATCH, "m", "u", 7)


@pytest.mark.parametrize(
    ("assignment", "offset", "is_leader", "reads", "starts"),
    [
        (GOOD, 7, False, False, True),
        (GOOD, 7, True, False, True),
        (GOOD, 6, False, True, False),
        (GOOD, 8, False, False, False),  # beyond it: the connectors may be other ones by now
        (FAILED, 7, False, False, False),
        (FAILED, 6, False, True, False),
        (FAILED, 7, True, True, False),  # the leader was behind, and leads the next round, too
    ],
)
def test_a_worker_starts_only_at_the_offset_of_its_assignment(
    assignment: Assignment, offset: int, is_leader: bool, reads: bool, starts: bool
) -> None:
    assert must_read_to_end(assignment, offset, is_leader) == reads
    assert may_start(assignment, offset) == starts
