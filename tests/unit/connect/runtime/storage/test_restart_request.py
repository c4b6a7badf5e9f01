import logging

import pytest

from kafka_lite.connect.runtime.storage.restart_request import RestartRequest, restart_request_of


def test_only_a_request_for_the_connector_alone_is_plain() -> None:
    assert RestartRequest("a").is_plain
    assert not RestartRequest("a", only_failed=True).is_plain
    assert not RestartRequest("a", include_tasks=True).is_plain


def test_the_impact_grows_with_what_is_probably_restarted() -> None:
    """The order of RestartRequest.compareTo."""
    requests = [RestartRequest("a", failed, tasks) for failed in (True, False) for tasks in (False, True)]
    assert [request.impact for request in requests] == [0, 1, 2, 3]


@pytest.mark.parametrize("failed", [True, False])
@pytest.mark.parametrize("tasks", [True, False])
def test_a_record_is_read_as_it_was_written(failed: bool, tasks: bool) -> None:
    request = RestartRequest("a-b", failed, tasks)
    assert restart_request_of("a-b", request.fields) == request


@pytest.mark.parametrize(
    ("value", "request_"),
    [
        ({}, RestartRequest("a")),
        ({"include-tasks": True}, RestartRequest("a", include_tasks=True)),
        ({"include-tasks": "true", "only-failed": True}, RestartRequest("a", only_failed=True)),
        (None, None),
        ([True], None),
    ],
)
def test_garbage_is_false_or_no_request(
    value: object, request_: RestartRequest | None, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assert restart_request_of("a", value) == request_
    assert "estart request for connector a" in caplog.text
