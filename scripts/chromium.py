"""Find and start the Chromium of this host."""

import shutil

from playwright.sync_api import Browser, Playwright

# In order of preference. The headless shell renders the same with a third of the CPU time.
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, _NAMES)), None)


def launch(playwright: Playwright) -> Browser:
    """Start Chromium without its sandbox, which does not work as root. It only opens our own pages."""
    return playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
