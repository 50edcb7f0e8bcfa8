"""The Chromium of this machine."""

import shutil

from playwright.sync_api import Browser, Playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")  # or None


def launch(playwright: Playwright) -> Browser:
    """Without its own sandbox, which root has none of; it is shown our own pages only."""
    return playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
