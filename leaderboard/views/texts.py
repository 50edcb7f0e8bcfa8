"""The texts that several pages share, in Korean and English, and access to all texts by key.

Texts of one page are in the files beside this one, such as `submission_texts.py`. Templates write `t("key")`, Python code
`text("key", language)`. A key that ends in `_hint` is an explanation. One that ends in `_term` names what the hint explains
in the list of terms (`terms.html`), if the label would not be understood there: "Version number" for "version 1". Some keys
are built from a value of a record: `"weights_" ~ row.weights`.
"""

from typing import Literal

from evaluator.benchmarks.base import Benchmark
from leaderboard.views.about_texts import ABOUT_TEXTS
from leaderboard.views.chart_texts import CHART_TEXTS
from leaderboard.views.model_texts import MODEL_TEXTS
from leaderboard.views.record_texts import RECORD_TEXTS
from leaderboard.views.register_texts import REGISTER_TEXTS
from leaderboard.views.submission_texts import SUBMISSION_TEXTS
from submissions.texts.text import Text

Language = Literal["ko", "en"]

TEXTS: dict[str, Text] = {
    **ABOUT_TEXTS,
    **CHART_TEXTS,
    **MODEL_TEXTS,
    **RECORD_TEXTS,
    **SUBMISSION_TEXTS,
    **REGISTER_TEXTS,
    "title": Text("한눈 Hannun", "Hannun 한눈"),
    "tagline": Text(
        "한국어 문서·차트를 읽는 AI 모델 리더보드. 직접 평가한 점수 {verified}건과 외부 발표 점수 {reported}건을 나눠 보여 줍니다.",
        "A leaderboard of AI models that read Korean documents and charts. It shows {verified} scores that we evaluated ourselves and {reported} scores reported by others, kept apart.",
    ),
    "tagline_short": Text(
        "한국어 문서·차트를 읽는 AI 모델 리더보드", "A leaderboard of AI models that read Korean documents and charts"
    ),
    "good_at_tables": Text("표 읽기", "Tables"),
    "good_at_charts": Text("차트 읽기", "Charts"),
    "good_at_documents": Text("문서 읽기", "Documents"),
    "good_at_transcription": Text("텍스트로 옮기기", "Transcription"),
    "skill_hint": Text("뒤처진 다른 계열 비율(%)", "families behind it (%)"),
    "commercial": Text("상업적 이용", "Commercial use"),
    "commercial_yes": Text("가능", "allowed"),
    "commercial_conditions": Text("조건부", "with conditions"),
    "commercial_no": Text("불가", "not allowed"),
    "commercial_hint": Text(
        "모델 제작사가 밝힌 라이선스 기준입니다. 법률 자문이 아니므로 라이선스 원문을 확인하세요.",
        "By the licence that the makers state. This is not legal advice: read the licence itself.",
    ),
    "paste_hint": Text("본문에 붙여 넣을 표 (Markdown, LaTeX):", "The table to paste into a text (Markdown, LaTeX):"),
    "skip": Text("본문으로 건너뛰기", "Skip to content"),
    "pages": Text("페이지", "Pages"),
    "connection_lost": Text(
        "서버에 연결할 수 없습니다. 잠시 뒤 다시 시도해 주세요.", "The server cannot be reached. Try again in a moment."
    ),
    "apply": Text("적용", "Apply"),
    "clear_filters": Text("검색어와 필터 지우기", "Clear search and filters"),
    "size_below": Text("{high}B 미만", "below {high}B"),
    "size_from": Text("{low}B 이상", "{low}B or more"),
    "models": Text("모델", "Models"),
    "record_description": Text(
        "발표 점수의 재현 결과, 평가 횟수, 순위에서 제외한 결과, 시드",
        "Reproductions of reported scores, attempts, results removed from the ranking and seeds",
    ),
    "about_source": Text("벤치마크 페이지", "The benchmark's page"),
    "page_missing": Text("페이지를 찾을 수 없습니다", "Page not found"),
    "page_missing_hint": Text(
        "주소가 바뀌었거나 없는 페이지입니다. 위 메뉴에서 고르거나 모델을 검색해 보세요.",
        "There is no page at this address. Choose one above, or search for a model.",
    ),
    "other_language": Text("English", "한국어"),
    "read_in_other_language": Text("Read this page in English", "이 페이지를 한국어로 보기"),
    "thinking": Text("추론(thinking) 설정", "Reasoning mode"),
    "thinking_on": Text("추론 켬", "reasoning on"),
    "thinking_off": Text("추론 끔", "reasoning off"),
    "thinking_low": Text("추론 강도 낮음", "low reasoning effort"),
    "thinking_medium": Text("추론 강도 중간", "medium reasoning effort"),
    "thinking_high": Text("추론 강도 높음", "high reasoning effort"),
    "thinking_auto": Text("모델 기본값", "Model default"),
    "thinking_hint": Text(
        "채팅 템플릿으로 추론(thinking)을 켜고 끌 수 있는 모델입니다. 켰을 때와 껐을 때를 따로 평가합니다.",
        "Reasoning can be turned on and off in this model's chat template. Each mode is evaluated separately.",
    ),
    "quantised": Text("양자화", "Quantised"),
    "quantised_hint": Text("양자화된 체크포인트", "Quantised checkpoint"),
    "custom_code": Text("커스텀 코드", "custom code"),
    "custom_code_hint": Text(
        "모델 저장소에 있는 코드를 운영자의 승인을 받아 샌드박스에서 실행했습니다.",
        "Run in a sandbox with the repository's own code, which the operator approved.",
    ),
    "requested_revision": Text("리비전 이름", "Revision name"),
    "requested_revision_hint": Text(
        "main의 최신 커밋이 아니라 제출자가 지정한 리비전을 평가했습니다.",
        "Evaluated at the revision named by the submitter, not the latest commit on main.",
    ),
    "server": Text("서버 이름", "Server name"),
    "server_hint": Text(
        "내장 엔진 대신 모델을 실행한 모델 서버", "Model server that ran the model instead of the built-in engine"
    ),
    "cite": Text("인용·임베드·API", "Cite, embed and API"),
    "cite_hint": Text("논문이나 보고서에 인용할 때:", "To cite the table:"),
    "embed_hint": Text("다른 페이지에 표를 넣을 때:", "To embed the table in another page:"),
    "api_hint": Text("프로그램에서 읽을 때:", "To read the table from a program:"),
    "overview": Text("한눈에", "Overview"),
    "feed": Text("새 결과", "New results"),
    "sort_overall": Text("종합", "Overall"),
    "overall_image": Text("종합: 이미지", "Overall: images"),
    "overall_page": Text("종합: 문서 읽기", "Overall: document reading"),
    "overall_hint": Text(
        "종합 점수는 다른 모델 계열 가운데 이 모델이 앞선 계열의 비율(%)을 구해, 열 제목에 적힌 벤치마크에서 평균한 값입니다. 이 벤치마크 모두에 순위가 있는 모델끼리만 비교합니다. 같은 모델에서 나온 변형은 한 계열로 묶고 가장 좋은 결과를 씁니다. 신뢰구간이 없으므로 작은 차이는 의미가 없을 수 있습니다.",
        "The overall score is the percentage of other model families that a model is ahead of, averaged over the benchmarks named in the column header. Only models ranked on all of them are compared. Variants of one model count as one family, represented by its best result. It has no confidence interval, so small differences may mean nothing.",
    ),
    "models_shown": Text("모델 {n}개", "Models: {n}"),
    "rank_n": Text("{n}위", "rank {n}"),
    "reported_rank_n": Text("({n}위)", "rank ({n})"),
    "reported_rank_hint": Text(
        "괄호 안의 순위는 외부 발표 점수끼리 매긴 순위입니다. 프롬프트와 디코딩 조건을 확인할 수 없으므로 직접 평가한 결과와 따로 매깁니다.",
        "A rank in brackets is among scores reported by others only. Their prompts and decoding settings are unknown, so they are ranked separately from verified results.",
    ),
    "distribution": Text("모델 {n}개의 점수 분포", "Score distribution of {n} models"),
    "blind": Text("이미지·문서 없이", "without image or page"),
    "constant": Text("늘 같은 답", "one answer to all"),
    "chance": Text("무작위 선택", "chance"),
    "changes": Text("지난 7일의 변화", "Changes in the last 7 days"),
    "other_benchmarks": Text(
        "{overall} 점수를 내는 벤치마크가 바뀌었습니다: {old} → {new}. 이 때문에 종합 순위가 달라졌을 수 있습니다.",
        "The benchmarks averaged into {overall} have changed: {old} → {new}. Overall ranks may have changed for that reason.",
    ),
    "no_changes": Text("지난 7일 동안 순위가 바뀌지 않았습니다.", "No ranks have changed in the last 7 days."),
    "new_at_rank": Text("신규 {n}위", "new at rank {n}"),
    "rank_moved": Text("{before}위 → {after}위", "rank {before} → {after}"),
    # Names of splits; others are shown as they are.
    "split_test": Text("테스트 세트", "test set"),
    "split_dev": Text("개발 세트", "development set"),
    "split_text": Text("텍스트 질문", "text questions"),
    "copy": Text("복사", "Copy"),
    "copied": Text("복사했습니다", "Copied"),
    "score": Text("점수", "Score"),
    "smallest_difference": Text(
        "약 {d}점 이상 벌어져야 두 모델을 통계적으로 구분할 수 있습니다({n}{unit}, 검정력 80%).",
        "Smallest detectable difference between two models: about {d} points ({n} {unit}, 80% power).",
    ),
    "search": Text("모델·기관 검색", "Search models and organisations"),
    "search_hint": Text(
        "예: Qwen, 젬마, ㄱㅂ, org:구글, license:apache, hardware:a100",
        "e.g. Qwen, ㄱㅂ, org:google, license:apache, hardware:a100",
    ),
    "search_models_hint": Text("예: Qwen, 젬마, ㄱㅂ, org:구글", "e.g. Qwen, ㄱㅂ, org:google"),
    "sort": Text("정렬", "Sort by"),
    "filters": Text("필터", "Filters"),
    "weights": Text("가중치", "Weights"),
    "weights_open": Text("공개", "open"),
    "weights_closed": Text("비공개", "closed"),
    "verified_only": Text("직접 평가한 결과만", "Verified results only"),
    "columns": Text("열", "Columns"),
    "more": Text("더 보기", "Show more"),
    "rank_range_hint": Text(
        "통계 오차를 고려하면 순위가 이 범위일 수 있습니다. 점수의 신뢰구간을 모르면 표시하지 않습니다. 문항별로 비교한 모델끼리는 대응 표본 검정(Holm 보정), 그 밖에는 95% 신뢰구간으로 판단합니다.",
        "Allowing for statistical error, the rank may be anywhere in this range. It is not shown if the confidence interval of the score is unknown. Based on paired tests (Holm-corrected) where models were compared item by item, otherwise on 95% confidence intervals.",
    ),
    "interval_hint": Text(
        "95% 신뢰구간입니다. 외부 발표 점수에는 점수와 문항 수로 계산한 윌슨(Wilson) 구간을 씁니다.",
        "95% confidence interval. For reported scores, a Wilson interval computed from the score and the number of items.",
    ),
    "download_table": Text("표 다운로드:", "Download the table:"),
    "download": Text("결과 JSON", "Result JSON"),
    "how_to_read": Text("순위와 점수 읽는 법", "How to read ranks and scores"),
    "verified": Text("직접 평가", "verified"),
    "verified_hint": Text(
        "이 리더보드가 모델을 직접 실행해 평가한 결과입니다.", "We ran and evaluated the model ourselves."
    ),
    "reported": Text("외부 발표", "reported"),
    "reported_hint": Text(
        "모델·벤치마크의 제작사나 제3자가 발표한 점수입니다. 이 리더보드가 직접 확인한 점수가 아닙니다.",
        "A score published by the makers of the model or the benchmark, or by others. We have not checked it.",
    ),
    "reported_rank_term": Text("(3)", "(3)"),  # an example: ranks of reported scores are shown in brackets
    "rank_range_term": Text("순위 아래의 범위", "Range below a rank"),
    "interval_term": Text("점수 아래의 범위", "Range below a score"),
    "outdated": Text("버전 {version}", "version {version}"),
    "outdated_term": Text("버전 번호", "Version number"),
    "outdated_hint": Text(
        "벤치마크의 이전 버전으로 평가한 결과라서 순위에서 제외합니다.",
        "Evaluated with an earlier version of the benchmark; not ranked.",
    ),
    "filtered": Text("결과 {of}건 중 {n}건 (필터 적용 중)", "Results: {n} of {of} (filtered)"),
    "sample_run": Text("샘플 실행", "sample run"),
    "sample_hint": Text(
        "공개 샘플 문항으로 시험 삼아 평가한 결과라서 순위가 없습니다. 운영자가 테스트 세트를 지정하거나(HANNUN_DATA) KO-FRESH에 "
        "제출하면 순위를 받습니다.",
        "A trial run on the public sample items, without a rank. A rank requires a test set specified by the "
        "operator (HANNUN_DATA) or a submission to KO-FRESH.",
    ),
    "human": Text("사람", "human"),
    "baseline": Text("베이스라인", "baseline"),
    "sample": Text("샘플", "sample"),
    "out_of_memory": Text("메모리 부족", "OOM"),
    "out_of_memory_hint": Text(
        "원래 평가에서 메모리가 부족해 점수를 얻지 못했습니다.", "No score: the original evaluation ran out of memory."
    ),
    "no_matches": Text(
        "일치하는 모델이 없습니다. 검색어나 필터를 바꿔 보세요.", "No models match. Try a different search or filter."
    ),
    "unranked_note": Text(
        "순위는 같은 테스트 세트로 평가한 모델끼리만 매깁니다. 사람·베이스라인·샘플 결과에는 순위가 없습니다.",
        "Only models evaluated on the same test set are ranked. Human scores, baselines and sample runs have no rank.",
    ),
    "no_results_yet": Text("아직 결과가 없습니다.", "There are no results yet."),
    "unreadable": Text("읽을 수 없는 기록 {n}건을 제외했습니다.", "{n} unreadable records were skipped."),
    "about_benchmark": Text("벤치마크 소개", "About this benchmark"),
    "results_shown": Text("결과 {n}건", "Results: {n}"),
    "benchmark": Text("벤치마크", "Benchmark"),
    "store_as_of": Text(
        "데이터 저장소에 연결할 수 없어 {since} 기준 내용을 표시합니다.",
        "The data store cannot be reached. This page shows its contents as of {since}.",
    ),
    "store_never_reached": Text(
        "데이터 저장소에 연결할 수 없어 외부 발표 점수만 표시합니다.",
        "The data store cannot be reached. Only reported scores are shown.",
    ),
}


def text(key: str, language: Language, **values: object) -> str:
    """Return a text with values in its placeholders: ("rank_n", "en", n=3) -> "rank 3"."""
    return translate(TEXTS[key], language).format(**values)


def mode_suffix(mode: str | None, language: Language) -> str:
    """Return what follows the name of a model that was asked in a mode, such as " (reasoning on)"."""
    return f" ({text(f'thinking_{mode}', language)})" if mode else ""


def headline_title(benchmark: Benchmark, language: Language) -> str:
    """Return the title of the ranking metric, followed by that of reported rows in brackets if it differs."""
    card = benchmark.card
    title = translate(benchmark.metric(card.headline).title, language)
    if not card.reported_headline:
        return title
    return f"{title} ({translate(benchmark.metric(card.reported_headline).title, language)})"


def translate(translated: Text, language: Language) -> str:
    """Return a text in the given language."""
    return translated.ko if language == "ko" else translated.en
