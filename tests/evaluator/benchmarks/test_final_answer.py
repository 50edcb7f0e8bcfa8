"""Test what the strict rules take as the final answer, in outputs that show their working or list everything."""

import random

import pytest

from evaluator.benchmarks.scoring import strict_chart_answers
from evaluator.benchmarks.scoring.abstention import hesitates
from evaluator.benchmarks.scoring.chart_lists import same_list
from evaluator.benchmarks.scoring.chart_names import gives_name
from evaluator.benchmarks.scoring.final_answer import strict_f1, strict_match
from evaluator.benchmarks.scoring.given_names import matches_name
from evaluator.benchmarks.scoring.letters import asserted_letter
from evaluator.benchmarks.scoring.names import one_form, places_in
from evaluator.benchmarks.scoring.number_words import in_digits
from evaluator.benchmarks.scoring.readings import matches_reading, quantity_f1, reading_of
from evaluator.benchmarks.scoring.stated_answer import stated_answer
from evaluator.benchmarks.scoring.swapped_values import swapped_share
from scripts.make_scoring_table import DOC, FAMILIES, MARKS, table
from tests.support.slow import only_first

# A question, its gold answer, an output, and whether that is right.
OTHER_OUTPUTS = [
    ("2020년 남자와 여자는 각각 몇 명인가요?", "남자 10명, 여자 5명", "2020년 남자는 10명, 여자는 5명입니다.", True),
    ("남자와 여자는 각각 몇 명인가요?", "남자 10명, 여자 5명", "여자 5명, 남자 10명", True),
    ("남자와 여자는 각각 몇 %인가요?", "남자 66.6%, 여자 33.3%", "여자는 33.3%, 남자는 66.6%입니다.", True),
    ("2022년 비율은 얼마입니까?", "18%", "2022년 18%, 2021년 19%", True),
    ("학생은 몇 명입니까?", "5명", "정답: 1학년 5명", True),
    ("학생은 몇 명입니까?", "5명", "1학년 2반 5명입니다.", True),
    ("건물은 몇 층입니까?", "5층", "3층과 5층입니다.", False),
    ("2018년 화재 건수는?", "7,131건", "따라서 7,131건은 전년보다 227건 증가한 수로 1위입니다.", True),
    ("2018년 화재 건수는?", "7,131건", "따라서 7,131건은 전년보다 227건이 증가한 수로 1위입니다.", True),
    ("2018년 화재 건수는?", "227건", "따라서 7,131건은 전년보다 227건이 증가한 수로 1위입니다.", False),
    ("2018년 화재 건수는?", "7,131건", "7,131건은 최근 5년 중 가장 많은 수입니다.", True),
    ("모두 몇 명입니까?", "3,500명", "답은 3천500.", True),
    ("모두 몇 명입니까?", "3,500명", "답은 3천500, 그중 남자는 절반입니다.", True),
    ("모두 몇 명입니까?", "3,500명", "답은 3천500.5", False),
    ("몇 톤입니까?", "1,500,000톤", "답은 1.5e6.", True),
    ("몇 톤입니까?", "1,500,000톤", "답은 1.5e6.5", False),
    ("증감률은 몇 %인가요?", "5.2%", "△**5.2**%", False),
    ("증감률은 몇 %인가요?", "-5.2%", "△**5.2**%", True),
    ("증감률은 몇 %인가요?", "-5.2%", "- **5.2**%", False),
    ("증감률은 몇 %인가요?", "5.2%", "▲**5.2**% 상승했습니다", True),
    ("2022년 비율은 얼마입니까?", "19%", "2022년 18%, 2021년 19%", False),
    ("2022년 비율은 얼마입니까?", "18%", "2022년은 18%, 2023년은 17%", True),
    ("몇 명인가요?", "500명", "603명 정도가 아니라 500명입니다", True),
    ("몇 명인가요?", "603명", "603명 정도가 아니라 500명입니다", False),
    ("몇 명인가요?", "24명", "24명 20명 (추정)", False),
    ("몇 명인가요?", "1,234명", "정답: 1,234명, 1,000명 (추정)", False),
    ("몇 명인가요?", "1,234명", "정답: 약 1,200명 (정확히 1,234명)", True),
    ("몇 %인가요?", "15%", "정답: 15%, 20% (추정)", False),
    ("몇 %인가요?", "20.5%", "20.5% (20.4994%)", True),
    ("수출 증가율은 얼마인가요?", "-3.2%", "3.2% 감소했습니다.", True),
    ("수출은 얼마나 증가했나요?", "3.2% 감소", "3.2% 감소했습니다.", True),
    ("수출 증가율은 얼마인가요?", "3.2%", "3.2% 감소했습니다.", False),
    ("누적 이용자는 몇 명인가요?", "5만 명 이상", "2023년까지 5만 명입니다.", True),
    ("이용자는 몇 명인가요?", "5만 명 이상", "최대 5만 명입니다.", False),
    ("이상 기온은 며칠인가요?", "이상 기온은 30일", "2023년까지 30일입니다.", True),
    ("고용은 얼마나 늘었나요?", "300명", "300명 줄였습니다.", False),
    ("예산은 얼마나 줄었나요?", "300억 원", "예산은 300억 원 늘렸습니다.", False),
    ("인력은 몇 명 늘렸습니까?", "50명", "인력을 50명 줄인 것으로 나타났습니다.", False),
    ("사고는 몇 건 늘 것으로 보입니까?", "50건", "사고는 50건 줄 것으로 보입니다.", False),
    ("몇 분 걸립니까?", "60분 이상", "60분까지입니다.", False),
    ("몇 일입니까?", "30일 이상", "30일까지입니다.", False),
    ("몇 년입니까?", "5년 이상", "5년까지입니다.", False),
    ("누적 건수는 얼마인가요?", "300건 이상", "12월 5일까지 300건입니다.", True),
    ("인력을 얼마나 줄였나요?", "300명", "300명을 늘린 것으로 나타났습니다.", False),
    ("둘째 줄이 나타내는 값은 몇 건인가요?", "300건", "300건으로, 전년보다 증가했습니다.", True),
    ("둘째 줄에 있는 값은 몇 건인가요?", "300건", "300건으로, 전년보다 증가했습니다.", True),
    ("비율은 얼마인가요?", "12.5%", "약 13% (정확히는 12.5%)입니다.", True),
    ("비율은 얼마인가요?", "20.45%", "약 20.5% (정확히는 20.45%)입니다.", True),
    ("비율은 얼마인가요?", "12.5%", "약 14% (정확히는 12.6%)입니다.", False),
    # a word, AM or PM before a time
    ("몇 시에 출발합니까?", "10시 30분", "The train leaves at 10:30.", True),
    ("몇 시에 출발합니까?", "10시 30분", "KTX 10:30", True),
    ("몇 시에 출발합니까?", "오전 10시 30분", "Departure: AM 10:30", True),
    ("몇 시에 출발합니까?", "오후 10시 30분", "Departure: AM 10:30", False),
    ("몇 시에 출발합니까?", "오후 6시 30분", "at 6:30 PM", True),
    ("몇 시에 출발합니까?", "오후 6시 30분", "PM 6:30", True),
    ("몇 시에 출발합니까?", "오전 6시 30분", "PM 6:30", False),
    ("몇 시에 출발합니까?", "18시 30분", "from - 18:30", True),
    # what an answer sets apart or adds in brackets
    ("졸업생은 몇 명인가요?", "347명", "입학생이 아닌 졸업생은 347명입니다.", True),
    ("졸업생은 몇 명인가요?", "347명", "입학생은 347명입니다.", False),
    ("연간 몇 건인가요?", "3,600건", "3,600건입니다(월평균 300건).", True),
    ("연간 몇 건인가요?", "3,600건", "월평균 3,600건입니다.", False),
    ("하루 최대 방문객은 몇 명인가요?", "300명", "300명이 최대입니다.", True),
    ("방문객은 몇 명인가요?", "300명", "300명이 최대입니다.", False),
    ("순이동 인구는 몇 명인가요?", "548명", "548명 감소했습니다.", True),
    ("몇 명입니까?", "297명", "약 300명 (정확히 297명)", True),
    ("몇 명입니까?", "20명", "15명(20명)", False),
    ("몇 명입니까?", "100명", "95명(100명)", False),
    ("몇 건입니까?", "1,000건", "1,400건 (1,000건)", False),
    ("몇 명입니까?", "약 20명", "15명", False),
    ("도로 길이는 몇 km입니까?", "12.4km", "따라서 12,400m입니다.", True),
    ("도로 길이는 몇 km입니까?", "12.4km", "9km.\n따라서 12.4km입니다.", False),
    ("도로 길이는 몇 km입니까?", "12.4km", "9,000m.\n따라서 12.4km입니다.", False),
    # a value that is joined with the one before it
    ("2018년 화재 건수는?", "7,131건", "2018년 화재는 7,131건과 6,904건입니다.", False),
    ("2018년 화재 건수는?", "7,131건", "2018년 화재는 7,131건, 6,904건입니다.", False),
    ("2018년 화재 건수는?", "7,131건", "2018년 화재는 7,131건 및 6,904건입니다.", False),
    ("2018년 화재 건수는?", "7,131건", "2018년 화재는 7,131건, 구조는 6,904건입니다.", True),
]

