"""Read an answer that is a name and its value, such as 인천 24.5% to the question which region is the highest and how high.

`final_answer` splits such a gold answer with `name_beside_value`, requires the name with `gives_name`, and then compares the
value alone.
"""

import re

from evaluator.benchmarks.scoring.names import ROLE, ROLE_WORDS, places_in
from evaluator.benchmarks.scoring.notation import plain
from evaluator.benchmarks.scoring.quantities import quantities, scan
from evaluator.benchmarks.scoring.quantity_sets import has_any
from evaluator.benchmarks.scoring.sentence_values import RANGE_AFTER
from evaluator.benchmarks.scoring.superlatives import RANK
from evaluator.benchmarks.scoring.units import WORD_END

MAX_NAME_WORDS = 3  # of the name beside the value of a gold answer
LATIN_SENTENCE = re.compile(r"[^\n]+?(?:[.!?](?=\s|$)|\n|$)")  # ends at a line or a Latin mark, not at 。
# Asks for the one that is the most, the first or the only one, and for its value.
_ASKS_WHICH_AND_VALUE = re.compile(
    rf"""
    (?: 가장 | 제일 | 최[고대저소] | 번째 | (?<!\d)1{RANK}          # 가장 많은 지역과 그 값은
      | 처음 | 넘은 | 유일                                          # 처음으로 100건을 넘은 해와 그 값은
      | 더\s(?: 많 | 높 | 크 | 큰 | 적 | 낮 | 작 )                  # 더 많은 쪽은 어디이며 얼마인가요
    )
    .*
    (?: [가-힣](?:과|와)\s                                          # 지역과 그 값은
      | (?: 어디 | 무엇 | 누구 | 언제 | 어느\ [가-힣]+ )
        (?: 이며 | 이고 | 인지 | 인가, | , )                        # 어디이며 얼마인가요
    )
    """,
    re.VERBOSE,
)
_ASKS_TO_CHOOSE = re.compile(r"[과와]\s.*\s(?:중|가운데)(?:에서|에)?\s")  # 부가가치세와 소득세 중, 소득세 중에서
_NAME_UNITS = {"년", "세", "대", "월", "일", "호", "위", "등급", "단계"}  # of quantities that are names: 2021년, 60대
# Between the words of a name, which differ between texts: 농림·어업, 농림 및 어업.
_SEPARATOR = re.compile(r"[\s·,&]|및")
_ANY_SEPARATORS = rf"(?:{_SEPARATOR.pattern})*"
# Of 인천이며 [24.5%], 인천으로 [24.5%]. Not the 로 of 종로.
_NAME_ENDING = re.compile(r"(?:이며|이고|(?<=[가-힣]{2})으?로)$")
# Ends words before a value that begin a sentence and are not a name: 인천은 [24.5%], 총 [603명]. Not the 이 of 종이.
_BEGINS_SENTENCE = re.compile(r"(?:(?<=[가-힣]{2})(?:은|는|이|가|의)|총|약)$")
_DECADE = re.compile(r"([1-9])0(?:대|\s?[~∼–-]\s?\1?9세)")  # 60대, 60~69세


def gives_name(name: str, value: str, output: str) -> bool:
    """Return whether an output has a name in a sentence that has its value too, or in the sentence before that.

    For 인천 and 24.5%, "인천이 가장 높습니다. 24.5%입니다." → True; "24.5%입니다. 인천은 2위입니다." → False
    """
    sentences = [match[0] for match in LATIN_SENTENCE.finditer(plain(output))]
    values = quantities(value)
    with_value = [number for number, sentence in enumerate(sentences) if has_any(sentence, values)]
    return any(names_in(name, "".join(sentences[max(0, number - 1) : number + 1])) for number in with_value)


def names_in(name: str, output: str) -> bool:
    """Return whether an output has a name, perhaps in another form.

    A place has several forms (충청남도 for 충남), a decade of age may be given as a range (60~69세 for 60대), and the words
    of a name may have other separators (농림 및 어업 for 농림·어업).
    """
    if decade := _DECADE.fullmatch(name):
        with_tildes = re.sub(r"\s?[∼–-]\s?", "~", output)
        return re.search(rf"(?<!\d){decade[1]}0(?:대|~{decade[1]}?9세)", with_tildes) is not None
    places = places_in(name)
    if places and places <= places_in(output):
        return True
    words = [re.escape(word) for word in _SEPARATOR.split(name) if word]
    pattern = rf"""
        (?<![가-힣A-Za-z\d]) {_ANY_SEPARATORS.join(words)}
        (?: (?: 업 | \s?{ROLE_WORDS})? {WORD_END}     # 대학, 음식점업, 건설업 분야, but not 대학원
          # Or the name begins a word that is at least three syllables longer: 북한산국립공원 for 북한산. One syllable with an
          # ending is another word: 대학원입니다 is not 대학.
          | (?! [가-힣] (?: 입니 | 이[다며고었] | 였[다습] | 에서 | 으로 | 보다 ) ) [가-힣]{{3}}
        )
    """
    return re.search(pattern, output, re.VERBOSE) is not None


def name_beside_value(question: str, gold: str) -> tuple[str, str]:
    """Return the name and the value of a gold answer to a question that asks for both: 인천 24.5% → ("인천", "24.5%").

    The name is "" if there is none. The words before the value are not a name if
    - they have a number that counts something: 3개 지역 24.5%; but a number may be part of a name: 20~29세 369천 명,
    - the question has them already, so that it asks for the value only; but it may ask to choose between two,
    - they are more than MAX_NAME_WORDS, or a sentence begins with them: 인천은 24.5%입니다.
    """
    text = plain(gold)
    mentions = scan(text)
    if not mentions or not _ASKS_WHICH_AND_VALUE.search(question):
        return "", gold
    *in_name, last = mentions
    words_before = text[: last.start].strip(" ,:(")
    name = _without_role(question, _NAME_ENDING.sub("", words_before))
    # The numbers in the words before the value are parts of a name: 20~29세, 2021년.
    counts_nothing = all(
        mention.quantity.unit in _NAME_UNITS or RANGE_AFTER.match(text, mention.end) for mention in in_name
    )
    is_asked_for = name not in question or bool(_ASKS_TO_CHOOSE.search(question))
    is_short = 0 < len(name.split()) <= MAX_NAME_WORDS
    is_name = counts_nothing and is_asked_for and is_short and not _BEGINS_SENTENCE.search(name)
    return (name, text[last.start :]) if is_name else ("", gold)


def _without_role(question: str, name: str) -> str:
    """Return a name without the word for what it is, which an answer may leave out: 사회복지 of 사회복지 분야.

    That word is the last one if the question has it, or one of the usual ones.
    """
    first, _, last = name.rpartition(" ")
    shorter = first if first and last in question else ROLE.sub("", name).strip()
    return shorter if len(shorter) > 1 else name
