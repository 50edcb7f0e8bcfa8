"""`python -m scripts.make_scoring_table`: print the scores of typical and degenerate answers, and write docs/scoring-table.md.

Each output is scored as `python -m evaluator score` scores it.
"""

import sys
from typing import Any, NamedTuple

from evaluator.benchmarks import BENCHMARKS
from evaluator.core.data_types import Answer
from submissions.config.paths import ROOT

DOC = ROOT / "docs/scoring-table.md"
TITLES = {"wer": "`wer` (1 − WER)", "cer": "`cer` (1 − CER)"}  # of metrics whose name alone would mislead
MARKS = "<!-- made by scripts.make_scoring_table -->\n", "<!-- end of the table -->\n"


class Family(NamedTuple):
    """Outputs for one question, and the columns (benchmark, metric) in which they are scored."""

    title: str
    item: dict[str, Any]
    columns: tuple[tuple[str, str], ...]
    outputs: tuple[tuple[str, str], ...]  # description, text


FAMILIES = (
    Family(
        "Quantities. Question: the difference of two rows in 2020; gold answer: `603천 명` (603 thousand people)",
        {"question": "2020년 음식점과 숙박의 차이는 얼마입니까?", "answer": "603천 명"},
        (("ko-vqa", "em"), ("ko-vqa", "em_strict"), ("ko-vqa", "f1"), ("ko-fresh", "em"), ("ko-fresh", "f1")),
        (
            ("only the answer", "603천 명"),
            ("a sentence with the answer", "차이는 603천 명입니다."),
            ("no space before the unit", "603천명"),
            ("the number in another spelling", "60만 3천 명"),
            ("the number in digits only", "603,000명"),
            ("unit in brackets", "603(천 명)"),
            (
                "calculation, then the answer after a marker (`정답은`)",
                "음식점은 1,000천 명, 숙박은 397천 명. 따라서 정답은 603천 명입니다",
            ),
            (
                "calculation, then a marker and the answer in bold",
                "음식점 1,000천 명, 숙박 397천 명\n\n**정답: 603천 명**",
            ),
            (
                "calculation, then the answer in bold without a marker",
                "1,000천 명에서 397천 명을 빼면 됩니다. 결과는 **603천 명**으로 계산됩니다.",
            ),
            ("calculation that ends in the answer", "1,000 - 397 = 603천 명"),
            ("calculation, then the answer in `\\boxed{}`", r"\(1000 - 397 = 603\), \boxed{603천 명}"),
            ("the year before the answer", "2020년 (603천 명)"),
            ("a name with a number before the answer", "1호선, 603천 명"),
            ("the answer, then an explanation", "정답: 603천 명\n\n음식점은 1,000천 명, 숙박은 397천 명입니다."),
            ("in a tag", "<answer>603천 명</answer>"),
            ("in JSON", '{"answer": "603천 명"}'),
            ("with a citation", "603천 명입니다.[1]"),
            ("in words", "육십만 삼천 명입니다."),
            ("an explanation under a heading", "**답변:** 603천 명\n\n**설명:** 1,000에서 397을 뺀 값입니다."),
            ("takes a wrong value back", "505천 명입니다. 다시 계산해 보니 603천 명입니다."),
            ("takes the right value back", "603천 명입니다. 아니요, 505천 명입니다."),
            ("wrong unit", "603천 건"),
            ("the unit without 천 (thousand)", "603명"),
            ("one of the two rows instead of their difference", "1,000천 명입니다."),
            ("the answer or another one", "603천 명 또는 505천 명입니다."),
            ("two answers", "정답: 603천 명\n정답: 505천 명"),
            ("says that this is not the answer", "603천 명이 아닙니다."),
            ("list of guesses, with the answer among them", "100천 명, 200천 명, 397천 명, 603천 명"),
            ("all figures of the page", "음식점 1,000천 명\n숙박 397천 명\n합계 1,397천 명\n차이 603천 명"),
            ("repeats the question", "2020년 음식점과 숙박의 차이는 얼마입니까?"),
            ("empty answer", ""),
        ),
    ),
    Family(
        "Letters of choices. Gold answer: `B`",
        {"answer": "B"},
        (("ko-vdc", "em"), ("ko-vdc", "em_strict"), ("ko-fresh", "em")),
        (
            ("only the answer", "B"),
            ("the letter and its description", "B. 2020년에는 오리가 닭보다 많았다."),
            ("a sentence with the answer", "정답은 B입니다."),
            ("the letter in brackets", "(B)"),
            ("reasons, then the letter", "A는 값이 다르고 C는 연도가 다릅니다. 따라서 정답은 B입니다."),
            ("denies one letter, then names the answer", "답은 A가 아니라 B입니다."),
            ("an article before the answer", "A close look at the chart shows that B is right."),
            ("labels of the chart before the answer", "A사보다 C사가 높으므로 B"),
            ("a sentence about the chart", "B사의 매출이 늘었습니다."),
            ("the answer or another letter", "B 또는 C"),
            ('all letters, joined by "or"', "B 또는 A 또는 C 또는 D"),
            ("list of all letters", "B, A, C, D"),
            ("repeats all choices with their descriptions", "A. 가\nB. 나\nC. 다\nD. 라"),
            ("empty answer", ""),
        ),
    ),
    Family(
        "Text in a chart. Question: which country has the highest share; gold answer: `Japan`; `question_type_id` 60 (compared as text)",
        {"question": "Which country has the highest share?", "answer": "Japan", "question_type_id": 60},
        (("infochartqa", "em"), ("infochartqa", "em_strict"), ("infochartqa", "f1")),
        (
            ("only the answer", "japan"),
            ("a sentence with the answer", "The country with the highest share is Japan."),
            ("reasons, then the answer", "China has 20 and Japan has 30.\n\nTherefore, the answer is Japan."),
            ("a sentence with the answer in bold", "Comparing the bars, **Japan** is the longest, ahead of China."),
            ("the answer in Korean", "일본입니다."),
            ("the answer, then a reason", "Japan. Its bar is the tallest."),
            ("the answer or another country", "China or Japan"),
            ("two answers", "China and Japan"),
            ("list of the chart's labels, in one line", "China, Japan, Korea, Brazil, 2020, 27.3"),
            ("list of the chart's labels, one a line", "China\nKorea\nBrazil\nJapan"),
            ("repeats the question", "Which country has the highest share?"),
            ("empty answer", ""),
        ),
    ),
    Family(
        "Passage of a page. Gold answer: `서울특별시`",
        {"answer": "서울특별시"},
        (("korquad-2", "em"), ("korquad-2", "f1")),
        (
            ("only the answer", "서울특별시"),
            ("the answer with punctuation and a space added", "《서울 특별시》"),
            ("a sentence with the answer", "정답은 서울특별시입니다."),
            (
                "list of names on the page, with the answer among them",
                "부산광역시 대구광역시 인천광역시 서울특별시 광주광역시",
            ),
            ("empty answer", ""),
        ),
    ),
    Family(
        "Transcript of a page. Gold answer: `첫째 줄 둘째 줄`",
        {"answer": "첫째 줄 둘째 줄"},
        (("ko-ocrag", "em"), ("ko-ocrag", "wer"), ("ko-ocrag", "cer"), ("ko-ocrag", "f1")),
        (
            ("the whole text", "첫째 줄 둘째 줄"),
            ("half of the text", "첫째 줄"),
            ("the text twice", "첫째 줄 둘째 줄 첫째 줄 둘째 줄"),
            ("unrelated text", "관계 없는 글입니다"),
            ("empty answer", ""),
        ),
    ),
)