QUESTION, GOLD = "2020년 음식점과 숙박의 차이는 얼마입니까?", "603천 명"
# Outputs for that question, each with whether it is right.
OUTPUTS = [
    ("표에서 음식점은 3,633건, 숙박은 1,200건입니다. 따라서 정답은 603천 명입니다", True),
    ("음식점 1,000천 명, 숙박 397천 명\n\n**정답: 603천 명**", True),
    ("**정답:** 603천명", True),
    ("1,000천 명 - 397천 명 = 603천 명", True),
    ("1,000 - 397 = 603천 명", True),
    ("2020년 (603천 명)", True),
    ("1호선, 603천 명", True),
    ("603천 명", True),
    ("603천명입니다.", True),
    ("60만 3천 명", True),
    ("603,000명", True),
    ("603명", False),
    ("603천 건", False),
    ("505천 명", False),
    ("603천 명 또는 505천 명", False),
    ("505천 명 또는 603천 명", False),
    ("505천 명 혹은 603천 명입니다", False),
    ("505천 명이나 603천 명입니다", False),
    ("정답은 505천 명 또는 603천 명입니다", False),
    ("정답: 505천 명\n정답: 603천 명", False),
    ("505천 명, 397천 명, 603천 명", False),
    ("505\n397\n603천 명", False),
    ("505천 명입니다. 603천 명입니다.", False),
    ("음식점 505천 명\n숙박 397천 명\n합계 603천 명", False),
    ("음식점 505천 명 숙박 397천 명 합계 603천 명", False),
    ("음식점은 1,000천 명이고 숙박은 397천 명이므로 차이는 603천 명입니다.", True),
    ("음식점은 1,000천 명, 숙박은 397천 명으로 차이는 603천 명입니다.", True),
    ("1,000천 명에서 397천 명을 빼면 603천 명입니다.", True),
    ("음식점(1,000천 명)에서 숙박(397천 명)을 뺀 값은 603천 명입니다.", True),
    ("음식점은 1,000천 명입니다.\n숙박은 397천 명입니다.\n두 값의 차이는 603천 명입니다.", True),
    ("1. 음식점: 1,000천 명\n2. 숙박: 397천 명\n3. 차이: 1,000 - 397 = 603천 명", True),
    ("음식점은 **1,000천 명**, 숙박은 **397천 명**입니다. 그러므로 차이는 **603천 명**입니다.", True),
    ("계산하면 다음과 같습니다. 차이는 **603**천 명으로, 1,000천 명에서 397천 명을 뺀 값입니다.", True),
    ("\\[1000 - 397 = 603\\]\n따라서 정답은 \\boxed{603천 명}입니다.", True),
    ("$\\boxed{603}$", False),
    ("답은 603천 명이 아닙니다.", False),
    ("603천 명이 아니라 505천 명입니다.", False),
    ("505천 명이 아니라 603천 명입니다.", True),
    ("500천 명에서 603천 명 사이입니다", False),
    ("603~700천 명", False),
    ("정답은 603천 명입니다. 또는 505천 명일 수 있습니다.", False),
    ("따라서 603천 명입니다. 505천 명입니다.", False),
    ("603천 명이 정답입니다.", True),
    ("차이는 603천 명에 달합니다.", True),
    ("603천 명의 차이가 있습니다.", True),
    ("정답: 603천 명\n\n해설: 음식점은 1,000천 명이고 숙박은 397천 명입니다.", True),
    ("## 답변\n음식점은 1,000천 명, 숙박은 397천 명입니다.\n따라서 차이는 603천 명입니다.", True),
    ("최종 답: **603천 명** (1,000천 명 − 397천 명)", True),
    ("정답은 1개, 2개, 3개, 603천 명", False),
    ("1과 2와 3과 603천 명입니다", False),
    ("Answer: 603천 명", True),
    ("The answer is 603천 명.", True),
    ("모르겠습니다", False),
    ("", False),
    ("603", False),
    ("2021년 603천 명", False),
    ("2019년 대비 603천 명 증가", True),
    ("음식점의 경우 1,000천 명, 숙박의 경우 397천 명이므로, 1,000 - 397 = 603(천 명)입니다.", True),
    ("| 구분 | 값 |\n|---|---|\n| 음식점 | 1,000천 명 |\n| 숙박 | 397천 명 |\n\n차이: 603천 명", True),
    ("| 구분 | 값 |\n|---|---|\n| 음식점 | 1,000천 명 |\n| 숙박 | 397천 명 |\n\n답: 603천 명", True),
    ("2020년 음식점은 1000천 명, 숙박은 397천 명이다. 그 차는 603천 명이다.", True),
    ("차이는 603 (단위: 천 명)", True),
    ("먼저 1,000천 명을 찾고, 다음으로 397천 명을 찾습니다. 1,000 − 397 = **603천 명**", True),
    ("603천 명 (= 1,000 − 397)", True),
    ("603천 명(1,000천 명-397천 명)", True),
    ("100 200 300 400 500 600 603천 명", False),
    ("정답은 다음과 같습니다.\n\n603천 명", True),
    ("603천 명, 505천 명 중 하나입니다", False),
    ("505천 명 아니면 603천 명", False),
    ("505천 명 / 603천 명", False),
    ("505천 명 or 603천 명", False),
    ("따라서 505천 명 또는 603천 명입니다", False),
    ("아마도 603천 명인 것 같습니다.", True),
    ("603천 명인 것으로 보입니다", True),
]
# Question, gold answer, and outputs that are right and wrong.
CASES: list[tuple[str, str, list[str], list[str]]] = [
    (
        "가장 많은 해는 몇 년입니까?",
        "2020년",
        ["2020년 (525개소)", "정답은 2020년입니다. 525개소로 가장 많습니다."],
        [],
    ),
    (
        "가장 많은 해는?",
        "2017년",
        ["2016년과 2017년 중 2017년이 가장 많습니다.", "2016년은 5건, 2017년은 9건이므로 가장 많은 해는 2017년입니다."],
        ["2016-2017년"],
    ),
    ("몇 개소?", "187 개소", ["187개", "187곳"], []),
    ("몇 개월?", "187개월", [], ["187개"]),
    ("최댓값은?", "525개소", ["2020년 (525개소)", "2015년, 2016년, 2020년 (525개소)"], []),
    (
        "몇 %?",
        "20.5%",
        [
            "3,987 ÷ 19,448 × 100 = 20.5%",
            "3,987/19,448*100=20.5",
            "약 20.5%입니다 (3,987 ÷ 19,448 × 100 ≈ 20.5)",
            "합계는 19,448이고 30대는 3,987이므로 비율은 3,987 ÷ 19,448 × 100 = 20.5003...으로 반올림하면 20.5%입니다.",
            "합계: 5,000 + 6,000 + 8,448 = 19,448\n비율: 3,987 / 19,448 ≈ 0.205\n\n따라서 약 20.5%입니다.",
        ],
        [],
    ),
    ("합은?", "2,057,404천㎡", ["합은 2,057,404천㎡입니다."], []),
    ("몇 살?", "70세 이상의 변화가 가장 높습니다.", ["70세 이상"], []),
    ("합?", "1,861건", ["3,987 - 2,126 = 1,861건"], []),
    ("합?", "603천 명", ["1호선, 603천 명"], []),
    ("합?", "6건", ["3건+3건=6건입니다. 정답은 6건입니다."], []),
    ("남녀는?", "남자 5명, 여자 6명", ["남자 5명, 여자 6명입니다", "정답: 남자는 5명, 여자는 6명"], []),
    (
        "2020년 지적과 복지의 처리 건수는 합하면 얼마입니까?",
        "27,796 건",
        [
            "2020년 지적과 복지의 처리 건수 합은 27,796건입니다. (지적 15,213건, 복지 12,583건)",
            "지적과 복지를 합하면 27,796건입니다. 이는 지적 15,213건과 복지 12,583건을 더한 값입니다.",
            "27,796건입니다. 2020년 지적 처리 건수는 15,213건, 복지 처리 건수는 12,583건이고 이를 합하면 27,796건이 됩니다.",
            "합계는 27,796건으로, 2019년의 25,100건보다 2,696건 많습니다.",
            "지적 15,213건과 복지 12,583건이므로 27,796건이에요.",
            "27,796건(약 2만 8천 건)",
        ],
        [
            "27,796 people",
            "27,796 won",
            "27,796 or 27,696",
            "15,213건일 수 있습니다. 12,583건일 수 있습니다. 27,796건일 수 있습니다.",
            "It is not 27,796.",
            "27,796건은 틀린 답입니다.",
            "27,796건입니까?",
            "따라서 15,213건. 따라서 12,583건. 따라서 27,796건.",
            "at least 27,796",
            " 15,213 = 12,583 = 27,796",
            "27,796건을 넘습니다",
        ],
    ),
    (
        "2019년 푸른시의 기계적 요인 피해액은 얼마입니까?",
        "5,830 백만 원",
        [
            "푸른시의 기계적 요인 피해액은 5,830백만 원입니다. 전기적 요인은 7,120백만 원입니다.",
            "5,830백만 원으로, 마루시(4,100백만 원)보다 높습니다.",
            "5,830 million won",
            "피해액(백만 원): 5,830",
        ],
        [],
    ),
    (
        "한우 사육 마릿수가 가장 적었던 해는 몇 년입니까?",
        "2014년",
        [
            "2014년 (473천 마리)",
            "2014년으로, 473천 마리입니다.",
            "2014년에 **473천 마리**로 가장 적었습니다.",
            "**2014년**에 **473천 마리**로 가장 적습니다.",
            "2014년이 473천 마리로, 2015년(812천 마리)과 2016년(640천 마리)보다 적습니다.",
            "2014년 473, 2015년 812, 2016년 640이므로 2014년이 가장 적습니다.",
            "2014년입니다. 이후 2015년에는 812천 마리로 증가했습니다.",
            "473(2014) < 640(2016) < 812(2015) → 2014년",
            "2014년입니다. 2014년 473, 2015년 812로 2014년이 가장 적습니다.",
        ],
        [
            "2015년으로, 2014년보다 적습니다.",
            "2014년 이후인 2015년에 가장 적었습니다.",
            "2015년이 가장 적고, 2014년이 두 번째로 적습니다.",
            "2014년 이전",
            "따라서 2015년, 따라서 2014년",
            "Not 2014",
            "2014년부터 2016년까지",
        ],
    ),
    (
        "2019년 20대 취업자 수는 몇 천 명입니까?",
        "204.4 천 명",
        [
            "204.4천 명입니다. 이는 30대(310.2천 명)보다 적습니다.",
            "204.4",
            "204.4 thousand people",
            "204.4천 명(약 20만 4천 명)",
        ],
        [],
    ),
    (
        "2호선의 일평균 수송 인원은 몇 천 명인가요?",
        "387천 명",
        ["387천 명으로, 1호선(603천 명)보다 적습니다.", "387"],
        [],
    ),
    (
        "2019년 20대가 차지하는 비율은 몇 %입니까?",
        "20.5%",
        [
            "204.4 ÷ 997.1 × 100 = 20.4994...%\n\n소수점 첫째 자리까지 반올림하면 20.5%입니다.",
            "20.5%(정확히는 20.499%)입니다.",
            "약 20.5% (20.4994%)",
            "13.3%인 매립과 달리 20.5%입니다.",
        ],
        ["20.3% ≈ 20.4% ≈ 20.5%", "14.9% → 31.1% → 20.5%", "20.5% 미만", "20.5% 또는 20.4%"],
    ),
    (
        "매립의 비율은?",
        "13.3%",
        ["13.3%입니다. 재활용은 61.2%, 소각은 25.5%입니다.", "13.3%로, 전년(14.1%) 대비 0.8%p 감소했습니다."],
        [],
    ),
    (
        "국공립 보육시설은 몇 개소?",
        "218개소",
        ["218개소입니다. 참고로 사회복지법인은 45개소, 가정은 512개소입니다."],
        [],
    ),
    (
        "2022년 피해액이 가장 적은 항목의 피해액은 얼마입니까?",
        "1,786 백만 원",
        ["기계적 요인이 1,786백만 원으로 가장 적으며, 그다음은 전기적 요인 4,153백만 원입니다."],
        [
            "4,153백만 원으로, 1,786백만 원보다 많습니다.",
            "전기적 요인이 4,153백만 원으로 기계적 요인의 1,786백만 원보다 많습니다.",
            "1,786백만 원 이상",
            "최소 1,786백만 원",
            "이 값은 1,786백만 원 같은데 확실하지 않습니다",
            "1,786백만 원을 제외한 값입니다.",
            "1,786백만 원의 절반",
            "100 = 200 = 300 = 1786백만 원",
            "대략 1,786백만 원에서 2,000백만 원 사이",
        ],
    ),
    (
        "가장 적은 것은?",
        "2,169 천 마리",
        ["한우가 2,169천 마리로 가장 적고, 돼지는 4,500천 마리, 닭은 8,120천 마리입니다."],
        [],
    ),
    ("하류는?", "6.1mg/L", ["상류 4.2, 중류 5.3, 하류 6.1이므로 하류는 6.1 mg/L입니다."], []),
]
LETTERS = [
    ("A", "A"),
    ("A 또는 B 또는 C 또는 D", None),
    ("A or B", None),
    ("A, B, C, D", None),
    ("A B C D", None),
    ("A\nB\nC\nD", None),
    ("정답은 A 또는 B", None),
    ("정답: A", "A"),
    ("**B**", "B"),
    ("(C)", "C"),
    ("A. 2020년에는 B보다 많다", "A"),
    ("B번입니다", "B"),
    ("A는 틀리고 B도 틀립니다. 따라서 C입니다.", "C"),
    ("A는 틀렸다. 정답은 D입니다", "D"),
    ("정답은 (B)입니다.", "B"),
    ("A와 B는 틀렸으므로 정답은 C", "C"),
    ("A, because B is wrong", "A"),
    ("A/B", None),
    ("A이나 B", None),
    ("정답: A\n정답: B", None),
    ("Answer: A and B", None),
    ("The answer is B.", "B"),
    ("A혹은B", None),
    ("A) 혹은 B)", None),
    ("**A** 또는 **B**", None),
    ("A. 또는 B.", None),
    ("정답은 A, 또는 B", None),
    ("A\n\nB는 2020년과 다릅니다.", "A"),
    ("a", "A"),
    ("답은 B가 아니라 C입니다", "C"),
    ("정답은 B입니다. A는 값이 다릅니다.", "B"),
    ("설명 C가 맞습니다", "C"),
    ("A~D 모두", None),
    ("A·B", None),
    ("A 아니면 B", None),
    ("B (A, C, D는 틀림)", "B"),
    ("<answer>B</answer>", "B"),
    ("\\boxed{B}", "B"),
    ("B가 옳습니다. A, C, D는 그래프와 다릅니다.", "B"),
    ("**A**: 값이 다름 ❌ **B**: 일치 ✅ 따라서 가장 적절한 설명은 **B**입니다.", "B"),
    ("A: 맞지 않음.\nC: 다름\nD: 다름.\n그러므로 B.", "B"),
    ("Looking at A, it is wrong. C and D are also wrong. So B.", "B"),
    ("A를 보면 맞는 것 같지만 격차가 다르다. B가 맞다.", "B"),
    ("Option B is correct because A overstates the trend.", "B"),
    ("A ❌\nB ✅\nC ❌\nD ❌", "B"),
    ("A는 거짓, B는 참, C는 거짓, D는 거짓", "B"),
    ("A is incorrect, B is correct, C is incorrect", "B"),
    ("B 내지 C", None),
    ("(B)(C)", None),
    ("The answer is not B.", None),
    ("Not B", None),
    ("B is incorrect.", None),
    ("B는 틀렸다", None),
    ("B를 고르면 안 됩니다.", None),
    ("B를 제외한 모두", None),
    ("B 외의 것", None),
    ("Any except B", None),
    ("anything but B", None),
    ("None (not B)", None),
    ("B?", None),
    ("B가 맞을까요?", None),
    ("정답은 B인지 모르겠습니다.", None),
    ("A. 가\nB. 나\nC. 다\nD. 라", None),
    ("The answer is B, a steady decline, whereas C rises.", "B"),
    ("The answer is B, A", None),
    ("Answer: B or a different one; C is not", None),
    ("I would therefore choose A, a lighthouse, rather than B.", "A"),
    ("B is clearly wrong.", None),
    ("A is clearly false, and D fits.", "D"),
    ("I looked at C. B is obviously incorrect.", "C"),
    ("B is correct and the others are wrong.", "B"),
    ("B is the statement that does not contradict the chart.", "B"),
    ("B는 data와 다릅니다. C입니다.", "C"),
    ("B는 정답이고 나머지는 그래프와 다릅니다.", "B"),
    ("B가 맞고 나머지는 틀립니다.", "B"),
]
# Outputs that compare letters, list them before one is chosen, or name the wrong ones.
LETTERS_BESIDE_OTHERS = [
    ("Option B, because its bar is taller than that of A.", "B"),
    ("The correct answer is option B because the bar is taller than A.", "B"),
    ("I choose B over A.", "B"),
    ("Between A and B, I would pick B.", "B"),
    ("I'm choosing B because A is smaller", "B"),
    ("I’ve chosen B because A is smaller", "B"),
    ("B를 선택하지 않겠습니다", None),
    ("B를 고를 수 없습니다", None),
    ("B를 선택하지 않을 수 없습니다", "B"),
    ("A를 고르지 않고 B를 고릅니다", "B"),
    ("Among A, B, C and D, B is the largest.", "B"),
    ("A=20, B=50, C=30, D=10. The largest is B.", "B"),
    ("The answer is definitely not A, C or D. It is B.", "B"),
    ("A: 도서관\nB: 체육관\nC: 미술관\nD: 공연장\n\nB", "B"),
    ("A. 도서관\nB. 체육관\nC. 미술관\nD. 공연장\nB", "B"),
    ("A. x\nB. y\nC. z\nD. w\n\n**B**", "B"),
    ("The correct answer is B because its bar is taller than A.", "B"),
    ("The answer is B, as it is larger than C.", "B"),
    ("I pick B rather than A.", "B"),
    ("I would select B instead of C.", "B"),
    ("I prefer B to A.", "B"),
    ("Of A and B, B fits better.", "B"),
    ("Out of A, B, C, and D, the best is B.", "B"),
    ("Comparing A, B, C and D, B is tallest.", "B"),
    ("The highest is B.", "B"),
    ("The tallest bar is B.", "B"),
    ("The best description is B.", "B"),
    ("The best match is B.", "B"),
    ("My choice is B.", "B"),
    ("My pick: B, unlike A and C.", "B"),
    ("The answer cannot be A, C or D, so it must be B.", "B"),
    ("It is not A, C, or D. It must be B.", "B"),
    ("Neither A nor C nor D. It is B.", "B"),
    ("B, since C is smaller than A.", "B"),
    ("Choice B, since A is too small.", "B"),
    ("Option B: 체육관. Option A is smaller.", "B"),
    ("I would go with B, not A.", "B"),
    ("I will choose option B, because A and C are smaller.", "B"),
    ("Looking at A, B, C and D, the tallest is B.", "B"),
    ("A: 20, B: 50, C: 30, D: 10. The largest value is B.", "B"),
    ("A (20), B (50), C (30), D (10). The largest one is B.", "B"),
    ("Not A, B is right.", "B"),
    ("A, C and D are too small. It is B.", "B"),
    ("B is taller than A, C and D.", "B"),
    ("I rule out A, C and D, leaving B.", "B"),
    ("I would eliminate A, C and D.\nB", "B"),
    ("A, C and D can be ruled out; it is B.", "B"),
    ("The wrong options are A, C and D. The right one is B.", "B"),
    ("Compared with A, B is larger, so B.", "B"),
    ("The incorrect ones are A, C and D, so the answer is B.", "B"),
    ("I ruled out A and C. Of the remaining ones B fits.", "B"),
    ("I choose B, because the wrong options A and C are smaller.", "B"),
    ("A is second; the largest is B.", "B"),
    ("B; A is second.", "B"),
    ("B is the largest, C is second.", "B"),
    ("B first, A second.", "B"),
    ("The wrong option is B.", None),
    ("I would rule out B.", None),
    ("B is second; the largest is A", "A"),
    ("The incorrect choice is B.", None),
    ("The least accurate description is B.", None),
    ("I would eliminate B.", None),
    ("We can rule out B.", None),
    ("I exclude B.", None),
    ("B can be eliminated.", None),
    ("The false statement is B.", None),
    ("The one that is wrong is B.", None),
    ("B is the wrong one.", None),
    ("B is the incorrect statement.", None),
    ("B is a wrong option.", None),
    ("The option that does not match is B.", None),
    ("The worst is B.", None),
    ("I would not choose B.", None),
    ("I would never pick B.", None),
    ("I do not think it is B.", None),
    ("The answer is anything except B", None),
    ("I reject B.", None),
    ("The only incorrect statement is B.", None),
    ("Option B can be ruled out.", None),
    ("The false one: B", None),
    ("Wrong: B", None),
    ("Incorrect answer: B", None),
    ("B comes second; the largest is A.", "A"),
    ("I choose A over B.", None),
    ("The second largest is B.", None),
    ("The runner-up is B.", None),
    ("올바른 설명은 C이고 나머지는 틀렸다", "C"),
    ("A와 B와 D는 모두 사실과 다르므로 C입니다.", "C"),
    ("A: X, B: X, C: O, D: X", "C"),
    ("A: x, B: x, C: o, D: x", "C"),
    ("A - X\nB - X\nC - O\nD - X", "C"),
    ("A X, B X, C O, D X", "C"),
    ("A는 X, B는 X, C는 O, D는 X", "C"),
    ("A=X, B=X, C=O, D=X", "C"),
    ("A(X), B(X), C(O), D(X)", "C"),
    ("A ×, B ×, C ○, D ×", "C"),
    ("A: ×\nB: ×\nC: ○\nD: ×", "C"),
    ("A, B, D는 모두 틀렸으므로 C입니다.", "C"),
    ("A와 B, D는 모두 그래프와 다르므로 C이다.", "C"),
    ("A와 D는 틀리고 B도 틀리므로 C이다", "C"),
    ("옳은 설명은 C이고 나머지는 사실과 다르다", "C"),
    ("맞는 설명은 C이며 A, B, D는 틀리다", "C"),
    ("C가 맞고 나머지는 틀렸습니다.", "C"),
    ("C는 맞고 다른 보기는 모두 틀립니다.", "C"),
    ("C만 맞고 나머지는 틀리다", "C"),
    ("정답은 C이고 나머지는 오답이다", "C"),
    ("C이고, 나머지는 사실과 다릅니다.", "C"),
    ("틀린 설명은 A, B, D이고 옳은 설명은 C입니다.", "C"),
    ("틀린 것은 A와 B, D이므로 정답은 C", "C"),
    ("A, B, D는 옳지 않은 설명이다. C가 맞다", "C"),
    ("오답은 A, B, D이므로 C이다.", "C"),
    ("옳지 않은 것은 A, B, D입니다. 따라서 C입니다.", "C"),
    ("잘못된 설명인 A, B, D를 제외하면 C가 남습니다.", "C"),
    ("C가 정답이 아닌 이유는 없다. 정답은 C", "C"),
    ("A는 틀렸고 B는 잘못되었고 D는 맞지 않으므로 C", "C"),
    ("틀린 설명을 제외하면 C입니다.", "C"),
    ("틀린 보기를 지우면 C", "C"),
    ("틀린 보기 A, B, D를 빼면 C", "C"),
    ("A, B, D는 오답. C", "C"),
    ("거짓인 보기를 빼고 나면 C가 남는다", "C"),
    ("틀리지 않은 설명은 C이다", "C"),
    ("잘못되지 않은 것은 C", "C"),
    ("옳지 않은 것이 없는 설명은 C", "C"),
    ("틀린 설명은 C이다", None),
    ("옳지 않은 것은 C입니다", None),
    ("A번, C번", None),
    ("A, C입니다", None),
    ("A번과 C번입니다", None),
    ("A번, B번 모두 맞습니다", None),
    ("A번, B번, C번이 맞습니다", None),
    ("A번과 B번 중 B번입니다", "B"),
    ("B번, A번은 틀립니다.", "B"),
    ("잘못된 설명은 C입니다", None),
    ("오답은 C", None),
    ("C만 틀리다", None),
    ("거짓인 것은 C입니다", None),
    ("정답이 아닌 것은 C입니다", None),
    ("맞지 않는 설명은 C", None),
    ("부적절한 것은 C", None),
    ("틀린 것: C", None),
    ("오답: C", None),
    ("틀린 보기는 C번입니다", None),
    ("옳지 못한 설명은 C", None),
    ("적절하지 않은 것은 C", None),
    ("적절하지 않은 설명: C", None),
    ("가장 부적절한 것은 C", None),
    ("사실과 다른 것은 C", None),
    ("그래프와 다른 설명은 C", None),
    ("일치하지 않는 것은 C입니다", None),
    ("부합하지 않는 설명은 C", None),
    ("올바르지 않은 설명은 C", None),
    ("바르지 않은 것은 C", None),
    ("정확하지 않은 것은 C", None),
    ("C만 오답이다", None),
    ("C만 사실과 다르다", None),
    ("C가 틀린 설명이다", None),
    ("C는 옳지 않은 설명이다", None),
    ("C번이 잘못된 설명입니다", None),
    ("C가 오답", None),
    ("C는 부적절하다", None),
    ("C는 부정확하다", None),
    ("거짓은 C", None),
    ("답이 아닌 것은 C", None),
    ("정답이 될 수 없는 것은 C", None),
    ("틀린 하나는 C", None),
    ("제외해야 할 것은 C", None),
    ("제외할 보기는 C", None),
    ("C를 제외한다", None),
    ("C는 정답이 아니다", None),
    ("C는 답이 아닙니다", None),
    ("맞지 않은 보기는 (C)", None),
    ("**틀린 설명: C**", None),
    ("틀린 설명은 **C**입니다.", None),
    ("오류가 있는 설명은 C", None),
    ("C에 오류가 있다", None),
    ("모순되는 것은 C", None),
    ("C만 틀렸습니다.", None),
    ("C만 맞지 않습니다.", None),
    ("C는 제외됩니다.", None),
    ("가장 거리가 먼 것은 C", None),
    ("C는 적절하지 않습니다.", None),
    ("A와 C와 D를 제외하면 B", "B"),
    ("A: 거짓\nB: 참\nC: 거짓\nD: 거짓", "B"),
    ("A (incorrect), B (correct), C (incorrect), D (incorrect)", "B"),
    ("A. x\nB. y\nC. z\nD. w\n\nB or C", None),
    ("A. x\nB. y\nC. z\nD.", None),
    ("I choose A or B.", None),
    ("Option A, option B", None),
    ("Between A and B, both fit", None),
    ("A는 틀리지 않았다", "A"),
    ("B보다 C가 더 적절합니다.", "C"),
    ("A, B는 틀렸으므로 C입니다", "C"),
    ("C, D는 틀립니다.", "C"),
    ("A: X, B: O, C: O, D: X", None),
]
ASKS_FOR_WRONG = "Which of these is NOT a palace in Seoul?"
ASKS_FOR_WRONG_IN_KOREAN = "다음 중 옳지 않은 것은 무엇입니까?"
# A question, an output and the letter that it asserts.
LETTERS_BY_QUESTION = [
    (ASKS_FOR_WRONG, "The wrong option is B.", "B"),
    (ASKS_FOR_WRONG, "The one that is not a palace is B.", "B"),
    (ASKS_FOR_WRONG, "B is not a palace.", "B"),
    (ASKS_FOR_WRONG, "The incorrect one is B; A, C and D are palaces.", "B"),
    (ASKS_FOR_WRONG, "The answer is not B", None),
    (ASKS_FOR_WRONG_IN_KOREAN, "틀린 설명은 C이다", "C"),
    (ASKS_FOR_WRONG_IN_KOREAN, "옳지 않은 것은 C입니다. A, B, D는 옳습니다.", "C"),
    (ASKS_FOR_WRONG_IN_KOREAN, "정답은 B가 아닙니다.", None),
    (ASKS_FOR_WRONG_IN_KOREAN, "정답은 (B)가 아닙니다.", None),
    (ASKS_FOR_WRONG_IN_KOREAN, "정답은 **B**가 아닙니다.", None),
    (ASKS_FOR_WRONG_IN_KOREAN, "정답은 B번이 아닙니다.", None),
    (ASKS_FOR_WRONG_IN_KOREAN, "정답은 (B)입니다. A는 옳습니다.", "B"),
    (ASKS_FOR_WRONG_IN_KOREAN, "C만 틀리다", "C"),
    (ASKS_FOR_WRONG_IN_KOREAN, "C는 틀립니다. A는 맞습니다.", "C"),
    (ASKS_FOR_WRONG_IN_KOREAN, "정답은 C가 아닙니다.", None),
    (ASKS_FOR_WRONG, "B is considered wrong. The rest match.", "B"),
    ("Which is the second largest?", "The second largest is B.", "B"),
    ("Which has the second largest share?", "B is second.", "B"),
    ("Which is the largest?", "The second largest is B.", None),
    ("Which is the largest?", "The wrong option is B.", None),
]
TEXTS = [
    ("Japan", "The country with the highest value is Japan.", True),
    ("Japan", "Japan has the highest share in 2020.", True),
    ("Japan", "Looking at the chart, China has 20 and Japan has 30.\n\nTherefore, the answer is Japan.", True),
    ("Japan", "**Japan**", True),
    ("Japan", "In 2020, Japan", True),
    ("Japan", "Japan, with 45%", True),
    ("Japan", "일본 Japan입니다", True),
    ("Japan", "가장 높은 나라는 Japan입니다.", True),
    ("Japan", "Japan or China", False),
    ("Japan", "China and Japan", False),
    ("North line", "The North line carried more passengers in every year.", True),
    ("North line", "North", False),
    ("South Korea", "North Korea", False),
    ("Female", "Male", False),
    ("North line", "The South line carried more than the North line.", False),
    ("North line", "Answer: South line. The other is the North line.", False),
    ("North line", "The answer is not North line.", False),
    ("North line", "North line\nSouth line", False),
    ("Carelessness", "It is electrical, followed by carelessness.", False),
]
LEADS = "Which country leads?"
# A question, a name, a passage, and whether the passage gives the name as the answer.
NAMES = [
    (LEADS, "Japan", f"Japan, because {'its bar is the longest one of all of these bars ' * 3}", True),
    (LEADS, "Japan", f"Japan, since {'its bar is the longest one of all of these bars ' * 3}", True),
    ("Which country led in 1880?", "Japan", "In 1880, Japan led the ranking.", True),
    (LEADS, "Japan", "With 12%, Japan leads.", True),
    (LEADS, "Japan", "At about $1,234, Japan leads.", True),
    (LEADS, "Japan", "Italy with 12%, Japan with 13%", False),
    ("어느 나라가 가장 많은가?", "일본", "조사 결과 일본이 가장 많다", True),
    ("어느 나라가 가장 많은가?", "일본", "한국과 일본이 가장 많다", False),
    (LEADS, "Japan", "Japan isn't the leader.", False),
    (LEADS, "Japan", "Japan were not the leader.", False),
    (LEADS, "Japan", "Japan does not lead.", False),
    (LEADS, "Japan", "Japan doesn’t lead.", False),
    (LEADS, "Japan", "Japan never leads.", False),
    (LEADS, "Japan", "Japan is not only the leader, it leads by far.", True),
    ("Which country grew every year?", "Japan", "Japan did not decline in the whole period.", True),
    ("Which country is not in the union?", "Japan", "Japan is not in the union.", True),
    (LEADS, "Guinea", "Guinea-Bissau leads with 12 %.", False),
    (LEADS, "Guinea", "Guinea Bissau leads with 12 %.", False),
    (LEADS, "Republic of the Congo", "The Democratic Republic of the Congo leads.", False),
    (LEADS, "Republic of the Congo", "The Republic of the Congo leads.", True),
    (LEADS, "Samoa", "American Samoa leads with 12 %.", False),
    (LEADS, "Canada", "Air Canada", False),
    (LEADS, "Japan", "Japan Airlines", False),
    ("Which airline leads?", "Delta", "Delta Airlines", True),
    ("Which region leads?", "Asia-Pacific", "Asia Pacific leads.", True),
    ("Which group leads?", "Employed", "The self-employed lead.", False),
    ("Which food leads?", "Pie", "Pies", True),
    ("Which part leads?", "Toes", "The toe", True),
    ("Which part leads?", "Toes", "According to it", False),
    ("Which product leads?", "Lens", "Lenses", True),
    ("Which topic leads?", "News", "The new one", False),
    ("Who founded it?", "Elon Musk", "Musk founded it.", True),
    ("Who founded it?", "Vincent van Gogh", "Gogh", True),
    ("Who founded it?", "Vincent van Gogh", "Van Gogh", True),
    ("Who founded it?", "Vincent van Gogh", "It was founded by van Gogh.", True),
    ("Who founded it?", "Vincent van Gogh", "It was founded by Theo van Gogh.", False),
    ("Who founded it?", "Vincent van Gogh", "Theo Van Gogh", False),
    ("Who spends most?", "USA", "The federal states pay most.", False),
    ("Who spends most?", "Federal government", "The local government pays most.", False),
    ("Who won?", "Democratic Party", "The party won.", False),
]
LABELS = ["Japan", "South Korea", "North line", "Facebook", "2020", "27.3", "Online video", "17.3%"]


