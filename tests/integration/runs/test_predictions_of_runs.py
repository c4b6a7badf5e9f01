"""Predictions whose answers are taken from runs with real brokers: see ``tests/unit/learn/test_check.py``."""

from __future__ import annotations

import pytest

from chapters.ch04_new_consumer.figures import consumer_predictions
from chapters.ch07_controller.figures import controller_predictions
from chapters.ch08_pipelines.figures import worker_predictions
from chapters.topics_as_tables.figures import frame_predictions
from tests.support.chapter_predictions import assert_tells_right_from_wrong, predictions_of

ALL = predictions_of(
    consumer_predictions,
    controller_predictions,
    worker_predictions,
    frame_predictions,
)


@pytest.mark.parametrize("name", ALL)
def test_a_prediction_of_a_run_is_seen_in_it_and_knows_likely_mistakes(name: str) -> None:
    assert_tells_right_from_wrong(ALL[name])
