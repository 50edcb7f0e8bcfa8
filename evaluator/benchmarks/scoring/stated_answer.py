"""Find the part of an output that states the answer: without wrappers, sources, explanations and what it takes back.

`"<answer>**603**천 명</answer>\\n출처: 통계청"` → `"**603**천 명"`. Every strict rule reads an output through `stated_answer` first,
so that the same wording means the same in all benchmarks. What the stated answer says (a letter, a name, a value, a list) is
up to the rules.
"""

import json
import re
from functools import lru_cache

from evaluator.benchmarks.scoring.number_words import ASCII_FORMS
from evaluator.benchmarks.scoring.thinking import after_thinking

MAX_RUN = 200  # characters at each end of a run of white space and punctuation that are kept
_LONG_RUN = re.compile(rf"\W{{{2 * MAX_RUN},}}")
MAX_JSON = 20_000  # characters; a longer output is not read as JSON
ANSWER_KEYS = ("answer", "final_answer", "정답", "답", "답변", "최종답", "최종 답", "result", "value")

# Words with which an output offers alternatives. Other verbose patterns contain this one.
EITHER = re.compile(
    r"""
    (?<![A-Za-z])or(?![A-Za-z]) | either      # 5 or 6
    | 또는 | 혹은 | 아니면 | 이거나           # 5건 또는 6건
    | 둘\s?중\s?하나                          # 둘 중 하나입니다
    """,
    re.IGNORECASE | re.VERBOSE,
)

