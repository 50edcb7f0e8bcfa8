"""The Korean test sets of the register of published numbers (`register.py`), and known faults of the sets and their scorers.

Add a set here before its scores are imported.
"""

from dataclasses import dataclass

from submissions.texts.text import Text

# Sources of several faults.
_KRETA = "https://github.com/tabtoyou/KRETA"
_KMMMU = "https://github.com/HAE-RAE/KMMMU"
_VISCUIT = "https://github.com/ddehun/k-viscuit"
_HAERAE = "https://github.com/HAE-RAE/HAERAE-VISION"
_KONET = "https://github.com/naver-ai/KoNET"


@dataclass(frozen=True)
class Fault:
    """A fault of a set or of its published scorer, with the address where it can be read."""

    what: Text
    source: str


@dataclass(frozen=True)
class PublishedSet:
    """A test set whose scores others publish."""

    title: str  # as in the column "benchmark" of the register
    about: Text
    # What the column "variant" has for scores on the whole set. Scores of other variants are on a part of it. If a source
    # does not state which part it used ("full set not stated"), its scores are taken to be on the whole set.
    whole: frozenset[str] = frozenset({""})
    faults: tuple[Fault, ...] = ()

    @property
    def slug(self) -> str:
        """The last part of the address of the set's page: "KDoc-OCRBench-V2" -> "kdoc-ocrbench-v2"."""
        return self.title.lower().replace(" ", "-").replace("'", "")


