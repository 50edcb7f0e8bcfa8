"""`python -m scripts.make_scoring_table`: print the scores of typical and degenerate answers, and write docs/scoring-table.md.

Each output is scored as `python -m evaluator score` scores it.
"""

import sys
from typing import Any, NamedTuple

from evaluator.benchmarks import BENCHMARKS
from evaluator.core.data_types import Answer
from submissions.config.paths import ROOT

DOC = ROOT / "docs/scoring-table.md"
MARKS = "<!-- made by scripts.make_scoring_table -->\n", "<!-- end of the table -->\n"


class Family(NamedTuple):
    """Outputs for one question, and the columns (benchmark, metric) in which they are scored."""

    title: str
    item: dict[str, Any]
    columns: tuple[tuple[str, str], ...]
    outputs: tuple[tuple[str, str], ...]  # description, text


FAMILIES = (
    Family(
        "Quantities, gold `603천 명`, asked for the difference of two rows in 2020",
        {"question": "2020년 음식점과 숙박의 차이는 얼마입니까?", "answer": "603천 명"},
        (("ko-vqa", "em"), ("ko-vqa", "em_strict"), ("ko-vqa", "f1"), ("ko-fresh", "em"), ("ko-fresh", "f1")),
        (
            ("short", "603천 명"),
            ("sentence", "차이는 603천 명입니다."),
            ("no space before the unit", "603천명"),
            ("other spelling", "60만 3천 명"),
            ("all digits", "603,000명"),
            ("unit in brackets", "603(천 명)"),
            ("working, then a marker", "음식점은 1,000천 명, 숙박은 397천 명. 따라서 정답은 603천 명입니다"),
            ("bold marker", "음식점 1,000천 명, 숙박 397천 명\n\n**정답: 603천 명**"),
            ("bold value", "1,000천 명에서 397천 명을 빼면 됩니다. 결과는 **603천 명**으로 계산됩니다."),
            ("sum shown", "1,000 - 397 = 603천 명"),
            ("boxed", r"\(1000 - 397 = 603\), \boxed{603천 명}"),
            ("year as a label", "2020년 (603천 명)"),
            ("ordinal as a label", "1호선, 603천 명"),
            ("explained afterwards", "정답: 603천 명\n\n음식점은 1,000천 명, 숙박은 397천 명입니다."),
            ("wrong unit", "603천 건"),
            ("multiplier missing", "603명"),
            ("operand given", "1,000천 명입니다."),
            ("hedge", "603천 명 또는 505천 명입니다."),
            ("two answers", "정답: 603천 명\n정답: 505천 명"),
            ("denied", "603천 명이 아닙니다."),
            ("blind list", "100천 명, 200천 명, 397천 명, 603천 명"),
            ("page dump", "음식점 1,000천 명\n숙박 397천 명\n합계 1,397천 명\n차이 603천 명"),
            ("echo of the question", "2020년 음식점과 숙박의 차이는 얼마입니까?"),
            ("empty", ""),
        ),
    ),
    Family(
        "Letters, gold `B`",
        {"answer": "B"},
        (("ko-vdc", "em"), ("ko-vdc", "em_strict"), ("ko-fresh", "em")),
        (
            ("short", "B"),
            ("with its description", "B. 2020년에는 오리가 닭보다 많았다."),
            ("sentence", "정답은 B입니다."),
            ("in brackets", "(B)"),
            ("reasons, then the letter", "A는 값이 다르고 C는 연도가 다릅니다. 따라서 정답은 B입니다."),
            ("denied, then another", "답은 A가 아니라 B입니다."),
            ("hedge", "B 또는 C"),
            ("hedge of all", "B 또는 A 또는 C 또는 D"),
            ("list of all", "B, A, C, D"),
            ("choices repeated", "A. 가\nB. 나\nC. 다\nD. 라"),
            ("empty", ""),
        ),
    ),
    Family(
        "Text in a chart, gold `Japan` (type 60)",
        {"question": "Which country has the highest share?", "answer": "Japan", "question_type_id": 60},
        (("infochartqa", "em"), ("infochartqa", "em_strict"), ("infochartqa", "f1")),
        (
            ("short", "japan"),
            ("sentence", "The country with the highest share is Japan."),
            ("working shown", "China has 20 and Japan has 30.\n\nTherefore, the answer is Japan."),
            ("bold", "Comparing the bars, **Japan** is the longest, ahead of China."),
            ("hedge", "China or Japan"),
            ("two answers", "China and Japan"),
            ("label dump", "China, Japan, Korea, Brazil, 2020, 27.3"),
            ("dump, one a line", "China\nKorea\nBrazil\nJapan"),
            ("echo of the question", "Which country has the highest share?"),
            ("empty", ""),
        ),
    ),
    Family(
        "Span of a page, gold `서울특별시`",
        {"answer": "서울특별시"},
        (("korquad-2", "em"), ("korquad-2", "f1")),
        (
            ("short", "서울특별시"),
            ("marks and spaces", "《서울 특별시》"),
            ("sentence", "정답은 서울특별시입니다."),
            ("page dump", "부산광역시 대구광역시 인천광역시 서울특별시 광주광역시"),
            ("empty", ""),
        ),
    ),
    Family(
        "Text of a page, gold `첫째 줄 둘째 줄`",
        {"answer": "첫째 줄 둘째 줄"},
        (("ko-ocrag", "em"), ("ko-ocrag", "wer"), ("ko-ocrag", "cer"), ("ko-ocrag", "f1")),
        (
            ("all", "첫째 줄 둘째 줄"),
            ("half", "첫째 줄"),
            ("twice", "첫째 줄 둘째 줄 첫째 줄 둘째 줄"),
            ("other text", "관계 없는 글입니다"),
            ("empty", ""),
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
        titles = [f"{BENCHMARKS[name].card.title} `{metric}`" for name, metric in family.columns]
        lines += [f"**{family.title}**", "", f"| answer | output | {' | '.join(titles)} |"]
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
