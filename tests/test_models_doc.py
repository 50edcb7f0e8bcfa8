"""docs/models.md says of every published row how it gets through the queue, and of every native one truly so."""

from scripts.make_models_doc import DOC, MARK, published, table


def test_the_table_is_as_the_records_say() -> None:
    assert DOC.read_text(encoding="utf-8").partition(MARK)[2] == table(), "python -m scripts.make_models_doc"
    assert len(published()) > 40
