"""Subjects, rows and units of invented public statistics. All places, public bodies and numbers are fictitious."""

from dataclasses import dataclass

BODIES = (
    *("한빛시", "새솔시", "푸른시", "가람시", "다온시", "미르시", "나래시", "보람시", "하늘시", "온새미시", "해오름시"),
    *("늘봄특별자치도", "마루광역시", "아라광역시", "도담시", "여울시"),
)
SOURCES = (
    "{body} 통계연보",
    "{body} 주요 업무 보고",
    "{body} 업무 통계",
    "가온정책연구원, 「{body} 지표 분석」",
    "{body} 내부 자료",
)
FOOTNOTES = ("잠정치이며 추후 변경될 수 있음.", "매년 12월 말 기준임.", "자세한 산출 방법은 부록을 참고하기 바람.")
ROUNDING = "반올림에 따라 합계가 일치하지 않을 수 있음."  # only for layouts that show a total


@dataclass(frozen=True)
class Topic:
    domain: str
    subject: str  # the part of the title after the public body
    measure: str  # the quantity, as a question names it
    unit: str
    rows: tuple[str, ...]
    low: int
    high: int
    decimals: int = 0
    converted: tuple[str, int] | None = None  # a smaller unit, and how many of them are one `unit`


TOPICS = (
    Topic("공공행정", "회계별 세출예산", "세출예산", "억 원", ("일반회계", "공기업특별회계", "기타특별회계", "기금"), 120, 9800),
    Topic("공공행정", "민원 유형별 처리 건수", "처리 건수", "건", ("여권", "인허가", "지적", "복지", "세무", "주민등록"), 900, 48000),
    Topic("교통물류", "노선별 일평균 수송 인원", "수송 인원", "천 명", ("1호선", "2호선", "3호선", "4호선", "경전철", "공항선"), 21, 890),
    Topic("교통물류", "도로 종류별 연장", "도로 연장", "km", ("고속도로", "일반국도", "지방도", "시도", "군도"), 40, 2900, 1, ("m", 1000)),
    Topic("교육", "학교급별 학생 수", "학생 수", "천 명", ("유치원", "초등학교", "중학교", "고등학교", "특수학교"), 3, 310, 1),
    Topic("교육", "과목별 방과후학교 강좌 수", "강좌 수", "개", ("국어", "수학", "과학", "음악", "체육", "코딩"), 12, 640),
    Topic("보건의료", "진료과목별 외래 환자 수", "외래 환자 수", "천 명", ("내과", "정형외과", "안과", "피부과", "치과", "한방"), 14, 780, 1),
    Topic("보건의료", "기관별 병상 수", "병상 수", "병상", ("종합병원", "병원", "요양병원", "의원", "한방병원"), 60, 9400),
    Topic("환경기상", "종류별 폐기물 발생량", "발생량", "톤", ("생활폐기물", "건설폐기물", "사업장폐기물", "지정폐기물"), 30, 5200, 1, ("kg", 1000)),
    Topic("환경기상", "발전원별 발전량", "발전량", "GWh", ("태양광", "풍력", "수력", "바이오", "연료전지"), 15, 2400, 1, ("MWh", 1000)),
    Topic("농축수산", "품목별 생산량", "생산량", "톤", ("쌀", "보리", "감자", "마늘", "양파", "고추"), 150, 38000, 0, ("kg", 1000)),
    Topic("농축수산", "축종별 사육 마릿수", "사육 마릿수", "천 마리", ("한우", "젖소", "돼지", "닭", "오리"), 11, 3900),
    Topic("문화관광", "관광지별 방문객 수", "방문객 수", "천 명", ("달빛공원", "솔내음숲", "은빛호수", "바람언덕", "별마루천문대"), 25, 1900),
    Topic("문화관광", "시설별 이용자 수", "이용자 수", "천 명", ("도서관", "박물관", "미술관", "공연장", "체육관"), 18, 960, 1),
    Topic("과학기술", "분야별 연구개발 투자액", "투자액", "억 원", ("정보통신", "생명", "우주", "소재", "에너지"), 45, 6200),
    Topic("산업고용", "업종별 사업체 수", "사업체 수", "개", ("제조업", "건설업", "도매 및 소매업", "운수 및 창고업", "숙박 및 음식점업"), 320, 27000),
    Topic("산업고용", "연령대별 취업자 수", "취업자 수", "천 명", ("20대", "30대", "40대", "50대", "60대 이상"), 19, 420, 1),
    Topic("사회복지", "유형별 복지시설 수", "시설 수", "개소", ("노인", "아동", "장애인", "여성", "청소년"), 15, 890),
    Topic("재난안전", "원인별 화재 피해액", "피해액", "백만 원", ("전기적 요인", "기계적 요인", "부주의", "방화", "자연적 요인"), 80, 7600),
    Topic("국토관리", "주택 유형별 주택 수", "주택 수", "천 호", ("아파트", "단독주택", "연립주택", "다세대주택"), 9, 620, 1),
    Topic("재정금융", "세목별 지방세 징수액", "징수액", "억 원", ("취득세", "재산세", "자동차세", "주민세", "지방소득세"), 95, 8700),
    Topic("식품건강", "업종별 위생 점검 건수", "점검 건수", "건", ("음식점", "제과점", "급식소", "판매점", "제조업소"), 85, 6900),
)  # fmt: skip


def topic_marker(word: str) -> str:
    """Return 은 or 는, which depends on the last sound of the word."""
    return "은" if ends_in_consonant(word) else "는"


def subject_marker(word: str) -> str:
    """Return 이 or 가."""
    return "이" if ends_in_consonant(word) else "가"


def and_marker(word: str) -> str:
    """Return 과 or 와."""
    return "과" if ends_in_consonant(word) else "와"


def object_marker(word: str) -> str:
    """Return 을 or 를."""
    return "을" if ends_in_consonant(word) else "를"


def direction_marker(unit: str) -> str:
    """Return 으로 or 로 by the pronunciation of a unit: 킬로그램으로, 미터로, 메가와트시로."""
    return "으로" if unit.endswith("g") else "로"


def ends_in_consonant(word: str) -> bool:
    """Return whether a word ends in a consonant. Digits and Latin letters count as they are pronounced in Korean."""
    last = word[-1]
    if "가" <= last <= "힣":
        return (ord(last) - ord("가")) % 28 > 0
    return last in "0136781lmnrLMNR"
