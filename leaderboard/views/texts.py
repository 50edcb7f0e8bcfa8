"""All texts of the pages, in Korean and English."""

from typing import Literal

from evaluator.benchmarks.base import Benchmark
from leaderboard.views.record_texts import RECORD_TEXTS
from submissions.texts.text import Text

Language = Literal["ko", "en"]

TEXTS: dict[str, Text] = RECORD_TEXTS | {
    "title": Text("한눈 Hannun", "Hannun 한눈"),
    "tagline": Text(
        "한국어 비전-언어·기계독해 모델 리더보드: 같은 조건에서 대부분 비공개 테스트 세트로 직접 측정한 결과 {verified}건, 모델·벤치마크 제작자가 공개한 수치 {reported}건",
        "Korean vision-language and machine-reading models: {verified} results measured by us under the same conditions, mostly on private test sets, and {reported} reported by makers of models and benchmarks",
    ),
    "switch": Text("English", "한국어"),
    "switch_label": Text("Read this page in English", "이 페이지를 한국어로 보기"),
    "thinking": Text("추론(thinking) 모드", "Thinking mode"),
    "thinking_on": Text("추론", "thinking"),
    "thinking_off": Text("비추론", "non-thinking"),
    "thinking_low": Text("추론 강도 낮음", "low effort"),
    "thinking_medium": Text("추론 강도 중간", "medium effort"),
    "thinking_high": Text("추론 강도 높음", "high effort"),
    "thinking_auto": Text("모델 기본값", "Model default"),
    "thinking_hint": Text(
        "채팅 템플릿으로 추론(thinking)을 켜고 끌 수 있는 모델입니다. 두 모드를 따로 평가합니다.",
        "The chat template can turn this model's thinking on and off; each mode is evaluated separately.",
    ),
    "quantised_hint": Text("양자화된 체크포인트", "A quantised checkpoint"),
    "custom_code": Text("커스텀 코드", "custom code"),
    "custom_code_hint": Text(
        "운영자가 승인한 모델 저장소의 코드를 샌드박스에서 실행했습니다.",
        "Run with the repository's own code, approved by the operator, in the sandbox.",
    ),
    "requested_revision_hint": Text(
        "main의 최신 커밋이 아니라 제출자가 지정한 리비전을 평가했습니다.",
        "Evaluated at the revision that the submitter named, not at the newest commit of main.",
    ),
    "server_hint": Text(
        "내장 엔진 대신 추론에 사용한 모델 서버", "Model server used for inference instead of the built-in engine"
    ),
    "made_from": Text("베이스 모델: {model}", "base model: {model}"),
    "against_base": Text("베이스 모델({model}) 대비 {d}점", "vs. base model {model}: {d} points"),
    "interval_of": Text("95% 신뢰구간 {low} ~ {high}", "95% CI {low} to {high}"),
    "base_model": Text("베이스 모델", "Base model"),
    "unfinished": Text("추론 도중 잘린 답변", "Truncated reasoning"),
    "decoding": Text("디코딩", "Decoding"),
    "decoding_greedy": Text("그리디", "greedy"),
    "decoding_repository": Text("저장소 설정", "repository settings"),
    "decoding_repository_hint": Text(
        "모델 저장소의 generation_config.json(반복 페널티 등)을 적용한 결과이며, 순위에서 제외합니다.",
        "Decoded with the penalties of the model's own generation config; not ranked.",
    ),
    "decoding_provider": Text("제공자 기본값", "provider defaults"),
    "decoding_provider_hint": Text(
        "API가 temperature 설정을 지원하지 않아 제공자의 기본 설정으로 생성했습니다.",
        "The API does not support setting a temperature, so the provider's defaults were used.",
    ),
    "answer_budget": Text("답변 최대 {n}토큰", "answers up to {n} tokens"),
    "reasoning_budget": Text("추론 최대 {n}토큰", "reasoning up to {n} tokens"),
    "dropped": Text("적용하지 않은 저장소 설정: {names}", "repository settings not applied: {names}"),
    "batches_tried": Text("점수가 달라 제외한 배치 크기: {sizes}", "batch sizes rejected for changing scores: {sizes}"),
    "api_model": Text("API 모델 버전", "API model version"),
    "cost": Text("비용", "Cost"),
    "tokens": Text("토큰", "tokens"),
    "device_hours": Text("장비 시간", "device hours"),
    "place": Text("대기 {n}번째", "position {n} in the queue"),
    "ready_in": Text("약 {n}분 뒤 완료 예상", "result in about {n} min"),
    "share": Text(
        "평가가 끝나면 결과를 모델 저장소에 풀 리퀘스트로도 올립니다.",
        "Also open a pull request with the result on the model repository.",
    ),
    "cite": Text("인용·임베드·API", "Cite, embed, API"),
    "cite_hint": Text("논문이나 보고서에 인용할 때:", "To cite the table:"),
    "embed_hint": Text("다른 페이지에 표를 넣을 때:", "To embed the table in another page:"),
    "api_hint": Text("프로그램에서 읽을 때:", "To read the table from a program:"),
    "overview": Text("한눈에", "Overview"),
    "model": Text("모델", "Model"),
    "compare": Text("비교", "Compare"),
    "feed": Text("새 결과", "New results"),
    "sort_overall": Text("종합", "Overall"),
    "overall_image": Text("종합: 이미지", "Overall: images"),
    "overall_page": Text("종합: 문서 읽기", "Overall: pages"),
    "overall_hint": Text(
        "종합 점수는 앞선 다른 모델 계열의 비율(%)을 열 제목에 적힌 벤치마크에서 평균한 값이며, 이 벤치마크 모두에 순위가 있는 모델끼리만 비교합니다. 같은 모델에서 나온 변형은 한 계열로 묶어 가장 좋은 결과로 셉니다.",
        "Overall is the share of other model families that a model is ahead of, averaged over the benchmarks named in the head; only models with a rank on all of them are compared. Variants of one model count as one family, by its best result.",
    ),
    "models_shown": Text("모델 {n}개", "Models: {n}"),
    "rank_n": Text("{n}위", "rank {n}"),
    "reported_rank_n": Text("({n}위)", "rank ({n})"),
    "reported_rank_hint": Text(
        "괄호 안의 순위는 제작자가 공개한 수치끼리 매긴 순위입니다. 프롬프트와 디코딩 조건을 확인할 수 없으므로 직접 측정한 결과와 따로 매깁니다.",
        "A rank in brackets is among scores reported by makers. Their prompts and decoding are unknown, so they are ranked apart from those measured here.",
    ),
    "distribution": Text("모델 {n}개의 점수 분포", "Distribution of the scores of {n} models"),
    "blind": Text("이미지·문서 없이", "no image or page"),
    "chance": Text("무작위 선택", "chance"),
    "changes": Text("지난 7일의 변화", "Changes in the last 7 days"),
    "no_changes": Text("지난 7일 동안 순위가 바뀌지 않았습니다.", "No ranks have changed in the last 7 days."),
    "came": Text("신규 {n}위", "new at {n}"),
    "moved": Text("{before}위 → {after}위", "{before} → {after}"),
    "charts": Text("차트: 크기·지연 시간·영역별 점수와 추이", "Charts: score by size, latency, category and date"),
    "chart_size": Text("모델 크기별 점수", "Score vs. model size"),
    "chart_size_hint": Text(
        "점선은 해당 크기 이하 모델의 최고 점수입니다.",
        "Dotted line: the best score among models of that size or smaller.",
    ),
    "chart_speed": Text("지연 시간별 점수", "Score vs. latency"),
    "chart_speed_hint": Text(
        "점선은 해당 지연 시간 이하 모델의 최고 점수입니다. 하드웨어가 다르면 지연 시간을 비교할 수 없습니다.",
        "Dotted line: the best score among models at that latency or lower. Latency is not comparable across hardware.",
    ),
    "chart_parts": Text("영역별 점수", "Scores by category"),
    "chart_parts_hint": Text("상위 모델의 영역별 점수 (0–100)", "Top models by category (0–100)"),
    "chart_time": Text("점수 추이", "Score over time"),
    "chart_time_hint": Text(
        "모델의 공개 월 기준이며, 알 수 없으면 결과의 날짜입니다. 점선은 그때까지의 최고 점수입니다.",
        "By the month of a model's release, or the date of the result if that is unknown. Dotted line: the best score so far.",
    ),
    "chart_empty": Text("차트로 그릴 데이터가 아직 없습니다.", "There is no data to plot yet."),
    "axis_params": Text("파라미터 수", "Parameters"),
    "axis_latency_ms": Text("지연 시간 (ms/문항)", "Latency (ms/item)"),
    "axis_percent": Text("답변 비율 (%)", "Share of answers (%)"),
    "front": Text("파레토 경계", "Pareto front"),
    "state_of_the_art": Text("최고 점수", "State of the art"),
    "weights_unknown": Text("가중치 공개 여부 미상", "weights unknown"),
    "find_model": Text("모델 찾기", "Find a model"),
    "add_model": Text("비교할 모델 찾기", "Find models to compare"),
    "model_unknown": Text("{name}: 이 이름의 결과가 없습니다.", "No results for {name}."),
    "on_the_hub": Text("허브에서 보기", "View on the Hub"),
    "compare_it": Text("다른 모델과 비교", "Compare with others"),
    "see_request": Text("진행 상황", "Progress"),
    "see_model": Text("모델 페이지", "Model page"),
    "this_model": Text("이 모델", "this model"),
    "best": Text("최고", "best"),
    "median": Text("중앙값", "median"),
    "beside": Text("이 모델 {own}, 최고 {best}, 중앙값 {median}", "this model {own}, best {best}, median {median}"),
    "details": Text("평가 조건과 출처", "Evaluation details and provenance"),
    "dataset": Text("데이터셋", "Dataset"),
    "revision_short": Text("리비전", "Revision"),
    "hardware": Text("하드웨어", "Hardware"),
    "answers": Text("답변 상태", "Answer status"),
    "answer_ok": Text("정상", "ok"),
    "answer_empty": Text("빈 답변", "empty"),
    "answer_refused": Text("응답 거부", "refused"),
    "answer_truncated": Text("잘림", "truncated"),
    "answer_infra_error": Text("평가 오류", "evaluator errors"),
    "batch_invariance": Text("배치 불변성", "Batch invariance"),
    "batch_invariance_found": Text(
        "배치 크기 1로 다시 추론한 {n}문항 중 {changed}문항의 점수가 달라짐",
        "{changed} of {n} scores changed at batch size 1",
    ),
    "copy": Text("복사", "Copy"),
    "copied": Text("복사함", "Copied"),
    "history": Text("이력", "History"),
    "score": Text("점수", "Score"),
    "remove": Text("{name} 제외", "Remove {name}"),
    "compare_hint": Text("비교할 모델을 2~{n}개 고르세요.", "Choose 2 to {n} models to compare."),
    "nothing_alike": Text(
        "선택한 모델을 같은 조건에서 평가한 벤치마크가 없습니다.",
        "No benchmark has results for these models under the same conditions.",
    ),
    "verdict_ahead": Text(
        "{a}: {b}보다 {d}점 높습니다 (95% 신뢰구간 {low} ~ {high}).",
        "{a} is ahead of {b} by {d} points (95% CI {low} to {high}).",
    ),
    "verdict_same": Text(
        "{a} · {b}: 유의한 차이가 없습니다 (차이 {d}점, 95% 신뢰구간 {low} ~ {high}).",
        "{a} and {b}: no significant difference ({d} points, 95% CI {low} to {high}).",
    ),
    "verdict_unknown": Text(
        "{a} · {b}: 차이 {d}점. 신뢰구간이 없는 점수가 있어 유의한 차이인지 판단할 수 없습니다.",
        "{a} and {b} differ by {d} points. Without confidence intervals of both, significance cannot be tested.",
    ),
    "ahead_on": Text("{model} 우세 영역: {parts}.", "{model} is ahead on {parts}."),
    "not_measured": Text("같은 조건의 결과 없음: {models}", "No result under the same conditions: {models}"),
    "overall": Text("전체", "Overall"),
    "by_part": Text("영역별", "By category"),
    "paired": Text("같은 문항끼리 비교한 대응 표본 검정입니다(p {p}).", "By a paired test on the same items (p {p})."),
    "unpaired": Text(
        "문항별 대응 비교가 없어 두 신뢰구간으로 추정했습니다(Newcombe).",
        "No paired comparison; estimated from both intervals (Newcombe).",
    ),
    "about_data": Text(
        "데이터: 누가 만들고 보유하는지, 학습에 쓰였을 가능성, 구분할 수 있는 점수 차이",
        "Data: who made and holds it, who may have trained on it, which differences show",
    ),
    "smallest_difference": Text(
        "{n}문항에서 대응 표본 검정이 80% 확률로 구분하는 가장 작은 차이는 약 {d}점입니다.",
        "On {n} items, the smallest difference that a paired test detects with 80% power is about {d} points.",
    ),
    "compare_note": Text(
        "대응 표본 검정(McNemar, 문서·이미지 단위로 묶인 문항은 Yang·Sun·Hardin과 비슷한 검정)은 평가 서버가 비공개 문항별 점수로 계산하며, 반올림한 구간과 p값만 공개합니다. 그 밖의 신뢰구간은 두 점수의 신뢰구간으로 계산합니다(Newcombe 1998). 모두 다중 비교를 보정했습니다(Bonferroni).",
        "Paired tests (McNemar, or one close to Yang, Sun & Hardin if items share a document or image) are computed by the evaluator from private per-item scores; only rounded intervals and p values are published. Other intervals are computed from those of both scores (Newcombe 1998). All are corrected for multiple comparisons (Bonferroni).",
    ),
    "started_at": Text("시작", "Started"),
    "attempt": Text("{n}번째 시도", "attempt {n}"),
    "request_unknown": Text("이 키에 해당하는 요청이 없습니다.", "There is no request with this key."),
    "stage_launch": Text("장비 배정 대기 중", "waiting for a machine"),
    "stage_fetch": Text("모델 다운로드 중", "downloading the model"),
    "stage_load": Text("모델 로딩 중", "loading the model"),
    "stage_infer": Text("추론 중", "running inference"),
    "stage_measure": Text("지연 시간 측정 중", "measuring latency"),
    "stage_score": Text("채점 중", "scoring"),
    "stage_publish": Text("결과 게시 중", "publishing the result"),
    "submit": Text("제출", "Submit"),
    "queue": Text("대기열", "Queue"),
    "search": Text("모델·기관 검색", "Search models and organisations"),
    "search_hint": Text(
        "예: Qwen, 젬마, ㄱㅂ, org:삼성, license:apache, hardware:a100",
        "e.g. Qwen, ㄱㅂ, org:samsung, license:apache, hardware:a100",
    ),
    "search_models_hint": Text("예: Qwen, 젬마, ㄱㅂ, org:삼성", "e.g. Qwen, ㄱㅂ, org:samsung"),
    "sort": Text("정렬", "Sort by"),
    "filters": Text("필터와 열", "Filters and columns"),
    "weights": Text("가중치", "Weights"),
    "weights_open": Text("공개", "open"),
    "weights_closed": Text("비공개", "closed"),
    "verified_only": Text("직접 측정한 결과만", "Verified results only"),
    "columns": Text("열", "Columns"),
    "more": Text("더 보기", "Show more"),
    "rank_range_hint": Text(
        "통계적으로 구분되지 않는 순위 범위이며, 점수의 신뢰구간을 모르면 표시하지 않습니다. 문항별로 비교한 모델끼리는 대응 표본 검정(Holm 보정), 그 밖에는 95% 신뢰구간으로 판단합니다.",
        "Range of ranks that cannot be told apart, if the interval of the score is known: by paired tests (Holm-corrected) where models were compared item by item, else by the 95% confidence intervals.",
    ),
    "interval_hint": Text(
        "95% 신뢰구간. 공개 수치는 점수와 문항 수로 계산한 윌슨(Wilson) 구간입니다.",
        "95% confidence interval. For reported scores, a Wilson interval computed from the number of items.",
    ),
    "download_table": Text("표 다운로드:", "Download the table:"),
    "download": Text("결과 JSON", "Result JSON"),
    "how_to_read": Text("순위와 점수 읽는 법", "How to read ranks and scores"),
    "verified": Text("직접 측정", "verified"),
    "verified_hint": Text(
        "이 리더보드가 모델을 직접 실행해 측정한 결과입니다.", "This leaderboard ran the model and measured the result."
    ),
    "reported": Text("공개 수치", "reported"),
    "reported_hint": Text(
        "모델 또는 벤치마크 제작자가 공개한 수치입니다. 이 리더보드가 확인하지 않았습니다.",
        "A score published by the makers of the model or the benchmark, which this leaderboard has not checked.",
    ),
    "reported_rank_term": Text("(3)", "(3)"),
    "rank_range_term": Text("순위 아래의 범위", "Range below a rank"),
    "interval_term": Text("점수 아래의 범위", "Range below a score"),
    "outdated": Text("버전 {version}", "version {version}"),
    "outdated_hint": Text(
        "벤치마크의 이전 버전으로 평가한 결과이며, 순위에서 제외합니다.",
        "Evaluated with an earlier version of the benchmark; not ranked.",
    ),
    "verdict_other_rule": Text(
        "{a} · {b}: 하나는 엄격 EM, 하나는 공개 수치의 EM이므로 점수를 비교할 수 없습니다.",
        "{a} and {b} cannot be compared: one score is strict EM, the other a reported EM.",
    ),
    "filtered": Text("결과 {of}건 중 {n}건 (필터 적용 중)", "Results: {n} of {of} (filtered)"),
    "sample_run": Text("샘플 실행", "sample run"),
    "sample_hint": Text("공개 샘플 문항으로 시험한 결과입니다.", "A trial on the public sample items."),
    "human": Text("사람", "human"),
    "baseline": Text("베이스라인", "baseline"),
    "sample": Text("샘플", "sample"),
    "out_of_memory": Text("메모리 부족", "OOM"),
    "out_of_memory_hint": Text(
        "원 평가에서 메모리 부족으로 측정하지 못함", "Not measured: the original evaluation ran out of memory"
    ),
    "none": Text(
        "일치하는 모델이 없습니다. 검색어나 필터를 바꿔 보세요.", "No models match. Try a different search or filter."
    ),
    "unranked_note": Text(
        "순위는 같은 테스트 세트로 평가한 모델끼리만 매깁니다. 사람·베이스라인·샘플 결과에는 순위가 없습니다.",
        "Only models evaluated on the same test set are ranked. Human scores, baselines and sample runs are not.",
    ),
    "no_results_yet": Text("아직 결과가 없습니다.", "There are no results yet."),
    "unreadable": Text("읽을 수 없는 기록 {n}건을 제외했습니다.", "{n} unreadable records were skipped."),
    "about": Text("벤치마크 소개", "About this benchmark"),
    "results_shown": Text("결과 {n}건", "Results: {n}"),
    "submit_intro": Text(
        "허깅페이스 모델 ID를 입력하고 벤치마크를 고르세요. 모델 저장소를 바로 확인하고, 통과하면 대기열에 추가합니다.",
        "Enter a Hugging Face model ID and choose benchmarks. The repository is checked right away and queued for evaluation if it passes.",
    ),
    "submit_privacy": Text(
        "모델 ID와 제출 시각은 공개됩니다. 계정 이름은 비공개 저장소에만 보관하고 공개 기록에는 가명으로 남기며, 요청하면 운영자가 삭제합니다.",
        "The model ID and the time of submission are public. Your account name is kept in a private store only; public records show a pseudonym. The operator erases the name on request.",
    ),
    "model_id": Text("모델 ID", "Model ID"),
    "model_id_hint": Text("owner/name 또는 허브 URL", "owner/name, or its Hub URL"),
    "revision": Text("리비전 (비우면 최신)", "Revision (latest if empty)"),
    "precision": Text("정밀도", "Precision"),
    "precision_auto": Text("체크포인트와 동일", "Same as checkpoint"),
    "benchmarks": Text("벤치마크", "Benchmarks"),
    "check_button": Text("확인만 하기", "Check only"),
    "submit_button": Text("확인하고 제출하기", "Check and submit"),
    "sign_in": Text("허깅페이스로 로그인", "Sign in with Hugging Face"),
    "sign_out": Text("로그아웃 ({who})", "Sign out ({who})"),
    "all_checks_pass": Text(
        "모든 항목을 통과했습니다. 제출할 수 있습니다.", "All checks passed. The model can be submitted."
    ),
    "some_benchmarks_fail": Text(
        "제출할 수 있습니다. 단, 아래에 ✕로 표시된 벤치마크에는 제출할 수 없습니다.",
        "The model can be submitted, except to the benchmarks marked ✕ below.",
    ),
    "some_checks_fail": Text(
        "통과하지 못한 항목이 있습니다. 아래 항목을 고친 뒤 다시 확인하세요.",
        "Some checks failed. Fix the items below, then check again.",
    ),
    "checked": Text("확인 항목", "Checks"),
    "passed_check": Text("통과", "passed"),
    "failed_check": Text("실패", "failed"),
    "skipped_check": Text("확인하지 않음", "not checked"),
    "no_benchmark": Text("벤치마크를 하나 이상 고르세요.", "Choose at least one benchmark."),
    "accepted": Text("접수되었습니다", "Accepted"),
    "store_busy": Text(
        "저장소에 연결할 수 없어 아무것도 저장하지 못했습니다. 잠시 뒤 다시 제출해 주세요.",
        "The store is out of reach and nothing was saved. Submit again later.",
    ),
    "submitted_at": Text("제출", "Submitted"),
    "finished_at": Text("종료", "Finished"),
    "status": Text("상태", "Status"),
    "benchmark": Text("벤치마크", "Benchmark"),
    "reason": Text("사유와 조치", "Reason and next steps"),
    "pending": Text("대기", "pending"),
    "running": Text("실행 중", "running"),
    "finished": Text("완료", "finished"),
    "failed": Text("실패", "failed"),
    "quarantined": Text("보류", "on hold"),
    "queue_empty": Text("아직 제출된 모델이 없습니다.", "Nothing has been submitted yet."),
    "ours": Text("평가 서버 문제", "Evaluator error"),
    "yours": Text("모델 문제", "Model error"),
    "silent": Text(
        "{since} 이후 평가 서버 응답 없음. 응답이 계속 없으면 다시 평가합니다.",
        "No sign of the evaluation server since {since}. If it stays away, the evaluation is started again.",
    ),
    "unattended": Text(
        "{since} 이후로 평가 서버가 응답하지 않아 평가가 지연되고 있습니다. 제출한 요청은 대기열에 그대로 있습니다.",
        "No evaluation server has been seen since {since}, so evaluations are delayed. Requests stay in the queue.",
    ),
    "paused": Text(
        "운영 환경의 문제로 {since}부터 평가가 멈춰 있으며 {until}에 다시 시도합니다.",
        "Evaluation has been paused since {since} by a fault on our side; next try at {until}.",
    ),
    "stale": Text(
        "저장소에 연결할 수 없어 {since} 기준 내용을 표시합니다.",
        "The store is out of reach: this is as of {since}.",
    ),
    "never_reached": Text(
        "저장소에 연결할 수 없어 공개 수치만 표시합니다.",
        "The store is out of reach: only published results are shown.",
    ),
    "queue_note": Text(
        "변경 사항은 자동으로 표시됩니다. 시각은 한국 시간(KST)입니다.",
        "Updates appear automatically. Times are in Korea Standard Time (KST).",
    ),
}


def text(key: str, language: Language, **values: object) -> str:
    return translate(TEXTS[key], language).format(**values)


def headline_title(benchmark: Benchmark, language: Language) -> str:
    """Return the title of the ranking metric, followed by that of reported rows in brackets if it differs."""
    card = benchmark.card
    title = translate(benchmark.metric(card.headline).title, language)
    if not card.reported_headline:
        return title
    return f"{title} ({translate(benchmark.metric(card.reported_headline).title, language)})"


def translate(of: Text, language: Language) -> str:
    """Return a text in the given language."""
    return of.ko if language == "ko" else of.en
