"""Texts of the submission form, the queue and requests."""

from submissions.texts.text import Text

SUBMISSION_TEXTS: dict[str, Text] = {
    "submit_on_live_board": Text(
        "이 페이지는 서버 없이 제공되는 사본입니다. 모델은 리더보드에서 제출해 주세요.",
        "These pages are a copy without a server. Submit models on the live leaderboard.",
    ),
    "submit_there": Text("리더보드에서 제출하기", "Submit on the leaderboard"),
    "submit_by_operator": Text(
        "이 사본은 제출을 받는 리더보드와 연결되어 있지 않습니다. 운영자에게 모델 ID와 벤치마크를 알려 주세요. 운영자는 아래 명령으로 제출합니다.",
        "This copy is not connected to a leaderboard that takes submissions. Send the model ID and the benchmarks to the operator, who submits with this command.",
    ),
    "follow_request": Text("이 요청이 끝나면 알림을 받으려면:", "To be told when this request is done:"),
    "submit_again": Text("고쳐서 다시 제출", "Fix and submit again"),
    "form_invalid": Text(
        "양식을 읽을 수 없습니다. 다시 입력해 주세요.", "The form could not be read. Please fill it in again."
    ),
    "queue_description": Text(
        "평가를 기다리거나 진행 중인 모델과 끝난 요청",
        "Models that wait for evaluation, are being evaluated, or are done",
    ),
    "checking": Text("모델 저장소를 확인하고 있습니다…", "Checking the model repository…"),
    "queue_position": Text("대기 순서 {n}번", "position {n} in the queue"),
    "ready_in": Text("약 {n}분 뒤 완료 예상", "result in about {n} min"),
    "offer_result": Text(
        "평가가 끝나면 결과를 모델 저장소에도 풀 리퀘스트로 올립니다.",
        "When the evaluation finishes, also open a pull request with the result on the model repository.",
    ),
    "see_request": Text("진행 상황", "Progress"),
    "started_at": Text("시작", "Started"),
    "attempt": Text("{n}번째 시도", "attempt {n}"),
    "request_unknown": Text(
        "요청을 찾을 수 없습니다. 방금 제출했다면 몇 초 뒤 나타납니다.",
        "Request not found. If you have just submitted it, it will appear in a few seconds.",
    ),
    "stage_launch": Text("장비 배정 대기 중", "waiting for a machine"),
    "stage_fetch": Text("모델 다운로드 중", "downloading the model"),
    "stage_load": Text("모델 로딩 중", "loading the model"),
    "stage_infer": Text("문항 푸는 중", "answering the questions"),
    "stage_measure": Text("지연 시간 측정 중", "measuring latency"),
    "stage_score": Text("채점 중", "scoring"),
    "stage_publish": Text("결과 게시 중", "publishing the result"),
    "submit": Text("제출", "Submit"),
    "queue": Text("대기열", "Queue"),
    "submit_intro": Text(
        "허깅페이스 모델 ID를 입력하고 벤치마크를 고르세요. 모델 저장소를 바로 검사하고, 통과하면 대기열에 추가합니다.",
        "Enter a Hugging Face model ID and choose benchmarks. The repository is checked right away and queued for evaluation if it passes.",
    ),
    "submit_privacy": Text(
        "모델 ID와 제출 시각은 공개됩니다. 계정 이름은 비공개 데이터 저장소에만 보관하고 공개 기록에는 가명으로 남깁니다. 요청하시면 운영자가 계정 이름을 삭제합니다.",
        "The model ID and the time of submission are public. Your account name is kept only in a private data store; public records show a pseudonym. The operator deletes your name on request.",
    ),
    "model_id": Text("모델 ID", "Model ID"),
    "model_id_hint": Text("owner/name 또는 허브 URL", "owner/name, or its Hub URL"),
    "revision": Text("리비전 (비우면 최신)", "Revision (latest if empty)"),
    "precision": Text("정밀도", "Precision"),
    "precision_auto": Text("체크포인트와 동일", "Same as checkpoint"),
    "benchmarks": Text("벤치마크", "Benchmarks"),
    "check_button": Text("제출 없이 검사만", "Check without submitting"),
    "submit_button": Text("검사하고 제출", "Check and submit"),
    "sign_in": Text("허깅페이스로 로그인", "Sign in with Hugging Face"),
    "sign_out": Text("로그아웃 ({who})", "Sign out ({who})"),
    "accepted_by_all": Text(
        "모든 검사를 통과했습니다. 제출할 수 있습니다.", "All checks passed. The model can be submitted."
    ),
    "accepted_by_some": Text(
        "제출할 수 있습니다. 단, 아래에 ✕로 표시된 벤치마크에는 제출할 수 없습니다.",
        "The model can be submitted, except to the benchmarks marked ✕ below.",
    ),
    "accepted_by_none": Text(
        "이 모델은 제출할 수 없습니다. 이유는 아래 ✕로 표시된 항목에 있습니다.",
        "The model cannot be submitted. The items marked ✕ below say why.",
    ),
    "checked": Text("검사 항목", "Checks"),
    "passed_check": Text("통과", "passed"),
    "failed_check": Text("실패", "failed"),
    "skipped_check": Text("검사하지 않음", "not checked"),
    "no_benchmark": Text("벤치마크를 하나 이상 고르세요.", "Choose at least one benchmark."),
    "accepted": Text("접수되었습니다", "Accepted"),
    "store_busy": Text(
        "데이터 저장소에 연결할 수 없어 아무것도 저장하지 못했습니다. 잠시 뒤 다시 제출해 주세요.",
        "The data store cannot be reached, so nothing was saved. Please submit again later.",
    ),
    "submitted_at": Text("제출", "Submitted"),
    "finished_at": Text("종료", "Finished"),
    "status": Text("상태", "Status"),
    "reason": Text("진행·결과", "Progress and result"),
    "pending": Text("대기", "pending"),
    "running": Text("실행 중", "running"),
    "finished": Text("완료", "finished"),
    "failed": Text("실패", "failed"),
    "quarantined": Text("보류", "on hold"),
    "queue_empty": Text("아직 제출된 모델이 없습니다.", "Nothing has been submitted yet."),
    "evaluator_error": Text("평가 서버 문제", "Evaluation server error"),
    "model_error": Text("모델 문제", "Model error"),
    "worker_silent": Text(
        "{since} 이후 평가 서버가 응답하지 않습니다. 계속 응답이 없으면 처음부터 다시 평가합니다.",
        "The evaluation server has not responded since {since}. If it does not respond, the evaluation will be restarted.",
    ),
    "no_worker": Text(
        "{since} 이후 평가 서버가 응답하지 않아 평가가 늦어지고 있습니다. 제출한 요청은 대기열에 그대로 있습니다.",
        "No evaluation server has responded since {since}, so evaluations are delayed. Submitted requests stay in the queue.",
    ),
    "paused": Text(
        "평가 환경에 문제가 생겨 {since}부터 평가를 멈췄습니다. {until}에 다시 시도합니다.",
        "Evaluation has been paused since {since} because of a problem on our side. Next attempt: {until}.",
    ),
    "queue_note": Text(
        "새 상태는 자동으로 표시됩니다. 시각은 한국 시간(KST)입니다.",
        "Updates appear automatically. Times are in Korea Standard Time (KST).",
    ),
}
