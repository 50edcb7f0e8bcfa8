"""Every text of the pages, in Korean and English."""

from typing import Literal

from submissions.messages import Text

Language = Literal["ko", "en"]

TEXTS: dict[str, Text] = {
    "title": Text("한눈 Hannun", "Hannun 한눈"),
    "tagline": Text(
        "한국어 비전-언어·기계독해 모델 리더보드. 비공개 시험 세트로 저희가 직접 돌려 같은 조건에서 채점합니다.",
        "The leaderboard for Korean vision-language and machine-reading models, run by us on private test sets.",
    ),
    "switch": Text("English", "한국어"),
    "switch_label": Text("Read this page in English", "이 페이지를 한국어로 보기"),
    "place": Text("{n}번째 차례", "number {n} in line"),
    "ready_in": Text("약 {n}분 뒤", "in about {n} min"),
    "share": Text(
        "결과가 나오면 모델 저장소에 풀 리퀘스트로도 제안합니다.",
        "Offer the result to the model's repository too, as a pull request.",
    ),
    "submit": Text("제출", "Submit"),
    "queue": Text("대기열", "Queue"),
    "search": Text("모델·기관 검색", "Search models and makers"),
    "search_hint": Text("예: Qwen, Gukbap, 삼성", "e.g. Qwen, Gukbap, Samsung"),
    "sort": Text("정렬", "Sort by"),
    "sort_score": Text("순위", "Rank"),
    "sort_em": Text("EM 높은 순", "EM, high first"),
    "sort_f1": Text("F1 높은 순", "F1, high first"),
    "sort_latency": Text("지연 시간 짧은 순", "Latency, short first"),
    "sort_date": Text("최신순", "Newest first"),
    "sort_name": Text("이름순", "Name"),
    "rank": Text("순위", "Rank"),
    "rank_range_hint": Text("95% 구간으로 볼 때 있을 수 있는 순위입니다.", "Ranks that the 95% intervals allow."),
    "interval_hint": Text(
        "95% 신뢰구간. 보고된 수치는 문항 수에서 셈한 윌슨 구간입니다.",
        "95% interval. For reported numbers it is Wilson's, from the number of items.",
    ),
    "strict": Text("엄격 EM", "Strict EM"),
    "strict_hint": Text(
        "공개 채점 규칙의 오류를 고친 규칙으로 채점한 EM입니다.",
        "EM under a rule that mends the published one's mistakes.",
    ),
    "model": Text("모델", "Model"),
    "latency": Text("지연 시간", "Latency"),
    "latency_unit": Text("ms/문항", "ms/item"),
    "n": Text("문항", "Items"),
    "date": Text("날짜", "Date"),
    "provenance": Text("출처", "Source"),
    "download_table": Text("표 내려받기:", "Download the table:"),
    "download": Text("결과 JSON", "Result JSON"),
    "verified": Text("검증", "verified"),
    "verified_hint": Text("저희가 직접 평가한 결과", "Evaluated by us"),
    "reported": Text("보고", "reported"),
    "reported_hint": Text("제작자가 공개한 수치", "A number published by its makers"),
    "human": Text("사람", "human"),
    "baseline": Text("기준 모델", "baseline"),
    "sample": Text("샘플", "sample"),
    "out_of_memory": Text("메모리 부족", "OOM"),
    "out_of_memory_hint": Text("원 평가에서 메모리 부족으로 측정하지 못함", "Not measured: out of memory there"),
    "none": Text("일치하는 모델이 없습니다. 다른 검색어를 넣어 보세요.", "No model matches. Try other words."),
    "unranked_note": Text(
        "순위는 같은 시험 세트로 잰 모델끼리만 매깁니다. 사람·기준 모델·샘플 결과에는 순위가 없습니다.",
        "Ranks are among models measured on the same test set. Humans, baselines and sample runs have none.",
    ),
    "unreadable": Text("읽을 수 없는 기록 {n}건을 뺐습니다.", "{n} unreadable records are left out."),
    "about": Text("벤치마크 소개", "About this benchmark"),
    "results_shown": Text("결과 {n}건", "{n} results"),
    "column_text_plain": Text("일반 차트", "Plain"),
    "column_visual_basic": Text("시각 기초", "Visual basic"),
    "column_visual_metaphor": Text("시각 은유", "Metaphor"),
    "submit_intro": Text(
        "허브의 모델 ID를 넣고 벤치마크를 고르세요. 형식과 가중치를 바로 확인하고, 통과하면 대기열에 넣습니다.",
        "Give a Hub model ID and choose benchmarks. It is checked at once and queued if it passes.",
    ),
    "model_id": Text("모델 ID", "Model ID"),
    "model_id_hint": Text("owner/name 또는 허브 주소", "owner/name, or its Hub address"),
    "revision": Text("리비전 (비우면 최신)", "Revision (empty: newest)"),
    "precision": Text("정밀도", "Precision"),
    "precision_auto": Text("체크포인트대로", "As the checkpoint says"),
    "benchmarks": Text("벤치마크", "Benchmarks"),
    "check_button": Text("먼저 확인만 하기", "Only check"),
    "submit_button": Text("확인하고 제출하기", "Check and submit"),
    "sign_in": Text("허깅페이스로 로그인", "Sign in with Hugging Face"),
    "sign_out": Text("로그아웃 ({who})", "Sign out ({who})"),
    "all_checks_pass": Text(
        "모든 항목을 통과했습니다. 제출할 수 있습니다.", "Every check passed. It can be submitted."
    ),
    "some_checks_fail": Text(
        "통과하지 못한 항목이 있습니다. 아래를 고친 뒤 다시 확인하세요.",
        "Some checks failed. Mend what is said below, then check again.",
    ),
    "checked": Text("확인한 항목", "What was checked"),
    "passed_check": Text("통과", "passed"),
    "failed_check": Text("통과 못 함", "failed"),
    "skipped_check": Text("해당 없음", "not looked at"),
    "no_benchmark": Text("벤치마크를 하나 이상 고르세요.", "Choose at least one benchmark."),
    "accepted": Text("접수되었습니다. 앞에 {n}건이 있습니다.", "Accepted. {n} requests are ahead of it."),
    "store_busy": Text(
        "지금 접수가 몰려 저장하지 못했습니다. 잠시 뒤 다시 제출해 주세요.",
        "Too many submissions at once; nothing was saved. Submit again in a moment.",
    ),
    "submitted_at": Text("제출", "Submitted"),
    "finished_at": Text("종료", "Ended"),
    "status": Text("상태", "Status"),
    "benchmark": Text("벤치마크", "Benchmark"),
    "reason": Text("사유와 할 일", "Reason and what to do"),
    "pending": Text("대기", "pending"),
    "running": Text("실행 중", "running"),
    "finished": Text("완료", "finished"),
    "failed": Text("실패", "failed"),
    "quarantined": Text("격리", "quarantined"),
    "queue_empty": Text("아직 제출된 모델이 없습니다.", "Nothing has been submitted yet."),
    "ours": Text("저희 쪽 문제", "Our fault"),
    "yours": Text("모델 쪽 문제", "The model's"),
    "see_result": Text("결과 JSON", "Result JSON"),
    "queue_note": Text(
        "3초마다 새로 고칩니다. 시각은 한국 시간입니다.", "Renews every 3 seconds. Times are Korean (KST)."
    ),
}


def text(key: str, language: Language, **values: object) -> str:
    return str(getattr(TEXTS[key], language)).format(**values)
