"""Serve the same rows on a plain Gradio page, with a gr.Dataframe and a search field per benchmark, for comparison."""

import os
import sys
from pathlib import Path

import gradio as gr
import pandas as pd
import uvicorn
from fastapi import FastAPI

COLUMNS = [
    "rank",
    "model",
    "organisation",
    "params",
    "score",
    "metric",
    "latency_ms",
    "n",
    "date",
    "kind",
]


def main(tables: list[Path]) -> None:
    with gr.Blocks(title="plain") as page:
        for path in tables:
            with gr.Tab(path.stem):
                _tab(path.stem, pd.read_parquet(path, columns=COLUMNS))
    app = gr.mount_gradio_app(FastAPI(), page, path="/", ssr_mode=False)
    uvicorn.run(app, host="127.0.0.1", port=int(os.environ["HANNUN_PORT"]), access_log=False)


def _tab(name: str, frame: pd.DataFrame) -> None:
    def search(words: str) -> pd.DataFrame:
        return frame[frame["model"].str.contains(words, case=False, regex=False)]

    field = gr.Textbox(label="Search", elem_id=f"search-{name}")
    table = gr.Dataframe(frame, elem_id=f"board-{name}")
    field.change(search, field, table)


if __name__ == "__main__":
    main([Path(path) for path in sys.argv[1:]])
