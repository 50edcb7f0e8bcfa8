"""Read the names under which reporters print a model, so that the spellings of one model can be recognised.

"openbmb/MiniCPM-o-2_6", "MiniCPM-o-2.6" and "MiniCPM-o 2.6" are one model. `register.py` compares what is read here.
"""

import re
from typing import NamedTuple

_VERSION = re.compile(
    r"\s*\((?:20)?(\d\d)[.-]\s?(\d\d)(?:[.-]\s?(\d\d))?\)"  # " (25.07.16)", " (2024-05-13)", " (25. 07. 24)", "(2024.05)"
    r"|-20(\d\d)-?(\d\d)-?(\d\d)(?=\s*\(|$)"  # "-2024-05-13", "-20240620"
)
_SIZE_IN_BRACKETS = re.compile(r"\s*\((\d+(?:\.\d+)?b)\)")  # " (8b)"
_INSTRUCTION_TUNED = re.compile(r"[-\s](?:instruct|it)\b")  # reporters add or leave out these words
_POINT_AS_UNDERSCORE = re.compile(r"(?<=\d)_(?=\d)")  # 2_6
_PUNCTUATION = re.compile(r"[^\w.+]|_")


class PrintedName(NamedTuple):
    """The parts of a model's name, in lower case."""

    key: str  # without owner, punctuation, instruction tuning, and the parts below: "internvl2.5"
    size: str  # in brackets, such as "8b"; empty if there is none
    version: str  # day or month of the version, such as "24-05-13"; empty if none is printed


def read_name(name: str) -> PrintedName:
    """Read a printed name or a Hub id.

    "openbmb/MiniCPM-o-2_6 (8B)" -> ("minicpmo2.6", "8b", ""); "GPT-4o (2024-05-13)" -> ("gpt4o", "", "24-05-13").
    """
    rest = re.sub(r"^[\w.-]+/", "", name).casefold()  # without the owner of a Hub id
    version = _VERSION.search(rest)
    rest = _VERSION.sub("", rest)
    size = _SIZE_IN_BRACKETS.search(rest)
    rest = _SIZE_IN_BRACKETS.sub("", rest)
    rest = _INSTRUCTION_TUNED.sub("", rest)
    rest = _POINT_AS_UNDERSCORE.sub(".", rest)
    return PrintedName(
        key=_PUNCTUATION.sub("", rest),
        size=size[1] if size else "",
        version="-".join(filter(None, version.groups())) if version else "",  # the groups of one of the two forms
    )
