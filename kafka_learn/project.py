"""Where the repository lies. Nothing in kafka_learn works without it: it needs chapters, labs and tests, too."""

from __future__ import annotations

from pathlib import Path

PROJECT_ROOT = Path(__file__).resolve().parents[1]
