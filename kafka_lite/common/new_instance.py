"""Creates objects of classes that are named in a configuration.

Kafka 0.10.2: clients/.../common/config/AbstractConfig.java, common/utils/Utils.java · book 2.1.1
"""

from __future__ import annotations

import importlib
from typing import Any

from kafka_lite.common.config_def import ConfigError


def find_class(key: str, kind: type[Any], name: str) -> type[Any]:
    """The class ``name``, written ``package.module.Class``.

    Raises ConfigError, which names ``key``, if the class does not exist or is not a subclass of ``kind``.
    """
    module, _, class_name = name.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), class_name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(key, name, f"not found; must be package.module.Class ({error})") from error
    if not (isinstance(found, type) and issubclass(found, kind)):
        raise ConfigError(key, name, f"is not a {kind.__name__}")
    return found


def new_instance(key: str, kind: type[Any], name: str, *arguments: object) -> Any:
    """Create an object of the class ``name`` with ``arguments``. Raises what ``find_class`` raises."""
    return find_class(key, kind, name)(*arguments)
