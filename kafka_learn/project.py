"""The root of the repository. kafka_learn works only in a clone, because it needs chapters, labs and tests."""

from __future__ import annotations

from pathlib import Path

PROJECT_ROOT = Path(__file__).resolve().parents[1]
