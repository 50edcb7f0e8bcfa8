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
    "가온구", "나루구", "다솜구", "라온구", "마루구", "바름구", "사랑구", "아람구", "자윤구", "차오름군", "큰내군", "타래군",
    "푸름군", "하랑구", "은결구", "초롱군", "달무리군", "별솔구",
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
    """What is counted, and the range of its values.

    `low` and `high` of the first measure of a topic are printed values. Those of the second are ratios of its printed value
    to that of the first.
    """

    name: str
    unit: str
    low: float
    high: float
    decimals: int = 0


@dataclass(frozen=True)
class Topic:
    subject: str
    head: str  # what the rows are
    rows: tuple[str, ...]
    sizes: dict[str, float]  # of the rows, relative to each other
    measures: tuple[Measure, Measure]
    noun: str = ""  # completes a row in a sentence: 세무 민원의 처리 건수
    city_wide: bool = False  # whether the rows exist once in a city, not in each district

    def base_size(self, index: int) -> float:
        """Return how many base units of a measure there usually are for one printed unit of the first measure.

        For one student, there are 1 student and about 0.042 classes. The sizes tell which measure is larger: there are fewer
        classes than students, so a question (`per`) asks for students per class.
        """
        own = self.measures[index]
        size = multiplier(own.unit)
        if index == 0:
            return size
        mean_ratio: float = (own.high * own.low) ** 0.5  # to the first measure, as a geometric mean
        return size * mean_ratio

    def said(self, row: str) -> str:
        """Return a row as a sentence names it."""
        return f"{row} {self.noun}" if self.noun else row


def _topic(
    subject: str, head: str, rows: str, first: Measure, second: Measure, noun: str = "", *, city_wide: bool = False
) -> Topic:
    """Return a topic. `rows` are names with relative sizes: 여권 4/인허가 2."""
    sizes: dict[str, float] = {}
    for row in rows.split("/"):
        name, _, size = row.rpartition(" ")
        sizes[name] = float(size)
    return Topic(subject, head, tuple(sizes), sizes, (first, second), noun, city_wide)


TOPICS = (
    _topic("민원 처리", "민원 유형", "여권 4/인허가 2/지적 2/복지 5/세무 4/주민등록 9", Measure("처리 건수", "건", 900, 48000), Measure("총 처리 시간", "시간", 0.3, 1.9), "민원"),
    _topic("도시철도 노선별 운행", "노선", "달빛선 6/은하선 5/솔빛선 3/바다선 2/공항선 2/순환선 8", Measure("일평균 수송 인원", "천 명", 21, 690, 1), Measure("일평균 운행 횟수", "회", 0.7, 2.6), city_wide=True),
    _topic("학교급별 학생 및 학급", "학교급", "유치원 2/초등학교 6/중학교 3/고등학교 3/특수학교 0.3", Measure("학생 수", "명", 900, 31000), Measure("학급 수", "개", 0.034, 0.052)),
    _topic("의료기관별 병상", "의료기관", "종합병원 6/요양병원 7/한방병원 1/재활병원 1/정신병원 2", Measure("병상 수", "병상", 160, 9400), Measure("간호 인력", "명", 0.3, 0.9)),
    _topic("생활폐기물 처리", "종류", "종이류 4/플라스틱류 5/유리류 2/금속류 1/음식물류 7/가구류 0.6", Measure("일평균 발생량", "톤", 130, 5200, 1), Measure("일평균 재활용량", "톤", 0.35, 0.9, 1)),
    _topic("발전원별 발전", "발전원", "태양광 8/풍력 3/수력 2/바이오 2.5/연료전지 2", Measure("발전량", "GWh", 35, 2400, 1), Measure("설비용량", "MW", 0.4, 0.85)),
    _topic("농작물 생산", "품목", "쌀 9/보리 1.2/감자 2/마늘 1.5/양파 4/배추 5", Measure("생산량", "톤", 350, 38000), Measure("재배 면적", "ha", 0.08, 0.21)),
    _topic("수산물 어획", "종류", "어류 8/조개류 4/해조류 6/갑각류 1/두족류 2", Measure("어획량", "톤", 210, 18000), Measure("어가 수", "가구", 0.04, 0.3)),
    _topic("관광지 운영", "관광지", "달빛공원 6/솔내음숲 3/은빛호수 4/바람언덕 2/별마루천문대 1", Measure("방문객 수", "천 명", 25, 1900, 1), Measure("입장 수입", "백만 원", 1.8, 4.6), city_wide=True),
    _topic("문화·체육시설 이용", "시설", "도서관 9/박물관 3/미술관 1.5/공연장 2/체육관 6", Measure("이용자 수", "천 명", 28, 960, 1), Measure("프로그램 수", "개", 0.6, 2.7)),
    _topic("분야별 연구개발", "분야", "정보통신 8/생명과학 5/우주항공 2/신소재 2.5/에너지 4", Measure("투자액", "억 원", 45, 6200), Measure("연구원 수", "명", 0.9, 2.8), "분야", city_wide=True),
    _topic("업종별 사업체", "업종", "제조업 3/건설업 2.5/도매 및 소매업 9/운수업 4/숙박 및 음식점업 7", Measure("사업체 수", "개", 320, 27000), Measure("종사자 수", "명", 2.6, 9.5)),
    _topic("복지시설 운영", "유형", "노인 9/아동 6/장애인 3/여성 0.8/청소년 1", Measure("시설 수", "개소", 25, 690), Measure("이용 정원", "명", 12, 58), "복지시설"),
    _topic("장소별 화재", "장소", "주거시설 9/산업시설 5/판매시설 2/교육시설 0.6/임야 2", Measure("화재 건수", "건", 45, 1300), Measure("피해액", "백만 원", 2.4, 18)),
    _topic("유형별 주택", "유형", "아파트 9/단독주택 5/연립주택 1/다세대주택 2.5/다가구주택 3", Measure("주택 수", "호", 2100, 310000), Measure("빈집 수", "호", 0.02, 0.11)),
    _topic("지방세 부과·징수", "세목", "취득세 8/재산세 5/자동차세 2.5/주민세 0.8/지방소득세 7", Measure("부과액", "억 원", 95, 4700), Measure("징수액", "억 원", 0.84, 0.985)),
    _topic("위생 점검", "업종", "음식점 9/제과점 1.5/급식소 2/판매점 4/제조업소 2", Measure("점검 건수", "건", 185, 6900), Measure("위반 건수", "건", 0.03, 0.12)),
)  # fmt: skip