@pytest.mark.parametrize(("question", "gold", "output", "right"), OTHER_OUTPUTS)
def test_strict_match_of_other_questions(question: str, gold: str, output: str, right: bool) -> None:
    assert strict_match(question, gold, output) == right
    assert (strict_f1(question, gold, output) == 1) is right


@pytest.mark.parametrize(
    ("question", "gold", "output", "right"),
    [
        (question, gold, output, outputs is right)
        for question, gold, right, wrong in CASES
        for outputs in (right, wrong)
        for output in outputs
    ],
)
def test_strict_match_ignores_labels_and_operands(question: str, gold: str, output: str, right: bool) -> None:
    assert strict_match(question, gold, output) is right


@pytest.mark.parametrize(("output", "right"), OUTPUTS)
def test_strict_match_reads_final_answer(output: str, right: bool) -> None:
    assert strict_match(QUESTION, GOLD, output) is right
    assert (strict_f1(QUESTION, GOLD, output) == 1) is right


@pytest.mark.parametrize(("output", "letter"), [*LETTERS, *LETTERS_BESIDE_OTHERS])
def test_asserted_letter_reads_final_letter(output: str, letter: str | None) -> None:
    assert asserted_letter(output) == letter


@pytest.mark.parametrize(("question", "output", "letter"), LETTERS_BY_QUESTION)
def test_asserted_letter_depends_on_what_question_asks_for(question: str, output: str, letter: str | None) -> None:
    assert asserted_letter(output, question=question) == letter


