"""Modules that a world does not have: using them raises an error with their name.

Not in Kafka. They can be imported, since many modules import them for a case that never comes.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, NoReturn

from kafka_lite.testing.simulation.system.kernel import NotSimulatedError


def refusing(name: str) -> Callable[..., Any]:
    """A function that raises NotSimulatedError."""

    def refuse(*_: object, **__: object) -> NoReturn:
        raise NotSimulatedError(f"{name} is not simulated")

    return refuse


def refusing_module(original: types.ModuleType, *functions: str) -> types.ModuleType:
    """The module with functions that raise NotSimulatedError."""
    module = types.ModuleType(original.__name__)
    module.__dict__.update({name: value for name, value in vars(original).items() if not name.startswith("__")})
    module.__dict__.update({name: refusing(f"{original.__name__}.{name}") for name in functions})
    return module
