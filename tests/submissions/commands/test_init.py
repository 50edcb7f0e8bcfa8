"""Test setting up a board: on the Hub's stand-in with the real client, and as a folder for Docker Compose."""

import errno
import json
import os
import re
import shlex
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from huggingface_hub import HfApi

from app import main
from scripts.support.hub.faults import Fault
from scripts.support.hub.repos import TOKEN, Hub
from submissions.config.code_version import git_hash
from submissions.config.paths import ROOT
from submissions.setup import machine
from submissions.setup.space import space_files
from tests.support.cli import Done, in_process
from tests.support.slow import only_first

pytestmark = pytest.mark.integration

Run = Callable[..., Done]
DEFAULT_PORTS = (80, 7860, 8080)


@pytest.fixture
def init(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    is_in_use = machine.is_in_use
    # A board may be running on this machine.
    monkeypatch.setattr(machine, "is_in_use", lambda port: port not in DEFAULT_PORTS and is_in_use(port))

    def run(*arguments: str, **environment: str) -> Done:
        monkeypatch.chdir(tmp_path)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        return in_process({}, monkeypatch, capsys, main)("init", *arguments)

    return run


def created(hub: Hub) -> set[str]:
    return {path.relative_to(hub.root / "git").as_posix() for path in (hub.root / "git").rglob("*.git")} | {
        *hub.buckets
    }


def test_init_creates_board_in_space(hub: Hub, init: Run) -> None:
    before = created(hub)
    done = init("--space", "org/board", "--yes")
    assert done.returncode == 0, done.stderr
    assert created(hub) - before == {"org/hannun.git", "spaces/org/board.git", "buckets/org/hannun-private"}
    assert "org/hannun" in hub.public and "buckets/org/hannun-private" not in hub.public
    space = hub.spaces["spaces/org/board"]
    assert space.sdk == "gradio" and space.secrets == {"HANNUN_HUB_TOKEN": TOKEN}
    assert space.variables["HANNUN_STORE"] == "hf://datasets/org/hannun"
    assert space.variables["HANNUN_WORKER"] == "off"
    files = HfApi(os.environ["HF_ENDPOINT"], TOKEN).list_repo_files("org/board", repo_type="space")
    assert {"app.py", "README.md", "requirements.txt", "leaderboard/__main__.py", "COMMIT"} <= {*files}
    assert not [name for name in files if name.startswith(("tests/", "docs/", "assets/screenshots", ".env"))]
    assert TOKEN not in done.stdout + done.stderr


@pytest.mark.slow
def test_init_again_changes_nothing(hub: Hub, init: Run) -> None:
    init("--space", "org/board", "--yes")
    head = hub.store("spaces/org/board").head()
    hub.seen.clear()
    again = init("--space", "org/board")
    assert again.returncode == 0 and "to do" not in again.stdout, again.stdout + again.stderr
    assert not [request for request in hub.seen if request.startswith(("POST", "PUT", "DELETE"))]
    assert hub.store("spaces/org/board").head() == head


def test_dry_run_prints_calls_and_changes_nothing(hub: Hub, init: Run) -> None:
    before = created(hub)
    done = init("--space", "org/board", "--dry-run")
    assert done.returncode == 0 and created(hub) == before
    for call in (
        "create_repo('org/hannun'",
        "create_bucket('org/hannun-private'",
        "add_space_secret(",
        "create_commit(",
    ):
        assert call in done.stdout
    assert TOKEN not in done.stdout


@pytest.mark.parametrize("steps", only_first(range(1, 9)))
def test_init_finishes_what_was_interrupted(hub: Hub, init: Run, steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop after each of the calls that change something, as a kill would."""
    count = 0

    def carry_out_some(todo: Any, echo: Callable[[str], None]) -> None:
        nonlocal count
        for step in todo[:steps]:
            step.run()
            count += 1
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("submissions.commands.init.carry_out", carry_out_some)
        with pytest.raises(KeyboardInterrupt):
            init("--space", "org/board", "--yes")
    assert count == steps
    done = init("--space", "org/board", "--yes")
    assert done.returncode == 0 and "to do" not in init("--space", "org/board").stdout


@pytest.mark.slow
def test_init_keeps_files_that_others_added(hub: Hub, init: Run) -> None:
    init("--space", "org/board", "--yes")
    hub.commit(
        "spaces/org/board", {"extra.txt": b"mine", "app.py": b"changed"}, hub.store("spaces/org/board").head(), "x"
    )
    assert init("--space", "org/board", "--yes").returncode == 0
    store = hub.store("spaces/org/board")
    assert store.read("extra.txt", store.head()) == b"mine"
    assert store.read("app.py", store.head()) == (ROOT / "app.py").read_bytes()


def test_init_creates_static_space(hub: Hub, init: Run) -> None:
    hub.without_plan = {"org"}
    refused = init("--space", "org/board", "--yes")
    assert refused.returncode == 2 and "402" in refused.stderr and "--static" in refused.stderr
    done = init("--space", "org/board", "--static", "--yes")
    assert done.returncode == 0, done.stderr
    space = hub.spaces["spaces/org/board"]
    assert space.sdk == "static" and not space.secrets and not space.variables, "a static Space shows them to everybody"


BAD: dict[str, tuple[list[str], dict[str, str], str]] = {
    "no place": ([], {}, "--space"),
    "a name without organisation": (["--space", "board"], {}, "--space board"),
    "no token": (["--space", "org/board"], {"HANNUN_HUB_TOKEN": ""}, "HANNUN_HUB_TOKEN is not set"),
    "a wrong token": (["--space", "org/board"], {"HANNUN_HUB_TOKEN": "hf_wrong"}, "401"),
    "somebody else's name": (["--space", "other/board"], {}, "403"),
    "static without a Space": (["--static", "--machine", "m", "--no-docker"], {}, "--static needs --space"),
    "a host with a path": (["--machine", "m", "--no-docker", "--host", "https://a.example/x"], {}, "--host"),
    "a name that the Hub refuses": (["--space", "org/x.git"], {}, "--space org/x.git"),
    "a token that is none": (["--space", "org/board"], {"HANNUN_HUB_TOKEN": "hf_토큰"}, "characters that no token has"),
    "one port twice": (["--machine", "m", "--no-docker", "--port", "9000", "--board-port", "9000"], {}, "must differ"),
    "a folder that cannot exist": (["--machine", "/proc/x", "--no-docker"], {}, "/proc/"),
    "a file as folder": (["--machine", "file", "--no-docker"], {}, "not a folder"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_creates_nothing(hub: Hub, init: Run, case: str, tmp_path: Path) -> None:
    arguments, environment, message = BAD[case]
    (tmp_path / "file").touch()
    hub.foreign = {"other"}
    before = created(hub)
    done = init(*arguments, *(["--yes"] if arguments else []), **environment)
    assert done.returncode == 2 and message in done.stderr, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1 and TOKEN not in done.stderr
    assert created(hub) == before and not (tmp_path / "m").exists()


def test_unreachable_hub_is_one_line(init: Run) -> None:
    done = init("--space", "org/board", "--yes", HF_ENDPOINT="http://127.0.0.1:9", HANNUN_HUB_TOKEN="hf_x")
    assert done.returncode == 2 and "does not answer" in done.stderr and len(done.stderr.strip().splitlines()) == 1


def test_public_bucket_is_refused(hub: Hub, init: Run) -> None:
    HfApi(os.environ["HF_ENDPOINT"], TOKEN).create_bucket("org/hannun-private", private=False)
    done = init("--space", "org/board", "--yes")
    assert done.returncode == 2 and "is public" in done.stderr and "spaces/org/board" not in hub.spaces


def test_failing_hub_is_named_in_one_line(hub: Hub, init: Run) -> None:
    hub.faults = [Fault("POST /api/repos/create", status=500, times=50)]
    done = init("--space", "org/board", "--yes")
    assert done.returncode == 2 and "dataset org/hannun: the Hub answers 500" in done.stderr


def test_init_writes_folder_for_machine(init: Run, tmp_path: Path) -> None:
    done = init("--machine", "board", "--no-docker", "--yes", HANNUN_HUB_TOKEN="hf_secret")
    folder = tmp_path / "board"
    assert done.returncode == 0, done.stderr
    assert f"docker compose --project-directory {folder} up -d --build" in done.stdout
    compose = yaml.safe_load((folder / "compose.yaml").read_text())
    assert {*compose["services"]} == {"board", "worker", "proxy", "backup"}
    worker = compose["services"]["worker"]
    assert "seccomp=./seccomp.json" in worker["security_opt"] and "systempaths=unconfined" in worker["security_opt"]
    assert worker["logging"]["options"] == {"max-size": "10m", "max-file": "5"}
    assert worker["build"]["args"]["COMMIT"] == git_hash()
    assert compose["services"]["board"]["ports"] == ["127.0.0.1:7860:7860"], "not for other machines"
    assert json.loads((folder / "seccomp.json").read_text()) == json.loads(
        (ROOT / "assets/deploy/seccomp.json").read_text()
    )
    nginx = (folder / "nginx.conf").read_text()
    assert "\n    listen 127.0.0.1:8080;" in nginx and "proxy_pass http://127.0.0.1:7860;" in nginx
    for unit in ("hannun.service", "hannun-backup.service"):
        assert f"WorkingDirectory={folder}" in (folder / unit).read_text()
    assert "ko-fresh" in (folder / "hannun.env").read_text(), "its rows have a rank without any private data"
    written = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert b"hf_secret" not in written and "hf_secret" not in done.stdout
    again = init("--machine", "board", "--no-docker")
    assert again.returncode == 0 and "to do" not in again.stdout


def test_init_updates_only_files_that_nobody_changed(init: Run, tmp_path: Path) -> None:
    init("--machine", "board", "--no-docker", "--yes")
    settings = tmp_path / "board/hannun.env"
    settings.write_text(settings.read_text() + "# mine\n")
    done = init("--machine", "board", "--no-docker", "--board-port", "8090", "--yes")
    assert "update" in done.stdout and "changed by hand" in done.stdout
    assert "127.0.0.1:8090:7860" in (tmp_path / "board/compose.yaml").read_text()
    assert "127.0.0.1:8090" in (tmp_path / "board/nginx.conf").read_text()
    before = (tmp_path / "board/compose.yaml").read_text()
    init("--machine", "board", "--no-docker", "--port", "8088", "--yes")
    assert (tmp_path / "board/compose.yaml").read_text() != before, "Compose starts the proxy again"
    assert settings.read_text().endswith("# mine\n") and not [*(tmp_path / "board").glob("*.new")]


@pytest.mark.parametrize("name", ["compose.yaml", "nginx.conf"])
def test_what_is_new_is_written_beside_files_changed_by_hand(init: Run, tmp_path: Path, name: str) -> None:
    """A new `compose.yaml` beside an old `nginx.conf` would be a board that nobody reaches."""
    folder = tmp_path / "board"
    init("--machine", "board", "--no-docker", "--yes")
    (folder / name).write_text((folder / name).read_text() + "# mine\n")
    before = [(folder / one).read_text() for one in machine.TOGETHER]
    done = init("--machine", "board", "--no-docker", "--board-port", "8091", "--yes")
    assert f"{name} was changed by hand" in done.stdout
    assert [(folder / one).read_text() for one in machine.TOGETHER] == before
    assert all("127.0.0.1:8091" in (folder / f"{one}.new").read_text() for one in machine.TOGETHER)
    assert "8091" in (folder / "prometheus.yml").read_text()
    again = init("--machine", "board", "--no-docker")
    assert again.returncode == 0 and "to do" not in again.stdout
    assert again.stdout.count(f"as {name} was changed by hand") == len(machine.TOGETHER)
    for one in machine.TOGETHER:
        (folder / f"{one}.new").rename(folder / one)
    later = init("--machine", "board", "--no-docker", "--board-port", "8092", "--yes")
    assert "by hand" not in later.stdout and "8092" in (folder / name).read_text()


def test_one_taken_over_file_lets_the_other_be_updated(init: Run, tmp_path: Path) -> None:
    folder = tmp_path / "board"
    init("--machine", "board", "--no-docker", "--yes")
    compose = folder / "compose.yaml"
    compose.write_bytes(compose.read_bytes() + "# 내 것\n".encode("euc-kr"))
    init("--machine", "board", "--no-docker", "--board-port", "8091", "--yes")
    (folder / "compose.yaml.new").rename(compose)
    done = init("--machine", "board", "--no-docker", "--yes")
    assert "by hand" not in done.stdout, "nobody has changed nginx.conf"
    assert "127.0.0.1:8091" in (folder / "nginx.conf").read_text()


def test_new_host_has_its_own_port(init: Run, tmp_path: Path) -> None:
    def listens_at(address: str) -> bool:
        return f"listen {address};" in (tmp_path / "board/nginx.conf").read_text()

    init("--machine", "board", "--no-docker", "--port", "8081", "--yes")
    init("--machine", "board", "--no-docker", "--yes")
    assert listens_at("127.0.0.1:8081"), "it is remembered"
    init("--machine", "board", "--no-docker", "--host", "board.example.org", "--yes")
    assert listens_at("80 default_server")


@pytest.mark.parametrize("ipv6", [True, False])
def test_init_for_public_host_needs_sign_in(
    init: Run, tmp_path: Path, ipv6: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = tmp_path / "if_inet6"
    monkeypatch.setattr(machine, "IPV6", kernel)
    if ipv6:
        kernel.touch()
    done = init("--machine", "board", "--no-docker", "--host", "board.example.org", "--yes")
    assert done.returncode == 0 and "OAUTH_CLIENT_ID" in done.stdout
    board = yaml.safe_load((tmp_path / "board/compose.yaml").read_text())["services"]["board"]
    assert board["environment"]["HANNUN_AUTH"] == "oauth" and board["environment"]["FORWARDED_ALLOW_IPS"] == "*"
    worker = yaml.safe_load((tmp_path / "board/compose.yaml").read_text())["services"]["worker"]
    assert worker["environment"]["HANNUN_LIVE_ADDRESS"] == "https://board.example.org", "for the doctor"
    assert ":?put" in board["environment"]["OAUTH_CLIENT_SECRET"], "Compose says what is missing, the board only ends"
    nginx = (tmp_path / "board/nginx.conf").read_text()
    assert ("listen [::]:443 ssl;" in nginx) == ("listen [::]:80 default_server;" in nginx) == ipv6
    assert (
        "listen 443 ssl;" in nginx
        and "listen 80 default_server;" in nginx
        and "return 301 https://board.example.org$request_uri;" in nginx
    )


def test_init_for_worker_of_space(hub: Hub, init: Run, tmp_path: Path) -> None:
    done = init("--space", "org/board", "--static", "--machine", "worker", "--no-docker", "--yes")
    assert done.returncode == 0, done.stderr
    assert {*yaml.safe_load((tmp_path / "worker/compose.yaml").read_text())["services"]} == {"worker", "backup"}
    settings = (tmp_path / "worker/hannun.env").read_text()
    assert "HANNUN_STORE=hf://datasets/org/hannun" in settings and "HANNUN_STATIC=hf://spaces/org/board" in settings


def test_port_in_use_is_refused(init: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On this machine: the files for another one do not depend on what runs here."""
    monkeypatch.setattr("submissions.commands.init.check_docker", lambda: None)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        here = init("--machine", "here", "--port", port, "--yes")
        elsewhere = init("--machine", "elsewhere", "--no-docker", "--port", port, "--yes")
    assert here.returncode == 2 and f"port {port} is in use" in here.stderr and not (tmp_path / "here").exists()
    assert elsewhere.returncode == 0 and f"listen 127.0.0.1:{port};" in (tmp_path / "elsewhere/nginx.conf").read_text()


def test_https_port_in_use_is_not_blamed_on_an_option(init: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("submissions.commands.init.check_docker", lambda: None)
    monkeypatch.setattr("submissions.setup.machine.is_in_use", lambda port: port == 443)
    done = init("--machine", "here", "--host", "board.example.org", "--yes")
    assert done.returncode == 2 and "port 443 is in use" in done.stderr and "--port" not in done.stderr


@pytest.mark.parametrize(
    ("docker", "message"),
    [
        ("", "Docker is not installed"),
        ("exit 1", "daemon does not answer"),
        ('[ "$1" = version ] && echo 24.0.7 || exit 1', "docker compose 2 is missing"),
        ('[ "$1" = version ] && echo 20.10.24 || echo 2.10.0', "without BuildKit"),
        ('[ "$1" = version ] && echo 20.10.24 || echo 2.26.1', ""),
        ('[ "$1" = version ] && echo 24.0.7 || echo 2.26.1', ""),
    ],
)
def test_old_docker_is_refused(
    init: Run, docker: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    if docker:
        (programs / "docker").write_text(f"#!/bin/sh\n{docker}\n")
        (programs / "docker").chmod(0o755)
    for name in ("sh", "git"):
        (programs / name).symlink_to(f"/usr/bin/{name}")
    done = init("--machine", "board", "--yes", PATH=str(programs))
    assert message in done.stderr and (done.returncode == 0) == (not message), done.stderr
    assert (tmp_path / "board").exists() == (not message)


def test_rules_are_the_alarms_of_the_document() -> None:
    """The document has one row for each alarm, and the rules one more, for a board that does not answer."""
    groups = yaml.safe_load((ROOT / "assets/deploy/rules.yaml").read_text())["groups"]
    expressions = [rule["expr"] for group in groups for rule in group["rules"]]
    table = (ROOT / "docs/operate.md").read_text().partition("## Alarms")[2].partition("\n## ")[0]
    documented = re.findall(r"^\| `(.+?)`", table, re.MULTILINE)
    assert len(documented) == len(expressions)
    for said, rule in zip(documented, expressions, strict=True):
        assert rule.startswith(said), f"{said} is documented, and {rule} is the rule"


def test_space_files_include_everything_that_the_board_reads() -> None:
    assert {"assets/style.css", "assets/deploy/compose.yaml.jinja", "leaderboard/web/application.py"} <= {
        *space_files()
    }


def test_later_run_keeps_options(init: Run, tmp_path: Path) -> None:
    """An upgrade must not take a public board back to loopback, without encryption and sign-in."""
    init("--machine", "board", "--no-docker", "--host", "board.example.org", "--board-port", "7999", "--yes")
    files = {path.name: path.read_bytes() for path in (tmp_path / "board").iterdir() if path.is_file()}
    again = init("--machine", "board", "--no-docker", "--yes")
    assert again.returncode == 0 and "to do" not in again.stdout
    assert {path.name: path.read_bytes() for path in (tmp_path / "board").iterdir() if path.is_file()} == files


def test_options_of_a_run_that_was_killed_before_its_last_step_are_remembered(init: Run, tmp_path: Path) -> None:
    init("--machine", "board", "--no-docker", "--host", "board.example.org", "--yes")
    (tmp_path / "board" / machine.OPTIONS_FILE).unlink()
    init("--machine", "board", "--no-docker", "--host", "board.example.org", "--yes")
    later = init("--machine", "board", "--no-docker", "--yes")
    assert "to do" not in later.stdout and "board.example.org" in (tmp_path / "board/nginx.conf").read_text()


def test_programs_of_others_are_not_overwritten(hub: Hub, init: Run) -> None:
    """Their Space would get a token that may write the store."""
    api = HfApi(os.environ["HF_ENDPOINT"], TOKEN)
    api.create_repo("org/board", repo_type="space", space_sdk="gradio")
    hub.commit("spaces/org/board", {"app.py": b"mine"}, hub.store("spaces/org/board").head(), "mine")
    before = created(hub)
    done = init("--space", "org/board", "--yes")
    assert done.returncode == 2 and "has other files" in done.stderr and created(hub) == before
    assert not hub.spaces["spaces/org/board"].secrets


@pytest.mark.parametrize(("private", "message"), [(True, "is private"), (False, "has other files")])
def test_datasets_of_others_are_not_used(private: bool, message: str, hub: Hub, init: Run) -> None:
    HfApi(os.environ["HF_ENDPOINT"], TOKEN).create_repo("org/hannun", repo_type="dataset", private=private)
    hub.commit("org/hannun", {"data/train.jsonl": b"{}"}, hub.store("org/hannun").head(), "mine")
    done = init("--space", "org/board", "--yes")
    assert done.returncode == 2 and message in done.stderr and "spaces/org/board" not in hub.spaces


@pytest.mark.parametrize("name", ["한눈", "my board", "Board.1", "a'b\"c$", "100%u"])
def test_folder_may_have_any_name(name: str, init: Run, tmp_path: Path) -> None:
    done = init("--machine", name, "--no-docker", "--yes")
    assert done.returncode == 0, done.stderr
    compose = yaml.safe_load((tmp_path / name / "compose.yaml").read_text())
    assert re.fullmatch("[a-z0-9][a-z0-9_-]*", compose["name"])
    assert compose["services"]["worker"]["build"]["context"] == str(ROOT)
    command = next(line for line in done.stdout.splitlines() if "--build" in line)
    assert shlex.split(command)[3] == str(tmp_path / name)
    unit = (tmp_path / name / "hannun.service").read_text()
    assert f"WorkingDirectory={tmp_path / name}".replace("%", "%%") in unit
    assert (tmp_path / name / ".gitignore").read_text().endswith("*\n"), "tokens in .env are not committed"


def test_folder_that_no_unit_can_name_is_refused(init: Run, tmp_path: Path) -> None:
    done = init("--machine", "a\nb", "--no-docker", "--yes")
    assert done.returncode == 2 and "cannot be named in systemd's units" in done.stderr
    assert not list(tmp_path.glob("a*b"))


def test_folder_in_place_of_file_is_refused(init: Run, tmp_path: Path) -> None:
    (tmp_path / "board/compose.yaml").mkdir(parents=True)
    done = init("--machine", "board", "--no-docker", "--yes")
    assert done.returncode == 2 and "compose.yaml is a folder" in done.stderr


@pytest.mark.parametrize("port", ["0", "65536", "x", "99999999999", "-1"])
def test_port_must_exist(port: str, init: Run) -> None:
    with pytest.raises(SystemExit):
        init("--machine", "board", "--no-docker", f"--port={port}", "--yes")


def test_port_in_use_by_ipv6_is_refused(init: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("submissions.commands.init.check_docker", lambda: None)
    with socket.socket(socket.AF_INET6) as taken:
        taken.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        try:
            taken.bind(("::1", 0))
        except OSError:
            pytest.skip("this machine has no IPv6")
        taken.listen()
        port = str(taken.getsockname()[1])
        done = init("--machine", "board", "--port", port, "--yes")
    assert done.returncode == 2 and f"port {port} is in use" in done.stderr


def test_folders_of_one_name_have_containers_of_their_own(init: Run, tmp_path: Path) -> None:
    """A folder that was set up keeps the name of its containers and volumes."""
    names = []
    for folder in ("a/board", "b/board"):
        init("--machine", folder, "--no-docker", "--yes")
        names.append(yaml.safe_load((tmp_path / folder / "compose.yaml").read_text())["name"])
    assert names[0] != names[1] and all(name.startswith("board-") for name in names)
    compose = tmp_path / "a/board/compose.yaml"
    compose.write_text(compose.read_text().replace(f"name: {names[0]}", "name: board"))
    init("--machine", "a/board", "--no-docker", "--port", "8090", "--yes")
    assert yaml.safe_load(compose.read_text())["name"] == "board"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives folders to another user")
def test_folder_of_an_interrupted_run_gets_its_owner(init: Run, tmp_path: Path) -> None:
    init("--machine", "board", "--no-docker", "--yes")
    os.chown(tmp_path / "board/backups", 0, 0)
    done = init("--machine", "board", "--no-docker", "--yes")
    assert "make" in done.stdout
    assert (tmp_path / "board/backups").stat().st_uid == machine.CONTAINER_USER


def test_full_disk_is_named_with_the_file(init: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(path: Path, *_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", write)
    done = init("--machine", "board", "--no-docker", "--yes")
    assert done.returncode == 2 and f"{tmp_path}/board/" in done.stderr and "No space left" in done.stderr
