"""Find a benchmark's items: the sample set, a set generated from a seed, a folder or file, or a private Hub dataset.

The worker calls `configured_source`, commands with an option `--data` call `open_source`. Both return a `Source`, from whose
path `load_items` reads the items.

A Hub dataset is downloaded once for each commit, split and version of the benchmark, into a folder in the documented schema.
There are three kinds of such datasets:
- a folder in that schema, as `python -m evaluator import` writes it
- Parquet shards with embedded images, as `push_to_hub` of the `datasets` library writes them
- rows in the makers' columns, for benchmarks that declare those
"""

import shutil
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from filelock import FileLock
from httpx2 import HTTPError
from huggingface_hub import HfApi, snapshot_download
from huggingface_hub.errors import HfHubHTTPError, RepositoryNotFoundError, RevisionNotFoundError

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.base import Benchmark
from evaluator.core.errors import DataError, EvaluationError
from evaluator.core.files import new_folder
from evaluator.datasets.corrections import NO_CORRECTIONS, Corrections
from evaluator.datasets.import_dataset import import_dataset
from evaluator.datasets.leak_check import CANARY
from submissions.checks.data_terms import check_receivers
from submissions.config.api_options import ApiOptions
from submissions.config.paths import SAMPLES
from submissions.config.settings import Settings
from submissions.hub_models.repository import content_revision
from submissions.records.hub_names import is_hub_id
from submissions.texts.errors import SettingsError
from submissions.texts.failure_codes import FailureCode

DRAWN = "drawn"  # the value of `--data` for the set that evaluator.fresh generates from this installation's seed
SCHEME = "hf://datasets/"
DEFAULT_SPLIT = "test"
SAMPLE_PREFIX = "samples/"  # of the ids of sample sets
MAX_LOAD_ERROR = 200  # characters of an error of the `datasets` library that are shown


@dataclass(frozen=True)
class Source:
    """The location of a benchmark's items, and the id, split and revision that results publish."""

    path: Path  # a folder in the documented schema, or a file that the benchmark's `load` reads
    id: str  # the benchmark's name, with SAMPLE_PREFIX before it for the sample set
    split: str
    commit: str | None = None  # the Hub's commit, or the first 40 digits of a drawn set's hash
    corrections: Corrections = NO_CORRECTIONS  # of the published errata, which the worker and `errata` add

    @property
    def is_sample(self) -> bool:
        """Whether it is the sample set, which the project contains."""
        return self.id.startswith(SAMPLE_PREFIX)

    @property
    def revision(self) -> str:
        """The 40 hex digits that identify the content: `commit` or, if there is none, a hash of the files."""
        return self.commit or content_revision(self.path)


def open_source(benchmark: str, data: str | None, settings: Settings) -> Source:
    """Return the source of a benchmark's items, downloading or generating them first if necessary.

    `data` is `drawn`, `PATH[#SPLIT]` or `hf://datasets/OWNER/NAME[@REVISION][#SPLIT]`, or None for the sample set. The
    split is `test` by default. Raises SettingsError if the terms of the data forbid the Hub, DataError if a Hub dataset
    cannot be used, EvaluationError if the Hub does not answer, and for `drawn` what `drawn_set` raises.
    """
    check_place(benchmark, data, settings)
    if data == DRAWN:
        if not BENCHMARKS[benchmark].drawn:
            raise SettingsError(f"{benchmark} has no set that is drawn: name a folder or hf://datasets/OWNER/NAME")
        from evaluator.fresh.seed import drawn_set  # imported here because it loads matplotlib

        quarter = BENCHMARKS[benchmark].card.split
        folder, set_sha256 = drawn_set(quarter, settings)
        return Source(folder, benchmark, quarter, set_sha256[:40])  # the start of the hash published before evaluation
    if data is None:
        return Source(SAMPLES / benchmark, f"{SAMPLE_PREFIX}{benchmark}", "sample")
    place, _, split = data.partition("#")
    split = split or DEFAULT_SPLIT
    if not place.startswith(SCHEME):
        return Source(Path(place), benchmark, split)
    token = settings.data_token.get_secret_value() if settings.data_token else None
    folder, commit = fetch_dataset(
        place.removeprefix(SCHEME), split, token, settings.work_dir / "datasets", BENCHMARKS[benchmark]
    )
    return Source(folder, benchmark, split, commit)


