"""KO-OCRAG: transcribe a Korean document page, with a description in place of each picture.

source: Marker-Inc-Korea/KO-VLM-Benchmark (about 100 pages; prompt and rules are taken from there, which uses jiwer
3.0.0 and rouge-score 0.1.2). The published score is the average of four parts: 1 - WER and 1 - CER of the text over all
pages, and, over the pages with pictures, the ROUGE-1 recall and the embedding similarity of their descriptions. Its ROUGE-1
drops all Hangul, so our results are ranked by `average_strict`, whose ROUGE-1 counts Korean morphemes.

`answer` is the page's text. Additional columns: `dataset_type` and `images_described`, the descriptions of the page's
pictures, each as `[image] … [/image]`, or empty if it has none.

HANNUN_EMBEDDINGS sets the embedding server. Without one, only the other three parts are reported, without an average.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar

from evaluator.benchmarks.card import Axis, Card, constant_answer
from evaluator.benchmarks.columns import Columns
from evaluator.benchmarks.kinds.transcription import Transcription
from evaluator.benchmarks.metrics import EM, F1, IN_KOREAN, Metric, mean
from evaluator.benchmarks.rows import Row
from evaluator.benchmarks.scoring.korean_words import with_language
from evaluator.benchmarks.source_files import ImageFolder
from evaluator.benchmarks.source_rows import SourceRow
from evaluator.core.data_types import Answer, Item, Score
from submissions.texts.text import Text

T = TypeVar("T")
OPENING_TAG, CLOSING_TAG = "[image]", "[/image]"  # around the description of a picture
DESCRIPTIONS = "images_described"  # column of a row, and key in an item's extra
# The protocol's prompt, verbatim.
INSTRUCTION = """당신은 텍스트와 도식/도표에 대해서 Optical Character Recognition (OCR)을 수행하는 AI assistant 입니다. 
---
아래의 규칙을 준수하여 답변을 출력해야합니다:
1. 주어진 문서에 나타난 한국어 텍스트 문단과 도표(table)은 모두 반영하고, 이미지/도식 중 중요하지 않은 내용은 반영하지 않습니다.
2. 문서에 나타난 텍스트는 그대로 적고, 도표(table)는 markdown 형식으로 작성하세요.
3. 이미지/도식에 대해서는 적절한 설명문으로 대체하여 작성하세요.
4. 이미지/도식에 대한 설명문은 시작과 끝이 [image], [/image]라는 Tag로 반드시 묶여있어야 합니다.
5. 임의의 문서에 대한 텍스트, 이미지/도식, 도표(table)에 대한 예시입니다. 아래의 예시를 보고 작성 양식을 참고하세요:
A회사 로고 | 인구수 조사

2025년 크리스마스 국내 여행지 인구수 조사

[image] 서울 한복판에 있는 거대한 크리스마스 트리와 앞에 놓여진 여러 선물 장식들 [/image]

이번 2025년 크리스마스에 사람들이 서울을 비롯한 다양한 지역에 몰리는 현상이 발생하였다.
특히나 서울에 2030 청년들이 집중적으로 몰렸으며, 포항에는 노년층들이 여유를 즐기는 모습이 관찰되었다.

[image] 대한민국 지도 위에 각 지역별의 크기를 인구모양으로 나타낸 그림 및 도식 [/image]

지역별 인구수 표
(단위: 십만)
| 지역 | 인구수 | 혼잡정도 |
| 서울 | 300 | 심함 |
| 경기 | 100 | 약간심함 |
| 대전 | 54 | 보통 |
| 포항 | 3 | 여유 |
---

