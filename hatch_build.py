"""A hook of the build: a wheel says of which commit it is made (`kafka-lite --version`)."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CommitHook(BuildHookInterface[Any]):
    """Adds ``kafka-lite-version.properties`` to the package, unless it is there; app_info_parser.py reads it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before each build; an editable install asks git at run time."""
        sys.path.insert(0, self.root)
        from kafka_lite.common.process.app_info_parser import VERSION_FILE, commit_of

        if version == "editable" or Path(self.root, "kafka_lite", VERSION_FILE).exists():
            return
        self._folder = tempfile.TemporaryDirectory()  # removed with the hook
        file = Path(self._folder.name, VERSION_FILE)
        file.write_text(f"commitId={commit_of(Path(self.root))}\n", encoding="utf-8")
        build_data["force_include"][str(file)] = f"kafka_lite/{VERSION_FILE}"
