"""The promise of Helix that a run may break at its end: every plan becomes the external view. Not in Kafka."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kafka_lite.testing.history.checker import Violation
from kafka_lite.testing.simulation.helix.facts import Facts, Plan, View

NOT_REACHED = "plan not reached"


def unreached(facts: Facts) -> Iterator[Violation]:
    """The resources that are not where they should be, and those that should be gone."""
    for resource, plan in sorted(facts.plans.items()):
        view = facts.views.get(resource, {})
        if not is_reached(plan, view):
            yield Violation(NOT_REACHED, f"{resource} should be as in {plan}; its external view is {view}")
    for resource in sorted(facts.views.keys() - facts.plans.keys()):
        yield Violation(NOT_REACHED, f"{resource} was dropped, and is at {facts.views[resource]}")


def is_reached(plan: Plan, view: View) -> bool:
    """Whether a view is what a plan wants, once all instances live."""
    if view.keys() != plan.lists.keys():
        return False
    return all(_is_placed(plan, instances, view[partition]) for partition, instances in plan.lists.items())


def _is_placed(plan: Plan, instances: list[str], states: dict[str, str]) -> bool:
    wanted = [plan.top_state, *[plan.second_state] * (plan.replicas - 1)]
    if instances:
        return states == dict(zip(instances, wanted, strict=True))
    return Counter(states.values()) == Counter(wanted)
