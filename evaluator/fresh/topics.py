"""Subjects, rows and units of invented public statistics. All places, public bodies and numbers are fictitious.

The second measure of a topic is the first one times a ratio that is plausible for both.
"""

from dataclasses import dataclass

from evaluator.fresh.korean import multiplier

CITIES = (
    "한빛시",
    "새솔시",
    "푸른시",
    "가람시",
    "다온시",
    "미르시",
    "나래시",
    "보람시",
    "온새미시",
    "해오름시",
    "도담시",
    "여울시",
)
DISTRICTS = (
    *("가온구", "나루구", "다솜구", "라온구", "마루구", "바름구", "사랑구", "아람구", "자윤구", "차오름군", "큰내군", "타래군"),
    *("푸름군", "하랑구", "은결구", "초롱군", "달무리군", "별솔구"),
)  # fmt: skip
SOURCES = (
    "{body} 통계연보",
    "{body} 주요업무계획",
    "가온정책연구원, 「{body} 지표 분석」",
    "{body} 기획조정실 내부 자료",
)
HANJA = {"현황": "現況"}  # words of titles that some documents write in Chinese characters


@dataclass(frozen=True)
class Measure:
    name: str
    unit: str
    low: float  # of a printed value, or of the ratio to the first measure
    high: float
    decimals: int = 0


@dataclass(frozen=True)
class Topic:
    subject: str
    head: str  # what the rows are
    rows: tuple[str, ...]
    measures: tuple[Measure, Measure]
    city_wide: bool = False  # whether the rows exist once in a city, not in each district

    def base_size(self, index: int) -> float:
        """Return the size of a measure in base units relative to the first one's printed values."""
        own = self.measures[index]
        return multiplier(own.unit) * (own.high * own.low) ** 0.5 if index else multiplier(own.unit)


def _topic(subject: str, head: str, rows: str, first: Measure, second: Measure, *, city_wide: bool = False) -> Topic:
    return Topic(subject, head, tuple(rows.split("/")), (first, second), city_wide)


TOPICS = (
    _topic("민원 처리", "민원 유형", "여권/인허가/지적/복지/세무/주민등록", Measure("처리 건수", "건", 900, 48000), Measure("총 처리 시간", "시간", 0.3, 1.9)),
    _topic("도시철도 노선별 운행", "노선", "달빛선/은하선/솔빛선/바다선/공항선/순환선", Measure("일평균 수송 인원", "천 명", 21, 690, 1), Measure("일평균 운행 횟수", "회", 0.7, 2.6), city_wide=True),
    _topic("학교급별 학생 및 학급", "학교급", "유치원/초등학교/중학교/고등학교/전문대학", Measure("학생 수", "명", 900, 31000), Measure("학급 수", "개", 0.034, 0.052)),
    _topic("의료기관별 병상", "의료기관", "종합병원/요양병원/한방병원/재활병원/정신병원", Measure("병상 수", "병상", 160, 9400), Measure("간호 인력", "명", 0.3, 0.9)),
    _topic("폐기물 처리", "종류", "생활폐기물/건설폐기물/사업장폐기물/지정폐기물/음식물폐기물", Measure("일평균 발생량", "톤", 130, 5200, 1), Measure("일평균 재활용량", "톤", 0.35, 0.9, 1)),
    _topic("발전원별 발전", "발전원", "태양광/풍력/수력/바이오/연료전지", Measure("발전량", "GWh", 35, 2400, 1), Measure("설비용량", "MW", 0.4, 0.85)),
    _topic("농작물 생산", "품목", "쌀/보리/감자/마늘/양파/배추", Measure("생산량", "톤", 350, 38000), Measure("재배 면적", "ha", 0.04, 0.19)),
    _topic("수산물 어획", "종류", "어류/패류/해조류/갑각류/연체류", Measure("어획량", "톤", 210, 18000), Measure("어가 수", "가구", 0.04, 0.3)),
    _topic("관광지 운영", "관광지", "달빛공원/솔내음숲/은빛호수/바람언덕/별마루천문대", Measure("방문객 수", "천 명", 25, 1900, 1), Measure("입장 수입", "백만 원", 1.8, 4.6), city_wide=True),
    _topic("문화시설 이용", "시설", "도서관/박물관/미술관/공연장/체육관", Measure("이용자 수", "천 명", 28, 960, 1), Measure("프로그램 수", "개", 0.6, 2.7)),
    _topic("분야별 연구개발", "분야", "정보통신/생명과학/우주항공/신소재/에너지", Measure("투자액", "억 원", 45, 6200), Measure("연구원 수", "명", 0.9, 2.8), city_wide=True),
    _topic("업종별 사업체", "업종", "제조업/건설업/도매 및 소매업/운수업/숙박 및 음식점업", Measure("사업체 수", "개", 320, 27000), Measure("종사자 수", "명", 2.6, 9.5)),
    _topic("복지시설 운영", "유형", "노인/아동/장애인/여성/청소년", Measure("시설 수", "개소", 25, 690), Measure("이용 정원", "명", 12, 58)),
    _topic("장소별 화재", "장소", "주거시설/산업시설/판매시설/교육시설/임야", Measure("화재 건수", "건", 45, 1300), Measure("피해액", "백만 원", 2.4, 18)),
    _topic("유형별 주택", "유형", "아파트/단독주택/연립주택/다세대주택/오피스텔", Measure("주택 수", "호", 2100, 310000), Measure("빈집 수", "호", 0.02, 0.11)),
    _topic("지방세 징수", "세목", "취득세/재산세/자동차세/주민세/지방소득세", Measure("부과액", "억 원", 95, 4700), Measure("징수액", "억 원", 0.84, 0.985)),
    _topic("위생 점검", "업종", "음식점/제과점/급식소/판매점/제조업소", Measure("점검 건수", "건", 185, 6900), Measure("위반 건수", "건", 0.03, 0.12)),
)  # fmt: skip
