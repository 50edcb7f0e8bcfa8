"""Texts of the pages /record and /errata, and of what tables and pages of models show of the record.

These are reproductions, attempts, retired results, seeds, questions that were sent to providers of APIs, and errata.
"""

from submissions.texts.text import Text

RECORD_TEXTS: dict[str, Text] = {
    "record": Text("검증 기록", "Verification record"),
    "reproductions": Text("외부 발표 점수 재현", "Reproductions of reported scores"),
    "reproductions_note": Text(
        "제작사나 논문이 발표한 점수가 직접 평가한 점수의 95% 신뢰구간 안에 있으면 재현된 것으로 봅니다.",
        "A reported score counts as reproduced if it lies within the 95% confidence interval of our own score.",
    ),
    "not_measured_yet": Text(
        "외부 발표 점수 {n}개는 아직 직접 평가하지 않았습니다.",
        "{n} reported scores have not been evaluated here yet.",
    ),
    "no_reproductions": Text(
        "외부 발표 점수가 있는 모델 가운데 같은 테스트 세트로 직접 평가한 모델이 아직 없습니다. 모델을 제출하면 여기에 표시됩니다.",
        "No model with a reported score has been evaluated here on the same test set yet. Submit such a model and it will appear here.",
    ),
    "reproduction": Text(
        "외부 발표 {reported}, 직접 평가 {measured} ± {margin}.",
        "Reported {reported}, verified {measured} ± {margin}.",
    ),
    "reproduction_term": Text("재현됨, 더 높음, 더 낮음", "Reproduced, higher, lower"),
    "reproduction_hint": Text(
        "외부 발표 점수와 직접 평가한 점수를 비교한 결과입니다.", "Compares the reported score with our own."
    ),
    "reproduced_only": Text(
        "외부 발표와 직접 평가가 모두 있는 모델만", "Only models with both reported and verified scores"
    ),
    "reported_score": Text("외부 발표", "Reported"),
    "measured": Text("직접 평가", "Verified"),
    "measured_with": Text("평가 조건", "Conditions"),
    "verdict": Text("판정", "Verdict"),
    # The verdicts on a reproduction. Keys with `verdict_` in `model_texts.py` are about models and comparisons.
    "verdict_reproduced": Text("재현됨", "reproduced"),
    "verdict_higher": Text("직접 평가가 더 높음", "verified score higher"),
    "verdict_lower": Text("직접 평가가 더 낮음", "verified score lower"),
    "released": Text("{month} 출시", "released {month}"),
    "published_as": Text("발표 당시 이름: {name}", "reported as {name}"),
    "attempts": Text("평가 횟수", "Attempts"),
    "attempts_note": Text(
        "직접 평가한 모든 결과를 기관별, 베이스 모델별로 셉니다. 여러 번 평가할수록 최고 점수가 우연히 높게 나올 수 있습니다.",
        "All verified results, counted by organisation and by base model. The best of many attempts may be high by chance.",
    ),
    "attempts_by": Text("기관 · 베이스 모델", "Organisation or base model"),
    "attempts_organisation": Text("기관", "organisation"),
    "attempts_base": Text("베이스 모델", "base model"),
    "attempts_results": Text("결과", "Results"),
    "attempts_models": Text("모델", "Models"),
    "nth_attempt": Text(
        "이 모델을 이 테스트 세트로 평가한 결과 {of}개 중 {number}번째입니다.",
        "Attempt {number} of {of} for this model on this test set.",
    ),
    # The same number as a label beside a model's name (`row_marks.py`). The label speaks of settings, because a request with
    # the same settings is evaluated only once. The other two texts explain it in the list of terms.
    "nth_of": Text("설정 {of}가지 중 {number}번째", "setting {number} of {of}"),
    "attempts_term": Text("여러 설정", "Several settings"),
    "attempts_hint": Text(
        "리비전, 정밀도, 추론 설정을 바꾸어 여러 번 평가한 모델입니다. 결과를 공개하지 않은 비공개 평가도 셉니다. 모델마다 한 줄만 보여 주는 표에는 그중 가장 높은 점수를 싣습니다.",
        "This model was evaluated with several revisions, precisions or reasoning modes. Private evaluations without a public result count too. Tables with one line for each model show the highest score.",
    ),
    "retired": Text("순위 제외", "Removed from the ranking"),
    "retired_results": Text("순위에서 제외한 결과", "Results removed from the ranking"),
    "retired_note": Text(
        "결과는 삭제하지 않습니다. 운영자가 순위에서 제외한 결과는 이유와 함께 모두 공개합니다.",
        "Results are never deleted. Those that the operator has removed from the ranking are all listed here with the reason.",
    ),
    "retired_reason": Text("이유", "Reason"),
    "commitments": Text("KO-FRESH 시드", "KO-FRESH seeds"),
    "commitments_note": Text(
        "분기마다 평가 전에 시드의 해시를 공개하고, 결과마다 답변의 해시를 공개합니다. 분기가 끝나면 시드와 문항, 모든 모델의 답변을 공개합니다. 누구나 이 파일만으로 문항을 다시 생성하고 모든 점수를 다시 계산할 수 있습니다: python -m evaluator ko-fresh verify 내려받은_폴더 --out 폴더",
        "The hash of each quarter's seed is published before any evaluation, and with each result the hash of its answers. After the quarter the seed, the items and all answers of all models are published. From these files alone, anyone can regenerate the set and recompute every score: python -m evaluator ko-fresh verify DOWNLOADED_FOLDER --out FOLDER",
    ),
    "opened_books": Text("공개한 문항과 모든 답변", "Items and all answers"),
    "commitment_n": Text("{n}문항", "{n} items"),
    "seed_hash": Text("시드의 SHA-256", "SHA-256 of the seed"),
    "set_hash": Text("문항 전체의 SHA-256", "SHA-256 of the set"),
    "beacon": Text("공개 난수:", "Public randomness:"),
    "beacon_round": Text("drand quicknet {n}번째 라운드", "drand quicknet, round {n}"),
    "beacon_none": Text("쓰지 않음 (운영자가 시드를 정함)", "none (the operator chose the seed)"),
    "seed": Text("시드", "Seed"),
    "not_revealed": Text("아직 공개 전", "not revealed yet"),
    "reinstated": Text("{day} 순위 복귀", "ranked again since {day}"),
    "asked_before": Text("API 제공자에 {n}번 질문함", "asked {n}× before"),
    "asked_before_term": Text("API 제공자에 한 질문", "Asked before"),
    "asked_before_hint": Text(
        "API로 평가하면 문항이 제공자에게 전달됩니다. 이 결과를 얻기 전에 같은 제공자에게 같은 비공개 세트를 물은 횟수입니다. 제공자는 그때부터 문항을 알 수 있습니다.",
        "An evaluation through an API hands the questions to its provider. This is how often the same provider had been asked the same private set before. Since then it may know the questions.",
    ),
    "day_in_quarter": Text("분기 {n}일째", "day {n} of the quarter"),
    "day_in_quarter_term": Text("분기 며칠째", "Day of the quarter"),
    "day_in_quarter_hint": Text(
        "KO-FRESH 문항을 API 제공자에게 물은 날입니다. 분기가 지날수록 제공자가 문항을 알 가능성이 커집니다.",
        "When in the quarter an API was asked the KO-FRESH questions. The later, the more likely its provider knows them.",
    ),
    "exposure": Text("비공개 문항이 전달된 날", "Private questions sent"),
    "exposure_first": Text(
        "{day}에 처음으로 이 제공자에게 이 세트의 문항을 보냈습니다. 그때부터 제공자가 문항을 알 수 있습니다.",
        "On {day} this provider received the questions of this set for the first time. Since then it may know them.",
    ),
    "exposure_again": Text(
        "{day}에 이 제공자에게 이 세트의 문항을 보냈습니다. 그전에 {n}번 보냈으므로 제공자가 문항을 이미 알았을 수 있습니다.",
        "On {day} this provider received the questions of this set, and {n} times before, so it may have known them.",
    ),
    "signed_statement": Text("서명 파일", "Signed statement"),
    "errata": Text("정오표", "Errata"),
    "errata_note": Text(
        "정답을 바로잡거나 채점에서 뺀 문항입니다. 저장된 답변을 모델을 다시 실행하지 않고 새로 채점하므로 벤치마크의 버전과 점수, 순위가 바뀝니다. 비공개 세트의 문항은 키만 공개하고 내용은 공개하지 않습니다. 답변이 저장되지 않은 결과는 이전 버전으로 남고 순위에서 빠집니다.",
        "Items whose answer was corrected or that no longer count. Stored answers are scored again without running a model, which changes the benchmark's version, scores and ranks. Items of private sets are named by their key, never by their content. Results without stored answers keep the earlier version and have no rank.",
    ),
    "errata_version": Text("버전", "Version"),
    "errata_item": Text("문항 키", "Item key"),
    "errata_change": Text("바뀐 점", "Change"),
    "errata_withdrawn": Text("채점에서 제외", "withdrawn"),
    "errata_answer": Text("정답 수정", "answer corrected"),
    "errata_rescored": Text("다시 채점한 결과", "Results scored again"),
    "errata_not_rescored": Text("이전 버전 {n}개", "{n} on an earlier version"),
    "errata_moved": Text("점수나 순위가 바뀐 모델", "Models that moved"),
    "errata_models": Text("결과 {n}개", "{n} results"),
    "errata_ranks": Text("{before}위 → {after}위", "rank {before} → {after}"),
    "errata_nobody": Text("없음", "none"),
    "errata_of_benchmark": Text("버전 {version} · 정오표 {n}건", "Version {version} · errata: {n}"),
    "none_yet": Text("아직 없습니다.", "None yet."),
}
