"""Write the standing of a model in one to three sentences, what is known of it in a line, and differences of ranks in words.

The page of a model and its preview picture show the standing: "Ranks 3 of 41 models overall on 5 image benchmarks (1 to 6).
First or tied for first on KO-VQA. It falls by 2 to 5 places on unseen questions (KO-FRESH − KO-VQA)."
"""

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.profile import OverallPlace, Profile
from leaderboard.data.unseen import UnseenChange
from leaderboard.facts.lineage import encoder_of, origin_of
from leaderboard.views.texts import Language, text

MAX_NAMED = 4  # benchmarks on which a model leads that the sentence names; more are counted


def change_in_words(change: UnseenChange, language: Language) -> str:
    """Return how far a model rises or falls on unseen questions: "falls by 2 to 5 places on unseen questions"."""
    if change.direction == "stays":
        return text("unseen_stays", language)
    if change.direction == "unknown":
        return text("unseen_unknown", language, low=signed(change.low), high=signed(change.high))
    low, high = change.places
    if low == high == 1:
        return text(f"unseen_{change.direction}_one", language)
    if low == high:
        return text(f"unseen_{change.direction}_by", language, n=low)
    return text(f"unseen_{change.direction}", language, low=low, high=high)


def signed(places: int) -> str:
    """Format a difference of ranks with its sign: 3 -> "+3", 0 -> "0"."""
    return f"{places:+d}" if places else "0"


def verdict(profile: Profile, language: Language, *, with_counts: bool = True) -> str:
    """Return the standing of a model: overall, where it leads, and how it does on unseen questions.

    `with_counts` is whether it says among how many models. Pages that are files leave that out, because it changes with every
    result, and so all of them would have to be written again.
    """
    if profile.overall:
        sentences = [_overall_sentence(profile.overall, language, with_counts)]
    else:
        sentences = [_sentence_without_overall(profile, language)]
    if leads := profile.leads:
        titles = ", ".join(BENCHMARKS[name].card.title for name in leads[:MAX_NAMED])
        key = "verdict_leads_more" if len(leads) > MAX_NAMED else "verdict_leads"
        sentences.append(text(key, language, titles=titles, n=len(leads) - MAX_NAMED))
    if surprises := profile.surprises:
        change = surprises[0]  # by the order of `unseen_changes`: the largest certain fall, or else the smallest rise
        words = change_in_words(change, language)
        titles = f"{BENCHMARKS[change.unseen].card.title} − {BENCHMARKS[change.public].card.title}"
        sentences.append(text("verdict_unseen", language, words=words, titles=titles))
    return " ".join(sentences)


_LARGE_UNITS = ((1e12, "T"), (1e9, "B"))


def amount(params: float | None) -> str:
    """Format a number of parameters in trillions, billions or millions: 7_615_616_512 -> "7.62B"."""
    if params is None:
        return "–"
    rounded = float(f"{params:.3g}")
    factor, letter = next((unit for unit in _LARGE_UNITS if rounded >= unit[0]), (1e6, "M"))
    return f"{rounded / factor:.3g}{letter}"


def in_brief(profile: Profile, language: Language) -> str:
    """Return size, licence, lineage, memory and cost of a model in a line.

    What is not known is left out, except the lineage: "7.6B · Language model: not known · Vision encoder: not known".
    """
    model = profile.model
    parts: list[str] = []
    if model.params:
        parts.append(amount(model.params))
    if model.license:
        parts.append(model.license)
    origin = text("origin_" + origin_of(model.model, model.base_model), language)
    encoder = text("encoder_" + encoder_of(model.model), language)
    parts.append(f"{text('language_model', language)}: {origin}")
    parts.append(f"{text('vision_encoder', language)}: {encoder}")
    if model.gpu_memory_gb:
        gigabytes = float(f"{model.gpu_memory_gb:.3g}")
        parts.append(f"GPU {gigabytes:,g} GB")
    if profile.usd_per_1000:
        parts.append(f"{text('cost_per_1000', language)}: {prices(*profile.usd_per_1000)}")
    return " · ".join(parts)


def prices(low: float, high: float) -> str:
    """Format a range of prices in US dollars: (0.5, 2.0) -> "$0.50–2.00"."""
    lowest = f"{low:.2f}"
    highest = f"{high:.2f}"
    return f"${lowest}–{highest}" if highest != lowest else f"${lowest}"


def _overall_sentence(place: OverallPlace, language: Language, with_counts: bool) -> str:
    """Join the sentence on the overall rank: "Ranks 3 of 41 models overall on 5 image benchmarks (1 to 6)."."""
    group = text(f"verdict_{place.inputs}", language, n=place.benchmarks)
    key = "verdict_overall" if with_counts else "verdict_overall_alone"
    sentence = text(key, language, rank=place.rank, of=place.of, group=group)
    if place.best != place.worst:
        sentence += text("verdict_range", language, best=place.best, worst=place.worst)
    end = "verdict_reported" if place.kind == "reported" else "verdict_end"
    return sentence + text(end, language)


def _sentence_without_overall(profile: Profile, language: Language) -> str:
    """Return the sentence for a model without an overall rank: on how many benchmarks it has a rank."""
    count = len(profile.standings)
    if count == 0:
        return text("verdict_none", language)
    if count == 1:
        return text("verdict_partial_one", language)
    return text("verdict_partial", language, n=count)
