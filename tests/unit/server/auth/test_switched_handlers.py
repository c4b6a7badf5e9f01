"""While a kind of groups is off, requests about it are refused before anybody looks at rights."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.api_keys import API_SPECS
from kafka_lite.server.apis.share.share_group_switch import OF_SHARE_GROUPS
from kafka_lite.server.auth.switched_handlers import switched


@pytest.mark.parametrize("key", sorted(OF_SHARE_GROUPS))
def test_requests_about_share_groups_are_served_while_those_are_on(key: ApiKey) -> None:
    switch = SimpleNamespace(apis=OF_SHARE_GROUPS, refusal=Errors.UNSUPPORTED_VERSION)
    handled: list[Any] = []
    handler = switched(cast(Any, switch))(key, lambda _request, body, _respond: handled.append(body))
    responses: list[Any] = []
    body = API_SPECS[key].request()
    version = API_SPECS[key].min_version
    request = SimpleNamespace(header=SimpleNamespace(api_version=version))
    handler(cast(Any, request), body, responses.append)
    assert handled == []
    (response,) = responses
    assert getattr(response, "error_code", Errors.UNSUPPORTED_VERSION.code) == Errors.UNSUPPORTED_VERSION.code
    switch.refusal = None
    handler(cast(Any, request), body, responses.append)
    assert handled == [body]
    assert len(responses) == 1


def test_other_requests_have_no_check() -> None:
    def handler(*_: object) -> None: ...

    wrap = switched(cast(Any, SimpleNamespace(apis=OF_SHARE_GROUPS, refusal=Errors.UNSUPPORTED_VERSION)))
    for key in (ApiKey.PRODUCE, ApiKey.WRITE_SHARE_GROUP_STATE, ApiKey.CONSUMER_GROUP_HEARTBEAT):
        assert wrap(key, handler) is handler
