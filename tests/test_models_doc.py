"""docs/published-models.md names for every published row how its model is evaluated, as assets/published_models.json records."""

from scripts.make_models_doc import DOC, MARK, README, front_matter, published, table


def test_models_table_matches_records() -> None:
    assert DOC.read_text(encoding="utf-8").partition(MARK)[2] == table(), "python -m scripts.make_models_doc"
    assert len(published()) > 40


def test_space_front_matter_names_the_models() -> None:
    readme = README.read_text(encoding="utf-8")
    assert front_matter(readme) == readme, "python -m scripts.make_models_doc"
    assert "- Qwen/Qwen2.5-VL-72B-Instruct\n" in readme
