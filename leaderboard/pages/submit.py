"""The submission form: a model is checked at once, and queued only if it passes."""

import gradio as gr

from evaluator.benchmarks import BENCHMARKS
from leaderboard.render import render
from leaderboard.texts import Language, text
from submissions.checks import PRECISIONS, Refused, build_request, inspect_model
from submissions.messages import REFUSALS
from submissions.queue import AlreadySubmitted, Queue
from submissions.records import Status
from submissions.settings import Settings
from submissions.store import StoreError

HUB = "https://huggingface.co/"
SUBMITTER = "visitor"  # the board has no sign-in yet; everyone shares one turn in the queue

Line = tuple[bool, str, str]  # accepted?, benchmark, message


def submit_tab(queue: Queue, settings: Settings, language: Language) -> None:
    gr.Markdown(text("submit_intro", language))
    titles = [(b.card.title, name) for name, b in BENCHMARKS.items()]
    model_id = gr.Textbox(
        label=text("model_id", language),
        placeholder=text("model_id_hint", language),
        max_length=250,
        elem_id="model-id",
    )
    chosen = gr.CheckboxGroup(titles, label=text("benchmarks", language), elem_id="benchmarks")
    with gr.Row(elem_classes="hn-controls"):
        revision = gr.Textbox(label=text("revision", language), max_length=100)
        precision = gr.Dropdown(
            [(text("precision_auto", language), "auto"), *PRECISIONS], value="auto", label=text("precision", language)
        )
    share = gr.Checkbox(label=text("share", language), elem_id="share")
    button = gr.Button(text("submit_button", language), variant="primary", elem_id="submit")
    outcome = gr.HTML(elem_id="outcome", apply_default_css=False)

    def submit(model: str, benchmarks: list[str], named_revision: str, wanted: str, shared: bool) -> str:
        lines = submit_model(queue, settings, language, model, benchmarks, named_revision, wanted, shared)
        return render("outcome.html", language, lines=lines)

    gr.on(
        [button.click, model_id.submit],
        submit,
        [model_id, chosen, revision, precision, share],
        outcome,
        api_visibility="private",
        concurrency_limit=4,
    )


def submit_model(
    queue: Queue,
    settings: Settings,
    language: Language,
    model: str,
    benchmarks: list[str],
    revision: str,
    precision: str,
    share: bool = False,
) -> list[Line]:
    """Check and queue a model on each benchmark; what to tell the visitor, a line a benchmark."""
    if not benchmarks:
        return [(False, "", text("no_benchmark", language))]
    revision_or_none = (revision or "").strip() or None
    try:
        model_id = (model or "").strip().removeprefix(HUB).rstrip("/")
        facts = inspect_model(model_id, revision_or_none, settings.models_dir)
    except Refused as refused:
        return [(False, "", getattr(REFUSALS[refused.code], language))]
    wanted = next((p for p in PRECISIONS if p == precision), None)
    lines: list[Line] = []
    for name in benchmarks:
        title = BENCHMARKS[name].card.title if name in BENCHMARKS else name
        try:
            request = build_request(facts, name, SUBMITTER, revision_or_none, wanted, bool(share))
            queue.submit(request)
            ahead = sum(r.status == Status.PENDING and r.key != request.key for r in queue.rows())
            lines.append((True, title, text("accepted", language, n=ahead)))
        except Refused as refused:
            lines.append((False, title, getattr(REFUSALS[refused.code], language)))
        except AlreadySubmitted as known:
            status = text(known.request.status, language)
            lines.append((False, title, text("already", language, status=status)))
        except StoreError:
            lines.append((False, title, text("store_busy", language)))
    return lines
