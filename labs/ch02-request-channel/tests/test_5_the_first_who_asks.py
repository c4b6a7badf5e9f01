"""Task 5: a pipelined request begins once."""

import pytest


@pytest.mark.points(2, task=5)
def test_without_a_following_request_it_returns_none(new_request):
    """No request behind it"""
    assert new_request().take_following() is None, "no request follows: None"


@pytest.mark.points(3, task=5)
def test_only_the_first_caller_gets_it(new_request):
    """The handler calls, then the processor"""
    first, second = new_request(1), new_request(2)
    first.follow_with(second)
    assert first.take_following() is second, "the first caller gets the following request"
    again = first.take_following()
    assert again is None, "the second caller got the request, too: it would be handled twice, with two responses"
