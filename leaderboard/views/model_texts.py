"""Texts of the pages of models, of comparisons and of sample items."""

from submissions.texts.text import Text

MODEL_TEXTS: dict[str, Text] = {
    # Sentences of `verdict.py`. The first is joined from "verdict_overall", "verdict_range" if the rank has one, and an end.
    "verdict_overall": Text(
        "{group} 종합 순위는 모델 {of}개 가운데 {rank}위", "Ranks {rank} of {of} models overall on {group}"
    ),
    "verdict_overall_alone": Text("{group} 종합 순위는 {rank}위", "Ranks {rank} overall on {group}"),
    "verdict_image": Text("이미지 벤치마크 {n}개의", "{n} image benchmarks"),
    "verdict_page": Text("문서 읽기 벤치마크 {n}개의", "{n} reading benchmarks"),
    "verdict_range": Text("({best}~{worst}위)", " ({best} to {worst})"),
    "verdict_end": Text("입니다.", "."),
    "verdict_reported": Text("입니다(외부 발표 점수).", ", by scores that others report."),
    "verdict_leads": Text("{titles}에서 1위이거나 공동 1위입니다.", "First or tied for first on {titles}."),
    "verdict_leads_more": Text(
        "{titles} 외 {n}개에서 1위이거나 공동 1위입니다.", "First or tied for first on {titles} and {n} more."
    ),
    "verdict_unseen": Text("{words}({titles}).", "It {words} ({titles})."),
    "verdict_partial": Text(
        "벤치마크 {n}개에 순위가 있고, 종합 순위에 필요한 벤치마크를 다 평가하지는 않았습니다.",
        "It has a rank on {n} benchmarks, not on all that the overall rank needs.",
    ),
    "verdict_partial_one": Text(
        "벤치마크 1개에 순위가 있고, 종합 순위에는 더 필요합니다.",
        "It has a rank on one benchmark, and the overall rank needs more.",
    ),
    "verdict_none": Text("아직 순위가 없습니다.", "It has no rank yet."),
    "overall_rank": Text("종합 순위", "Overall rank"),
    "cost_per_1000": Text("1,000문항 비용", "Cost of 1,000 questions"),
    "more_on_model": Text("강점과 약점, 계보, 관련 모델", "Strengths, weaknesses, lineage, related models"),
    "to_benchmark": Text("{title} 표 보기", "See the table of {title}"),
    "best_of_size": Text("같은 크기의 다른 모델 중 최고와의 차이", "Difference from the best other model of its size"),
    "rank_of": Text("{n}건 중 {rank}위", "{rank} of {n}"),
    "strengths": Text("중앙값보다 높은 영역:", "Above the median on:"),
    "weaknesses": Text("중앙값보다 낮은 영역:", "Below the median on:"),
    "related_family": Text("같은 계열의 다른 크기:", "Other sizes of its family:"),
    "lineage_tree": Text(
        "모델 카드가 밝힌 계보", "What it was made from, and what was made from it, as model cards say"
    ),
    "badge_hint": Text("모델 카드에 넣을 배지:", "A badge for the model card:"),
    "new_results_of": Text("새 결과 받아 보기:", "Follow new results:"),
    "explore": Text("샘플 문항과 모델의 답변 보기", "See sample items and model answers"),
    "explore_title": Text("{benchmark} 샘플 문항", "Sample items of {benchmark}"),
    "explore_hint": Text(
        "공개된 샘플 문항만 보여 줍니다. 모델끼리 답이 갈린 문항이 먼저 나옵니다. 테스트 세트의 문항은 공개하지 않습니다.",
        "Only the public sample items are shown, those on which models disagree first. Items of the test set are never shown.",
    ),
    "opened_title": Text("{quarter}: 문항과 모든 답변", "{quarter}: items and all answers"),
    "opened_hint": Text(
        "공개한 분기의 모든 문항과 모든 모델의 답변입니다. 모델끼리 답이 갈린 문항이 먼저 나옵니다. 점수는 이 리더보드가 공개된 답변을 다시 채점해 계산했습니다.",
        "All items of a revealed quarter with the answers of all models, those on which models disagree first. The scores are recomputed by this leaderboard from the published answers.",
    ),
    "opened_published": Text("발표한 점수", "Published score"),
    "opened_computed": Text("다시 계산한 점수", "Computed again"),
    "opened_hash": Text("답변 해시", "Hash of answers"),
    "hash_right": Text("일치", "matches"),
    "hash_wrong": Text("불일치", "differs"),
    "opened_link": Text("문항과 답변 보기", "See items and answers"),
    "explore_page": Text("문서 앞부분", "Beginning of the page"),
    "picture_of": Text("{id} 문항의 이미지", "Image of item {id}"),
    "gold_answer": Text("정답:", "Reference answer:"),
    "right_answer": Text("정답", "correct"),
    "wrong_answer": Text("오답", "wrong"),
    "no_answers_yet": Text("아직 이 문항에 답한 모델이 없습니다.", "No model has answered this item yet."),
    "report_item": Text(
        "문항이나 정답이 잘못되었나요? 문항 키로 알려 주세요.", "Is an item or its answer wrong? Report its key."
    ),
    "report_answer": Text("정답이 잘못되었나요? 알려 주세요.", "Is the reference answer wrong? Report it."),
    "compare_left_out": Text(
        "한 번에 {n}개까지 비교합니다. 제외한 모델: {models}", "At most {n} models are compared. Left out: {models}"
    ),
    "made_from": Text("베이스 모델: {model}", "base model: {model}"),
    "against_base": Text("베이스 모델({model}) 대비 {d}점", "vs. base model {model}: {d} points"),
    "interval_of": Text("95% 신뢰구간 {low} ~ {high}", "95% CI {low} to {high}"),
    "base_model": Text("베이스 모델", "Base model"),
    "unfinished": Text("추론 도중 잘린 답변", "Answers cut off while reasoning"),
    "decoding": Text("디코딩", "Decoding"),
    "decoding_greedy": Text("그리디", "greedy"),
    "decoding_repository": Text("저장소 설정", "repository settings"),
    "decoding_repository_hint": Text(
        "모델 저장소의 generation_config.json(반복 페널티 등)을 적용한 결과라서 순위에서 제외합니다.",
        "Generated with the settings in the repository's generation_config.json, such as a repetition penalty. Not ranked.",
    ),
    "decoding_provider": Text("제공자 기본값", "provider defaults"),
    "decoding_provider_hint": Text(
        "API가 temperature 설정을 지원하지 않아 제공자의 기본 설정으로 생성했습니다.",
        "The API does not support setting a temperature, so the provider's defaults were used.",
    ),
    "answer_budget": Text("답변 최대 {n}토큰", "answers up to {n} tokens"),
    "reasoning_budget": Text("추론 최대 {n}토큰", "reasoning up to {n} tokens"),
    "dropped": Text("적용하지 않은 저장소 설정: {names}", "repository settings not applied: {names}"),
    "batches_tried": Text(
        "점수가 달라져 쓰지 않은 배치 크기: {sizes}", "batch sizes rejected because scores changed: {sizes}"
    ),
    "api_model": Text("API 모델 버전", "API model version"),
    "cost": Text("비용", "Cost"),
    "tokens": Text("토큰", "tokens"),
    "device_hours": Text("장비 사용 %.3g시간", "%.3g device hours"),
    "compare": Text("비교", "Compare"),
    "find_model": Text("모델 찾기", "Find a model"),
    "add_model": Text("비교할 모델 찾기", "Find models to compare"),
    "model_unknown": Text("{name}: 이 이름의 모델을 찾을 수 없습니다.", "No model named {name} was found."),
    "on_the_hub": Text("허깅페이스에서 보기", "View on Hugging Face"),
    "compare_it": Text("다른 모델과 비교", "Compare with others"),
    "see_model": Text("모델 페이지", "Model page"),
    "this_model": Text("이 모델", "this model"),
    "best": Text("최고", "best"),
    "median": Text("중앙값", "median"),
    "own_best": Text("이 모델 {own}, 최고 {best}", "this model {own}, best {best}"),
    "own_best_median": Text(
        "이 모델 {own}, 최고 {best}, 중앙값 {median}", "this model {own}, best {best}, median {median}"
    ),
    "details": Text("평가 조건과 출처", "Evaluation conditions and source"),
    "dataset": Text("데이터셋", "Dataset"),
    "revision_short": Text("리비전", "Revision"),
    "hardware": Text("하드웨어", "Hardware"),
    "answers": Text("답변 상태", "Answer status"),
    "answer_ok": Text("정상", "ok"),
    "answer_empty": Text("빈 답변", "empty"),
    "answer_refused": Text("응답 거부", "refused"),
    "answer_truncated": Text("잘림", "truncated"),
    "answer_infra_error": Text("평가 오류", "evaluation errors"),
    "batch_invariance": Text("배치 크기의 영향", "Effect of batch size"),
    "batch_invariance_found": Text(
        "하나씩 다시 푼 {n}문항 중 {changed}문항의 점수가 달라짐",
        "{changed} of {n} scores changed when items were run one at a time",
    ),
    "batch_invariance_answers": Text(
        "하나씩 다시 푼 {n}문항 중 {changed}문항의 답변 문구가 달라짐",
        "{changed} of {n} answers were worded differently when items were run one at a time",
    ),
    "batch_invariance_same": Text(
        "하나씩 다시 풀어도 {n}문항 모두 점수가 같음",
        "all {n} scores stayed the same when items were run one at a time",
    ),
    # Names and values in a result's environment, and its protocol of latency; others are shown as they are (`named`).
    "environment_python": Text("Python", "Python"),
    "environment_torch": Text("PyTorch", "PyTorch"),
    "environment_transformers": Text("Transformers", "Transformers"),
    "environment_tokenizers": Text("Tokenizers", "Tokenizers"),
    "environment_pillow": Text("Pillow", "Pillow"),
    "environment_torchvision": Text("torchvision", "torchvision"),
    "environment_server_version": Text("모델 서버 버전", "Model server version"),
    "environment_server_context": Text("서버가 제한한 컨텍스트 길이", "Context as limited by the server"),
    "environment_image_processor": Text("이미지 프로세서", "Image processor"),
    "environment_sandbox": Text("샌드박스", "Sandbox"),
    "environment_cgroup": Text("메모리·프로세스 제한", "Memory and process limits"),
    "environment_v1": Text("cgroup 버전 1", "cgroup version 1"),
    "environment_v2": Text("cgroup 버전 2", "cgroup version 2"),
    "environment_none": Text("없음", "none"),
    "protocol_one at a time": Text("한 문항씩 측정", "one item at a time"),
    "protocol_total/questions": Text("전체 시간 ÷ 문항 수", "total time / items"),
    "history": Text("이력", "History"),
    "remove": Text("{name} 제외", "Remove {name}"),
    "compare_hint": Text("비교할 모델을 2~{n}개 고르세요.", "Choose 2 to {n} models to compare."),
    "nothing_alike": Text(
        "선택한 모델을 모두 같은 조건에서 평가한 벤치마크가 없습니다.",
        "No benchmark has results for all of these models under the same conditions.",
    ),
    # Whether the scores of two models differ (compare.html).
    "verdict_ahead": Text(
        "{a} · {b}: {a} 쪽이 {d}점 높고, 차이는 통계적으로 유의합니다 (95% 신뢰구간 {low} ~ {high}).",
        "{a} is {d} points ahead of {b}, a statistically significant difference (95% CI {low} to {high}).",
    ),
    "verdict_behind": Text(
        "{a} · {b}: {b} 쪽이 높고, 차이는 통계적으로 유의합니다 (차이 {d}점, 95% 신뢰구간 {low} ~ {high}).",
        "{b} is ahead of {a}, a statistically significant difference ({d} points, 95% CI {low} to {high}).",
    ),
    "verdict_same": Text(
        "{a} · {b}: 통계적으로 유의한 차이가 없습니다 (차이 {d}점, 95% 신뢰구간 {low} ~ {high}).",
        "{a} and {b}: no statistically significant difference ({d} points, 95% CI {low} to {high}).",
    ),
    "verdict_unknown": Text(
        "{a} · {b}: 차이는 {d}점입니다. 신뢰구간이 없는 점수가 있어 통계적으로 유의한지 판단할 수 없습니다.",
        "{a} and {b} differ by {d} points. A confidence interval is missing, so significance cannot be tested.",
    ),
    "verdict_other_rule": Text(
        "{a} · {b}: 하나는 직접 평가한 점수({measured}), 하나는 외부에서 발표한 점수({reported})이므로 비교할 수 없습니다.",
        "{a} and {b} cannot be compared: one score is measured ({measured}), the other reported ({reported}).",
    ),
    "ahead_on": Text("{model}의 점수가 더 높은 영역: {parts}.", "{model} is ahead on {parts}."),
    "not_measured": Text("같은 조건의 결과 없음: {models}", "No result under the same conditions: {models}"),
    "overall": Text("전체", "Overall"),
    "by_part": Text("영역별", "By category"),
    "paired": Text("같은 문항끼리 비교한 대응 표본 검정입니다(p {p}).", "By a paired test on the same items (p {p})."),
    "unpaired": Text(
        "같은 문항끼리 비교한 결과가 없어 두 점수의 신뢰구간으로 추정했습니다(Newcombe).",
        "No item-by-item comparison; estimated from the confidence intervals of both scores (Newcombe).",
    ),
    "compare_note": Text(
        "대응 표본 검정은 평가 서버가 비공개 문항별 점수로 계산하고, 반올림한 구간과 p값만 공개합니다(McNemar 검정, 문서나 이미지를 함께 쓰는 문항에는 Yang·Sun·Hardin과 비슷한 검정). 그 밖의 신뢰구간은 두 점수의 신뢰구간으로 계산합니다(Newcombe 1998). 모두 다중 비교를 보정한 값입니다(Bonferroni). 순위표는 모든 결과를 한꺼번에 비교하므로 더 엄격합니다. 거기서 공동 순위인 두 모델도 여기서는 차이가 유의할 수 있습니다.",
        "Paired tests (McNemar, or one close to Yang, Sun & Hardin if items share a document or image) are computed on the evaluation server from private per-item scores; only rounded intervals and p-values are published. Other intervals are computed from those of both scores (Newcombe 1998). All are corrected for multiple comparisons (Bonferroni). The tables compare all results at once and are stricter: two models that are tied there may differ significantly here.",
    ),
}
