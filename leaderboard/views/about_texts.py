"""Texts of the page about the board and of the sentences under titles, which link to it (`lead.html`).

The texts of the overview's filters, of the groups and ties in tables, and of preview pictures are here too.
"""

from submissions.texts.text import Text

ABOUT_TEXTS: dict[str, Text] = {
    "about": Text("소개", "About"),
    "method": Text("평가 방법", "Method"),
    "guide": Text("이용 안내", "Guide"),
    "source_code": Text("소스 코드", "Source"),
    "contact": Text("문의", "Contact"),
    "about_title": Text("소개와 평가 방법", "About and method"),
    "about_description": Text(
        "한눈이 무엇을 어떻게 평가하는지, 순위를 어떻게 읽는지 한 페이지로 설명합니다.",
        "What Hannun measures and how, and how to read its ranks, on one page.",
    ),
    "lead_overview": Text(
        "모델이 한국어 문서와 차트를 얼마나 정확히 읽는지 벤치마크 {n}개로 잽니다 ·",
        "How well models read Korean documents and charts, on {n} benchmarks ·",
    ),
    "lead_models": Text(
        "직접 평가 {verified}개 모델 · 외부 발표 {reported}개 모델 ·",
        "{verified} measured here · {reported} reported by others ·",
    ),
    "lead_tie": Text("1–{last}위는 구분되지 않습니다.", "ranks 1–{last} cannot be told apart."),
    "lead_shared": Text("공동 1위가 {n}건입니다.", "{n} results share rank 1."),
    "lead_ahead": Text("1위는 유의하게 앞섭니다.", "rank 1 is significantly ahead."),
    "lead_overall": Text(
        "구분되지 않으면 ‘공동’.",
        "ties are marked.",
    ),
    "tied_at": Text("공동 {n}위", "tied at {n}"),
    "overview_title": Text("한국어 문서·차트 AI 리더보드", "Korean document AI leaderboard"),
    "tie_term": Text("공동 순위와 굵은 선", "Ties and thick lines"),
    "tie_hint": Text(
        "굵은 선 사이의 결과는 그중 맨 위 결과와 통계적으로 구분되지 않아 공동 순위입니다. 선 아래의 결과는 그 맨 위 결과보다 유의하게 낮습니다. "
        "선 바로 위와 아래의 두 결과는 서로 구분되지 않을 수 있습니다.",
        "Results between two thick lines are tied: they cannot be told apart from the first of them. Results below a line are "
        "significantly behind that first one. The results just above and just below a line may still not differ significantly.",
    ),
    "about_board": Text(
        "한눈은 한국어 문서와 차트를 읽는 모델을 같은 조건에서 직접 실행해 비교하는 공개 리더보드입니다. 비공개 테스트 세트는 "
        "제작사가 스스로 채점할 수 없습니다. 누구나 모델을 제출하면 저희 장비에서 실행해 결과와 신뢰구간을 공개합니다.",
        "Hannun is a public leaderboard that runs models which read Korean documents and charts under the same conditions. "
        "Makers cannot score themselves on private test sets. Anyone can submit a model; we run it on our machines and "
        "publish the result with its confidence interval.",
    ),
    "about_money": Text(
        "순위, 제출, 다운로드는 무료입니다. 점수나 순위를 사고팔지 않습니다.",
        "Ranks, submissions and downloads are free. No score or rank can be bought.",
    ),
    "about_benchmarks": Text("벤치마크", "Benchmarks"),
    "about_metric": Text("순위 지표", "Ranked by"),
    "about_set": Text("테스트 세트", "Test set"),
    "set_public": Text("공개", "public"),
    "set_private": Text("비공개", "private"),
    "method_run_title": Text("실행", "Running"),
    "method_run": Text(
        "제출된 모델은 커밋을 고정해 네트워크가 없는 샌드박스에서 실행합니다. 모든 모델에 벤치마크마다 정해진 프롬프트 하나를 쓰고, "
        "그리디 디코딩으로 답을 생성합니다. 추론(thinking)을 켜고 끌 수 있는 모델은 설정마다 따로 평가합니다.",
        "A submitted model is pinned to a commit and run in a sandbox without network. Each benchmark has one prompt for all "
        "models, and answers are generated greedily. A model whose reasoning can be turned on and off is evaluated in each setting.",
    ),
    "method_score_title": Text("채점", "Scoring"),
    "method_score": Text(
        "벤치마크의 공식 규칙으로 계산한 점수와, 답변에 실제로 적힌 답만 읽는 엄격한 규칙의 점수를 함께 싣습니다. 여러 답을 "
        "늘어놓거나 문서를 통째로 옮기면 점수를 얻는 규칙이 있어, 직접 평가한 결과의 순위는 엄격한 규칙으로 매깁니다. 평가 장비의 "
        "고장은 오답으로 세지 않습니다.",
        "We show the score under the benchmark's official rule and the score under a strict rule, which reads only what an "
        "answer states. Some official rules reward lists of answers or a copy of the page, so measured results rank by the strict "
        "rule. Failures of our machines never count as wrong answers.",
    ),
    "method_rank_title": Text("순위", "Ranks"),
    "method_rank": Text(
        "점수마다 95% 신뢰구간이 있습니다. 두 결과를 같은 문항끼리 비교할 수 있으면 대응 표본 검정으로, 아니면 신뢰구간으로 "
        "구분되는지 판단하며, 여러 번 비교하는 효과를 보정합니다. 구분되지 않으면 공동 순위로 표시합니다.",
        "Each score has a 95% confidence interval. Where two results can be compared item by item, a paired test decides whether "
        "they can be told apart, otherwise their intervals do, corrected for multiple comparisons. Results that cannot be told apart are shown as tied.",
    ),
    "method_kinds_title": Text("직접 평가와 외부 발표", "Measured and reported"),
    "method_kinds": Text(
        "직접 평가한 결과가 있으면 언제나 그 결과가 모델을 대표합니다. 제작사나 논문이 발표한 점수는 조건을 확인할 수 없어 따로 "
        "순위를 매기고 괄호로 표시합니다. 발표한 점수가 재현되었는지는 검증 기록에서 확인할 수 있습니다.",
        "Where we have measured a model, our result always represents it. Scores published by makers or papers have conditions that we cannot check: "
        "they are ranked apart, in brackets. The record shows which of them could be reproduced.",
    ),
    "method_overall_title": Text("종합 점수", "Overall score"),
    "method_cost_title": Text("지연 시간과 비용", "Latency and cost"),
    "method_cost": Text(
        "지연 시간은 한 문항씩 풀 때의 중앙값이며, 하드웨어가 같은 결과끼리만 비교할 수 있습니다. 비용은 API의 가격이나 장비를 쓴 "
        "시간으로 계산합니다.",
        "Latency is the median for one item at a time and can be compared only on the same hardware. Cost is computed from an "
        "API's prices or from the time on our devices.",
    ),
    "method_private_title": Text("공개하는 것과 하지 않는 것", "What is public and what is not"),
    "method_private": Text(
        "점수, 신뢰구간, 영역별 점수, 실행 환경을 결과 JSON으로 공개합니다. 비공개 테스트 세트의 문항, 정답, 답변과 제출자의 "
        "이름은 공개하지 않습니다. 잘못된 결과는 지우지 않고 이유와 함께 순위에서 제외하며, 검증 기록에 남깁니다.",
        "Scores, intervals, scores by category and the environment are public as result JSON. Items, reference "
        "answers and model answers of private test sets, and submitters' names, are not. A wrong result is not deleted: it is "
        "removed from the ranking with the reason, and stays in the verification record.",
    ),
    "guide_find_title": Text("찾기", "Finding a model"),
    "guide_find": Text(
        "검색창에 모델이나 기관 이름을 입력합니다. 한글 이름과 초성도 찾습니다(젬마, ㄱㅂ). org:, license:(벤치마크 표에서는 hardware:도)를 앞에 "
        "붙이면 그 항목만 찾습니다. 필터에서 크기, 가중치 공개 여부, 상업적 이용, 추론 설정을 고릅니다.",
        "Type a model's or maker's name; Korean spellings and initial consonants work too. The prefixes org: and license: (in "
        "tables of benchmarks also hardware:) search that field only. Filters narrow by size, weights, commercial use and reasoning.",
    ),
    "guide_read_title": Text("읽기", "Reading"),
    "guide_read": Text(
        "열 제목을 누르면 그 열을 기준으로 정렬합니다. 모델 이름을 누르면 영역별 점수, 평가 조건, 재현 명령을 볼 수 있습니다. 각 표시의 뜻은 표 "
        "아래 ‘순위와 점수 읽는 법’에 있습니다.",
        "Select a column header to sort by it. Select a model's name to see its scores by category, the conditions and the "
        "command to reproduce them. All marks are explained below the table, under “How to read ranks and scores”.",
    ),
    "guide_compare_title": Text("비교", "Comparing"),
    "guide_compare": Text(
        "비교 페이지에서 모델을 5개까지 골라, 어느 차이가 유의한지 같은 조건의 결과로 확인합니다.",
        "The comparison shows up to 5 models side by side and which differences are significant.",
    ),
    "guide_submit_title": Text("제출", "Submitting"),
    "guide_submit": Text(
        "제출 페이지에 허깅페이스 모델 ID를 입력하면 실행할 수 있는지 먼저 검사합니다. 통과하면 대기열에 들어가고, 끝나면 결과가 "
        "표에 나타납니다. 진행 상황은 요청 페이지에서 봅니다.",
        "Enter a Hugging Face model ID on the submission page. It is checked first; then it waits in the queue, and its result appears in "
        "the tables. The page of the request shows its progress.",
    ),
    "guide_data_title": Text("데이터", "Data"),
    "guide_data": Text(
        "표는 CSV, JSON, Parquet로, 결과는 JSON으로 내려받습니다. 인용문, 임베드 코드, API 예시는 벤치마크 페이지 아래에, 배지는 "
        "모델 페이지 아래에 있습니다.",
        "Tables can be downloaded as CSV, JSON and Parquet, results as JSON. Citations, embed code and API examples are at the "
        "end of a benchmark's page, badges at the end of a model's.",
    ),
    "preset_small": Text("8B 이하 · 공개", "8B or less · open"),
    "preset_small_tables": Text(
        "8B 이하 · 공개 · 상업적 이용 · 표 읽기", "8B or less · open · commercial use · tables"
    ),
    "preset_commercial": Text("공개 · 상업적 이용", "Open · commercial use"),
    "preset_charts": Text("차트 읽기", "Charts"),
    "preset_documents": Text("문서 읽기", "Documents"),
    "preset_family": Text("계열별 최고", "Best of each family"),
    "card_overview": Text("벤치마크별 최고 점수", "Best score on each benchmark"),
    "card_board": Text("한눈 Hannun · 한국어 VLM 리더보드", "Hannun · Korean VLM leaderboard"),
    "presets": Text("자주 찾는 조건", "Common filters"),
    "family_only": Text("계열마다 가장 좋은 모델만", "Best of each family only"),
    "family": Text("모델 계열", "Families"),
    "measured_rows": Text("직접 평가 · 결과 {n}건", "Measured here · {n} results"),
    "reported_rows": Text(
        "외부 발표 · 결과 {n}건 (확인하지 않은 점수)", "Reported by others · {n} results (not checked by us)"
    ),
}
