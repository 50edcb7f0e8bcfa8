"""Score an answer that is a name, 알 수 없음, or a reading of a chart with a stated tolerance.

The answer is what follows the last `정답:`, which the prompt asks for; without it, the whole output.
"""

import re
from decimal import Decimal
from typing import NamedTuple

from evaluator.benchmarks.scoring.final_answer import asserted_quantities, folded
from evaluator.benchmarks.scoring.quantities import Quantity, quantities
from evaluator.benchmarks.scoring.thinking import after_thinking

_MARKED = re.compile(r"정답\W{0,6}?[:：]\W*?(?=[\w△▲▼(\\-])([^\n]+)")
_UNKNOWN = re.compile(
    r"(?:알|확인할|판단할|구할|계산할)\s?수(?:가|는)?\s?없|모릅니다|모르겠|모름|알려지지 않|제시되지 않|나와 있지 않"
)
_ENDING = re.compile(r"(?:입니다|이다|임|이에요|예요|요)$")
_TOLERANCE = re.compile(r"(.+) \(±(.+)\)")


class Reading(NamedTuple):
    """A value read from a chart: the quantity, and how far an answer may be from it."""

    value: Quantity
    margin: Quantity


def final_text(output: str) -> str:
    """Return what follows the last `정답:` of an output, or the whole output without its reasoning."""
    output = after_thinking(output)
    marked = _MARKED.findall(output)
    return (marked[-1] if marked else output).strip(" *_`.\"'“”\t\n")


def abstains(output: str) -> bool:
    """Return whether an output says that the question cannot be answered, and asserts no number."""
    text = final_text(output)
    return bool(_UNKNOWN.search(text)) and not re.search(r"\d", _UNKNOWN.sub("", text) if text != output else "")


def is_name(gold: str) -> bool:
    """Return whether a gold answer is a name, without any quantity."""
    return not quantities(gold)


def matches_name(gold: str, output: str) -> bool:
    """Return whether an output gives exactly this name: 아파트, 아파트입니다, 가장 많은 유형은 아파트입니다."""
    text = final_text(output)
    sentence = [line for line in re.split(r"\n|(?<=다)\.\s", text) if line.strip()][-1:] or [""]
    given, wanted = _ENDING.sub("", folded(sentence[0])), folded(gold)
    if given == wanted:
        return True
    before = given.removesuffix(wanted)
    return before != given and before[-1] in "은는" and not re.search(r"[,/]|또는|혹은", sentence[0])


def reading_of(gold: str) -> Reading | None:
    """Return the reading that a gold answer such as `347건 (±12건)` describes, or None for other answers."""
    found = _TOLERANCE.fullmatch(gold)
    return Reading(quantities(found[1])[0], quantities(found[2])[0]) if found else None


def matches_reading(question: str, reading: Reading, output: str) -> bool:
    """Return whether all quantities that an output asserts are within the tolerance. There must be one or two."""
    value, margin = reading
    asserted = asserted_quantities(final_text(output), question, quantities(question), [value])
    near = [
        abs(Decimal(one.value) - value.value) <= margin.value and Quantity(value.value, one.unit).agrees(value)
        for one in asserted
    ]
    return 1 <= len(near) <= 2 and all(near)
