"""Write the site map for search engines. Which page is at which address is in `site_map.py`."""

from xml.sax.saxutils import escape

from leaderboard.data.view import View
from leaderboard.pages.model import FOLDER
from leaderboard.pages.site_map import pages
from leaderboard.views.location import LANGUAGE_FOLDERS, Location

MAX_ADDRESSES = 50_000  # of a site map, https://www.sitemaps.org/protocol.html
NOT_LISTED = ("compare", "queue")  # change all the time, or are empty without parameters


def site_map(view: View, here: Location) -> bytes:
    """Return the site map (XML) with all pages in both languages. `here` is any location of the board."""
    paths = [path for path in pages() if path not in NOT_LISTED]
    paths += [f"{FOLDER}{model.model}" for model in view.models]
    locations = [here.at(path) for path in paths[: MAX_ADDRESSES // len(LANGUAGE_FOLDERS)]]
    addresses = [location.canonical(language) for location in locations for language in LANGUAGE_FOLDERS]
    urls = "".join(f"<url><loc>{escape(address)}</loc></url>\n" for address in addresses)
    content = f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{urls}</urlset>\n'
    return content.encode()