OCR 결과:
"""  # noqa: W291
_SPACES = re.compile(r"\s\s+")  # jiwer's RemoveMultipleSpaces, which keeps a single newline
MAX_WORD_LENGTH = 100  # characters; stemming and morphemes of longer words take too long
# The first MAX_WORD_LENGTH characters of a longer word.
_OVERLONG_WORD = re.compile(rf"(\S{{{MAX_WORD_LENGTH}}})(?=\S)")
_ASCII_WORD = re.compile(r"[a-z0-9]+")  # rouge-score's tokenizer drops every other character
MIN_STEMMED = 4  # characters of a word that rouge-score reduces to its stem
# Kiwi's tags of punctuation: marks at the end of a sentence, commas, brackets and quotes, ellipses, dashes, other symbols.
_PUNCTUATION_TAGS = ("SF", "SP", "SS", "SE", "SO", "SW")

DOCUMENT_TYPES = {
    "가로형 텍스트+그림/도식": Text("가로형 텍스트와 그림·도식", "Horizontal text with pictures or diagrams"),
    "세로형 텍스트+그림/도식": Text("세로형 텍스트와 그림·도식", "Vertical text with pictures or diagrams"),
    "그림/도식": Text("그림·도식", "Pictures or diagrams"),
    "신문 + 그림": Text("신문과 그림", "Newspaper with pictures"),
    "텍스트": Text("텍스트", "Text only"),
}


# average → the metrics that it is the mean of
PARTS = {
    "average": ("wer", "cer", "embedding", "rouge1"),
    "average_strict": ("wer", "cer", "embedding", "rouge1_strict"),
}


def average(scores: Sequence[Score], name: str) -> float | None:
    """Return the mean of the four parts of the average with this name, or None if one of them is missing."""
    parts = [mean(scores, part) for part in PARTS[name]]
    known = [part for part in parts if part is not None]
    return sum(known) / len(parts) if len(known) == len(parts) else None


class KoOCRAG(Transcription):
    name, version = "ko-ocrag", "2"
    prompt = INSTRUCTION
    min_context = 8192
    max_new_tokens = 4096
    answer_tokens = 400
    metrics = (
        Metric("average", Text("평균", "Average"), average),
        Metric(
            "average_strict",
            Text("엄격 평균", "Strict average"),
            average,
            hint=Text(
                "ROUGE-1 대신 엄격 ROUGE-1을 넣은 네 지표의 평균입니다. 순위는 이 값으로 매깁니다.",
                "Average of the four metrics with strict ROUGE-1 in place of ROUGE-1. This is the ranking metric.",
            ),
            on_hub=False,
        ),
        Metric(
            "wer",
            Text("1−WER", "1−WER"),
            hint=Text(
                "단어 오류율(WER)을 1에서 뺀 값입니다. 높을수록 단어를 정확히 옮겼다는 뜻입니다.",
                "1 minus the word error rate (WER). Higher means that words were transcribed more accurately.",
            ),
        ),
        Metric(
            "cer",
            Text("1−CER", "1−CER"),
            hint=Text(
                "글자 오류율(CER)을 1에서 뺀 값입니다. 높을수록 글자를 정확히 옮겼다는 뜻입니다.",
                "1 minus the character error rate (CER). Higher means that characters were transcribed more accurately.",
            ),
        ),
        Metric(
            "embedding",
            Text("임베딩 유사도", "Embedding similarity"),
            hint=Text(
                "그림 설명문이 정답 설명문과 뜻이 얼마나 비슷한지 임베딩으로 잰 값입니다.",
                "How close in meaning the picture descriptions are to the reference descriptions, measured with embeddings.",
            ),
            on_hub=False,
        ),
        Metric(
            "rouge1",
            Text("ROUGE-1", "ROUGE-1"),
            hint=Text(
                "정답 설명문의 단어 가운데 모델의 설명문에 나온 단어의 비율입니다. 공식 규칙은 영문자와 숫자만 셉니다.",
                "Share of the words of the reference descriptions that appear in the model's. The official rule counts Latin letters and digits only.",
            ),
            column=False,
        ),
        Metric(
            "rouge1_strict",
            Text("엄격 ROUGE-1", "Strict ROUGE-1"),
            hint=Text(
                "한국어 형태소까지 세도록 고친 ROUGE-1입니다.", "ROUGE-1 corrected to count Korean morphemes too."
            ),
            on_hub=False,
        ),
        replace(
            IN_KOREAN,
            hint=Text(
                "그림 설명문 가운데 한국어로 쓴 것의 비율입니다. 이름, 숫자, 단위는 따지지 않습니다.",
                "Share of the picture descriptions that are in Korean. Names, numbers and units may be in any script.",
            ),
            column=False,
        ),
        replace(EM, column=False, on_hub=False),  # of a whole page
        replace(F1, column=False, on_hub=False),
    )
    source_tables = (".xlsx", ".csv")
    columns = Columns(id="image", answer="TEXT_OCR", image="image", axes={"dataset_type": "Dataset_type"})
    card = Card(
        title="KO-OCRAG",
        split="test",
        n=100,
        axes=(Axis("dataset_type", Text("문서 유형", "Document type"), DOCUMENT_TYPES),),
        summary=Text(
            "한국어 문서 한 페이지를 텍스트로 옮기고(OCR), 그림은 설명문으로 바꿉니다. 점수는 네 지표(1−WER, 1−CER, 임베딩 유사도, ROUGE-1)의 평균입니다.",
            "Transcribe a page of a Korean document (OCR), with a description in place of each picture. The score is the average of four metrics: 1−WER, 1−CER, embedding similarity and ROUGE-1.",
        ),
        source_url="https://github.com/Marker-Inc-Korea/KO-VLM-Benchmark",
        data_terms=Text(
            "제작사가 저작권과 데이터 유출을 이유로 일부 문항만 공개했습니다.",
            "Its makers have released only some of the items, because of copyright and to prevent data leakage.",
        ),
        access=Text(
            "제작·보유: Marker-Inc-Korea(MarkrAI). 제작사의 모델(Gukbap-Ovis2-16B)이 같은 표에 있습니다. 공개된 일부 문항은 누구나 학습에 썼을 수 있습니다.",
            "Made and held by Marker-Inc-Korea (MarkrAI), whose own model (Gukbap-Ovis2-16B) is in the same table. Anyone may have trained on the public items.",
        ),
        skills={"transcription": (None,)},
        baselines=(constant_answer(0.0),),
        hub_task="ko_ocrag",
        headline="average_strict",
        reported_headline="average",
        ranking_note=Text(
            "직접 평가한 결과는 엄격 평균으로 순위를 매깁니다. 공식 ROUGE-1은 영문자와 숫자만 세므로, 0부터 999까지의 수를 나열한 설명문도 정답 설명문만큼의 점수를 받습니다. 제작사 발표 점수에는 공식 평균만 있으므로 그것으로 따로 순위를 매깁니다.",
            "Verified results are ranked by the strict average. The official ROUGE-1 counts Latin letters and digits only, so a description that lists the numbers from 0 to 999 scores as high as the reference. Reported scores have only the official average and are ranked separately by it.",
        ),
    )

    def scoring_inputs(self, row: Row) -> dict[str, Any]:
        """Return the gold descriptions of `images_described`, which is missing or empty if there are no pictures."""
        return {DESCRIPTIONS: _gold_descriptions(row)}

    def convert_row(self, source: SourceRow, images: ImageFolder) -> Row:
        """Convert a published row, with its descriptions. Raises ValueError if they are in the text of the page."""
        row = super().convert_row(source, images)
        if OPENING_TAG in row["answer"]:
            raise ValueError("column 'TEXT_OCR' contains descriptions of pictures, not only the page's text")
        # The heading is misspelt in the published workbook.
        row[DESCRIPTIONS] = source.optional_text("IMAGE_DESRIPTION", "IMAGE_DESCRIPTION")
        return row

    def gold_output(self, item: Item) -> str:
        """Return the text of the page, with the gold descriptions after it."""
        return f"{item.answer}\n{item.extra[DESCRIPTIONS]}"

    def score_each(self, items: Sequence[Item], answers: Sequence[Sequence[Answer]]) -> list[Score]:
        """Return the score of each item. The embedding similarity of all descriptions is computed at once."""
        scores = super().score_each(items, answers)
        similarities = _similarities(items, [item_answers[0].text for item_answers in answers])
        return [
            score if similarity is None else replace(score, values={**score.values, "embedding": similarity})
            for score, similarity in zip(scores, similarities, strict=True)
        ]

    def score_text(self, item: Item, text: str) -> dict[str, float]:
        """Score a page. EM requires every word of the text in order; F1 counts shared words in any order."""
        page_text, descriptions = split_output(text)
        gold_descriptions = _descriptions_in(item.extra[DESCRIPTIONS])
        wer = word_accuracy(item.answer, page_text)
        cer = character_accuracy(item.answer, page_text)
        values = {"em": float(wer == 1.0), "f1": _word_f1(item.answer, page_text), "wer": wer, "cer": cer}
        if gold_descriptions:
            values["rouge1"] = mean_of_best(gold_descriptions, descriptions, _ascii_tokens, _recall)
            values["rouge1_strict"] = mean_of_best(gold_descriptions, descriptions, _korean_tokens, _recall)
        # The prompt stands for the question: it is what asks for descriptions, in Korean.
        return with_language(values, self.prompt, "\n".join(descriptions))


def _gold_descriptions(row: Row) -> str:
    """Return the gold descriptions of a row's pictures, empty if it has none. Raises ValueError if they are invalid."""
    described = row.get(DESCRIPTIONS)
    if described is None:
        return ""
    if not isinstance(described, str):
        raise ValueError(f"'{DESCRIPTIONS}' must be text")
    if described.strip() and not _descriptions_in(described):
        raise ValueError(f"'{DESCRIPTIONS}' contains no {OPENING_TAG} … {CLOSING_TAG}")
    return described


