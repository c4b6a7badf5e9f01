from kafka_lite.connect.runtime.distributed.membership import VALID_PREVIOUS_STATES, Membership


def test_every_state_can_be_reached_and_left() -> None:
    assert set(VALID_PREVIOUS_STATES) == set(Membership)
    left = {before for states in VALID_PREVIOUS_STATES.values() for before in states}
    assert left == set(Membership) - {Membership.STOPPED}


def test_work_starts_only_once_an_assignment_was_resolved() -> None:
    assert VALID_PREVIOUS_STATES[Membership.ACTIVE] == {Membership.ASSIGNED}
    assert VALID_PREVIOUS_STATES[Membership.ASSIGNED] == {Membership.JOINING}