def configured_source(benchmark: str, settings: Settings) -> Source:
    """Return the source of the test set that this installation measures a benchmark on. Raises as `open_source` does."""
    data = settings.data.get(benchmark) or (DRAWN if BENCHMARKS[benchmark].drawn else None)
    return open_source(benchmark, data, settings)


def check_place(benchmark: str, data: str | None, settings: Settings) -> None:
    """Raise SettingsError if the test set is on the Hub, although its terms keep it in the country.

    `data` is as in `open_source`. The setting HANNUN_DATA_ABROAD permits it.
    """
    must_stay = BENCHMARKS[benchmark].data_stays and benchmark not in settings.data_abroad
    if must_stay and data and data.startswith(SCHEME):
        raise SettingsError(
            f"the terms of {benchmark}'s data keep it in the country, and the Hub is abroad: name a local folder, or, "
            f"""with its owner's permission, set HANNUN_DATA_ABROAD='["{benchmark}"]'"""
        )


def check_sent(benchmark: str, api: ApiOptions | None, settings: Settings) -> None:
    """Raise SettingsError if an API or the embedding server may not receive a benchmark's questions and pictures."""
    if not BENCHMARKS[benchmark].data_stays:
        return
    addresses = []
    if api and not api.spawn:  # a server that the evaluation starts itself runs on this machine
        addresses += [api.base_url, *api.replicas]
    if settings.embeddings:
        addresses.append(settings.embeddings.base_url)
    check_receivers(benchmark, addresses, settings)


def fetch_dataset(name: str, split: str, token: str | None, cache: Path, benchmark: Benchmark) -> tuple[Path, str]:
    """Download a split of `OWNER/NAME[@REVISION]` unless it is cached. Return its folder and its 40-hex commit.

    Rows in the makers' columns, if the benchmark declares those, are converted to the documented schema. The folder is below
    `cache`, and `token` is one that may read the dataset.

    Raises DataError if the dataset cannot be found or used, EvaluationError if the Hub does not answer.
    """
    repo, _, revision = name.partition("@")
    if not is_hub_id(repo):
        raise DataError(f"{SCHEME}{name}: write {SCHEME}OWNER/NAME[@REVISION][#SPLIT]")
    try:
        commit = str(HfApi(token=token).dataset_info(repo, revision=revision or None).sha)
        folder = cache / repo.replace("/", "--") / commit / f"{split}-{benchmark.name}-{benchmark.version}"
        if not folder.exists():
            folder.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{folder}.lock"):  # another worker of this host may be downloading it
                if not folder.exists():
                    with new_folder(folder) as partial:
                        _download(repo, commit, split, token, partial, benchmark)
    except (RepositoryNotFoundError, RevisionNotFoundError):
        raise DataError(f"{SCHEME}{name}: no such dataset, or HANNUN_DATA_TOKEN may not read it") from None
    except (HfHubHTTPError, HTTPError) as error:
        raise EvaluationError(FailureCode.HUB_UNAVAILABLE, f"{SCHEME}{name}: {type(error).__name__}") from error
    return folder, commit


