"""A prediction tells right from wrong with a reason, and gives nothing away."""

import pytest

from chapters.ch01_introduction.figures import persistence_predictions, predictions
from chapters.ch02_producer.figures import (
    connection_predictions,
    old_producer_predictions,
    producer_predictions,
    request_predictions,
)
from chapters.ch03_old_consumer.figures import old_consumer_predictions
from chapters.ch05_coordinator.figures import joining_predictions, session_predictions
from chapters.ch06_storage.figures import (
    append_predictions,
    purgatory_predictions,
    recovery_predictions,
    replication_predictions,
    segment_predictions,
)
from chapters.ch08_pipelines.figures import helix_predictions
from chapters.ch08_pipelines.figures import predictions as predictions_of_connect
from chapters.ch09_streams.figures import count_again_predictions, tables_predictions, word_count_predictions
from chapters.ch10_advanced.figures import quota_predictions, timestamp_predictions, transaction_predictions
from chapters.topics_as_tables.figures import killed_predictions
from kafka_learn.both_languages import CHINESE
from kafka_learn.check import Prediction, Words
from tests.support.chapter_predictions import assert_tells_right_from_wrong, predictions_of

SUM = Prediction(
    lambda: 1 + 1, Words("It is the sum.", "这是和。"), {3: Words("That counts one twice.", "多数了一个。")}
)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (2, "**Right.** It is the sum."),
        (3, "**Not 3.** That counts one twice."),
        (4, "**Not 4.** Try the code above with other values, and answer again."),
        ([2], "**Not [2].** Try the code above with other values, and answer again."),
        (None, "No answer yet: write it in the place of `None`, and run the cell again."),
    ],
)
def test_a_verdict_has_a_reason(answer: object, said: str) -> None:
    assert SUM.verdict(answer) == said


def test_a_cell_has_the_verdict_in_both_languages() -> None:
    output = SUM.check(3)._repr_mimebundle_()
    assert output == {"text/markdown": "**Not 3.** That counts one twice.", CHINESE: "**不是 3。** 多数了一个。"}


ALL = predictions_of(
    predictions,
    persistence_predictions,
    producer_predictions,
    connection_predictions,
    request_predictions,
    old_producer_predictions,
    old_consumer_predictions,
    joining_predictions,
    session_predictions,
    purgatory_predictions,
    replication_predictions,
    predictions_of_connect,
    helix_predictions,
    word_count_predictions,
    count_again_predictions,
    quota_predictions,
    transaction_predictions,
    killed_predictions,
    segment_predictions,
    recovery_predictions,
    append_predictions,
    tables_predictions,
    timestamp_predictions,
)


@pytest.mark.parametrize("name", ALL)
def test_a_prediction_of_a_chapter_is_computed_and_knows_likely_mistakes(name: str) -> None:
    assert_tells_right_from_wrong(ALL[name])
