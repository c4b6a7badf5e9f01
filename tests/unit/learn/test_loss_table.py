"""The table of lost records is that of real brokers."""

import re

import pytest

from chapters.ch06_storage.figures.loss_table import (
    Outcome,
    Setting,
    isr_had_shrunk,
    leader_dies,
    loss_figure,
    loss_table,
    outcome,
    outcomes,
)

KEPT, LOST, REFUSED, AWAY = Outcome.KEPT, Outcome.LOST, Outcome.REFUSED, Outcome.AWAY


@pytest.mark.parametrize("minimum", [1, 2])
@pytest.mark.parametrize("acks", [0, 1])
def test_min_insync_replicas_does_nothing_for_a_producer_that_does_not_ask(acks: int, minimum: int) -> None:
    assert outcomes()[acks, minimum] == [LOST, AWAY, LOST]


def test_only_all_with_two_in_sync_loses_nothing() -> None:
    assert outcomes()[-1, 1] == [KEPT, AWAY, LOST]
    assert outcomes()[-1, 2] == [KEPT, REFUSED, REFUSED]


def test_an_unclean_election_does_no_harm_while_the_isr_lives() -> None:
    assert outcome(leader_dies, Setting(-1, 2, unclean=True)) is KEPT
    assert outcome(isr_had_shrunk, Setting(-1, 2, unclean=True)) is REFUSED


def test_a_row_of_the_table_has_its_settings_and_the_words_of_the_language() -> None:
    assert "| `all` | 2 | kept | refused | refused |" in loss_table("en")
    assert "| `1` | 1 | **丢失** | 没有主副本 | **丢失** |" in loss_table("zh")


def test_the_figure_shows_the_record_on_one_broker_and_then_on_none_that_lives() -> None:
    alt = re.search(r'aria-label="([^"]*)"', loss_figure("en"))
    assert alt
    steps = [re.sub(r"^\d+\. ", "", step) for step in alt[1].rstrip(".").split("; ")]
    assert steps[3:6] == ["a producer sends x (HW 2)", "broker 1 dies", "broker 2 leads (HW 0)"]
