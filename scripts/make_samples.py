"""Write assets/samples/ko-vqa, ko-vdc, infochartqa, ko-ocrag and ko-fresh anew: `python -m scripts.make_samples`. Needs Chromium and Noto CJK fonts.

The korquad-2 samples are plain files under assets/samples/korquad-2, written by hand.
"""

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import plotly.offline
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from evaluator.core.files import remove_path
from evaluator.fresh.draw import draw_set
from scripts.chromium import launch
from scripts.samples import infochartqa, ko_ocrag, ko_vdc, ko_vqa
from scripts.samples.figures import Figure, page
from submissions.config.paths import SAMPLES as OUT

FRESH_SEED, FRESH_N = "sample", 40


def main() -> None:
    with _browser() as tab:
        _write("ko-vqa", _vqa_rows(tab))
        _write("ko-vdc", _vdc_rows(tab))
        _write("infochartqa", _chart_rows(tab))
        _write("ko-ocrag", _page_rows(tab))
    _draw_fresh()


def _draw_fresh() -> None:
    remove_path(OUT / "ko-fresh")
    print(f"ko-fresh: {draw_set(FRESH_SEED, OUT / 'ko-fresh', FRESH_N)}")


def _vqa_rows(tab: Page) -> Iterator[dict[str, Any]]:
    count: dict[str, int] = {}
    for number, (domain, figure, questions) in enumerate(ko_vqa.SAMPLES, 1):
        image = _shoot(tab, "ko-vqa", f"{number:03}", figure, domain=domain)
        for question, answer in questions:
            count[domain] = count.get(domain, 0) + 1
            yield {
                "id": f"{domain}-{count[domain]}",
                "domain": domain,
                "question": question,
                "answer": answer,
                "images": [image],
            }


def _vdc_rows(tab: Page) -> Iterator[dict[str, Any]]:
    for number, (doc_type, figure, captions) in enumerate(ko_vdc.SAMPLES, 1):
        press = doc_type == ko_vdc.PRESS
        image = _shoot(tab, "ko-vdc", f"{number:03}", figure, domain="정책 연구 보고서", paragraphs=2, press=press)
        yield {"id": f"vdc-{number:03}", "doc_type": doc_type, "choices": captions, "images": [image]}


def _chart_rows(tab: Page) -> Iterator[dict[str, Any]]:
    for number, (figure, questions) in enumerate(infochartqa.SAMPLES, 1):
        image = _shoot(tab, "infochartqa", f"{number:03}", figure, domain="Infographic", english=True)
        for place, own in enumerate(questions, 1):
            yield {
                "id": f"chart-{number:02}-{place}",
                "question_type_id": own.kind,
                "subset": own.subset,
                "question": own.question,
                "options": own.options,
                "instructions": own.instructions,
                "answer": own.answer,
                "images": [image],
                "extra_input_figure_bboxes": own.boxes,
            }


def _page_rows(tab: Page) -> Iterator[dict[str, Any]]:
    for number, own in enumerate(ko_ocrag.SAMPLES, 1):
        tab.set_content(f"{ko_ocrag.STYLE}<main>{own.page}</main>", wait_until="load")
        yield {
            "id": f"page-{number:02}",
            "answer": own.text,
            "images_described": "\n\n".join(f"[image] {picture} [/image]" for picture in own.pictures),
            "images": [_save(tab, "ko-ocrag", f"{number:03}")],
            "dataset_type": own.dataset_type,
        }


def _shoot(tab: Page, benchmark: str, name: str, figure: Figure, domain: str, **kwargs: Any) -> str:
    tab.set_content(page(figure, f"{int(name) // 4 + 1}-{int(name) % 4 + 1}", domain, **kwargs), wait_until="load")
    if figure.chart:
        tab.add_script_tag(content=plotly.offline.get_plotlyjs())
        tab.evaluate(
            "chart => { const {data, layout} = JSON.parse(chart);"
            " return Plotly.newPlot('chart', data, layout, {staticPlot: true}) }",
            figure.chart,
        )
    return _save(tab, benchmark, name)


def _save(tab: Page, benchmark: str, name: str) -> str:
    relative = f"images/{name}.png"
    target = OUT / benchmark / relative
    target.parent.mkdir(parents=True, exist_ok=True)
    shot = Image.open(io.BytesIO(tab.locator("main").screenshot(animations="disabled")))
    shot.convert("RGB").quantize(64).save(target, optimize=True)  # flat colours: a third of the size, looks the same
    return relative


def _write(benchmark: str, rows: Iterator[dict[str, Any]]) -> None:
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    (OUT / benchmark / "items.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{benchmark}: {len(lines)} items")


@contextmanager
def _browser() -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = launch(playwright)
        tab = browser.new_page(viewport={"width": 800, "height": 700})
        yield tab
        browser.close()


if __name__ == "__main__":
    main()
