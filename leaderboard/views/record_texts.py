"""Texts about the record, for its tab and for the model tab: reproductions, attempts, retired results, seeds."""

from submissions.texts.text import Text

RECORD_TEXTS: dict[str, Text] = {
    "record": Text("기록", "Record"),
    "reproductions": Text("공개 수치 재현", "Reproductions"),
    "reproductions_note": Text(
        "개발사나 논문이 공개한 점수가 여기서 측정한 점수의 95% 신뢰구간 안에 있으면 재현된 것으로 봅니다.",
        "A reported score is reproduced if it lies within the 95% confidence interval of the score measured here.",
    ),
    "not_measured_yet": Text(
        "공개 수치 {n}개는 아직 측정하지 않았습니다.", "{n} reported scores have not been measured here yet."
    ),
    "no_reproductions": Text(
        "같은 분할에서 측정한 공개 모델이 아직 없습니다. 모델을 제출하면 여기에 표시됩니다.",
        "No reported model has been measured on the same split yet. Submit one and it will appear here.",
    ),
    "reproduction": Text(
        "공개 수치 {reported}, 측정값 {measured} ± {margin}.", "Reported {reported}, measured {measured} ± {margin}."
    ),
    "reproduction_hint": Text(
        "공개 수치와 여기서 측정한 점수를 비교한 결과입니다.", "Compares the reported score with the one measured here."
    ),
    "reproduced_only": Text("공개 수치와 측정값이 모두 있는 모델만", "Only models both reported and measured"),
    "reported_score": Text("공개 수치", "Reported"),
    "measured": Text("측정값", "Measured"),
    "measured_with": Text("측정 조건", "Measured with"),
    "verdict": Text("판정", "Verdict"),
    "verdict_reproduced": Text("재현됨", "reproduced"),
    "verdict_higher": Text("측정값이 높음", "measured higher"),
    "verdict_lower": Text("측정값이 낮음", "measured lower"),
    "released": Text("{month} 출시", "released {month}"),
    "published_as": Text("공개 명칭: {name}", "reported as {name}"),
    "attempts": Text("평가 횟수", "Attempts"),
    "attempts_note": Text(
        "여기서 측정한 모든 결과를 기관별, 베이스 모델별로 셉니다. 여러 번 평가할수록 최고 점수는 우연히 높아질 수 있습니다.",
        "All results measured here, counted by organisation and by base model. The best of many attempts may be high by chance.",
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
    "best_of": Text("{n}회 중 최고", "best of {n}"),
    "attempts_hint": Text(
        "리비전, 정밀도, 추론 모드를 바꾸어 평가한 결과 가운데 가장 높은 점수입니다.",
        "The highest score among several revisions, precisions or thinking modes of this model.",
    ),
    "retired": Text("순위 제외", "Retired"),
    "retired_results": Text("순위에서 제외한 결과", "Retired results"),
    "retired_note": Text(
        "결과는 삭제하지 않습니다. 운영자가 순위에서 제외한 결과는 이유와 함께 모두 공개합니다.",
        "Results are never deleted. Those that the operator took out of the ranking are listed with the reason.",
    ),
    "retired_reason": Text("이유", "Reason"),
    "commitments": Text("KO-FRESH 시드", "Seeds of KO-FRESH"),
    "commitments_note": Text(
        "분기마다 평가 전에 시드의 해시를 공개하고, 분기가 끝나면 시드를 공개합니다. 공개된 시드로 누구나 같은 문항을 다시 생성해 확인할 수 있습니다: python -m evaluator ko-fresh verify 분기 --out 폴더",
        "The hash of each quarter's seed is published before any model is asked, the seed after the quarter. With it anybody can draw the same set and check: python -m evaluator ko-fresh verify QUARTER --out FOLDER",
    ),
    "commitment_n": Text("{n}문항", "{n} items"),
    "seed_hash": Text("시드의 SHA-256", "SHA-256 of the seed"),
    "set_hash": Text("문항 전체의 SHA-256", "SHA-256 of the set"),
    "seed": Text("시드", "Seed"),
    "not_revealed": Text("아직 공개 전", "not revealed yet"),
    "reinstated": Text("{day} 순위 복귀", "ranked again since {day}"),
    "nth_of": Text("{of}회 중 {number}번째", "attempt {number} of {of}"),
    "signed_statement": Text("서명", "Signed statement"),
    "none_yet": Text("아직 없습니다.", "None yet."),
}
