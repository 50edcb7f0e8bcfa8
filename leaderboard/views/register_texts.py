"""Texts of the register of published numbers and of the lineage of models."""

from submissions.texts.text import Text

REGISTER_TEXTS: dict[str, Text] = {
    "register": Text("발표 점수 모음", "Published numbers"),
    "register_title": Text("{name}: 발표된 점수", "{name}: published numbers"),
    "register_description": Text(
        "한국어 비전-언어 벤치마크에서 발표된 점수 {n}개. 누가, 어떤 조건으로, 어디에 발표했는지와 서로 어긋나는 점수를 보여 줍니다.",
        "{n} published scores on Korean vision-language sets: who reports them, under which conditions, where, and which contradict each other.",
    ),
    "register_set_description": Text(
        "{name}에서 발표된 모델 점수를 발표자별로 비교합니다.",
        "Published scores of models on {name}, compared by reporter.",
    ),
    "register_note": Text(
        "다른 곳에서 발표한 점수를 모은 것입니다. 이 리더보드가 평가한 점수가 아니며 순위에 넣지 않습니다. 조건이 다른 점수는 서로 비교할 수 없으므로 이름순으로 놓습니다.",
        "These scores were published elsewhere. We did not measure them, and they enter no ranking. Scores under different conditions cannot be compared, so models are listed by name.",
    ),
    "register_sets": Text("벤치마크별", "By set"),
    "register_set": Text("벤치마크", "Set"),
    "register_numbers": Text("점수", "Scores"),
    "register_reporters": Text("발표자", "Reporters"),
    "register_contradictions": Text("서로 어긋나는 점수", "Contradictions"),
    "register_contradictions_note": Text(
        "같은 모델의 같은 세트 점수가 발표자에 따라 {n:g}점 넘게 다른 경우입니다.",
        "The same model on the same set, where two reporters differ by more than {n:g} point.",
    ),
    "register_difference": Text("차이", "Difference"),
    "register_no_numbers": Text("아직 찾은 점수가 없습니다.", "No published score has been found yet."),
    "register_contradicted": Text("{d}점 다름", "{d} points apart"),
    "register_agree": Text("일치({d}점 차이)", "agree ({d} points apart)"),
    "register_conditions_differ": Text("조건에 따라 {d}점 차이", "{d} points by conditions"),
    "register_single": Text("한 곳만 발표", "one reporter"),
    "register_verdict": Text("발표자끼리", "Between reporters"),
    "register_notes": Text("점수 옆 번호: 평가 조건", "Numbers beside the scores: conditions"),
    "register_faults": Text("알려진 문제", "Known faults"),
    "register_parts": Text("부분 점수 {n}개", "{n} scores of parts of the set"),
    "register_part": Text("부분", "Part"),
    "register_apart": Text(
        "따로 둔 점수 {n}개 (의심스럽거나 비교할 수 없음)", "{n} scores kept apart (doubtful or not comparable)"
    ),
    "register_apart_note": Text(
        "실행이 실패했거나 잘못 적은 것으로 보이는 점수, 또는 다른 프롬프트·번역·비공개 세트로 낸 점수입니다. 위의 표와 섞지 않습니다.",
        "Scores that look like failed runs or slips, or that come from another prompt, a translation or a private set. They are not mixed with the table above.",
    ),
    "register_reason": Text("이유", "Reason"),
    "register_report": Text("빠지거나 틀린 점수를 알려 주세요.", "Report a number that is missing or wrong."),
    "register_source": Text("출처", "Source"),
    "register_conditions": Text("조건", "Conditions"),
    "register_elsewhere": Text("다른 곳에서 발표된 점수", "Scores published elsewhere"),
    "register_all": Text("전체 다운로드:", "Download all:"),
    "register_download": Text("다운로드:", "Download:"),
    "register_same_everywhere": Text("어긋나는 점수가 없습니다.", "No contradictions."),
    "flag_doubtful": Text("의심스러움", "doubtful"),
    "flag_not_comparable": Text("비교할 수 없음", "not comparable"),
    "flag_conflict": Text("다른 출처와 다름", "contradicted elsewhere"),
    "flag_ok": Text("–", "–"),
    "reporter_model_maker": Text("모델 제작사", "maker of the model"),
    "reporter_benchmark_maker": Text("벤치마크 제작자", "maker of the set"),
    "reporter_both": Text("모델과 벤치마크의 제작사", "maker of both"),
    "reporter_rival_maker": Text("다른 모델의 제작사", "maker of a rival model"),
    "reporter_third_party": Text("제3자", "third party"),
}
