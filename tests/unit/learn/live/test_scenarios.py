"""The live cluster's scenarios, and the links that start them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_learn.live.link import Link
from kafka_learn.live.scenarios import Scenario, scenarios
from kafka_learn.project import PROJECT_ROOT
from kafka_learn.site.live_scenarios import live_scenario, scenario_list

MACHINES = ["broker-0", "broker-1", "broker-2", "zookeeper", "clients"]


@pytest.mark.parametrize("scenario", scenarios().values(), ids=lambda scenario: scenario.name)
def test_a_scenario_has_a_run_that_ends_after_its_actions_and_a_chapter_that_shows_it(scenario: Scenario) -> None:
    link = Link.of(scenario.query)
    assert link == scenario.link
    actions = link.actions_on(MACHINES)
    assert actions
    assert link.until_s is not None
    assert [action.at_ns for action in actions] == sorted(action.at_ns for action in actions)
    assert actions[-1].at_ns / 1e9 < link.until_s
    for page in (scenario.page, scenario.page.replace(".md", ".zh.md")):
        assert f"<!-- live {scenario.name} -->" in (PROJECT_ROOT / page).read_text(encoding="utf-8")


def test_a_box_leads_to_the_page_of_its_language_in_the_state_of_the_scenario() -> None:
    scenario = scenarios()["follower-ahead"]
    box = live_scenario(scenario, "../../live/", "zh")
    assert 'href="../../live/?seed=1&amp;actions=6:produce:9:all,' in box
    assert scenario.titles["zh"] in box
    assert scenario.titles["en"] not in box


def test_the_live_page_lists_all_of_them() -> None:
    assert scenario_list("en").count('data-role="scenario"') == len(scenarios())


def test_a_table_with_a_name_twice_is_rejected(tmp_path: Path) -> None:
    table = tmp_path / "live.toml"
    texts = "".join(f'{key} = "text"\n' for key in ("title", "title_zh", "watch", "watch_zh", "page"))
    row = f'[[scenario]]\nname = "one"\n{texts}actions = []\nuntil = 1\n'
    table.write_text(2 * row, encoding="utf-8")
    with pytest.raises(ValueError, match="two scenarios are called one"):
        scenarios(table)
