"""A browser page that shows the home page of the built site, for tests that navigate from there.

CI has Chromium, npm and the site (``.ci/run``), and fails without them. Elsewhere the tests are skipped if one of them
is missing.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support import chromium

SITE = "KAFKA_LITE_BUILT_SITE"


@contextmanager
def page_of_the_site(profile: Path) -> Iterator[chromium.Page]:
    """The page; its ``home`` is the address of the site."""
    needed = {SITE: os.environ.get(SITE), "Chromium": chromium.chromium(), "npm": shutil.which("npm")}
    missing = [name for name, found in needed.items() if not found]
    if missing and os.environ.get("KAFKA_LITE_REQUIRE_JVM") == "1":
        pytest.fail(f"needs {' and '.join(missing)}")
    if missing:
        pytest.skip(f"needs {' and '.join(missing)}")
    with chromium.served(Path(os.environ[SITE])) as address, chromium.page(profile) as page:
        page.home = address
        yield page
