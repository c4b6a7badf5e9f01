"""A hook of the build: a wheel says of which commit it is made (`kafka-lite --version`); a compiled one is compiled."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WheelHook(BuildHookInterface[Any]):
    """Adds ``kafka-lite-version.properties`` to the package, unless it is there, and extension modules if asked to."""

    def dependencies(self) -> list[str]:
        """What a compiled wheel needs while it is built."""
        needed: list[str] = self.config["compiling-needs"]
        return needed if is_compiled() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before each build; an editable install asks git at run time."""
        sys.path.insert(0, self.root)
        self._folder = tempfile.TemporaryDirectory()  # removed with the hook
        if version != "editable":
            self._add_commit(build_data)
        if is_compiled():
            self._add_extension_modules(build_data)

    def _add_commit(self, build_data: dict[str, Any]) -> None:
        """What ``app_info_parser.py`` reads."""
        from kafka_lite.common.process.app_info_parser import VERSION_FILE, commit_of

        if Path(self.root, "kafka_lite", VERSION_FILE).exists():
            return
        file = Path(self._folder.name, VERSION_FILE)
        file.write_text(f"commitId={commit_of(Path(self.root))}\n", encoding="utf-8")
        build_data["force_include"][str(file)] = f"kafka_lite/{VERSION_FILE}"

    def _add_extension_modules(self, build_data: dict[str, Any]) -> None:
        from scripts.extension_modules import build_extension_modules

        kept = Path(os.environ.get("KAFKA_LITE_OBJECTS", self._folder.name))
        library = Path(self._folder.name, "library")
        for file in build_extension_modules(self.config["compiled"], Path(self.root), library, kept):
            build_data["force_include"][str(library / file)] = str(file)
        build_data |= {"infer_tag": True, "pure_python": False}


def is_compiled() -> bool:
    """Whether the wheel has extension modules, too."""
    return os.environ.get("KAFKA_LITE_COMPILED") == "1"