def split_output(text: str) -> tuple[str, list[str]]:
    """Return the text around the image descriptions, and the descriptions in order.

    "제목 [image]막대그래프[/image] 끝" -> ("제목\\n끝", ["막대그래프"])

    A description extends from `[image]` to the next `[/image]`. The remainder after the last description also counts
    as one if it starts with an unclosed `[image]`; an unclosed tag in its middle is text. The pieces of text are joined
    by newlines, including empty ones.
    """
    pieces: list[str] = []
    descriptions: list[str] = []
    position = 0
    while (start := text.find(OPENING_TAG, position)) >= 0 and (end := text.find(CLOSING_TAG, start)) >= 0:
        pieces.append(text[position:start].strip())
        descriptions.append(_without_tags(text[start:end]))
        position = end + len(CLOSING_TAG)
    rest = text[position:]
    if rest.startswith(OPENING_TAG):
        descriptions.append(_without_tags(rest))
    else:
        pieces.append(rest.strip())
    return "\n".join(pieces), descriptions


def _descriptions_in(text: str) -> list[str]:
    """Return the image descriptions in a text, in order."""
    _, descriptions = split_output(text)
    return descriptions


def word_accuracy(gold: str, text: str) -> float:
    """Return 1 - WER, at least 0. As in jiwer's default, words are split at spaces and not at a single newline."""
    return _accuracy(_words(gold), _words(text))