@pytest.mark.parametrize("separator", [", ", "\n", " / ", "; ", " | ", " or "])
@pytest.mark.parametrize("question_type", [60, 1, 13, 90])
def test_chart_match_rejects_list_of_labels(question_type: int, separator: str) -> None:
    for seed, gold in enumerate(LABELS):
        dump = separator.join(random.Random(seed).sample(LABELS, len(LABELS)))
        assert not strict_chart_answers.strict_match(question_type, gold, dump), dump


@pytest.mark.parametrize("separator", [", ", "\n", " / ", " "])
def test_strict_match_rejects_list_of_quantities(separator: str) -> None:
    values = [f"{n},{n}00천 명" for n in range(1, 9)]
    for gold in values:
        assert not strict_match(QUESTION, gold, separator.join(values))


def test_scoring_table_is_up_to_date() -> None:
    written = DOC.read_text(encoding="utf-8").partition(MARKS[0])[2].partition(MARKS[1])[0]
    assert written.strip() == table().strip(), "run python -m scripts.make_scoring_table"
    assert sum(len(family.outputs) for family in FAMILIES) >= 20


HOSTILE = [
    "정답: 1 " * 10_000,
    "따라서 1 " * 10_000,
    "**1** " * 10_000,
    " ".join(map(str, range(10_000))),
    "답은 " + " ".join(map(str, range(10_000))),
    "A:" + "x" * 49_990,
    "A: x" + "\n" * 49_990,
    "A: x\n" + "x\n" * 24_000,
    "B " * 24_000 + "x",
    "is answer: " * 4_500,
    "1-" * 24_000,
    "5 =" + " " * 49_000 + "= x",
    "1 " + "므로 " * 16_000,
    "1" + "다로, " * 12_000,
    "a" + " " * 49_000 + "b",
    "a" + "\n" * 49_000 + "b",
    "A, " * 16_000,
    "A\n" * 25_000,
    "A (" * 16_000,
    "가" * 50_000,
    "A" + " " * 48_000 + "is wrong",
    "B" + "\n" * 48_000 + "A",
    "아파트" + " " * 48_000 + "다",
    "'" * 48_000 + "a",
    "A" + "(" * 48_000,
    "-" * 48_000 + "x",
]


@pytest.mark.parametrize("output", only_first(HOSTILE), ids=lambda output: output[:12])
def test_strict_rules_take_linear_time(output: str) -> None:
    """Run outputs that would each take minutes in quadratic time, more than a test's time-out."""
    assert not strict_match(QUESTION, GOLD, output)
    assert strict_f1(QUESTION, GOLD, output) < 1
    assert asserted_letter(output) in (None, "A", "B")
    assert not strict_chart_answers.strict_match(13, "Japan", output)
    assert not strict_chart_answers.strict_match(40, GOLD, output)
    assert not strict_chart_answers.strict_match(60, GOLD, output)
    assert not strict_chart_answers.strict_match(202, "D", output)
    reading = reading_of("347건 (±12건)")
    assert reading is not None and not matches_reading(QUESTION, reading, output)
    assert not matches_name("가장 많은 유형은 무엇입니까?", "아파트", output)
    assert quantity_f1(QUESTION, GOLD, output) < 1
    assert not hesitates(output)


@pytest.mark.parametrize(
    ("kind", "gold", "output", "right"),
    [
        *((60, *case) for case in TEXTS),
        (40, "Biomass", "", False),
        (71, "Gaon,Nuri,Dasom", "Ranking: Gaon", False),
        (71, "Gaon,Nuri,Dasom", "Gaon > Nuri > Dasom", True),
        (30, "Gaon,Nuri", "", False),
        (50, "76.4%", "7640", False),
        (50, "76.4%", "76.4", True),
        (50, "76.4%", "76.4%", True),
        (10, "4.2B", "4,200,000,000", True),
        (10, "4.2B", "4.2M", False),
        (1, "287", "287 visitors", True),
        (1, "287", "287,000", False),
        (202, "B", "The final answer is B", True),
        (202, "B", "I cannot tell", False),
        (202, "B,D", "B and D", True),
        (202, "B", "A: no\nB: yes\nSo the answer is (B).", True),
        (60, "North line", "the north line", True),
        (13, "2020", "2021", False),  # a year is exact
        (1, "287", "287 visitors in 2023", True),
        (1, "287", "287 million", False),
        (1, "287", "Answer: 412, 287", False),
        (10, "960", "500 600 700 800 900 960 1000", False),
        (15, "9.2%", "19.2%", False),
        (15, "9.2%", "9.2% (Solar 55.1%, Wind 17.3%)", True),
        (52, "311 mm", "311 cm", False),
        (40, "Biomass,Hydro", "Biomass and Hydro", True),
        (40, "Biomass,Hydro", "Biomass, Hydro or Wind", False),
        (71, "Gaon,Nuri,Dasom", "1. Gaon (412)\n2. Nuri (287)\n3. Dasom (161)", True),
        (30, "ABC", "A", False),
        (202, "B", "A is red, C is green; the bars are blue. Answer: B", True),
        (202, "B", "A\nB", False),
        (202, "B", "The answer is not B.", False),
        (10, "€5,000", "US$5,000", False),
        (10, "$5,000", "US$5,000", True),
        (10, "$5,000", "5,000원입니다.", False),
        (10, "₩5,000", "5,000원입니다.", True),
        (10, "¥5,000", "5,000엔입니다.", True),
        (10, "-5.2%", "The change is -**5.2**%.", True),
        (10, "5.2%", "The change is -**5.2**%.", False),
        (10, "5.2%", "△**5.2**%", False),
        (10, "5.2%", "- **5.2**%", True),
        (1, "Japan", "-**Japan**", True),
        (10, "1/3", "3", False),
        (10, "1/3", "It is one-third.", True),
        (10, "2/3", "one third", False),
        (10, "3 in 10", "3 out of 10", True),
        (10, "3 in 10", "three in ten people", True),
        (10, "3 in 10", "7 in 10", False),
        (10, "1 in 4", "One in four people lack safe drinking water.", True),
        (10, "3 in 10", "10", False),
        (10, "16-24", "The 16–24 age group leads with 30%.", True),
        (10, "16-24", "People aged between 16 to 24", True),
        (10, "16-24", "16세~24세", True),
        (10, "16-24", "24", False),
        (10, "16-24", "18-24", False),
        (10, "16-24", "not 16-24", False),
        (10, "16-24", "16-24 is second; 25-34 leads.", False),
        (10, "2019-2020", "from 2019 to 2020", True),
        (10, "$30K-$50K", "$30,000 to $50,000", True),
        (10, "5-10%", "10%", False),
        (10, "5-10%", "5% to 10%", True),
        (10, "10 to 15 years", "10-15 years", True),
        (10, "10 to 15 years", "10 to 15 months", False),
        (41, "Yes,Not stated", "Not stated, Yes", True),
        (41, "Yes,Not stated", "Yes, Not stated", True),
        (41, "Yes,Not stated", "Yes, Japan", False),
    ],
)
def test_chart_match_reads_texts_values_lists_and_letters(kind: int, gold: str, output: str, right: bool) -> None:
    assert strict_chart_answers.strict_match(kind, gold, output) is right


