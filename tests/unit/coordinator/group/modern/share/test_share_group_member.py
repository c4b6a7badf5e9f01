"""The epochs of a member of a share group."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_lite.common.errors import ApiError, Errors
from tests.support.modern_groups import T
from tests.support.share_groups import WHOLE_SHARE_MEMBER


@pytest.mark.parametrize("epoch", [0, 2, 3])
def test_the_epoch_the_one_before_and_zero_are_accepted(epoch: int) -> None:
    WHOLE_SHARE_MEMBER.check_epoch(epoch)


@pytest.mark.parametrize(("epoch", "text"), [(1, "does not match the previous member epoch \\(2\\)"), (4, "greater")])
def test_any_other_epoch_is_fenced(epoch: int, text: str) -> None:
    with pytest.raises(ApiError, match=text) as raised:
        WHOLE_SHARE_MEMBER.check_epoch(epoch)
    assert raised.value.error is Errors.FENCED_MEMBER_EPOCH


def test_a_member_has_the_target_at_once() -> None:
    assert WHOLE_SHARE_MEMBER.moved_to(3, {}) is WHOLE_SHARE_MEMBER
    moved = WHOLE_SHARE_MEMBER.moved_to(5, {T: frozenset({7})})
    assert moved == replace(WHOLE_SHARE_MEMBER, member_epoch=5, previous_member_epoch=3, assigned={T: frozenset({7})})