def character_accuracy(gold: str, text: str) -> float:
    """Return 1 - CER, at least 0. Runs of whitespace count as one space."""
    return _accuracy(_collapse_spaces(gold), _collapse_spaces(text))


def mean_of_best(
    gold: Sequence[str], given: Sequence[str], prepare: Callable[[str], T], similarity: Callable[[T, T], float]
) -> float:
    """Return the mean similarity of a model's descriptions, each to the gold description most similar to it.

    Several may be most similar to the same one: the protocol does not pair them. Missing descriptions count as 0, and those in
    excess of the number of gold ones are ignored.

    Args:
        gold: the gold descriptions, at least one
        given: the model's descriptions, in the order of its output
        prepare: called once for each description, with the text; returns what is compared
        similarity: from 0 to 1, called with what was prepared from a gold and a given description
    """
    golds = [prepare(description) for description in gold]
    total = 0.0
    for description in given[: len(gold)]:
        candidate = prepare(description)
        total += max(similarity(prepared_gold, candidate) for prepared_gold in golds)
    return total / len(gold)


def _accuracy(gold: Sequence[str], given: Sequence[str]) -> float:
    """Return 1 - edit distance / length of `gold`, at least 0, of two sequences of words or characters."""
    from rapidfuzz.distance import Levenshtein

    return max(0.0, 1.0 - Levenshtein.distance(gold, given) / max(len(gold), 1))


