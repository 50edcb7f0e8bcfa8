"""Read which place of a ranking a text is about: the most, the least, the second."""

import re

WAY_LENGTH = 14  # characters after 가장 or 두 번째 in which its adjective stands

PLACE_WORDS = r"가장|제일|최[고대저소]|두\s?번째|2\s?(?:번째|위)|세\s?번째|3\s?(?:번째|위)"
_PLACES = (
    ("2", re.compile(r"두\s?번째|2\s?(?:번째|위)|다음으로")),
    ("3", re.compile(r"세\s?번째|3\s?(?:번째|위)")),
    ("1", re.compile(r"가장|제일|최[고대저소]|1\s?위")),
)
_WAYS = (
    ("most", re.compile(r"많|높|큰|크(?=[고다며])|긴|길(?=[고다])|넓|최[고대]")),
    ("least", re.compile(r"적(?=[은다고었습])|낮|작(?=[은다고았습])|짧|좁|최[저소]")),  # not in 면적, 작물
)


def superlative(text: str) -> tuple[str, str]:
    """Return which place a text is about (`1` for 가장, `2` for 두 번째), and whether of the most or the least, if it says so."""
    for place, words in _PLACES:
        if found := words.search(text):
            beside = text[found.start() : found.end() + WAY_LENGTH]
            ways = [way for way, adjectives in _WAYS if adjectives.search(beside)]
            return place, ways[0] if len(ways) == 1 else ""
    return "", ""


def is_about_another_place(question: str, sentence: str) -> bool:
    """Return whether a sentence is about another place of a ranking than its question: 가장 적은 for 가장 많은."""
    place, way = superlative(question)
    other, other_way = superlative(sentence)
    if not place or not other:
        return False
    return place != other or bool(way and other_way and way != other_way)
