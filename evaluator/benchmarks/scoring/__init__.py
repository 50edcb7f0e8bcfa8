"""Scoring rules that are too long for the file of their benchmark, and what they share.

A *published* rule repeats the makers' own script, mistakes included. A *strict* rule decides as a person would whether an
output gives the right answer, whatever its wording. The strict rules, each of which reads an output through `stated_answer`
first, are:

| entry point | decides about | for |
|---|---|---|
| `final_answer.strict_match`, `strict_f1` | numbers with their units | ko-vqa |
| `given_names.matches_name` | names | ko-vqa, ko-fresh |
| `readings.matches_reading`, `quantity_f1` | values with and without a tolerance | ko-fresh |
| `abstention.abstains` | questions that cannot be answered | ko-fresh |
| `letters.asserted_letter`, `asserted_letters` | letters of choices | ko-vdc, k-viscuit, infochartqa, ko-fresh |
| `strict_chart_answers.strict_match` | English charts: values, names, lists, letters, yes or no | infochartqa |

Published rules: `published_quantities`, `chart_answers`, `html_text` (KorQuAD 2.0), `page_text` → `page_tables` →
`page_checks` (olmOCR-bench).

How numbers are read, from the bottom: `units`, `number_words` (삼만 → 30000), `dates` (오후 6시 → 18시) → `notation` (one form
of signs, units and markup) → `quantities` → `quantity_sets` → `sentence_values` (which values of a sentence count) →
`named_values` → `contradictions`, `asides`, `answer_passages` → `final_answer` → `given_names`, `readings`.

How responses to InfoChartQA are read: `names` → `chart_text` → `chart_other_subjects` → `chart_passages` →
`chart_names`, `chart_values`, `chart_lists` → `strict_chart_answers`.
"""