@pytest.mark.parametrize(("question", "name", "passage", "right"), NAMES)
def test_gives_name_of_passage(question: str, name: str, passage: str, right: bool) -> None:
    assert gives_name(question, name, passage) is right


@pytest.mark.parametrize(
    "output",
    [
        "서울은 120개소, 부산은 300개소, 대구는 400개소, 인천은 500개소, 광주는 510개소, 대전은 520개소입니다.",
        "서울은 120개소입니다. 부산은 300개소입니다. 대구는 400개소입니다. 인천은 500개소입니다. 광주는 510개소입니다.",
        "서울은 120개소이고, 부산은 300개소이며, 대구는 400개소이고, 인천은 500개소이며, 광주는 510개소입니다.",
        "2016년 110개소, 2017년 120개소, 2018년 130개소, 2019년 140개소, 2020년 300개소, 2021년 310개소입니다.",
        "- 서울: 120개소\n- 부산: 300개소\n- 대구: 400개소\n- 인천: 500개소\n- 광주: 510개소",
    ],
)
def test_answer_that_says_all_rows_of_a_table_is_wrong(output: str) -> None:
    assert not strict_match("2020년 부산의 병원 수는 몇 개소입니까?", "300개소", output)


@pytest.mark.parametrize(
    "output",
    [
        "Germany has 12 plants. France has 15 plants. Spain has 17 plants. Italy has 19 plants. Poland has 21 plants.",
        "Germany has 12 plants and France has 15 and Spain has 17 and Italy has 19 and Poland has 21.",
        "Germany: 12\nFrance: 15\nSpain: 17\nItaly: 19\nPoland: 21",
    ],
)
def test_response_that_says_all_rows_of_a_chart_is_wrong(output: str) -> None:
    assert not strict_chart_answers.strict_match(72, "15", output, "How many plants does France have?")


LEVEL = "2023년 서비스업 취업자는 몇 천 명인가요?"


@pytest.mark.parametrize(
    "ending",
    [
        " 이상입니다",
        "을 넘습니다",
        "이 조금 넘습니다",
        "이 넘는 수준입니다",
        "을 웃돕니다",
        "을 밑도는 수준입니다",
        "을 상회합니다",
        "을 돌파했습니다",
        "이 채 안 됩니다",
        "이 되지 않습니다",
        "에 못 미칩니다",
        "에 미치지 못합니다",
        "에도 이르지 못했습니다",
        "에 육박합니다",
        "보다 깁니다",
        "보다 조금 짧습니다",
        " 가까이 됩니다",
        " 정도가 아닙니다",
        # A change is not how many there are.
        " 늘었습니다",
        "이나 줄었습니다",
        " 감소",
    ],
)
@pytest.mark.parametrize("beginning", ["", "2023년 서비스업 취업자는 "])
def test_strict_match_rejects_bound_or_change(beginning: str, ending: str) -> None:
    assert not strict_match(LEVEL, "548.9천 명", f"{beginning}548.9천 명{ending}")


@pytest.mark.parametrize(
    "ending",
    [
        "이나 됩니다",
        "에 이릅니다",
        "에 달합니다",
        " 정도입니다",
        "으로 늘었습니다",
        "까지 증가했습니다",
        ", 증가 추세입니다",
        " (증가)",
        "으로, 전년보다 17.3천 명 늘었습니다",
    ],
)
def test_strict_match_accepts_level_beside_change(ending: str) -> None:
    assert strict_match(LEVEL, "548.9천 명", f"548.9천 명{ending}")


@pytest.mark.parametrize(
    ("question", "gold", "output", "right"),
    [
        ("65세 이상 인구는 몇 명입니까?", "300명", "65세 이상 인구는 300명입니다.", True),
        ("65세 이상 인구는 몇 명입니까?", "300명", "65세 이상은 300명이 넘습니다.", False),
        ("300원을 넘는 곳은 몇 곳입니까?", "3곳", "300원이 넘는 곳은 3곳입니다.", True),
        ("사고는 몇 건 늘었습니까?", "35건", "35건 늘었습니다.", True),
        ("이용자는 몇 명입니까?", "12만 명 이상", "12만 명이 넘습니다.", True),
        ("이용자는 몇 명입니까?", "120,000명", "12만+명", False),
        ("이용자는 몇 명입니까?", "120,000명", "120,000 or more", False),
    ],
)
def test_strict_match_reads_bounds_of_question_and_gold(question: str, gold: str, output: str, right: bool) -> None:
    assert strict_match(question, gold, output) is right


@pytest.mark.parametrize(
    ("question", "gold", "output", "right"),
    [
        ("회의실의 최대 수용 인원은 몇 명입니까?", "300명", "최대 300명입니다.", True),
        ("최대 몇 명까지 수용할 수 있습니까?", "300명", "최대 300명까지 수용할 수 있습니다.", True),
        ("최대 몇 명까지 수용할 수 있습니까?", "300명", "300명까지입니다.", True),
        ("최대 몇 명까지 수용할 수 있습니까?", "300명", "최대 300명", True),
        ("최소 몇 명이 필요합니까?", "5명", "최소 5명이 필요합니다.", True),
        ("최소 몇 명이 필요합니까?", "5명", "적어도 5명이 필요합니다.", True),
        ("최소 몇 명이 필요합니까?", "5명", "5명 이상이 필요합니다.", True),
        ("몇 명까지 신청할 수 있습니까?", "5명", "5명 이하입니다.", True),
        ("몇 명 이상이어야 합니까?", "5명", "5명 이상이어야 합니다.", True),
        ("몇 명 이상이어야 합니까?", "5명", "최소 5명입니다.", True),
        ("몇 명 미만인 기업이 대상입니까?", "50명", "50명 미만입니다.", True),
        ("부상자는 몇 명입니까?", "300명", "최대 300명입니다.", False),
        ("최대 몇 명입니까?", "300명", "300명 이하입니다.", True),
        ("최대 몇 명입니까?", "300명", "최소 300명입니다.", False),
        ("지원 한도는 얼마입니까?", "300만 원", "최대 300만 원입니다.", True),
        ("보증금의 상한액은 얼마입니까?", "300만 원", "최대 300만 원까지입니다.", True),
        ("하한은 얼마입니까?", "300만 원", "최소 300만 원입니다.", True),
        ("하한은 얼마입니까?", "300만 원", "최대 300만 원입니다.", False),
        ("며칠 이내에 신청해야 합니까?", "7일", "7일 이내입니다.", True),
        ("며칠 이내에 신청해야 합니까?", "7일", "7일 이하입니다.", True),
        ("며칠 이내에 신청해야 합니까?", "7일", "7일 이상입니다.", False),
        ("몇 년 이후에 지어진 건물입니까?", "2018년", "2018년 이후입니다.", True),
        ("몇 년 이후에 지어진 건물입니까?", "2018년", "2018년 이전입니다.", False),
        ("몇 세 이상이 대상입니까?", "65세", "65세 이상입니다.", True),
        ("몇 세 이상이 대상입니까?", "65세", "만 65세 이상입니다.", True),
        ("65세 이상 인구는 몇 명입니까?", "300명", "300명 이상입니다.", False),
        ("65세 이상 인구는 몇 명입니까?", "300명", "65세 이상 인구는 300명 이상입니다.", False),
        ("65세 이상 인구는 몇 명입니까?", "300명", "최소 300명입니다.", False),
        ("최대 몇 명까지 수용할 수 있습니까?", "300명", "최대 200명입니다.", False),
        ("최대 풍속은 초속 몇 미터입니까?", "30m", "최대 30m입니다.", True),
        ("What is the maximum number of people?", "300", "At most 300 people.", True),
        ("How many people are allowed at most?", "300", "Up to 300.", True),
        ("몇 명 미만인 기업이 대상입니까?", "50명", "50명 이하입니다.", False),
        ("몇 점 이상이면 합격입니까?", "60점", "60점을 넘으면 합격입니다.", False),
        ("몇 점 이상이면 합격입니까?", "60점", "60점 이상이면 합격입니다.", True),
        ("몇 점을 넘어야 합니까?", "60점", "60점을 넘어야 합니다.", True),
        ("최저 임금은 얼마입니까?", "9,860원", "최저 9,860원입니다.", True),
        ("최저 임금은 얼마입니까?", "9,860원", "9,860원 이상입니다.", True),
        ("면적이 얼마 이상이어야 합니까?", "300㎡", "300㎡ 이상이어야 합니다.", True),
        ("면적이 몇 ㎡ 이상이어야 합니까?", "300㎡", "최소 300㎡입니다.", True),
        ("최대 전력은 몇 MW입니까?", "603MW", "최대 603 MW 입니다.", True),
        ("가장 많은 달은 몇 건입니까?", "603건", "최대 603건 이상입니다.", False),
    ],
)
def test_strict_match_accepts_bound_that_is_asked_for(question: str, gold: str, output: str, right: bool) -> None:
    assert strict_match(question, gold, output) is right


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("쉴 만한 곳", "쉴 만한 곳"),
        ("이만한 곳", "이만한 곳"),
        ("만두 개수", "만두 개수"),
        ("백두대간", "백두대간"),
        ("만 두 개", "10002개"),
        ("이만 두 개", "20002개"),
        ("백두 명", "102명"),
        ("한 곳", "1곳"),
    ],
)
def test_words_that_begin_like_numbers_stay(text: str, read: str) -> None:
    assert in_digits(text) == read


@pytest.mark.parametrize(
    ("question", "gold", "name", "value"),
    [
        (
            "예산이 가장 많은 분야는 무엇이며 예산은 얼마인가요?",
            "사회복지 분야이며 3,200억 원입니다.",
            "사회복지",
            "3,200억 원",
        ),
        ("예산이 가장 많은 분야와 비율은?", "사회복지분야로 12.3%입니다.", "사회복지", "12.3%"),
        ("생산량이 가장 많은 품목은 무엇이며 몇 톤인가요?", "사과 품목으로 3,200톤입니다.", "사과", "3,200톤"),
        ("점유율이 가장 높은 제조사와 점유율은?", "현대로템으로 12.3%입니다.", "현대로템", "12.3%"),
        ("인구가 가장 많은 동과 인구는?", "종로 1,200명", "종로", "1,200명"),
    ],
)
@pytest.mark.parametrize(
    "form",
    ["{} {}", "{}이며 {}입니다.", "{}: {}", "{}({})", "{}, {}", "{}입니다. 값은 {}입니다.", "**{}** {}", "{}로 {}"],
)
def test_strict_match_requires_name_without_what_it_is(
    question: str, gold: str, name: str, value: str, form: str
) -> None:
    assert strict_match(question, gold, form.format(name, value))
    assert not strict_match(question, gold, form.format("엉뚱한곳", value))