def _words(text: str) -> list[str]:
    return [word for word in _collapse_spaces(text).split(" ") if word]


def _word_f1(gold: str, text: str) -> float:
    """Return the F1 of the words of two texts, in any order. Unlike for WER, words are split at a newline too."""
    gold_words = Counter(gold.split())
    words = Counter(text.split())
    return 2 * (gold_words & words).total() / max(gold_words.total() + words.total(), 1)


def _collapse_spaces(text: str) -> str:
    return _SPACES.sub(" ", text).strip()


def _without_tags(piece: str) -> str:
    return piece.replace(OPENING_TAG, "").replace(CLOSING_TAG, "").strip()


def _recall(gold: Counter[str], given: Counter[str]) -> float:
    """Return the share of the gold tokens that the given tokens contain."""
    return (gold & given).total() / max(gold.total(), 1)


def _ascii_tokens(text: str) -> Counter[str]:
    """Return rouge-score's tokens: stems of runs of ASCII letters and digits.

    Hangul is dropped, so two equal Korean texts score 0.
    """
    stem = _porter_stem()
    tokens: Counter[str] = Counter()
    for word, count in Counter(_ASCII_WORD.findall(text.lower())).items():
        is_stemmed = MIN_STEMMED <= len(word) <= MAX_WORD_LENGTH
        tokens[stem(word) if is_stemmed else word] += count
    return tokens


def _korean_tokens(text: str) -> Counter[str]:
    """Return the morphemes that Kiwi (https://github.com/bab2min/kiwipiepy) finds, without punctuation."""
    # Kiwi takes seconds for a very long word, so such words are split.
    text = _OVERLONG_WORD.sub(r"\1 ", unicodedata.normalize("NFKC", text).lower())
    tokens = _kiwi().tokenize(text)
    return Counter(token.form for token in tokens if not token.tag.startswith(_PUNCTUATION_TAGS))


@cache
def _porter_stem() -> Callable[[str], str]:
    """Return the function that reduces an English word to its stem: "charts" -> "chart"."""
    from nltk.stem.porter import PorterStemmer

    stem: Callable[[str], str] = PorterStemmer().stem
    return stem


@cache
def _kiwi() -> Any:
    """Return the morphological analyser, which takes a second to load."""
    from kiwipiepy import Kiwi

    return Kiwi(num_workers=1)


def _similarities(items: Sequence[Item], texts: Sequence[str]) -> list[float | None]:
    """Return the embedding similarity of each page's descriptions, from 0 to 1.

    The similarity is None for a page without pictures, and for every page if no embedding server is set.
    """
    from evaluator.benchmarks.scoring.embeddings import embedder

    gold_by_page = [_descriptions_in(item.extra[DESCRIPTIONS]) for item in items]
    embed = embedder() if any(gold_by_page) else None
    if embed is None:
        return [None] * len(items)
    given_by_page = [_descriptions_in(text) for text in texts]
    to_embed: list[str] = []
    for gold, given in zip(gold_by_page, given_by_page, strict=True):
        to_embed += [*gold, *given[: len(gold)]]  # `mean_of_best` ignores further ones
    vectors = embed(to_embed)  # description → vector of length 1, or of zeros if the description is empty

    def similarity(gold: Sequence[str], given: Sequence[str]) -> float | None:
        if not gold:
            return None
        return mean_of_best(gold, given, vectors.__getitem__, lambda a, b: max(0.0, float(a @ b)))

    return list(map(similarity, gold_by_page, given_by_page))


BENCHMARK = KoOCRAG()
