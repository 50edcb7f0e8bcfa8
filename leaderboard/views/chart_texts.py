"""Texts of the charts."""

from submissions.texts.text import Text

CHART_TEXTS: dict[str, Text] = {
    "charts": Text("차트: 크기·지연 시간·영역별 점수와 추이", "Charts: score by size, latency, category and date"),
    "chart_size": Text("모델 크기별 점수", "Score vs. model size"),
    "chart_size_hint": Text(
        "점선은 그 크기 이하인 모델의 최고 점수입니다.",
        "Dotted line: the best score among models of that size or smaller.",
    ),
    "chart_speed": Text("지연 시간별 점수", "Score vs. latency"),
    "chart_speed_hint": Text(
        "점선은 지연 시간이 그 값 이하인 모델의 최고 점수입니다. 하드웨어가 다르면 지연 시간을 비교할 수 없습니다.",
        "Dotted line: the best score among models at that latency or lower. Latency is not comparable across hardware.",
    ),
    "chart_cost": Text("비용별 점수", "Score vs. cost"),
    "chart_cost_hint": Text(
        "점선은 비용이 그 값 이하인 모델의 최고 점수입니다.",
        "Dotted line: the best score among models at that cost or lower.",
    ),
    "axis_usd_per_1000": Text("비용 (USD/1,000문항)", "Cost (USD per 1,000 items)"),
    "chart_wins": Text("모델끼리 비교", "Which model beats which"),
    "chart_wins_hint": Text(
        "▲ 행의 모델이 열의 모델보다 유의하게 높음 · ▼ 낮음 · = 차이가 유의하지 않음 · 빈칸은 비교하지 않음",
        "▲ the row's model is significantly ahead of the column's · ▼ behind · = no significant difference · empty: not compared",
    ),
    "chart_benchmarks": Text("모델 × 벤치마크", "Models × benchmarks"),
    "chart_benchmarks_hint": Text("표 상위 모델의 점수 (0–100)", "Scores of the top models in the table (0–100)"),
    "score_by": Text("가로축", "Score against"),
    "score_by_size": Text("크기", "size"),
    "score_by_speed": Text("지연 시간", "latency"),
    "score_by_cost": Text("비용", "cost"),
    "chart_parts": Text("영역별 점수", "Scores by category"),
    "chart_parts_hint": Text("상위 모델의 영역별 점수 (0–100)", "Top models by category (0–100)"),
    "chart_ladder": Text("화질이 떨어질 때의 점수", "Scores on degraded images"),
    "chart_ladder_hint": Text(
        "같은 질문을 원본과 스캔·사진·팩스·저해상도·재압축 이미지로 물은 점수입니다. 점에 마우스를 올리면 원본 대비 하락한 점수와 95% 신뢰구간이 나옵니다. 범례의 숫자는 원본 순위 → 화질을 낮춘 이미지 전체의 순위입니다.",
        "Scores for the same questions asked about clean, scanned, photographed, faxed, low-resolution and recompressed images. Hover for the drop against the clean ones, with its 95% interval. Numbers in the legend: rank on clean images → rank on all degraded images.",
    ),
    "ladder_holds": Text("없음", "none"),  # in the column of the first version with a clear loss: there is none
    "ladder_rank": Text("{n}위", "rank {n}"),
    "ladder_lost": Text("하락한 점수", "drop"),
    "baselines": Text("베이스라인:", "Baselines:"),
    "chart_time": Text("점수 추이", "Score over time"),
    "chart_time_hint": Text(
        "모델이 출시된 달을 기준으로 하며, 알 수 없으면 결과의 날짜를 씁니다. 점선은 그때까지의 최고 점수이며, 직접 평가한 모델이 있으면 그 모델만 잇습니다.",
        "By the month of a model's release or, if unknown, the date of its result. Dotted line: the best score so far, of measured models if there are any.",
    ),
    "chart_empty": Text("차트로 그릴 데이터가 아직 없습니다.", "There is no data to plot yet."),
    "axis_params": Text("파라미터 수", "Parameters"),
    "axis_latency_ms": Text("문항당 지연 시간", "Latency per item"),
    "axis_percent": Text("답변 비율 (%)", "Share of answers (%)"),
    "pareto_front": Text("파레토 경계", "Pareto front"),
    "state_of_the_art": Text("최고 점수", "Best so far"),
    "weights_unknown": Text("가중치 공개 여부 미상", "weights unknown"),
}