_SETS = (
    PublishedSet(
        "KMMMU",
        Text(
            "한국어 시험 문제 3,466개. 보기 선택과 단답형, LLM 심판",
            "3,466 Korean exam questions, choices and short answers, LLM judge",
        ),
        frozenset({"full set not stated", "test", "full set (3,466)"}),
        (
            Fault(
                Text(
                    "공개된 노트북은 이미지를 대화에 넣지만 vLLM에는 글만 넘깁니다. 그대로 실행하면 모델이 그림을 보지 못합니다.",
                    "The published notebook puts the pictures into the chat, but hands only the text to vLLM: run as it is, the model sees no picture.",
                ),
                _KMMMU,
            ),
            Fault(
                Text(
                    "그림이 파일이 아니라 링크로 들어 있어, 링크가 끊기면 문항이 달라집니다.",
                    "Pictures are links, not files. When a link breaks, the set changes.",
                ),
                _KMMMU,
            ),
        ),
    ),
    PublishedSet(
        "K-Viscuit",
        Text(
            "한국 문화 사진 237장에 관한 영어 4지선다 657개",
            "657 English four-choice questions on 237 pictures of Korean culture",
        ),
        frozenset({"all", "test, language of the questions not stated", "human study"}),
        (
            Fault(
                Text(
                    "새 토큰 3개 안에 글자 하나만 답해야 정답입니다. 먼저 추론하는 모델은 0점이 됩니다.",
                    "An answer must be one letter within 3 new tokens: a model that reasons first gets 0.",
                ),
                _VISCUIT,
            ),
            Fault(
                Text(
                    "GPT-4-Turbo로 문항을 만들었으므로 GPT-4-Turbo의 점수는 독립적이지 않습니다.",
                    "The questions were written with GPT-4-Turbo, so its own score is not independent.",
                ),
                "https://arxiv.org/abs/2406.16469",
            ),
        ),
    ),
    PublishedSet(
        "KRETA",
        Text(
            "글자가 있는 한국어 이미지에 관한 4지선다 2,577개",
            "2,577 four-choice questions on Korean pictures with text",
        ),
        frozenset({"", "all", "all, 2,577 rows"}),
        (
            Fault(
                Text(
                    "답에서 글자를 찾지 못하면 시드 없이 무작위로 찍습니다. 한 공개 실행에서 같은 모델이 24.41점과 78.77점을 받았습니다.",
                    "Where the scorer finds no letter, it guesses at random, without a seed. In a public run one model got 24.41, and 78.77 when repeated.",
                ),
                _KRETA,
            ),
            Fault(
                Text(
                    "두 프롬프트의 점수는 비교할 수 없습니다. 같은 모델이 direct에서 72.33점, default에서 81.65점이고, 저자들의 표는 어느 쪽인지 밝히지 않았습니다.",
                    "Scores with its two prompts cannot be compared: one model has 72.33 with direct and 81.65 with default, and the authors' table does not say which it used.",
                ),
                _KRETA,
            ),
        ),
    ),
    PublishedSet(
        "KOFFVQA",
        Text("자유롭게 서술하는 문항 275개, LLM 심판", "275 questions with free answers, LLM judge"),
        frozenset({""}),
        (
            Fault(
                Text(
                    "정해진 심판(Gemma 2 9B)은 논문이 비교한 셋 가운데 판정이 가장 들쭉날쭉합니다(0.398, GPT-4o 0.171, Gemini 2.0 Flash 0.127).",
                    "The prescribed judge, Gemma 2 9B, is the least consistent of the three that the paper compares (0.398; GPT-4o 0.171, Gemini 2.0 Flash 0.127).",
                ),
                "https://arxiv.org/abs/2503.23730",
            ),
            Fault(
                Text(
                    "언어 판별기가 한국어로 보지 않은 답은 0점입니다. 로마자가 섞인 짧은 한국어 답도 걸릴 수 있습니다.",
                    "An answer that a language detector does not call Korean gets 0, which can hit short Korean answers with Latin words.",
                ),
                "https://github.com/maum-ai/KOFFVQA",
            ),
        ),
    ),
    PublishedSet(
        "K-DTCBench",
        Text("문서·표·차트에 관한 4지선다 240개", "240 four-choice questions on documents, tables and charts"),
        frozenset({""}),
        (
            Fault(
                Text(
                    "GPT-4o가 논문에서는 85.8점, 평가 도구 관리자의 실행에서는 62.1점입니다.",
                    "GPT-4o has 85.8 in the paper and 62.1 in the run of a toolkit's maintainer.",
                ),
                "https://github.com/open-compass/VLMEvalKit/pull/1178",
            ),
        ),
    ),
    PublishedSet(
        "K-MMBench",
        Text("MMBench dev를 번역한 선다형 4,329개", "4,329 choice questions, translated from MMBench dev"),
        frozenset({"dev", "dev, 4,329 rows"}),
    ),
    PublishedSet(
        "KoNET",
        Text("검정고시와 수능 문제 2,377개", "2,377 questions of Korean national exams"),
        frozenset({"total", "2024", ""}),
        (
            Fault(
                Text(
                    "듣기 문항은 모두 정답으로 처리한다고 README에 적혀 있습니다.",
                    "Its README says that all listening questions are marked as correct.",
                ),
                _KONET,
            ),
            Fault(
                Text(
                    "논문의 주요 표에서는 모델에 문서의 OCR 텍스트도 함께 주었습니다.",
                    "In the paper's main table, models are given the OCR text of the page, too.",
                ),
                _KONET,
            ),
        ),
    ),
    PublishedSet(
        "HAERAE-Vision",
        Text(
            "실제 한국어 질문 653개. LLM 심판이 항목표로 채점",
            "653 real Korean questions, scored by an LLM judge with a checklist",
        ),
        frozenset({"original queries", ""}),
        (
            Fault(
                Text(
                    "코드의 기본값(512토큰, temperature 0.2)이 논문(4,096토큰, 0.6)과 다르고, 시스템 프롬프트는 모델을 수학 도우미라고 부릅니다.",
                    "The code's defaults (512 tokens, temperature 0.2) differ from the paper's (4,096 tokens, 0.6), and its system prompt calls the model a math assistant.",
                ),
                _HAERAE,
            ),
            Fault(
                Text(
                    "논문의 표 2는 Mistral Small 24B에 Pixtral 12B의 점수(11.20)를 적었습니다. 표 15에는 14.43입니다.",
                    "Table 2 of the paper gives Mistral Small 24B the value of Pixtral 12B (11.20); table 15 has 14.43.",
                ),
                "https://arxiv.org/abs/2601.06165",
            ),
        ),
    ),
    PublishedSet("K-MMStar", Text("MMStar의 번역", "A translation of MMStar"), frozenset({"", "val"})),
    PublishedSet(
        "K-SEED",
        Text("SEED-Bench 앞부분의 번역", "A translation of the first part of SEED-Bench"),
        frozenset({"", "test"}),
    ),
    PublishedSet(
        "K-LLaVA-W",
        Text(
            "서술형 문항 60개, LLM 심판. 100을 넘는 점수도 나옵니다.",
            "60 questions with free answers, LLM judge; scores above 100 occur",
        ),
    ),
    PublishedSet(
        "KDoc-OCRBench",
        Text("문서를 텍스트로 옮기는 단위 테스트", "Unit tests of transcriptions of documents"),
        frozenset({"Overall"}),
    ),
    PublishedSet(
        "KDoc-OCRBench-V2",
        Text("문서를 텍스트로 옮기는 단위 테스트, 2판", "Unit tests of transcriptions of documents, second edition"),
        frozenset({"Overall"}),
    ),
    PublishedSet(
        "KoViDoRe",
        Text("페이지 이미지 검색", "Retrieval of page images"),
        frozenset({"v1 average", "v2 average"}),
    ),
    PublishedSet("KOLongDoc", Text("긴 문서 질의응답", "Questions on long documents"), frozenset({"average"})),
    PublishedSet("KoBizDoc", Text("제작사의 비공개 세트", "A private set of a maker")),
    PublishedSet("OutdoorKorean", Text("제작사의 비공개 세트", "A private set of a maker")),
    PublishedSet("K-Handwriting", Text("제작사의 비공개 세트", "A private set of a maker")),
    PublishedSet(
        "Average of the maker's Korean image benchmarks",
        Text("제작사가 고른 세트들의 평균", "A mean over sets that the maker chose"),
    ),
)
SETS = {published_set.title: published_set for published_set in _SETS}
BY_SLUG = {published_set.slug: published_set for published_set in _SETS}