def _download(repo: str, commit: str, split: str, token: str | None, folder: Path, benchmark: Benchmark) -> None:
    """Fill a folder with a split in the documented schema. Raises DataError and errors of huggingface_hub."""
    from datasets import load_dataset

    try:
        rows = load_dataset(repo, split=split, revision=commit, token=token)
    except (ValueError, FileNotFoundError) as error:
        message = " ".join(str(error).split())[:MAX_LOAD_ERROR]
        raise DataError(f"{SCHEME}{repo}: {message}") from None
    # Rows in the documented schema have one of these columns. The makers' tables that `columns` declare have neither.
    is_in_schema = bool({"images", "page"} & set(rows.features))
    if benchmark.columns and not is_in_schema:
        _convert(repo, benchmark, rows, folder)
        return
    extracted = _extract_images(repo, rows, folder)
    if extracted is None:  # the rows name files of the repository
        snapshot_download(
            repo,
            repo_type="dataset",
            revision=commit,
            token=token,
            local_dir=folder,
            allow_patterns=["images/*", "pages/*", CANARY],
        )
        shutil.rmtree(folder / ".cache", ignore_errors=True)
    else:
        rows = extracted
    rows.to_parquet(folder / "items.parquet")


def _convert(repo: str, benchmark: Benchmark, rows: Any, folder: Path) -> None:
    """Convert rows in the makers' columns into a folder. Raises DataError if one of them cannot be used.

    After `python -m evaluator import` the operator sees the rejected rows. Here nobody does, so none may be rejected.
    """
    with TemporaryDirectory() as scratch:
        table = Path(scratch) / "rows.parquet"
        rows.to_parquet(table)
        try:
            imported = import_dataset(benchmark, table, folder)
        except DataError as error:
            raise DataError(f"{SCHEME}{repo}: {str(error).removeprefix(f'{table}: ')}") from None
        if imported.rejected:
            location, reason = imported.rejected[0]
            raise DataError(
                f"{SCHEME}{repo}: {len(imported.rejected):,} rows cannot be used ({location}: {reason}); "
                "download the dataset and use python -m evaluator import"
            )


def _extract_images(repo: str, rows: Any, folder: Path) -> Any:
    """Write embedded images to files and return the rows with paths instead. Return None if they have paths already.

    `rows` is a `datasets.Dataset`. Raises DataError, naming the row, if a row has no list of embedded images.
    """
    from datasets import Features, Image, List, Value

    feature = rows.features.get("images")
    if _holds_images(feature):
        raise DataError(
            f"{SCHEME}{repo}, row 1: column 'images' is one image: store a list, with the feature List(Image())"
        )
    if not _holds_images(getattr(feature, "feature", None)):  # the feature of a list's elements
        return None
    (folder / "images").mkdir()
    rows = rows.cast_column("images", List(Image(decode=False)))

    def write_images(row: dict[str, Any], index: int) -> dict[str, Any]:
        names = []
        for place, image in enumerate(_embedded_images(repo, row, index + 1)):
            suffix = Path(image["path"] or "").suffix  # images are read by their content, so it may be missing
            name = f"images/{index:06}-{place}{suffix}"
            (folder / name).write_bytes(image["bytes"])
            names.append(name)
        return {"images": names}

    features = Features({**rows.features, "images": List(Value("string"))})
    return rows.map(write_images, with_indices=True, features=features, load_from_cache_file=False)


def _holds_images(feature: Any) -> bool:
    """Return whether a feature is an image: `Image()`, or `{"bytes", "path"}` in a Parquet file of another library."""
    from datasets import Image

    return isinstance(feature, Image) or (isinstance(feature, dict) and "bytes" in feature)


def _embedded_images(repo: str, row: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """Return the images of a row, each as `{"bytes", "path"}`. Raises DataError, naming the row, if one is missing."""
    images = row["images"] or []
    location = f"{SCHEME}{repo}, row {number}: column 'images'"
    if not images:
        raise DataError(f"{location} is empty")
    if any(image is None for image in images):
        raise DataError(f"{location} has no image at a place of its list")
    if any(image["bytes"] is None for image in images):
        raise DataError(
            f"{location} names files of its maker's computer: upload the images themselves, "
            "with push_to_hub(…, embed_external_files=True)"
        )
    return images