EXPORTED = "How many cars did Busan export in 2020?"
FEWEST = "In which year were the fewest cars sold?"
MORE_SEATS = "Which party won more seats in every region?"
MORE_RAIN = "In which month did the lower dam get more rain than the upper one?"


@pytest.mark.parametrize(
    ("kind", "question", "gold", "output", "right"),
    [
        # values of several subjects or years
        (1, EXPORTED, "287", "Busan: 287; Seoul: 412", True),
        (1, EXPORTED, "287", "Seoul: 412, Busan: 287", True),
        (1, EXPORTED, "287", "Seoul: 287; Busan: 412", False),
        (1, EXPORTED, "287", "287; 412", False),
        (1, EXPORTED, "287", "287 in 2020 and 300 in 2021.", True),
        (1, EXPORTED, "287", "300 in 2020 and 287 in 2021.", False),
        (1, EXPORTED, "287", "In 2020: 287; in 2021: 300", True),
        (1, EXPORTED, "287", "Busan had 287 cars.", True),
        (1, EXPORTED, "287", "Exports were 287.", True),
        (1, EXPORTED, "287", "Seoul had 287 cars.", False),
        (1, "How many rode the south line?", "273", "The north line carried 273.", False),
        # women and men, but not the letters of "men" in other words
        (54, "How many women work in the factory?", "12", "12 women work in the factory.", True),
        (54, "How many women work in the factory?", "12", "12 men work in the factory.", False),
        (54, "How many men work in the factory?", "12", "12 women work in the factory.", False),
        (54, "How many units are led by females?", "12", "12 males lead units.", False),
        (54, "What share of females has a job?", "12%", "The employment rate is 12%.", True),
        (54, "How many units are led by females?", "12", "12 departments are led.", True),
        (54, "How many people are in government departments?", "12", "12 females", True),
        # another place of a ranking, but not the "second" of "seconds"
        (54, "How long did the second shortest trip take?", "30 seconds", "The shortest trip took 30 seconds.", False),
        (54, "How long did the second shortest trip take?", "30 seconds", "The second trip took 30 seconds.", True),
        (60, "Who ran it in 30 seconds?", "Gaon", "Gaon came in second.", False),
        (60, "Who came in second?", "Gaon", "Gaon came in second.", True),
        (
            1,
            "How much rain fell in the upper valley?",
            "311 mm",
            "The upper got 311 mm and the lower got 280 mm.",
            True,
        ),
        # numbers in words, and a fraction beside its exact value
        (1, EXPORTED, "287", "two hundred and eighty-seven cars", True),
        (1, EXPORTED, "287", "two hundred eighty", False),
        (1, "What share of men smoke?", "76.4%", "About three quarters (76.4%) of men", True),
        (1, "What share of men smoke?", "76.4%", "About three quarters (74.1%) of men", False),
        # what an answer sets apart
        (13, FEWEST, "2020", "2020, not 2019.", True),
        (13, FEWEST, "2020", "Not 2019 but 2020.", True),
        (13, FEWEST, "2020", "Not 2020 but 2019.", False),
        (13, FEWEST, "2020", "It was 2020, down from 41 in 2019.", True),
        (13, FEWEST, "2020", "It was 2019, down from 41 in 2020.", False),
        (60, LEADS, "Japan", "Not Italy but Japan.", True),
        (60, LEADS, "Japan", "Italy, not Japan.", False),
        (60, LEADS, "Japan", "Japan does not lead.", False),
        # a name without what the question calls it, and verbs of the question
        (60, MORE_SEATS, "Green party", "Green", True),
        (60, MORE_SEATS, "Green party", "The green one", True),
        (60, MORE_SEATS, "Green party", "Green party won more seats than the red party.", True),
        (60, MORE_SEATS, "Green party", "Red party won more seats than the green party.", False),
        (60, "Which city grew?", "Mexico City", "Mexico", False),
        (60, "What is the most common cause?", "Carelessness", "Carelessness causes more fires than faults.", True),
        (60, MORE_RAIN, "August", "The lower dam got more rain than the upper dam in August.", True),
        (60, MORE_RAIN, "August", "The lower dam got more rain than the upper dam in July.", False),
        (60, MORE_RAIN, "August", "The lower dam got more rain in July than in August.", False),
        # lists
        (40, "Which countries grew?", "Japan,Italy", "Japan and Italy grew, but Spain did not.", True),
        (40, "Which countries grew?", "Japan,Italy", "Japan grew, but Italy did not.", False),
        (40, "Which countries grew?", "Japan,Italy", "Japan, Italy; Spain did not.", True),
        (71, "Rank them.", "Busan,Incheon,Ulsan", "Busan leads, followed by Incheon, while Ulsan is last.", True),
        (71, "Rank them.", "Busan,Incheon,Ulsan", "Busan leads, followed by Ulsan, while Incheon is last.", False),
        # names that begin as yes or no do
        (70, "Which group is the largest?", "No religion", "The largest group is No religion.", True),
        (70, "Which group is the largest?", "No religion", "No idea", False),
        (70, "How did it develop?", "No change", "No, it increased", False),
        (70, "Which brand leads?", "True North", "True Religion", False),
        (13, "What is the rank?", "No. 1", "No. 5", False),
        (13, "What is the rank?", "No. 1", "No. 1", True),
        (70, "Did it rise?", "No, it fell", "No.", True),
    ],
)
def test_chart_match_tells_answer_from_what_is_beside_it(
    kind: int, question: str, gold: str, output: str, right: bool
) -> None:
    assert strict_chart_answers.strict_match(kind, gold, output, question) is right


BY_ELECTRICITY = "전기적 요인으로 발생한 화재는 몇 건인가요?"
OF_MEN = "남자의 평균 근속 기간은 몇 년인가요?"
OF_20_YEARS = "기간이 20년일 때 금리는 몇 %인가요?"


@pytest.mark.parametrize(
    ("question", "gold", "output", "right"),
    [
        (BY_ELECTRICITY, "672건", "전기적 요인 672건, 기계적 요인 281건", True),
        (BY_ELECTRICITY, "672건", "기계적 요인: 281건 / 전기적 요인: 672건", True),
        (BY_ELECTRICITY, "672건", "전기적 요인 화재 건수: 672건, 기계적 요인: 281건", True),
        (BY_ELECTRICITY, "672건", "전기적 요인 281건, 기계적 요인 672건", False),
        (BY_ELECTRICITY, "672건", "281건(전기적 요인), 672건(기계적 요인)", False),
        (BY_ELECTRICITY, "672건", "전기적 요인은 672건, 281건, 12건 중 하나입니다.", False),
        (BY_ELECTRICITY, "672건", "672건 (기계적 요인은 281건)", True),
        (BY_ELECTRICITY, "672건", "281건 (기계적 요인은 672건)", False),
        (BY_ELECTRICITY, "672건", "672건 (정확히는 281건)", False),
        (OF_MEN, "8.4년", "8.4년(여자는 6.1년)", True),
        (OF_MEN, "8.4년", "6.1년(여자는 8.4년)", False),
        (OF_MEN, "8.4년", "8.4년(남자는 6.1년)", False),
        (OF_MEN, "8.4년", "8.4년이며 여자(6.1년)보다 2.3년 깁니다.", True),
        (OF_MEN, "8.4년", "여자의 평균은 8.4년입니다.", False),
        (OF_20_YEARS, "2.75%", "2.75% (10년이면 2.35%)", True),
        (OF_20_YEARS, "2.75%", "2.35% (20년이면 2.75%)", False),
    ],
)
def test_strict_match_ignores_values_of_other_subjects(question: str, gold: str, output: str, right: bool) -> None:
    assert strict_match(question, gold, output) is right


INCREASE = "2018년보다 얼마나 늘었습니까?"


@pytest.mark.parametrize(
    ("output", "right"),
    [
        # an announcement before a working, and no marker after it
        ("표를 보면 다음과 같습니다.\n계산: 7,131 - 6,904 = 227\n결과: 227건", True),
        ("표를 보면 다음과 같습니다.\n계산: 7,131 - 6,904 = 227\n결과: 228건", False),
        ("표를 보면 다음과 같습니다.\n계산 과정:\n7,131 - 6,904 = 227\n227건 증가했습니다.", True),
        ("2018년과 2019년을 비교하면 다음과 같습니다.\n풀이: 7,131 - 6,904 = 227\n227건 증가했습니다.", True),
        ("네, 알겠습니다.\n풀이: 7,131 - 6,904 = 227\n227건 늘었습니다.", True),
        ("To find the difference, we subtract.\nCalculation: 7,131 - 6,904 = 227\nResult: 227건", True),
        ("2018년은 6,904건, 2019년은 7,131건입니다.\n계산: 7,131 - 6,904 = 227\n차이는 227건입니다.", True),
        ("227건입니다.\n계산: 7,131 - 6,904 = 227\n참고: 2017년은 100건입니다.", True),
        # numbers in brackets
        ("정답: [227]", True),
        ("정답: [228]", False),
        ("**정답:** [227]건", True),
        ("정답은 [227]입니다.", True),
        ("표를 보면 7,131건과 6,904건입니다.\n정답: [227]", True),
        ("정답: 227건 [3]", True),
        ("정답: [1] 227건", True),
        ("답변\n[1] 227건", True),
        # headings
        ("7,131 - 6,904\n최종 정답\n227건", True),
        ("7,131 - 6,904\n최종 결과:\n227건", True),
    ],
)
def test_strict_match_finds_answer_beside_working_and_brackets(output: str, right: bool) -> None:
    assert strict_match(INCREASE, "227건", output) is right


@pytest.mark.parametrize(
    "output",
    [
        "표를 보겠습니다.\n2022년 700천 명, 2021년 97천 명.\n값은 603천 명입니다.",
        "답변: 표를 보겠습니다.\n2022년 700천 명, 2021년 97천 명.\n값은 603천 명입니다.",
        "계산: 700천 명 - 97천 명\n값은 603천 명",
        "정답은 아래와 같습니다.\n계산: 700천 명 - 97천 명\n값은 603천 명",
    ],
)
def test_strict_match_reads_value_marker_after_announcement(output: str) -> None:
    question = "2023년 관광객은 몇 명입니까?"
    assert strict_match(question, "603천 명", output)
    assert not strict_match(question, "700천 명", output)


def test_strict_match_ignores_value_marker_in_sentence_after_announcement() -> None:
    output = "정답은 아래와 같습니다.\n603천 명입니다. 가장 큰 값은 700천 명입니다."
    assert strict_match("2023년 관광객은 몇 명입니까?", "603천 명", output)


def test_matches_name_after_announcement_and_working() -> None:
    question = "주택 수가 가장 많은 유형은 무엇입니까?"
    output = "표를 보면 다음과 같습니다.\n풀이: 아파트 500호, 오피스텔 300호\n아파트입니다."
    assert matches_name(question, "아파트", output)


def test_chart_match_reads_number_in_brackets_as_answer() -> None:
    assert strict_chart_answers.strict_match(1, "45", "Answer: [45]")


@pytest.mark.parametrize(
    ("output", "right"),
    [
        ("정답은 227건입니다. 죄송합니다, 더 자세한 설명은 드릴 수 없습니다.", True),
        ("정답은 227건입니다. 죄송합니다, 2020년 이후의 자료는 드릴 수 없습니다.", True),
        ("227건입니다. 실수 없이 2번 확인하였습니다.", True),
        ("227건입니다. 다시 확인했지만 오류는 없습니다.", True),
        ("227건입니다. 잠시만 기다려 주시면 설명하겠습니다.", True),
        ("227건입니다. 아니, 228건입니다.", False),
        ("227건입니다. 잘못 봤습니다.", False),
        ("227건입니다. 아니, 알 수 없습니다.", False),
        ("228건입니다. 죄송합니다. 자료를 잘못 읽었습니다. 227건입니다.", True),
        ("228건입니다. 아니, 자료가 없는 해를 빼면 227건입니다.", True),
        ("228건. 아니, 227건입니다. 죄송합니다, 더 자세한 설명은 드릴 수 없습니다.", True),
    ],
)
def test_strict_match_drops_answer_only_for_another(output: str, right: bool) -> None:
    assert strict_match(INCREASE, "227건", output) is right


