"""Texts of the register of published numbers, of the lineage of models, and of ranks on unseen questions.

The filters by lineage and by GPU memory, and what other pages show of these three, have their texts here too.
"""

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
        "다른 곳에서 발표한 점수를 모은 것입니다. 이 리더보드가 평가한 점수가 아니며, 직접 평가한 결과의 순위에는 들어가지 않습니다. 조건이 다른 점수는 서로 비교할 수 없으므로 이름순으로 놓습니다.",
        "These scores were published elsewhere. We did not measure them, and they do not enter the ranks of what we measured. Scores under different conditions cannot be compared, so models are listed by name.",
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
    # Shown in place of the difference if no two reporters can be compared, but a number has the flag "conflict". Its note
    # says what contradicts it.
    "register_conflict": Text("모순 있음 (번호 설명 참고)", "contradiction (see its note)"),
    "register_conflicts_of_parts": Text("부분 점수의 모순", "Contradictions about parts of a set"),
    "register_agree": Text("일치({d}점 차이)", "agree ({d} points apart)"),
    "register_conditions_differ": Text("조건에 따라 {d}점 차이", "{d} points by conditions"),
    "register_compared": Text("비교할 수 있는 모델 {n}개", "{n} models can be compared"),
    "register_single": Text("한 곳만 발표", "one reporter"),
    "register_verdict": Text("발표자끼리", "Between reporters"),
    "register_notes": Text("점수 옆 번호: 평가 조건", "Numbers beside the scores: conditions"),
    "register_faults": Text("알려진 문제", "Known faults"),
    "register_parts": Text("부분 점수 {n}개", "{n} scores of parts of the set"),
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
    "flag_doubtful": Text("의심스러움", "doubtful"),
    "flag_not_comparable": Text("비교할 수 없음", "not comparable"),
    "flag_conflict": Text("다른 출처와 다름", "contradicted elsewhere"),
    "reporter_model_maker": Text("모델 제작사", "maker of the model"),
    "reporter_benchmark_maker": Text("벤치마크 제작자", "maker of the set"),
    "reporter_both": Text("모델과 벤치마크의 제작사", "maker of both"),
    "reporter_rival_maker": Text("다른 모델의 제작사", "maker of a rival model"),
    "reporter_third_party": Text("제3자", "third party"),
    "memory": Text("GPU 한 장에 들어가는 모델", "Fits one GPU with"),
    "memory_fits": Text("{card} GB GPU 한 장에 들어감", "fits one {card} GB GPU"),
    "language_model": Text("언어 모델", "Language model"),
    "vision_encoder": Text("비전 인코더", "Vision encoder"),
    "origin_scratch": Text("처음부터 학습", "from scratch"),
    "origin_own": Text("자체 모델 기반", "from the maker's own model"),
    "origin_other": Text("다른 제작사 모델 기반", "from another maker's model"),
    "origin_unknown": Text("확인 전", "not known"),
    "encoder_own": Text("자체", "own"),
    "encoder_other": Text("다른 제작사", "another maker's"),
    "encoder_none": Text("없음(텍스트 전용)", "none (text only)"),
    "encoder_unknown": Text("확인 전", "not known"),
    "lineage": Text("계보", "Lineage"),
    "lineage_description": Text(
        "한국어 비전-언어 모델 {n}개의 언어 모델과 비전 인코더가 어디에서 왔는지, 누가 그렇게 말하는지 보여 줍니다.",
        "Where the language model and the vision encoder of {n} models come from, and who says so.",
    ),
    "lineage_note": Text(
        "제작사가 밝힌 것, 설정 파일이나 코드가 보여 주는 것, 둘이 맞는지를 나눠 적습니다. 다른 모델의 코드에서 파생된 클래스라도 가중치의 출처를 보여 주지는 않습니다. ‘확인 전’은 저희가 아직 자료를 확인하지 못했다는 뜻이며 ‘아니요’가 아닙니다.",
        "What the maker declares, what configuration or code shows, and whether these agree are kept apart. A class derived from another model's code does not show where the weights come from. “Not known” means that we have not read a source yet; it does not mean no.",
    ),
    "lineage_declared_language": Text("언어 모델 (제작사 설명)", "Language model, as declared"),
    "lineage_declared_encoder": Text("비전 인코더 (제작사 설명)", "Vision encoder, as declared"),
    "lineage_shown": Text("설정 파일·코드에서 보이는 것", "What configuration or code shows"),
    "lineage_agreement": Text("둘이 맞는지", "Do they agree?"),
    "agreement_agree": Text("일치", "agree"),
    "agreement_code_only": Text("코드만 확인", "code only"),
    "agreement_shape_only": Text("모양만 확인", "shape only"),
    "agreement_differs": Text("다름", "differs"),
    "agreement_not_checked": Text("확인 전", "not checked"),
    "lineage_repository": Text("이 저장소의 설정 파일", "This repository's configuration"),
    "lineage_layers": Text("{n}층", "{n} layers"),
    "lineage_width": Text("은닉 크기 {n}", "width {n}"),
    "lineage_vocabulary": Text("어휘 {n}", "vocabulary {n}"),
    "lineage_correct": Text(
        "잘못된 내용이 있나요? 고칠 내용과 출처를 보내 주세요.",
        "Is something wrong? Send the correction with its source.",
    ),
    "lineage_corrected": Text("{day} 제작사가 고침", "corrected by its maker on {day}"),
    "lineage_tensors": Text(
        "모델 카드가 밝힌 베이스 모델의 텐서 {n}개 가운데 {found}개가 이름과 모양이 같음. 가중치가 같다는 뜻은 아님",
        "{found} of the {n} tensors of the base that the card names are there with the same name and shape; this does not mean equal weights",
    ),
    "lineage_tensors_equal": Text(
        "모델 카드가 밝힌 베이스 모델의 텐서 {n}개 가운데 {found}개가 이름과 모양이 같고, {equal}개는 값까지 같음",
        "{found} of the {n} tensors of the base that the card names are there with the same name and shape, {equal} with the same values",
    ),
    "lineage_base": Text("모델 카드의 베이스 모델", "base model of the card"),
    "unseen": Text("처음 보는 문항", "Unseen questions"),
    "nav_unseen": Text("처음 보는 문항", "Unseen"),
    "nav_register": Text("발표 점수", "Published"),
    "unseen_description": Text(
        "공개 전에는 누구도 학습할 수 없는 문항에서의 순위와 누구나 내려받을 수 있는 세트에서의 순위를 비교합니다.",
        "Ranks on questions that no model can have been trained on, compared with ranks on sets that anybody can download.",
    ),
    "unseen_note": Text(
        "공개 전에는 누구도 학습할 수 없는 문항에서의 순위에서 공개된 세트에서의 순위를 뺍니다. 양수면 처음 보는 문항에서 순위가 내려갑니다. 두 세트로 모두 직접 평가한 모델끼리만 비교하고, 두 순위의 범위가 허용하는 차이를 함께 적습니다. 범위가 0에 걸쳐 있으면 올랐는지 내렸는지 알 수 없습니다. 내려갔다고 해서 반드시 공개 세트를 학습한 것은 아닙니다.",
        "The rank on questions that no model can have been trained on, minus the rank on a public set. A positive number means that the model falls on unseen questions. Only models that we evaluated on both sets are compared, and the difference that the ranges of both ranks allow is given beside it. If that range includes 0 and other places, a rise or fall is not known. A fall does not prove that a model was trained on the public set.",
    ),
    "unseen_among": Text("두 세트로 모두 평가한 모델 {n}개 가운데", "Among the {n} models that were evaluated on both"),
    "unseen_rank": Text("{name} 순위", "Rank on {name}"),
    "unseen_difference": Text("차이", "Difference"),
    "unseen_words": Text("뜻", "In words"),
    "unseen_falls": Text(
        "처음 보는 문항에서 {low}~{high}계단 내려감", "falls by {low} to {high} places on unseen questions"
    ),
    "unseen_falls_by": Text("처음 보는 문항에서 {n}계단 내려감", "falls by {n} places on unseen questions"),
    "unseen_falls_one": Text("처음 보는 문항에서 1계단 내려감", "falls by one place on unseen questions"),
    "unseen_rises": Text(
        "처음 보는 문항에서 {low}~{high}계단 올라감", "rises by {low} to {high} places on unseen questions"
    ),
    "unseen_rises_by": Text("처음 보는 문항에서 {n}계단 올라감", "rises by {n} places on unseen questions"),
    "unseen_rises_one": Text("처음 보는 문항에서 1계단 올라감", "rises by one place on unseen questions"),
    "unseen_stays": Text("처음 보는 문항에서도 순위가 같음", "keeps its rank on unseen questions"),
    "unseen_unknown": Text("알 수 없음 ({low} ~ {high})", "not known ({low} to {high})"),
    "unseen_none": Text(
        "두 종류의 세트로 모두 직접 평가한 모델이 아직 {n}개가 되지 않습니다.",
        "Fewer than {n} models have been evaluated on both kinds of sets so far.",
    ),
}
