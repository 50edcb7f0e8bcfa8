"""The Chromium of this machine."""

import shutil

from playwright.sync_api import Browser, Playwright

# The first of these that is here, or None. The headless shell draws the same for a third of the work.
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, _NAMES)), None)


def launch(playwright: Playwright) -> Browser:
    """Without its own sandbox, which root has none of; it is shown our own pages only."""
    return playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