def test_stated_answer_drops_tables_in_any_letter_case() -> None:
    tables = ("<table><tr><td>1</td></tr></table>", "<TABLE><TR><TD>1</TD></TR></TABLE>")
    assert {stated_answer(f"{table}\n정답: 5건") for table in tables} == {"정답: 5건"}


@pytest.mark.parametrize(
    ("kind", "gold", "output", "right"),
    [
        (1, "45 minutes", "45 minutes. Wait times are longer in Seoul.", True),
        (1, "45%", "45%. Sorry, I cannot give more detail.", True),
        (1, "45%", "45%. Correction factors are not applied.", True),
        (1, "47%", "45%. Wait, that's wrong. It is 47%.", True),
        (1, "45%", "The share is 45%. Actually, it is 47%.", False),
        (60, "Japan", "In 2019 Italy. Actually, it is Japan.", True),
        (60, "Italy", "In 2019 Italy. Actually, it is Japan.", False),
    ],
)
def test_chart_match_drops_answer_only_for_another(kind: int, gold: str, output: str, right: bool) -> None:
    assert strict_chart_answers.strict_match(kind, gold, output) is right


def test_stated_answer_keeps_comment_on_answer() -> None:
    output = "The share is 45%. Actually, this is the highest share of the 5 countries."
    assert stated_answer(output) == output


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("45 and overall growth", "45 and overall growth"),
        ("45 and over", "45+"),
        ("March 23rd, 2021", "march 23, 2021"),
        ("It is half of users.", "It is 1/2 of users."),
        ("first half of 2020", "first half of 2020"),
        ("a third of users", "1/3 of users"),
        ("one-third of users", "1/3 of users"),
        ("a third party", "a third party"),
        ("a fifth place", "a fifth place"),
        ("25-34 year-olds", "25-34"),
        ("2020년 2분기에", "Q2 2020에"),
        ("CO2를", "carbon dioxide를"),
        ("Women’s health", "Women’s health"),
        ("2012 and 2014", "2012 and 2014"),
        ("between 2012 and 2014", "in 2012-2014"),
    ],
)
def test_one_form_reads_whole_words(text: str, expected: str) -> None:
    assert one_form(text) == expected


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("대전이", {"daejeon"}),
        ("세계 대전", set()),
        ("경기도가", {"gyeonggi"}),
        ("경기가 높다", {"gyeonggi"}),
        ("경기 침체", set()),
        ("서울대", set()),
        ("부산시청", set()),
        ("강원특별자치도는", {"gangwon"}),
    ],
)
def test_places_in_leaves_out_other_words(text: str, places: set[str]) -> None:
    assert places_in(text) == places


@pytest.mark.parametrize(
    ("kind", "gold", "output", "right"),
    [
        (60, "March 23, 2021", "March 23rd, 2021", True),
        (13, "half of users", "It is half of users.", True),
        (60, "third party", "a third party", True),
        (60, "Q2 2020", "2020년 2분기에", True),
        (60, "Women's health", "Women’s health", True),
        (60, "2012-2014", "2012 and 2014", False),
        (60, "2012-2014", "between 2012 and 2014", True),
    ],
)
def test_chart_match_compares_forms_of_names(kind: int, gold: str, output: str, right: bool) -> None:
    assert strict_chart_answers.strict_match(kind, gold, output) is right


@pytest.mark.parametrize(
    ("gold", "output", "share"),
    [
        ("2020년 100명, 2021년 200명, 2022년 300명", "100명(2020년), 200명(2021년), 300명(2022년)", 0.0),
        ("서울 10%, 부산 20%, 대구 30%", "10%(서울), 20%(부산), 30%(대구)", 0.0),
        ("서울 10%, 부산 20%", "20%(서울), 10%(부산)", 1.0),
        ("10%(서울), 20%(부산)", "서울 20%, 부산 10%", 1.0),
        ("2020년 100명, 2021년 200명", "2020년에는 100명(5%), 2021년에는 200명(10%)입니다.", 0.0),
        ("2020년 100명, 2021년 200명", "2020년에는 200명(5%), 2021년에는 100명(10%)입니다.", 1.0),
    ],
)
def test_swapped_share_reads_labels_behind_values(gold: str, output: str, share: float) -> None:
    assert swapped_share(gold, output) == share


@pytest.mark.parametrize(
    ("question", "gold", "output", "right"),
    [
        (
            "2018년 음주운전 적발 건수는?",
            "7,131건",
            "음주운전은 7,131건이며, 음주운전은 6,904건 적발되었습니다.",
            False,
        ),
        ("2018년 음주운전 적발 건수는?", "7,131건", "음주운전은 7,131건 적발되었습니다.", True),
        ("2023년 긍정 응답 비율은 몇 %인가요?", "45.2%", "2023년 긍정 응답은 45.2%로 전년보다 3.1% 높습니다.", True),
    ],
)
def test_strict_match_reads_whole_words(question: str, gold: str, output: str, right: bool) -> None:
    assert strict_match(question, gold, output) is right


@pytest.mark.parametrize(
    ("question", "gold", "output", "right"),
    [
        ("제2위원회 예산이 가장 많은 해는 언제인가요?", "2020년입니다.", "예산이 가장 많은 해는 2020년입니다.", True),
        ("제2위생센터에서 가장 많은 검사 건수는?", "1,234건", "가장 많은 검사 건수는 1,234건입니다.", True),
        ("예산이 가장 많은 위원회의 예산은?", "12억 원", "제2위원회의 예산이 12억 원으로 가장 많습니다.", True),
        ("가장 낮은 지점의 수위는?", "1.2m", "제3위험지점의 수위가 1.2m로 가장 낮습니다.", True),
        ("가장 많은 지역은 몇 명입니까?", "9,700명", "서울이 9,700명입니다. 부산은 2위로 300명입니다.", True),
        ("가장 많은 지역은 몇 명입니까?", "9,700명", "서울이 9,700명입니다. 부산은 6위로 300명입니다.", True),
        ("가장 많은 지역은 몇 명입니까?", "9,700명", "서울이 9,700명입니다. 부산은 12위로 300명입니다.", True),
        ("한국은 몇 위인가요?", "2위", "한국은 2위입니다. 1위는 미국입니다.", True),
        ("한국은 몇 위인가요?", "2위", "2위입니다. 3위입니다.", False),
        ("한국은 몇 위인가요?", "27위", "27위입니다. 28위입니다.", False),
    ],
)
def test_strict_match_tells_places_of_a_ranking_apart(question: str, gold: str, output: str, right: bool) -> None:
    """A place is a whole number, and its 위 is not the beginning of a noun."""
    assert strict_match(question, gold, output) is right


@pytest.mark.parametrize(
    ("question", "gold", "output", "right"),
    [
        ("가장 많이 배출된 폐기물은 무엇이며 비율은 얼마인가요?", "종이 24.5%", "플라스틱이며 24.5%입니다.", False),
        ("가장 많이 배출된 폐기물은 무엇이며 비율은 얼마인가요?", "종이 24.5%", "종이이며 24.5%입니다.", True),
        ("가장 많이 배출된 폐기물은 무엇이며 비율은 얼마인가요?", "종이 24.5%", "종이가 24.5%로 가장 많습니다.", True),
        (
            "부가가치세와 소득세 중에서 더 많은 것은 무엇이며 얼마인가요?",
            "소득세 120조 원",
            "부가가치세 120조 원",
            False,
        ),
        (
            "부가가치세와 소득세 중에서 더 많은 것은 무엇이며 얼마인가요?",
            "소득세 120조 원",
            "소득세가 120조 원으로 더 많습니다.",
            True,
        ),
        ("실업자가 가장 많은 연령대와 그 수는?", "20~29세 369천 명", "20-29세, 369천 명입니다.", True),
        ("실업자가 가장 많은 연령대와 그 수는?", "20~29세 369천 명", "20대가 369천 명으로 가장 많습니다.", True),
        ("실업자가 가장 많은 연령대와 그 수는?", "20~29세 369천 명", "30대가 369천 명으로 가장 많습니다.", False),
        ("비율이 가장 높은 학교급과 그 비율은?", "대학 24.5%", "대학원이 24.5%로 가장 높습니다.", False),
        ("비율이 가장 높은 학교급과 그 비율은?", "대학 24.5%", "대학이 24.5%로 가장 높습니다.", True),
    ],
)
def test_strict_match_requires_whole_names(question: str, gold: str, output: str, right: bool) -> None:
    assert strict_match(question, gold, output) is right


