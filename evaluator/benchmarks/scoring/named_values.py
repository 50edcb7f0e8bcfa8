"""Read an answer that is a name and its value, such as 인천 24.5% to the question which region is the highest and how high."""

import re

from evaluator.benchmarks.scoring.names import places_in
from evaluator.benchmarks.scoring.quantities import plain, quantities, scan
from evaluator.benchmarks.scoring.quantity_sets import has_any
from evaluator.benchmarks.scoring.sentence_values import RANGE_AFTER

MAX_NAME_WORDS = 3  # of the name beside the value of a gold answer
LATIN_SENTENCE = re.compile(r"[^\n]+?(?:[.!?](?=\s|$)|\n|$)")  # ends at a Latin mark, not at 。
# Asks for the one that is the most, the first or the only one, and for its value.
_ASKS_WHICH_AND_VALUE = re.compile(
    r"(?:가장|제일|최[고대저소]|번째|1위|처음|넘은|유일|더\s(?:많|높|크|큰|적|낮|작)).*(?:[가-힣](?:과|와)\s|(?:어디|무엇|누구|언제|어느 [가-힣]+)(?:이며|이고|인지|인가,|,))"
)
_ASKS_TO_CHOOSE = re.compile(r"[과와]\s.*\s중\s")  # 부가가치세와 소득세 중
_LABELS = {"년", "세", "대", "월", "일", "호", "위", "등급", "단계"}  # units of names: 2021년, 60대
_JOINT = r"(?:[\s·,&]|및)*"
_JOINTS = re.compile(r"[\s·,&]|및")
_IS_PHRASE = re.compile(r"(?:은|는|이|가|총|약|으로|로|의)$")


def gives_name(name: str, value: str, output: str) -> bool:
    """Return whether an output has a name in a sentence that has its value too, or in the sentence before that."""
    sentences = [match[0] for match in LATIN_SENTENCE.finditer(plain(output))]
    wanted = quantities(value)
    places = [place for place, sentence in enumerate(sentences) if has_any(sentence, wanted)]
    return any(names_in(name, "".join(sentences[max(0, place - 1) : place + 1])) for place in places)


def names_in(name: str, output: str) -> bool:
    """Return whether an output has a name, or the place that it is the name of in another form."""
    places = places_in(name)
    has_place = bool(places) and places <= places_in(output)
    if decade := re.fullmatch(r"(\d)0대", name):
        name = f"{name}|{decade[1]}0~{decade[1]}9세"
        return re.search(rf"(?<!\d)(?:{name})", re.sub(r"\s?[∼–-]\s?", "~", output)) is not None
    words = [re.escape(word) for word in _JOINTS.split(name) if word]
    return has_place or re.search(rf"(?<![가-힣A-Za-z\d]){_JOINT.join(words)}", output) is not None


def name_beside_value(question: str, gold: str) -> tuple[str, str]:
    """Return the name and the value of a gold answer such as `인천 24.5%` or `20~29세 369천 명` to a question that asks for both.

    The name is "" if there is none.
    """
    text = plain(gold)
    stated = scan(text)
    if not stated or not _ASKS_WHICH_AND_VALUE.search(question):
        return "", gold
    name = re.sub(r"(?:이며|이고)$", "", text[: stated[-1].start].strip(" ,:("))
    labels = all(one.quantity.unit in _LABELS or RANGE_AFTER.match(text, one.end) for one in stated[:-1])
    is_chosen = name not in question or bool(_ASKS_TO_CHOOSE.search(question))
    is_short = 0 < len(name.split()) <= MAX_NAME_WORDS
    is_name = labels and is_short and is_chosen and not _IS_PHRASE.search(name)
    return (name, text[stated[-1].start :]) if is_name else ("", gold)