def score(benchmark: str, metric: str, item: dict[str, Any], output: str) -> float:
    """Return the score of an output in percent."""
    bench = BENCHMARKS[benchmark]
    asked = bench.item_to_score({"id": "1", **item})
    scores = bench.score_flat([asked], [Answer("1", output, "ok" if output else "empty", 0.0)])
    # Metrics such as macro-F1 are defined on a set. Where possible, the score of the single output is used.
    return 100 * scores[0].values.get(metric, bench.aggregate(scores)[metric])


def table() -> str:
    """Return the tables as Markdown, with scores of one item in percent."""
    lines = []
    for family in FAMILIES:
        titles = [
            f"{BENCHMARKS[name].card.title} {TITLES.get(metric, f'`{metric}`')}" for name, metric in family.columns
        ]
        lines += [f"**{family.title}**", "", f"| kind of answer | the answer | {' | '.join(titles)} |"]
        lines += ["|---|---|" + "--:|" * len(titles)]
        for kind, output in family.outputs:
            shown = output.replace("\n", " ⏎ ").replace("|", "\\|") or " "
            values = [f"{score(*column, family.item, output):.0f}" for column in family.columns]
            lines.append(f"| {kind} | `{shown}` | {' | '.join(values)} |")
        lines.append("")
    return "\n".join(lines)


def main() -> int:
    head, _, rest = DOC.read_text(encoding="utf-8").partition(MARKS[0])
    _, _, tail = rest.partition(MARKS[1])
    made = table()
    DOC.write_text(f"{head}{MARKS[0]}\n{made}{MARKS[1]}{tail}", encoding="utf-8")
    print(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
