"""axe-core, a checker of accessibility, from the npm registry: fetched once into the user's cache, and checked."""

from __future__ import annotations

import hashlib
import json
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Any, Final

import platformdirs

from tests.support import chromium

VERSION: Final = "4.10.3"
SHA_256: Final = "880970c081707360e64f34cea25ff91892f5bc95675b0776925b9709dd8a68bb"
_AT_ONCE = "<style>*, *::before, *::after { transition: none !important; animation: none !important; }</style>"
_SERIOUS = """axe.run(document, {resultTypes: ['violations'], rules: %s})
    .then(all => axe.run('article', {resultTypes: ['violations'], runOnly: ['target-size']}).then(targets =>
        [...all.violations, ...targets.violations].filter(one => ['serious', 'critical'].includes(one.impact))
            .map(one => one.id + ': ' + one.nodes.length + ', ' + one.nodes[0].html.slice(0, 200))))"""


def script() -> str:
    """The program. Raises AssertionError if npm cannot fetch it, or if it is another than the pinned one."""
    kept = Path(platformdirs.user_cache_dir("kafka-lite", appauthor=False)) / f"axe-core-{VERSION}" / "axe.min.js"
    if not kept.is_file():
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(_fetched())
    data = kept.read_bytes()
    assert hashlib.sha256(data).hexdigest() == SHA_256, f"{kept} is not the file that was pinned"
    return data.decode()


def _fetched() -> bytes:
    with tempfile.TemporaryDirectory(prefix="kafka-lite-axe-") as folder:
        done = subprocess.run(
            ["npm", "pack", "--silent", f"axe-core@{VERSION}"], cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"npm pack axe-core@{VERSION} failed: {done.stderr}"
        with tarfile.open(next(Path(folder).glob("*.tgz"))) as package:
            file = package.extractfile("package/axe.min.js")
            assert file is not None
            return file.read()


def serious_problems(page: chromium.Page, program: str, *, without: tuple[str, ...] = ()) -> list[Any]:
    """What axe finds on a page that is serious or critical: the rule, how often, and the first element.

    ``without`` these rules. Targets are measured in the article: in the menu some are half below its sticky title.
    """
    # A colour that is still on its way from light to dark has neither's contrast.
    page.evaluate(f"document.head.insertAdjacentHTML('beforeend', {json.dumps(_AT_ONCE)})")
    page.evaluate(f"window.axe ? 0 : (0, eval)({json.dumps(program)}), 0")
    found = page.evaluate(_SERIOUS % json.dumps({rule: {"enabled": False} for rule in without}))
    assert isinstance(found, list)
    return found
