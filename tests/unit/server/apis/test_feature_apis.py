"""UpdateFeatures in its versions."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.controller.feature_control import FeatureUpdate, UpgradeType
from kafka_lite.protocol.messages.api_57_update_features import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from kafka_lite.server.apis.feature_apis import FeatureApis


class Control:
    """Notes the updates; fails with ``failure``."""

    def __init__(self) -> None:
        self.asked: list[tuple[list[FeatureUpdate], bool]] = []
        self.failure: Exception | None = None

    def update(self, updates: list[FeatureUpdate], *, validate_only: bool) -> None:
        self.asked.append((updates, validate_only))
        if self.failure is not None:
            raise self.failure


@pytest.fixture
def control() -> Control:
    return Control()


def ask(control: Any, body: UpdateFeaturesRequest, version: int, active: bool = True) -> UpdateFeaturesResponse:
    responses: list[Any] = []
    request: Any = SimpleNamespace(header=SimpleNamespace(api_version=version))
    FeatureApis(control, lambda: active).handle_update_features(request, body, responses.append)
    [response] = responses
    return UpdateFeaturesResponse.decode(response.encode(version), version)


def body(**update: Any) -> UpdateFeaturesRequest:
    key = FeatureUpdateKey(feature="transaction.version", **update)
    return UpdateFeaturesRequest(feature_updates=[key], validate_only="upgrade_type" in update)


@pytest.mark.parametrize(
    ("version", "update", "kind"),
    [
        (0, {"allow_downgrade": False}, UpgradeType.UPGRADE),
        (0, {"allow_downgrade": True}, UpgradeType.SAFE_DOWNGRADE),
        (1, {"upgrade_type": 3}, UpgradeType.UNSAFE_DOWNGRADE),
        (2, {"upgrade_type": 7}, UpgradeType.UNKNOWN),
    ],
)
def test_the_kind_of_an_update(control: Control, version: int, update: dict[str, Any], kind: UpgradeType) -> None:
    response = ask(control, body(max_version_level=1, **update), version)
    assert control.asked == [([FeatureUpdate("transaction.version", 1, kind)], version > 0)]
    assert (response.error_code, response.error_message) == (0, None)
    expected = [("transaction.version", 0, None)] if version < 2 else []
    assert [(each.feature, each.error_code, each.error_message) for each in response.results] == expected


def test_an_error_is_of_all_features(control: Control) -> None:
    control.failure = Errors.INVALID_UPDATE_VERSION.exception("Invalid update version 9 ...")
    response = ask(control, body(max_version_level=9), 1)
    assert response.error_code == Errors.INVALID_UPDATE_VERSION.code
    assert response.error_message == (
        "The update failed for all features since the following feature had an error: Invalid update version 9 ..."
    )
    assert not response.results


def test_only_the_controller_updates(control: Control) -> None:
    assert ask(control, body(max_version_level=1), 2, active=False).error_code == Errors.NOT_CONTROLLER.code
    assert not control.asked
