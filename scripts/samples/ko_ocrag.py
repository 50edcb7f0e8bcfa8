"""KO-OCRAG samples: whole pages with their text and a description of each picture. Places and numbers are invented."""

from typing import NamedTuple

from markupsafe import Markup

STYLE = Markup(
    "<style>body{margin:0;background:#fff}main{width:720px;padding:36px 44px;font:20px/1.6 'Noto Sans CJK KR',sans-serif;"
    "color:#111}h1{font-size:28px;margin:0 0 12px}p{margin:0 0 14px}table{border-collapse:collapse;margin:6px 0 14px}"
    "td,th{border:1px solid #555;padding:4px 14px}svg{display:block;margin:10px 0 16px}</style>"
)


class Sample(NamedTuple):
    dataset_type: str
    page: Markup
    text: str  # as it is to be transcribed, tables in markdown
    pictures: tuple[str, ...]  # their descriptions, from top to bottom


def _paragraphs(*lines: str) -> Markup:
    return Markup("").join(Markup("<p>{}</p>").format(line) for line in lines)


def _table(columns: list[str], rows: list[list[str]]) -> Markup:
    cells = [Markup("").join(Markup("<td>{}</td>").format(cell) for cell in row) for row in (columns, *rows)]
    return Markup("<table>{}</table>").format(Markup("").join(Markup("<tr>{}</tr>").format(row) for row in cells))


def _markdown(columns: list[str], rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (columns, *rows))


def _bars(values: list[int]) -> Markup:
    bars = Markup("").join(
        Markup("<rect x='{}' y='{}' width='60' height='{}' fill='#1f4e79'/>").format(30 + 100 * n, 150 - value, value)
        for n, value in enumerate(values)
    )
    return Markup("<svg width='460' height='160'>{}<path d='M10 150H450' stroke='#333'/></svg>").format(bars)


LIGHTHOUSE = Markup(
    "<svg width='300' height='200'><rect width='300' height='140' fill='#cfe3f5'/>"
    "<rect y='140' width='300' height='60' fill='#2f6fa8'/><rect x='130' y='50' width='40' height='100' fill='#fff'"
    " stroke='#333'/><rect x='125' y='30' width='50' height='22' fill='#c0392b'/></svg>"
)
TREES = Markup(
    "<svg width='360' height='150'><rect y='110' width='360' height='40' fill='#8d6e4a'/>"
    "<circle cx='70' cy='80' r='40' fill='#3c8d40'/><circle cx='180' cy='70' r='50' fill='#3c8d40'/>"
    "<circle cx='290' cy='85' r='35' fill='#3c8d40'/></svg>"
)
ARROWS = Markup(
    "<svg width='520' height='90'><rect x='4' y='20' width='130' height='50' fill='#eef' stroke='#336'/>"
    "<rect x='190' y='20' width='130' height='50' fill='#eef' stroke='#336'/>"
    "<rect x='376' y='20' width='130' height='50' fill='#eef' stroke='#336'/>"
    "<text x='44' y='52'>신청</text><text x='230' y='52'>심사</text><text x='416' y='52'>지급</text>"
    "<path d='M140 45H184M326 45H370' stroke='#336' stroke-width='3'/></svg>"
)
VISITORS = (["연도", "방문객(천 명)"], [["2021년", "84"], ["2022년", "112"], ["2023년", "139"]])
SUPPORT = (["구분", "지원액"], [["소상공인", "300만 원"], ["청년 창업", "500만 원"], ["재창업", "200만 원"]])

SAMPLES: list[Sample] = [
    Sample(
        "세로형 텍스트+그림/도식",
        Markup("<h1>새솔항 등대 개방</h1>")
        + _paragraphs("새솔시는 10월부터 새솔항 등대를 시민에게 개방한다고 밝혔다.")
        + LIGHTHOUSE
        + _paragraphs("등대는 매주 토요일 오전 10시부터 오후 4시까지 둘러볼 수 있다."),
        "새솔항 등대 개방\n\n새솔시는 10월부터 새솔항 등대를 시민에게 개방한다고 밝혔다.\n\n"
        "등대는 매주 토요일 오전 10시부터 오후 4시까지 둘러볼 수 있다.",
        ("하늘과 바다를 배경으로 빨간 지붕의 하얀 등대가 서 있는 그림",),
    ),
    Sample(
        "세로형 텍스트+그림/도식",
        Markup("<h1>가온강 수목원 방문객</h1>")
        + _table(*VISITORS)
        + _bars([84, 112, 139])
        + _paragraphs("방문객은 2021년부터 해마다 늘었다."),
        f"가온강 수목원 방문객\n\n{_markdown(*VISITORS)}\n\n방문객은 2021년부터 해마다 늘었다.",
        ("2021년 84, 2022년 112, 2023년 139로 늘어나는 세 개의 막대가 있는 막대그래프",),
    ),
    Sample(
        "그림/도식",
        Markup("<h1>지원금 지급 절차</h1>") + ARROWS + _table(*SUPPORT),
        f"지원금 지급 절차\n\n{_markdown(*SUPPORT)}",
        ("신청, 심사, 지급의 세 상자가 선으로 차례로 이어진 절차도",),
    ),
    Sample(
        "신문 + 그림",
        Markup("<h1>도시숲 세 곳 새로 조성</h1>")
        + TREES
        + _paragraphs(
            "한빛시가 올해 도시숲 세 곳을 새로 만들었다.",
            "시는 내년까지 나무 2,400그루를 더 심을 계획이다.",
        )
        + LIGHTHOUSE,
        "도시숲 세 곳 새로 조성\n\n한빛시가 올해 도시숲 세 곳을 새로 만들었다.\n\n시는 내년까지 나무 2,400그루를 더 심을 계획이다.",
        ("갈색 땅 위에 둥근 초록색 나무 세 그루가 서 있는 그림", "바닷가에 빨간 지붕의 하얀 등대가 서 있는 그림"),
    ),
    Sample(
        "텍스트",
        Markup("<h1>공고 제2024-17호</h1>")
        + _paragraphs(
            "2024년도 마을 도서관 운영 단체를 다음과 같이 모집합니다.",
            "1. 접수 기간: 2024년 3월 4일부터 3월 22일까지",
            "2. 접수 방법: 누리시청 2층 문화과 방문 또는 우편",
        ),
        "공고 제2024-17호\n\n2024년도 마을 도서관 운영 단체를 다음과 같이 모집합니다.\n\n"
        "1. 접수 기간: 2024년 3월 4일부터 3월 22일까지\n\n2. 접수 방법: 누리시청 2층 문화과 방문 또는 우편",
        (),
    ),
    Sample(
        "그림/도식",
        Markup("<h1>분기별 재활용률</h1>")
        + _bars([40, 55, 90, 120])
        + _paragraphs("단위: %의 10배, 다솜구 자원순환과"),
        "분기별 재활용률\n\n단위: %의 10배, 다솜구 자원순환과",
        ("1분기 40에서 4분기 120까지 계속 높아지는 네 개의 막대가 있는 막대그래프",),
    ),
]
