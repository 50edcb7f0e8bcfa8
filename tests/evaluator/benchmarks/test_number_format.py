"""Test that cells are written as a spreadsheet shows them, or refused."""

from datetime import date, datetime, time

import pytest

from evaluator.benchmarks.number_format import Value, shown_text, shown_value


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (15, "General", "15"),
        (-15, "General", "-15"),
        (0.1 + 0.2, "General", "0.3"),
        (20.5, "@", "20.5"),
        (123456789012, "General", "123456789012"),
        (15, 'General"명"', "15명"),
        (1234567890.4, "General", "1234567890"),
        (0.1234567885, "General", "0.123456789"),
        (5, "0,000", "0,005"),
        (1234567, "#,##0,.0", "1,234.6"),
        (1234567, "000,000", "1,234,567"),
        (0.205, "0.0%", "20.5%"),
        (0.205, "0%", "21%"),
        (-0.0001, "0%", "0%"),
        (-0.4, '0"m2"', "0m2"),
        (-0.6, '0"m2"', "-1m2"),
        (-0.052, "0.0%", "-5.2%"),
        (1402886, "#,##0", "1,402,886"),
        (1402886, '#,##0"백만 원"', "1,402,886백만 원"),
        (1402886, "#,##0,", "1,403"),
        (1402886000, '#,##0.0,,"백만"', "1,402.9백만"),
        (2.5, "0", "3"),
        (1500, "[$₩-412]#,##0", "₩1,500"),
        (-1500, '"₩"#,##0', "-₩1,500"),
        (-1500, "#,##0_);(#,##0)", "(1,500)"),
        (1500, "#,##0_);(#,##0)", "1,500"),
        (-1500, "#,##0;△#,##0", "△1,500"),
        (0, '_-* #,##0_-;-* #,##0_-;_-* "-"_-;_-@_-', "-"),
        (-7, '_-* #,##0_-;-* #,##0_-;_-* "-"_-;_-@_-', "-7"),
        (-0.0, "#,##0;-#,##0;0", "0"),
        (7, "000", "007"),
        (0.5, ".00", ".50"),
        (1.5, "0.0##", "1.5"),
        (-1500, "[Blue]#,##0;[Red]-#,##0", "-1,500"),
        (True, "General", "TRUE"),
        (datetime.fromisoformat("2021-03-02"), 'm"월" d"일"', "3월 2일"),
        (date(2021, 3, 2), "yyyy\\-mm\\-dd;@", "2021-03-02"),
        (datetime.fromisoformat("2021-03-02"), '[$-412]yyyy"년" mm"월" dd"일";@', "2021년 03월 02일"),
        (datetime.fromisoformat("2021-03-02T09:05"), "yyyy. m. d. h:mm", "2021. 3. 2. 9:05"),
        (time(9, 5, 7), "hh:mm:ss", "09:05:07"),
        (time(9, 5, 7), "mm:ss", "05:07"),
    ],
)
def test_shown_value_follows_format(value: Value, code: str, shown: str) -> None:
    assert shown_value(value, code) == shown


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (0.5, "# ?/?"),
        (12345, "0.00E+00"),
        (5, "[>=1000]#,##0;0"),
        (-5, "#,##0;[Red]#,##0"),
        (5, "[DBNum1]General"),
        (5551234, "000-0000"),
        (date(2021, 3, 2), "mmm d"),
        (date(2021, 3, 2), "yyyy-mm-dd aaa"),
        (date(2021, 3, 2), "h:mm"),
        (time(9, 5), "yyyy-mm-dd"),
        (datetime.fromisoformat("2021-03-02T09:00"), "h:mm AM/PM"),
        (datetime.fromisoformat("2021-03-02"), "General"),
        (1e-10, "General"),
        (1e27, "0.00"),
        (-0.00001, "General"),
        (44257, "yyyy-mm-dd"),
    ],
)
def test_shown_value_refuses_what_depends_on_program(value: Value, code: str) -> None:
    with pytest.raises(ValueError, match="write it as text"):
        shown_value(value, code)


def test_shown_text_adds_words_of_format() -> None:
    assert shown_text("15", '@"명"') == "15명"
    assert shown_text("15명", "#,##0") == "15명"
    assert shown_text("15명", "yyyy-mm-dd;@") == "15명"
    assert shown_text("15명", '0"@"') == "15명", "a quoted @ is no place for a text"
    assert shown_text("15명", ";;;") == "", "hidden"
    assert shown_text("15명 A", "0;0;0;General") == "15명 A"


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_shown_value_refuses_what_is_no_number(value: float) -> None:
    with pytest.raises(ValueError, match="is not a number"):
        shown_value(value, "0")
