"""The scenarios of the live cluster on the site: a box in the chapter that each belongs to, and a list on its page.

Not in Kafka. ``<!-- live leader-dies -->`` on a page of a chapter becomes a box that leads to the live cluster, in that
state (``kafka_learn/live/scenarios.py``).
"""

from __future__ import annotations

import html
from typing import Final

from kafka_learn.live.scenarios import Scenario, scenarios

_LABEL: Final = {"en": "Live", "zh": "在页面里运行"}


def live_scenario(scenario: Scenario, live_page: str, language: str) -> str:
    """The box of a scenario, as HTML. ``live_page``: the address of the live cluster's page."""
    link = f'<a href="{live_page}{html.escape(scenario.query)}">{html.escape(scenario.titles[language])}</a>'
    return (
        f'<div class="live-scenario" data-role="scenario" data-scenario="{scenario.name}">'
        f"<p><strong>{_LABEL[language]}</strong> {link}</p><p>{html.escape(scenario.watch[language])}</p></div>"
    )


def scenario_list(language: str) -> str:
    """All scenarios, for the live cluster's own page."""
    return "\n".join(live_scenario(scenario, "", language) for scenario in scenarios().values())
