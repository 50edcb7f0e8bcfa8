"""InfoChartQA samples over its question types, in its three subsets. Places, agencies and numbers are invented."""

from typing import Any, NamedTuple

from scripts.samples.figures import Figure, bar, infographic, line, pie, stacked, table

LETTER = "Answer with the letter only."
LIST = "Separate the items with commas."


class Question(NamedTuple):
    kind: int  # question_type_id
    question: str
    answer: str
    subset: str = "text"
    options: tuple[str, ...] = ()
    instructions: str = ""
    boxes: tuple[tuple[int, int, int, int], ...] = ()


def choice(kind: int, question: str, options: str, answer: str, subset: str = "visual_basic", **more: Any) -> Question:
    lettered = tuple(f"{letter}. {option}" for letter, option in zip("ABCD", options.split("|"), strict=False))
    return Question(kind, question, answer, subset, lettered, LETTER, **more)


SAMPLES: list[tuple[Figure, list[Question]]] = [
    (
        bar(
            "Visitors by museum",
            "thousand",
            {"Gaon": 412, "Nuri": 287, "Dasom": 163, "Raon": 98},
            "Hanbit Museum Office",
        ),
        [
            Question(1, "How many thousand visitors did Nuri have?", "287"),
            Question(10, "About how many thousand visitors did all museums have together?", "960"),
            Question(71, "Rank the museums from most to least visitors.", "Gaon,Nuri,Dasom,Raon", instructions=LIST),
            choice(202, "What colour are the bars?", "Red|Blue|Green|Grey", "B"),
        ],
    ),
    (
        line(
            "Ferry passengers",
            "thousand",
            ["2019", "2020", "2021", "2022"],
            {"North line": [52.4, 31.0, 38.6, 49.2], "South line": [40.1, 22.5, 27.3, 41.8]},
            "Pureun Port",
        ),
        [
            Question(2, "How many thousand passengers did the South line carry in 2021?", "27.3"),
            Question(13, "In which year did the North line carry the fewest passengers?", "2020"),
            Question(60, "Which line carried more passengers in every year?", "North line"),
            choice(
                1919810,
                "What does the dip in the middle most remind you of?",
                "A valley|A tower|A wheel|A door",
                "A",
                "visual_metaphor",
                boxes=((60, 120, 400, 280),),
            ),
        ],
    ),
    (
        pie(
            "Energy mix",
            "%",
            {"Solar": 58.6, "Wind": 17.3, "Biomass": 14.9, "Hydro": 9.2},
            "Energy Transition Institute",
        ),
        [
            Question(72, "What is the share of wind in percent?", "17.3%"),
            Question(40, "Which sources have a share below 15 percent?", "Biomass,Hydro", instructions=LIST),
            Question(15, "What is the share of hydro?", "9.2%"),
            choice(1919811, "What is the chart shaped like?", "A ring|A square|A star|A tree", "A"),
        ],
    ),
    (
        stacked(
            "Workers by sector",
            "thousand",
            ["2021", "2022", "2023"],
            {"Industry": [182.4, 179.8, 181.1], "Services": [514.2, 531.6, 548.9], "Building": [63.5, 66.0, 61.7]},
            "Saesol Employment Survey",
        ),
        [
            Question(101, "How many thousand people worked in services in 2022?", "531.6"),
            Question(
                41, "Which sectors employed more people in 2023 than in 2022?", "Industry,Services", instructions=LIST
            ),
            Question(54, "By how many thousand did services grow from 2021 to 2023?", "34.7"),
            choice(202, "Which sector stands at the bottom of each bar?", "Industry|Services|Building|None", "A"),
        ],
    ),
    (
        table(
            "Harbour cargo",
            "thousand TEU",
            ["Harbour", "2021", "2022", "2023"],
            [
                ["Pureun", "2,318", "2,406", "2,537"],
                ["Saesol", "1,145", "1,098", "1,204"],
                ["Hanbit", "3,870", "4,012", "4,265"],
            ],
            "Sea Freight Centre",
        ),
        [
            Question(1, "How many thousand TEU did Hanbit handle in 2023?", "4,265"),
            Question(102, "Which harbour handled less in 2022 than in 2021?", "Saesol"),
            Question(
                42, "Which harbours handled more than 2,000 thousand TEU in 2021?", "Pureun,Hanbit", instructions=LIST
            ),
            Question(
                71, "Rank the harbours by cargo in 2023, smallest first.", "Saesol,Pureun,Hanbit", instructions=LIST
            ),
        ],
    ),
    (
        infographic(
            "Health checks at a glance",
            {
                "General check-up": "76.4%",
                "Cancer screening": "58.1%",
                "Cost a person": "92.5K",
                "People with findings": "41,870",
            },
            "Hanbit Health Centre",
        ),
        [
            Question(50, "What share of people took the general check-up?", "76.4%"),
            Question(11, "About what does a check cost a person?", "92.5K"),
            Question(113, "How many people had findings?", "41,870"),
            choice(
                1919812,
                "Which of the pieces shown after the chart tells a share, and which a cost?",
                "First: share, second: cost|First: cost, second: share|Both a share|Both a cost",
                "A",
                "visual_metaphor",
                boxes=((40, 88, 330, 100), (40, 204, 330, 90)),
            ),
        ],
    ),
    (
        bar(
            "Fires by cause",
            "cases",
            {"Carelessness": 1284, "Electric": 672, "Mechanical": 318, "Arson": 54},
            "Hanbit Fire Headquarters",
        ),
        [
            Question(12, "About how many fires were caused by carelessness?", "1284"),
            Question(70, "What is the most common cause of fire?", "Carelessness"),
            Question(43, "Which causes account for fewer than 400 cases?", "Mechanical,Arson", instructions=LIST),
        ],
    ),
    (
        line(
            "Rainfall in Pureun",
            "mm",
            ["May", "June", "July", "August"],
            {"Upper valley": [98, 142, 311, 232], "Lower valley": [84, 120, 268, 296]},
            "Pureun Weather Post",
        ),
        [
            Question(52, "How much rain fell in the upper valley in July?", "311 mm"),
            Question(103, "In which month did the lower valley get more rain than the upper?", "August"),
            Question(90, "Which valley had the wettest single month?", "Upper valley"),
            choice(
                1919810,
                "What feeling does the climb from May to July suggest?",
                "A rising flood|A setting sun|A falling leaf|A still lake",
                "A",
                "visual_metaphor",
            ),
        ],
    ),
]