# A question and its answer, in group 1, of an output that goes on with more: "Q: …\nA: 42\nQ: …".
_QUESTION_AND_ANSWER = re.compile(
    r"""
    \s*(?: Q | Question | 질문 )\s?[:.][^\n]*\n+      # Q: …
    \s*(?: A | Answer | 답변? )\s?[:.]\s*(.+?)        # A: 42
    (?= \n+\s*(?: Q | Question | 질문 )\s?[:.] | \Z )
    """,
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
# Wrappers.
_END_TOKEN = re.compile(r"<\|[^|<>\n]{1,40}\|>|</s>|<(?:eos|end_of_turn|start_of_turn)>")  # <|im_end|>, </s>
_ANSWER_TAG = re.compile(  # <answer>603천 명</answer>
    r"<(answer|final_answer|final|result|정답|답)>\s{0,9}(.{0,2000}?)\s{0,9}</\1>", re.IGNORECASE | re.DOTALL
)
_BREAK = re.compile(r"<br\s*/?>|</(?:p|div|tr|li|h[1-6]|table|ul|ol)>", re.IGNORECASE)  # <br>, </p>
_CELL_END = re.compile(r"</t[dh]>(?=\s*<t[dh])", re.IGNORECASE)  # </td><td>, but not </td></tr>
_BOLD_TAG = re.compile(r"</?(?:b|strong)>", re.IGNORECASE)  # <b>
_TAG = re.compile(
    r"""
    </?
    (?: answer | final_answer | final | result | output | response        # <answer>, </output>
      | html | body | p | div | span | center | h[1-6]                    # <div class="answer">
      | table | thead | tbody | tr | th | td | ul | ol | li               # <td>
      | i | em | u | s | mark | small | code | pre | font                 # <em>
    )
    (?:\s[^<>]{0,200})?/?>
    """,
    re.IGNORECASE | re.VERBOSE,
)
_FENCE = re.compile(r"^[ \t]*```[\w-]*[ \t]*$\n?", re.MULTILINE)  # ```json
_HEADING = re.compile(r"^[ \t]*#{1,6}[ \t]+", re.MULTILINE)  # ## 답변
_QUOTE = re.compile(r"^[ \t]*(?:>[ \t]*)+(?=\S)", re.MULTILINE)  # > 603천 명
# Arrows of all kinds become →, and one at the start of a line is left out or read as 따라서.
_ARROW = re.compile(r"[=-]+>|[⟹➡➔➜⇒▶►☞👉]")  # =>, -->, ⇒
_ARROW_FIRST = re.compile(r"^[ \t]*(?:→[ \t]*)+", re.MULTILINE)  # → 603천 명
_MARKER_ARROW = re.compile(r"(정답|답변|답|answer)\s*→", re.IGNORECASE)  # 정답 → 603천 명

# A table before or after the answer shows where it comes from.
_TABLE_LINES = re.compile(r"(?:^[ \t]*\|[^\n]*\|[ \t]*(?:\n|\Z)){2,}", re.MULTILINE)  # two lines: | 음식점 | 603 |
# One pattern for both would take quadratic time on many starts without an end.
_TABLE_START = re.compile("<table", re.IGNORECASE)
_TABLE_END = re.compile("</table>", re.IGNORECASE)

# Sources.
_CITATION = re.compile(
    r"""
    (?<=\S)[ \t]?(?: (\[\^?\d{1,3}\])                 # 603천 명 [3], 603천 명[^1]
                   | 【[^【】\n]{1,40}】 )            # 603천 명【4†source】
    | (?<![A-Za-z㎜㎝㎞])[⁰¹²³⁴-⁹]+[⁾)]               # 603천 명¹⁾, but not km²)
    """,
    re.VERBOSE,
)
_SOURCE = re.compile(
    r"""
    [ \t]?[(\[][ \t]?                                                     # (출처: 통계청), [source: …]
      (?: (?:자료|데이터)?\s?출처 | 자료 | 참고 | 참조 | source | see | ref )
      \s*[:：=][^()\[\]\n]*[)\]]
    | [ \t]?[(\[][ \t]?                                                   # [그림 3], (<표 2> 참고), (p. 12)
      (?: <?표 | 그림 | 도표 | 쪽 | 페이지 | p\. | pp\. | page | table | figure | fig\. )
      \s?\d[^()\[\]\n]*[)\]]
    | (?: ^ | (?<=[.!?。])[ \t] )                                         # a line "출처: 통계청", or after a sentence
      [ \t]*+[\[(*_\-–※•]*+[ \t]*+
      (?: (?:자료|데이터)\s? )?(?: 출처 | source )\**\s*[:：][^\n]*$
    """,
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_FOOTNOTE = re.compile(r"^([ \t]*\[\^?\d{1,3}\][ \t]*:?[ \t]*)(\S[^\n]*)$", re.MULTILINE)  # [1]: 통계청

# Explanations.
_EXPLANATION = re.compile(
    r"""
    ^[ \t]*+[*_#\-•\[(【<]*+[ \t]*+(?:\d[.)][ \t]*+)?                      # **해설**: …, 2. 풀이 과정
    (?: 설명 | 해설 | 보충\ ?설명 | 추가\ ?설명                            # 설명: …
      | 근거 | 이유 | 판단\ ?근거                                          # 근거: …
      | 풀이 | 풀이\ ?과정 | 계산 | 계산\ ?과정                            # 풀이 과정: …
      | 참고 | 비고                                                        # 참고: …
      | explanation | reasoning | reason | rationale | justification       # Explanation: …
      | note | evidence | calculation | working | analysis                 # Note: …
    )
    [ \t]*[*_\])】>]*[ \t]*(?:[:：]|$)[^\n]*
    """,
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_WORKING = re.compile(r"(\d[^=\n]{0,200})=[^\d=\n]{0,3}(\d[\d,.]*)")  # 7,131 - 6,904 = 227
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
# The words of a heading of an answer, in verbose patterns.
_ANSWER_WORD = r"""
    (?: (?:최종[ \t]?)? (?: 정답 | 답변 | 답 | 결론 | 결과 )              # 최종 답변, 결과
      | (?:final[ ])? (?: answer | result ) | conclusion                  # Final answer
    )
"""
_ANSWER_LINE = re.compile(
    rf"""
    ^[ \t]*+[*_#\-•\[(【<]*+[ \t]*+{_ANSWER_WORD}                             # **최종 답변**: …
    [ \t]*[*_\])】>]*[ \t]*(?: [:：은는=] | is\b | $ )
    | ^[ \t]*
      (?: 따라서 | 그러므로 | 즉 | 결론적으로 | 결과적으로 | ∴             # 따라서 …
        | therefore | thus | hence )
      [,\s]
    """,
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_ANSWER_HEADING = re.compile(  # a line "**최종 답변:**" or "Answer"
    rf"^[ \t]*[*_]*{_ANSWER_WORD}[*_]*[ \t]*:?[*_]*[ \t]*$",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
# The part of a line up to a bracket that is the answer and not a citation: "정답: ", "**정답:** ", "답은 ", "The answer is ".
_BEFORE_ANSWER = re.compile(
    rf"""
    (?: [:：=→] | {_ANSWER_WORD} \s?(?:은|는)? | \b(?:is|are|was|were) )
    [\s*_"'“‘]*$
    """,
    re.IGNORECASE | re.VERBOSE,
)
_MARKER_REACH = 40  # characters before a bracket in which such a marker is looked for: longer than any of them
_WORD_AFTER = re.compile(r"[ \t]+\w")  # after a bracket, which is then not the answer: "정답: [1] 서울"
# Sentences that only announce what follows. A text that has nothing else is not an answer.
_PREAMBLE = re.compile(
    r"""
    (?: ^ | (?<=[.!?:]\s) ) [ \t]*
    (?:
        [^.!?:：\n]{0,200}? (?: 다음 | 아래 | 이 )(?:과|와)\s같                      # 풀이는 다음과 같습니다.
        (?:습니다|다|음|이[^.!?:：\n]{0,20}다)
        [.:：]*
      | [^.!?:：\n]{0,200}? (?: 겠습니다 | 봅시다 | 볼게요 | 보죠 | 드릴게요 | 할게요 )[.!:：]*     # 계산해 보겠습니다.
      | [^.!?:：\n]{0,200}? (?: 비교|계산|확인|분석|정리|참고|참조|이용|사용|파악 )      # 표의 값을 확인합니다.
        (?: 합니다 | 한다 | 했습니다 | 하면 | 해야\s?(?:합니다|한다) | 하면\s?됩니다 )
        [,.:：]*
      | [^.!?:：\n]{0,200}? (?: 구합니다 | 살펴봅니다 | 찾습니다 | 봅니다 | 구하면 | 보면 )[,.:：]*   # 표를 살펴봅니다.
      | [^\s.!?:：][^.!?:：\n]{0,200}[:：] (?=\s*$)                                    # 다음은 풀이입니다:
      | (?: first,?\s | so,?\s | okay,\s )?
        (?: let[ ]me | let's | let[ ]us | I(?:'ll|[ ]will) | we(?:[ ]need|[ ]can|'ll|[ ]will)   # Let me look.
          | to[ ](?:find|determine|calculate|answer|solve|get|compute)[ ]
          | here(?:[ ]is|[ ]are|'s) )\b
        [^.!?:：\n]{0,200} [.!:：]*
      | [^.!?:：\n]{0,200}? \bas[ ]follows [.:：]*                                # It is as follows.
      | (?: 네 | 예 | 물론(?:입니다|이죠) | 안녕하세요                           # 네.
          | sure | okay | ok | of[ ]course | certainly )
        (?: [,.!]+ | $ )
    )
    (?= \s | $ )
    """,
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)

# Corrections.
_CORRECTION = re.compile(
    r"""
    (?: (?<=[.!?。,…\n]) | (?<=[.!?。,…]\s) | (?<=—) | (?<=\)\s) )        # after a sentence, a dash or a bracket
    \s{0,3}
    (?:
        (?:아닙니다|아니(?:요|오|다|야)?) (?=[\s,.!…]) (?!\s?라)           # 아니요, but not 아니라
      | 아,\s?(?:아니|잠깐) | 잠깐 | 잠시만 | 정정(?:합|하|:|드)           # 아, 잠깐; 정정합니다
      | 다시[ ](?:보니|보면|확인|계산|살펴|읽어|세어)                      # 다시 보니
      | 잘못[ ](?:봤|보았|읽|계산|말)(?!하지\s않|지\s않)                  # 잘못 봤습니다
      | 수정(?:합|하겠) | 죄송 | 실수(?!\s?없)                            # 죄송합니다, but not 실수 없이
      | wait(?=\s?[,.!…—-]|\s(?:no|actually|that|it|let|I)\b)            # Wait, …; but not "Wait times"
      | actually\b | correction(?=\s?[:,.!—-]) | scratch[ ]that | sorry\b | my[ ]mistake
      | let[ ]me[ ](?:re|correct|check) | on[ ]second | oops | hmm\b | no,             # Let me recount.
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_AFFIRMS = re.compile(
    r"""
    맞(?: 습니다 | 네요 | 다 | 음 ) | 옳 | 틀림없               # 603천 명이 맞습니다
    | 확인(?: 됩니다 | 되었 | 했습니다 )                        # 603천 명으로 확인됩니다
    | 동일 | 같습니다 | 변함 | 일치                             # 결과는 같습니다
    | correct\b | right\b | confirm | the\ same                 # that is correct
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Words of correction that take the answer back, whatever follows.
_TAKES_BACK = re.compile(r"잘못|scratch|my mistake|oops", re.IGNORECASE)
# Follows a word of correction that corrects nothing: it comments on the answer, or says what else cannot be given.
_COMMENTS = re.compile(
    r"""
    \W*(?:that|which)\W
    | \W*(?:this|it)\s(?:is|was)\s(?:also\s|still\s|even\s|only\s)?the\s(?!answer|value|number)\w+   # this is the highest share
    | [^.!?\n]*(?:
        (?: 설명 | 정보 | 자료 | 답변 | 내용 | 근거 | 이유 | 데이터 | 오류 | 문제 | 이상 | 착오 )
        [^.!?\n]* (?: 없 | 어렵 | 않 | 못 )\S{0,8}? (?= [.!\n] | \s*$ )               # 설명은 드릴 수 없습니다
      | \b(?:cannot|can't|unable|no\s(?:more|other|further|errors?))\b )
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Follows a word of correction and replaces the answer without a value: a name, or that the answer is unknown or was wrong.
_NEW_STATEMENT = re.compile(
    r"""
    (?<![가-힣]) [가-힣A-Za-z·]+ (?: 입니다 | 이다 | 예요 | 이에요 )              # 오피스텔입니다
    | ^\W*[가-힣]{2,}\W*$                                                       # 오피스텔
    | \b(?:is|was|are|were|be)\s(?:the\s)?[A-Z] | ^\W*(?:the\s)?[A-Z][\w\s]{0,30}\W*$    # it is Japan
    | 알\s수\s없 | 모르 | 모릅 | 확인할\s수 | 불가 | unknown | (?:cannot|can't)\s(?:tell|determine|say|know)
    | 틀렸 | 틀린 | 잘못 | 오답 | 아닙 | 아니 | \b(?:wrong|incorrect|mistake|not)\b
    """,
    re.VERBOSE,
)
_DIGIT = re.compile(r"\d")
_HAS_VALUE = re.compile(  # what may be an answer
    r"""
    \d                                                          # 603
    | (?<![A-Za-z])[A-D](?![A-Za-z])                            # B
    | [일이삼사오육칠팔구십백천만억조]{2,}                      # 육백삼
    """,
    re.VERBOSE,
)


@lru_cache(maxsize=8)  # the rules of one item read the same output several times
def stated_answer(output: str) -> str:
    """Return the part of an output that states the answer, or the whole output if no part is left out.

    The order matters. What is around the whole output is removed first: end tokens, thinking, JSON, further questions. Tables
    are removed while they still have their tags, and `<answer>` is read before all tags are removed. Corrections are looked
    for in what is left, because an explanation that corrects itself takes nothing back. `_unless_empty` undoes a step that
    would leave no answer.
    """
    text = _END_TOKEN.sub("", _without_long_runs(after_thinking(output))).translate(ASCII_FORMS)
    if text.lstrip().startswith("<think>"):  # cut off before an answer
        return ""
    text = _first_reply(_in_json(text))
    without_tables = _without_tables(text)
    all_numbers_are_in_tables = _DIGIT.search(text) and not _DIGIT.search(without_tables)
    if not all_numbers_are_in_tables:  # if they are, the answer is in a table
        text = _unless_empty(without_tables, otherwise=text)
    text = _in_tags(text)
    text = _without_wrappers(text)
    text = _without_sources(text)
    text = _unless_empty(_without_explanations(text), otherwise=text)
    text = _unless_empty(_last_section(text), otherwise=text)
    return _after_correction(text).strip()


def _without_long_runs(text: str) -> str:
    """Return a text in which runs of white space and punctuation are cut to 2 × MAX_RUN characters.

    No answer needs such a run, and many patterns of the rules take quadratic time on it. An answer may have 50,000 characters.
    """
    return _LONG_RUN.sub(lambda run: run[0][:MAX_RUN] + run[0][-MAX_RUN:], text)


def _unless_empty(after: str, *, otherwise: str) -> str:
    """Return a text after something was removed, or `otherwise`, the text before, if that was the whole answer.

    Headings such as `정답:` and sentences such as "다음과 같습니다." are not an answer. Any other word may be a name.
    """
    rest = _PREAMBLE.sub("", _ANSWER_HEADING.sub("", after))
    return after if re.search(r"\w", rest) else otherwise


def _in_json(text: str) -> str:
    """Return the answer of an output that is a JSON object with one, else the output.

    `{"answer": "603천 명", "unit": "명"}` → `603천 명`. Of an object with several keys and no answer, all keys and values are
    returned as lines.
    """
    inside = _FENCE.sub("", text).strip()
    if not inside.startswith("{") or len(inside) > MAX_JSON:
        return text
    try:
        content = json.loads(inside)
    except (ValueError, RecursionError):
        return text
    answers = [content[key] for key in content if str(key).casefold() in ANSWER_KEYS]
    if not answers and len(content) > 1 and all(isinstance(value, str | int | float) for value in content.values()):
        return "\n".join(f"{key}: {value}" for key, value in content.items())
    if len(answers) != 1 or not isinstance(answers[0], str | int | float | list):
        return text
    return ", ".join(map(str, answers[0])) if isinstance(answers[0], list) else str(answers[0])


def _first_reply(text: str) -> str:
    """Return the answer to the first question of an output that repeats questions and answers as `Q:` and `A:`."""
    found = _QUESTION_AND_ANSWER.match(text)
    return found[1] if found else text


def _in_tags(text: str) -> str:
    """Return what an output has in tags such as `<answer>`. Different answers in several tags are alternatives."""
    answers = dict.fromkeys(match[2] for match in _ANSWER_TAG.finditer(text) if re.search(r"\w", match[2]))
    return " 또는 ".join(answers) if answers else text


def _without_tables(text: str) -> str:
    """Return a text without tables in HTML and in Markdown."""
    parts = []
    position = 0  # behind the last table
    while (start := _TABLE_START.search(text, position)) and (end := _TABLE_END.search(text, start.end())):
        parts.append(text[position : start.start()])
        position = end.end()
    text = "\n".join([*parts, text[position:]])
    return _TABLE_LINES.sub("\n", text)


def _without_sources(text: str) -> str:
    """Return a text without footnotes, marks of citations and names of sources."""
    # A line such as "[1] 서울" may be the only answer. Then it stays, without its mark.
    without_marks = _FOOTNOTE.sub(r"\2", text)
    without_footnotes = _FOOTNOTE.sub("", text)
    text = _unless_empty(without_footnotes, otherwise=without_marks)
    text = _unless_empty(_CITATION.sub(_without_citation, text), otherwise=text)
    return _unless_empty(_SOURCE.sub("", text), otherwise=text)


def _without_citation(match: re.Match[str]) -> str:
    """Return nothing for a citation, or a number in brackets that is the answer of its line: 정답: [227]."""
    text = match.string
    line_start = text.rfind("\n", 0, match.start()) + 1
    start = max(line_start, match.start() - _MARKER_REACH)
    is_answer = match[1] and _BEFORE_ANSWER.search(text[start : match.start()])
    return match[0] if is_answer and not _WORD_AFTER.match(text, match.end()) else ""


def _without_wrappers(text: str) -> str:
    """Return a text without HTML tags, fences, headings, quotes and arrows around the answer. Bold tags become `**`."""
    if "<" in text:
        text = _without_html(text)
    text = _FENCE.sub("", text)
    text = _HEADING.sub("", text)
    text = _QUOTE.sub("", text)
    text = _ARROW.sub("→", text)
    text = _MARKER_ARROW.sub(r"\1:", text)
    arrows = list(_ARROW_FIRST.finditer(text))
    if len(arrows) == 1 and re.search(r"\w", text[: arrows[0].start()]):  # a conclusion from the lines above it
        return _ARROW_FIRST.sub("따라서 ", text)
    return _ARROW_FIRST.sub("", text)


def _without_html(text: str) -> str:
    """Return a text with its tags written as line breaks, `|` between cells and `**`, or left out."""
    text = _BREAK.sub("\n", text)
    text = _CELL_END.sub(" | ", text)
    text = _BOLD_TAG.sub("**", text)
    return _TAG.sub("", text)


def _without_explanations(text: str) -> str:
    """Return a text without the parts under a heading such as `설명:`, up to the next heading of an answer.

    A part that no such heading follows is kept if it computes the answer from what is before it.
    """
    parts = []
    position = 0  # behind the last explanation
    while explanation := _EXPLANATION.search(text, position):
        parts.append(text[position : explanation.start()])
        following = _ANSWER_LINE.search(text, explanation.end())
        if following is None and _computes_from("".join(parts), text[explanation.start() :]):
            return "".join([*parts, text[explanation.start() :]])
        position = following.start() if following else len(text)
    return "".join([*parts, text[position:]])


def _computes_from(before: str, working: str) -> bool:
    """Return whether a working has an equation whose operands are all in the text before it, and whose result is not.

    After "2018년은 6,904건, 2019년은 7,131건입니다.", "계산: 7,131 - 6,904 = 227" has the answer.
    """
    known = set(_NUMBER.findall(before))
    equations = _WORKING.findall(working) if known else []
    return any(set(_NUMBER.findall(left)) <= known and result.rstrip(".,") not in known for left, result in equations)


def _last_section(text: str) -> str:
    """Return what follows the last line that is nothing but a heading such as `Answer`, or the whole text."""
    headings = list(_ANSWER_HEADING.finditer(text))
    return text[headings[-1].end() :] if headings else text


def _after_correction(text: str) -> str:
    """Return what an output says after it has corrected itself, or the whole output if it only seems to do so.

    "603천 명입니다. 아니, 605천 명입니다." → ", 605천 명입니다."; "603천 명. 다시 보니 맞습니다." is unchanged.

    Of several corrections, the last one that replaces the answer counts, and all that follows it is returned. What a
    correction says ends where the next one begins.
    """
    first = _HAS_VALUE.search(text)
    if first is None:
        return text
    end = len(text)  # of what the correction says
    for correction in reversed(list(_CORRECTION.finditer(text, first.end()))):
        if _replaces_answer(text[correction.end() : end], correction[0]):
            return _unless_empty(text[correction.end() :], otherwise=text)
        end = correction.start()
    return text


def _replaces_answer(after: str, word: str) -> bool:
    """Return whether what is said after a word of correction is another answer, or only takes the one before it back.

    It is not another answer if it affirms the first one, comments on it ("Actually, this is the highest share.") or says
    what cannot be given ("죄송합니다, 더 자세한 설명은 드릴 수 없습니다.").
    """
    if _TAKES_BACK.search(word):
        return True
    _first_sentence, *others = re.split(r"(?<=[.!?])\s|\n", after.strip(), maxsplit=1)
    if _COMMENTS.match(after) and not any(map(_HAS_VALUE.search, others)):
        return False
    if _HAS_VALUE.search(after):
        return True
    return not _AFFIRMS.search(after) and bool(_NEW_STATEMENT.search(after.strip()))