@pytest.mark.parametrize(
    ("question", "gold", "output", "right"),
    [
        ("1월부터 12월까지 중 화재가 가장 많은 달은 몇 월인가요?", "3월", "3월입니다.", True),
        ("2018년 1월~6월 중 이용객이 가장 많은 달은?", "4월", "4월입니다.", True),
        ("2018년 5월 기준 몇 월의 실적이 가장 높나요?", "3월", "3월이 가장 높습니다.", True),
        ("5월 다음으로 많은 달은 몇 월인가요?", "7월", "7월입니다.", True),
        ("5월에 신청하면 몇 월에 지급되나요?", "9월", "9월에 지급됩니다.", True),
        ("2023년 12월 공고된 사업의 신청 마감은 언제인가요?", "2024년 1월 15일", "2024년 1월 15일입니다.", True),
        ("2024년 5월 시행되는 시험의 합격자 발표일은?", "6월 14일", "합격자 발표일은 6월 14일입니다.", True),
        ("3월 1일부터 며칠까지 진행되나요?", "4월 15일", "4월 15일까지입니다.", True),
        ("5월 12일에 시작하는 행사는 언제 끝나나요?", "6월 3일", "6월 3일에 끝납니다.", True),
        ("20대부터 60대 중 고용률이 가장 높은 연령대는?", "40대", "40대가 가장 높습니다.", True),
        ("60대 다음으로 비율이 높은 연령대는?", "50대", "50대가 두 번째로 높습니다.", True),
        ("20대가 보유한 차량은 몇 대인가요?", "30대", "총 30대가 있습니다.", True),
        ("1호선부터 9호선 중 이용객이 가장 많은 노선은?", "2호선", "2호선입니다.", True),
        ("2018년 5월 실업률은?", "4.0%", "2018년 05월 실업률은 4.0%입니다.", True),
        ("5월은 4월보다 몇 건 더 많은가요?", "12건", "4월 300건에서 12건 늘었습니다.", True),
        ("5월은 4월보다 몇 건 더 많은가요?", "12건", "4월의 300건보다 12건 더 많습니다.", True),
        ("5월은 4월보다 몇 건 더 많은가요?", "12건", "4월은 5월보다 12건 적습니다.", True),
        ("12월은 9월에 비해 몇 명 늘었나요?", "30명", "9월 이후 30명 늘었습니다.", True),
        ("12월은 전월보다 몇 명 늘었나요?", "30명", "11월 100명에서 130명으로 30명 늘었습니다.", True),
        ("60대는 50대보다 몇 %p 낮은가요?", "12%p", "50대가 60대보다 12%p 높습니다.", True),
        ("2018년 5월 고용률은?", "61.3%", "2018년 6월에 발표된 자료에 따르면 61.3%입니다.", True),
        ("2018년 1분기 성장률은 얼마인가요?", "1.0%", "2018년 1/4분기 성장률은 1.0%입니다.", True),
        (
            "가장 많은 지역은 몇 명입니까?",
            "9,700천 명",
            "서울이 9,700천 명으로 가장 많고, 부산이 두 번째로 많습니다.",
            True,
        ),
        ("가장 많은 지역은 몇 명입니까?", "9,700천 명", "1위는 서울로 9,700천 명이고, 2위는 부산입니다.", True),
        (
            "가장 많은 지역은 몇 명입니까?",
            "9,700천 명",
            "서울이 9,700천 명으로 가장 많고, 다음으로 부산이 3,400천 명입니다.",
            True,
        ),
        ("가장 많은 연령대의 비율은?", "35%", "60대가 35%로 가장 높고, 그다음으로 50대입니다.", True),
        ("두 번째로 많은 지역은 몇 명입니까?", "2,941명", "서울이 가장 많고, 그다음은 부산으로 2,941명입니다.", True),
        ("두 번째로 많은 지역은 몇 명입니까?", "2,941명", "가장 많은 서울에 이어 부산이 2,941명입니다.", True),
        (
            "두 번째로 많은 지역은 몇 명입니까?",
            "2,941명",
            "서울이 가장 많고 부산이 2,941명으로 그 뒤를 이었습니다.",
            True,
        ),
        ("금강은 낙동강보다 전체 길이가 몇 km 짧은가요?", "112km", "금강이 낙동강보다 112km 짧습니다.", True),
        ("서울은 부산보다 평균 높이가 몇 m 더 낮은가요?", "12m", "서울이 부산보다 12m 낮습니다.", True),
        ("금강은 낙동강보다 몇 km 더 짧은가요?", "112km", "두 강의 길이 차이는 112km입니다.", True),
        ("제주는 서울보다 몇 명 적은가요?", "9,000명", "인구가 가장 많은 지역과의 차이는 9,000명입니다.", True),
        (
            "비경제활동인구는 몇 명인가요?",
            "16,000천 명",
            "15세 이상 인구 44,000천 명에서 경제활동인구 28,000천 명을 빼면 16,000천 명입니다.",
            True,
        ),
        ("비정규직 비율은 얼마인가요?", "36.3%", "정규직 63.7%의 나머지인 36.3%입니다.", True),
        ("비수도권 인구 비율은 얼마입니까?", "49.8%", "수도권을 뺀 지역의 인구 비율은 49.8%입니다.", True),
        ("비수도권 인구 비율은 얼마입니까?", "49.8%", "100%에서 수도권 비율 50.2%를 빼면 49.8%입니다.", True),
        ("미분양 주택은 몇 호인가요?", "6,200호", "분양이 안 된 주택은 6,200호입니다.", True),
        ("미취학 아동은 몇 명인가요?", "120명", "취학 전 아동은 120명입니다.", True),
        ("만족한다는 응답은 몇 %인가요?", "72.1%", "불만족을 빼면 72.1%입니다.", True),
        ("인구 10만 명당 자살률은 얼마인가요?", "26.6명", "해당 지역 자살률은 26.6명입니다.", True),
        ("인구 천 명당 병상 수는?", "12.3개", "해당 병상 수는 12.3개입니다.", True),
        ("조혼인율은 인구 1천 명당 몇 건인가요?", "5.0건", "해당 조혼인율은 5.0건입니다.", True),
        ("인구 십만 명당 발생률은?", "7.3명", "수당 제외 7.3명입니다.", True),
        ("두 지역의 차이는 몇 %p인가요?", "3%p", "차이는 3%p로 크지 않습니다.", True),
        ("발생 건수는 몇 건인가요?", "300건", "300건으로 많지 않습니다.", True),
        ("2019년 고용률은 얼마인가요?", "61.3%", "61.3%로 전년과 크게 다르지 않습니다.", True),
        ("남녀 비율은 얼마인가요?", "12:13", "12 대 13입니다.", True),
        ("경기 결과는?", "15:13", "15 대 13입니다.", True),
        ("몇 시인가요?", "3시 30분", "3시 반입니다.", True),
        ("지하 몇 층까지 있나요?", "지하 3층", "지하 3개 층입니다.", True),
        ("매년 열리는 축제의 첫날 방문객은 몇 명인가요?", "300명", "10월 1일 300명이 방문했습니다.", True),
        ("매일유업의 매출은 얼마인가요?", "1조 원", "연간 매출은 1조 원입니다.", True),
        ("진도의 예산은 얼마인가요?", "500억 원", "예산 규모는 500억 원입니다.", True),
        ("무역수지 흑자는 얼마인가요?", "-12억 달러", "12억 달러 적자입니다.", True),
        ("가장 많은 지역은 어디이며 몇 %인가요?", "인천이며 24.5%", "인천인 것으로 나타났으며 24.5%입니다.", True),
        ("가장 많은 해와 그 값은?", "2018년, 300건", "2018년인데, 300건입니다.", True),
        ("가장 많은 업종은 무엇이며 몇 건인가요?", "음식점, 300건", "음식점업이 300건으로 가장 많습니다.", True),
        ("1인당 GDP는?", "31,349달러", "US$31,349", True),
        ("수용 인원은 몇 명인가요?", "300명", "최대 300명입니다.", True),
        ("기준치는 몇 ppm인가요?", "0.1ppm", "0.1ppm 이하입니다.", True),
        ("남성은 여성보다 몇 %p 더 높은가요?", "5.2%p", "남성이 여성에 비해 5.2%p 낮습니다.", False),
        ("남성은 여성보다 몇 %p 더 높은가요?", "5.2%p", "여성이 남성에 비해 5.2%p 더 높습니다.", False),
        ("남성은 여성보다 몇 %p 더 높은가요?", "5.2%p", "여성이 남성보다 높지 않습니다. 남성이 5.2%p 높습니다.", True),
        ("남성은 여성보다 몇 %p 더 높은가요?", "5.2%p", "5.2%p 더 낮습니다.", False),
        ("5월의 방문객 수는 몇 명인가요?", "3,412명", "6월의 방문객 수는 3,412명입니다.", False),
        ("두 번째로 높은 지역의 실업률은 몇 %입니까?", "4.8%", "가장 높은 지역의 실업률은 4.8%입니다.", False),
        ("인구 10만 명당 자살률은 얼마인가요?", "26.6명", "인구 1만 명당 26.6명입니다.", False),
        ("응답한 기업은 몇 개사입니까?", "1,052개사", "1,052개사가 응답하지 않았습니다.", False),
    ],
)
def test_rules_about_other_subjects_accept_ordinary_answers(question: str, gold: str, output: str, right: bool) -> None:
    assert strict_match(question, gold, output) is right


@pytest.mark.parametrize(
    ("kind", "gold", "output", "question"),
    [
        (54, "7", "7 countries; the highest is China.", "How many countries have at least 10 medals?"),
        (
            54,
            "21%",
            "Samsung holds 21%, behind Apple, the largest.",
            "What share does the second largest company hold?",
        ),
        (54, "45%", "45% for Asia; Africa has the smallest.", "What is the largest share?"),
        (13, "Germany", "Germany comes after China, the largest exporter.", "Which is the second largest exporter?"),
    ],
)
def test_ranks_of_others_do_not_refuse_chart_answers(kind: int, gold: str, output: str, question: str) -> None:
    assert strict_chart_answers.strict_match(kind, gold, output, question)


@pytest.mark.parametrize(
    ("question", "gold", "output"),
    [
        # The years are no operands, although they are one apart as the values are.
        ("2018년 화재는 2017년보다 몇 건 늘었습니까?", "1건", "2018년은 7건, 2017년은 6건으로 1건 늘었습니다."),
        ("고용률은 몇 %p 올랐습니까?", "1%p", "2018년은 61%, 2017년은 60%로 1%p 올랐습니다."),
        # 지속가능 and 확인할 수 있습니다 are no doubts.
        (
            "2018년 지속가능경영 인증은 몇 건인가요?",
            "7건",
            "2018년 지속가능경영 인증은 7건으로, OECD 평균은 9건입니다.",
        ),
        (
            "2018년 화재 건수는?",
            "7,131건",
            "표에서 2018년 화재는 7,131건으로 전년보다 227건 늘었음을 확인할 수 있습니다.",
        ),
        ("2018년 화재 건수는?", "7,131건", "2018년 화재는 7,131건으로 전년보다 227건 늘었음을 알 수 있다."),
        # 식당 asks for no rate.
        ("식당 수는?", "120개", "식당은 120개로, 인구 1000명당 식당은 2.3개입니다."),
        ("인구 1000명당 식당 수는?", "2.3개", "식당은 120개로, 인구 1000명당 식당은 2.3개입니다."),
    ],
)
def test_strict_match_ignores_asides(question: str, gold: str, output: str) -> None:
    assert strict_match(question, gold, output)


@pytest.mark.parametrize(
    ("question", "gold", "output"),
    [
        ("2018년 화재 건수는?", "5건", "2018년 화재는 5건 또는 6건일 수도 있습니다."),
        # Three candidates of which one is the sum of the others.
        ("서울은 몇 건입니까?", "300건", "300건 또는 100건 또는 200건"),
        ("서울은 몇 건입니까?", "300건", "100건, 200건, 300건"),
        ("서울은 몇 건입니까?", "300건", "정답은 200건입니다. 부산은 100건, 서울은 300건."),
        # The passage after a marker stands in the answer twice.
        ("몇 건입니까?", "5건", "정답: 5건.\n또는 6건.\n표에는 5건."),
    ],
)
def test_strict_match_does_not_choose_between_candidates(question: str, gold: str, output: str) -> None:
    assert not strict_match(question, gold, output)


def test_strict_match_accepts_total_of_named_parts() -> None:
    assert strict_match("예산은 얼마입니까?", "120억 원", "국비 60억 원과 시비 60억 원을 합한 120억 원입니다.")


@pytest.mark.parametrize(
    ("answer", "output", "question", "right"),
    [
        # Europe is no euro, and a team that has won names no currency.
        ("€5 billion", "Europe spent $5 billion", "How much did Europe spend?", False),
        ("$5 billion", "Europe spent 5 billion", "How much did Europe spend?", True),
        ("$5 million", "It won 5 million", "How much did the team win?", True),
        ("₩5,000", "5,000 won", "What is the price?", True),
        ("₩5 million", "5 million won", "What is the price?", True),
        ("$5 million", "5 million won", "What is the price?", False),
        # A million in the question may be a bound.
        ("5", "5 million", "How many cities have more than 1 million people?", False),
        ("5", "5 million", "How many million people live there?", True),
        ("5%", "It increased by 5%", "By how much has the price dropped?", False),
        ("5%", "It dropped by 5%", "By how much has the price dropped?", True),
        ("5%", "It fell by 5%", "By how much has the price risen?", False),
        ("25%", "In 2019/20 it was 25%", "What share was it?", True),
        ("5 meters", "5m", "How long is it?", True),
        ("5 million", "5m", "How many users are there?", True),
    ],
)
def test_chart_match_reads_currencies_factors_and_directions(
    answer: str, output: str, question: str, right: bool
) -> None:
    assert strict_chart_answers.strict_match(54, answer, output, question) is right


@pytest.mark.parametrize(
    ("answer", "response", "right"),
    [
        ("Sudan,South Sudan", "South Sudan", False),  # which names no Sudan
        ("Sudan,South Sudan", "South Sudan and Sudan are the two", True),
        ("Guinea,Guinea-Bissau", "Guinea-Bissau and Guinea", True),
        ("tea,coffee", "tea, juice and coffee", False),
        ("tea,coffee", "tea, juice, coffee", False),
        ("tea,coffee", "tea and coffee", True),
        ("tea,milk,rice", "tea, milk, and rice", True),
        # Words that deny or offer alternatives, in an item and around items.
        ("Not stated,Japan", "Not stated, Japan", True),
        ("Not stated,Japan", "The two are **Japan** and **Not stated**.", True),
        ("Stated,Japan", "Not stated, Japan", False),
        ("Not stated,Japan", "Not Japan, stated", False),
        ("None,Some", "- Some\n- None", True),
        ("None,Some", "Some, not None", False),
        ("N,T", "N and T, not", False),
        ("Neither,Both", "Both; neither", True),
        ("Do not know,Yes", "Yes and do not know", True),
        ("Fish or meat,Vegetables", "Vegetables, fish or meat", True),
        ("Fish or meat,Vegetables", "Fish or meat or vegetables", False),
        ("모름 또는 무응답,찬성", "찬성, 모름 또는 무응답", True),
    ],
)
def test_same_list_knows_each_item_and_no_other(answer: str, response: str, right: bool) -> None:
    assert same_list("Which?", answer, response, is_ordered=False) is right


@pytest.mark.parametrize(
    ("question", "gold", "output", "right"),
    [
        ("몇 건인가요?", "300건", "greater than 300건", False),
        ("몇 건인가요?", "300건", "at least about 300건", False),
        ("몇 곳이 넘어졌나요?", "300곳", "300곳이 넘어졌습니다.", True),
        # No ranges of times or days, and no months.
        ("변화율은?", "-3.2%", "서울시 -3.2%", True),
        ("변화율은?", "3.2%", "서울시 -3.2%", False),
        ("변화율은?", "-1.5%", "3월 4일 -1.5% 하락", True),
        ("What is the total?", "2011.8", "The total is 2011.8.", True),
        ("마감은 언제인가요?", "2018년 3월", "2018.3.", True),
        ("기간은?", "3월 4일~3월 15일", "3월 4일~3.15", True),
        ("몇 시인가요?", "7시 30분", "7시반입니다.", True),
    ],
)
def test_bounds_and_dates_are_read_as_written(question: str, gold: str, output: str, right: bool) -> None:
    assert strict_match(question, gold, output) is right
