"""Set up a machine: plan a folder with everything that `docker compose up` and systemd need.

`hannun init --machine FOLDER` (`submissions/commands/init.py`) shows the plan and carries it out. The files are rendered
from `assets/deploy`. Setting up again updates the files, but never replaces one that the operator has changed by hand.
"""

import errno
import hashlib
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from submissions.config.code_version import git_hash
from submissions.config.machine import memory_bytes
from submissions.config.paths import ROOT, nearest_existing
from submissions.setup.plan import Plan, Step
from submissions.texts.errors import SettingsError

TEMPLATES = ROOT / "assets/deploy"
CONTAINER_USER = 1000  # the user and group id of both images, which must be able to write the folders
MIN_COMPOSE = (2, 0)  # version 1 cannot pass `systempaths=unconfined` on
BUILDKIT_COMPOSE = (2, 16)  # the first version that builds with BuildKit by default
BASE_IMAGE = "python:3.11-slim"
PROXY_IMAGE = "nginx:stable"
HTTPS_PORT = 443  # of the proxy of a board with a public host
MEMORY_SHARE = 0.75  # of the machine's memory, for the worker
CPU_TORCH = "torch==2.13.0+cpu"
# The files in `assets/deploy`: copied as they are, or rendered from `NAME.jinja`.
COPIED = ("seccomp.json", "rules.yaml", "dashboard.json", "hannun-backup.timer", "pip.conf")
RENDERED = ("compose.yaml", "hannun.env", "prometheus.yml", "hannun.service", "hannun-backup.service")
TOGETHER = ("compose.yaml", "nginx.conf")  # name the same ports, so one is not updated without the other
HASHES_FILE = ".written.json"  # the SHA-256 of each file as it was written last, and of each proposal NAME.new, by name
OPTIONS_FILE = ".options.json"  # the options of `hannun init`, by field of Machine
REMEMBERED_OPTIONS = ("port", "board_port", "host", "gpu", "space", "static")
FOLDERS = ("backups", "certificates")
# Exists if the kernel has IPv6. Without it, nginx fails to start if it listens on [::].
IPV6 = Path("/proc/net/if_inet6")
HOST_PATTERN = r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+"  # board.example.org


@dataclass(frozen=True)
class Machine:
    """What the files for a machine depend on: the options of `hannun init`, and the stores of a Space."""

    folder: Path
    port: int = 8080  # that the proxy listens on
    board_port: int = 7860  # that the board listens on, on loopback
    host: str | None = None  # public name; None: the proxy listens on loopback only
    gpu: bool = False
    space: str | None = None  # the Space that has the board, `ORG/NAME`; this machine is then only its worker
    static: bool = False  # whether that Space has files only, which this worker writes
    store: str = "/data/store.git"
    private_store: str = "/data/private"
    base: str = BASE_IMAGE
    proxy_image: str = PROXY_IMAGE

    @property
    def runs_board(self) -> bool:
        return self.space is None

    @property
    def ports(self) -> list[int]:
        """The ports of this machine that the containers will listen on, with that of the proxy for a public host."""
        if not self.runs_board:
            return []
        return [self.board_port, self.port, *([HTTPS_PORT] if self.host else [])]


def plan_machine(machine: Machine, *, runs_here: bool = True) -> Plan:
    """Return the files and folders that are missing or outdated, for this machine (`runs_here`) or for another one.

    Raises SettingsError if they cannot be created, or if a port is in use on the machine that they are for.
    """
    _check(machine)
    if runs_here:
        _check_ports(machine)
    folder = machine.folder.resolve()
    plan = Plan(steps=[], kept=[])
    _plan_files(folder, _files(replace(machine, folder=folder)), plan)
    for name in FOLDERS:
        path = folder / name
        if path.exists() and (os.geteuid() != 0 or path.stat().st_uid == CONTAINER_USER):
            plan.kept.append(str(path))
        else:  # an earlier run may have been killed before the folder got its owner
            plan.steps.append(Step(f"make {path}", partial(_make_folder, path)))
    if remembered_options(folder) != _options(machine):  # also if an earlier run was killed before this last step
        remember = partial(_remember_options, folder, machine)
        plan.steps.append(Step(f"remember the options in {folder / OPTIONS_FILE}", remember))
    return plan


def _plan_files(folder: Path, files: Mapping[str, str], plan: Plan) -> None:
    """Add to the plan what happens to each file. `files` maps names to the contents that this version would write.

    A file that is missing is written, and one with the content of an earlier run is updated. A file that the operator has
    changed by hand is never replaced: the new content is written beside it as `NAME.new`, once for each content. The files
    in TOGETHER are only updated if none of them was changed by hand.
    """
    hashes = _written_hashes(folder)
    by_hand = [name for name, content in files.items() if _is_changed_by_hand(folder / name, content, hashes)]
    for name, content in files.items():
        path = folder / name
        present = _text_of(path) if path.exists() else None
        causes = _causes_to_keep(name, by_hand)
        if present == content:
            plan.kept.append(str(path))
        elif present is None:
            plan.steps.append(Step(f"write {path}", partial(_write, path, content)))
        elif not causes:
            plan.steps.append(Step(f"update {path}", partial(_write, path, content)))
        elif _digest(content) in _known_hashes(path, hashes):  # the operator has seen it and not taken it over
            plan.kept.append(f"{path}, as {' and '.join(causes)} was changed by hand")
        else:
            why = f"{' and '.join(causes)} was changed by hand, so take over yourself what is new"
            plan.steps.append(Step(f"write {_proposal(path)}: {why}", partial(_write_proposal, path, content)))


def _causes_to_keep(name: str, by_hand: Sequence[str]) -> list[str]:
    """Return the files changed by hand that keep a file from being updated: itself, or those that it is updated with."""
    if name in by_hand:
        return [name]
    if name in TOGETHER:
        return [other for other in TOGETHER if other in by_hand]
    return []


def _is_changed_by_hand(path: Path, content: str, hashes: Mapping[str, str]) -> bool:
    """Return whether a file has neither its new content, nor what was written or proposed last.

    A file that is equal to a proposal is the operator's, who took it over, and may be updated. Raises SettingsError for a
    folder.
    """
    if path.is_dir():
        raise SettingsError(f"{path} is a folder, but a file of this name is needed")
    if not path.exists():
        return False
    present = _text_of(path)
    return present != content and _digest(present) not in _known_hashes(path, hashes)


def _known_hashes(path: Path, hashes: Mapping[str, str]) -> set[str | None]:
    """Return the hashes of what was written to a file last, and of what was proposed for it last.

    A file with one of these contents is not the operator's own work. A new content that is one of them was seen already.
    """
    return {hashes.get(path.name), hashes.get(_proposal(path).name)}


def remembered_options(folder: Path) -> dict[str, Any]:
    """Return the options that the folder was set up with, so that a later run need not repeat them."""
    return _read_json(folder / OPTIONS_FILE)


def _options(machine: Machine) -> dict[str, Any]:
    return {name: getattr(machine, name) for name in REMEMBERED_OPTIONS}


def _remember_options(folder: Path, machine: Machine) -> None:
    _replace_file(folder / OPTIONS_FILE, json.dumps(_options(machine), indent=2) + "\n")


def next_steps(machine: Machine) -> list[str]:
    """Return what an operator does after the files are written: a command or an instruction a line, in order."""
    folder = machine.folder.resolve()
    compose = f"docker compose --project-directory {shlex.quote(str(folder))}"
    lines = []
    if machine.runs_board and machine.host:
        lines.append(
            f"put fullchain.pem and privkey.pem into {folder / 'certificates'}, for example of "
            f"`certbot certonly --standalone -d {machine.host}`; without them the proxy does not start"
        )
        lines.append(f"put OAUTH_CLIENT_ID and OAUTH_CLIENT_SECRET into {folder / '.env'} (chmod 600)")
    lines.append(f"{compose} up -d --build")
    if machine.runs_board:
        lines.append(f"open https://{machine.host}" if machine.host else f"open http://127.0.0.1:{machine.port}")
    inside = f"{compose} exec worker python -m submissions"
    lines.append(f"{inside} submit OWNER/NAME --benchmark ko-fresh      a row with a rank")
    lines.append(f"{inside} doctor")
    return lines


def _files(machine: Machine) -> dict[str, str]:
    """Return the contents of all files by their names."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - these files are not HTML
    )
    values = {
        "board": machine.runs_board,
        "board_port": machine.board_port,
        "base": machine.base,
        "commit": git_hash() or "",
        "folder": str(machine.folder).replace("%", "%%"),  # systemd's units read "%" as the start of a specifier
        "gpu": machine.gpu,
        "host": machine.host,
        "ipv6": IPV6.exists(),
        "port": machine.port,
        "private_store": machine.private_store,
        "project": _project(machine.folder),
        "proxy_image": machine.proxy_image,
        "source": ROOT,
        "space": machine.space,
        "static": machine.static,
        "store": machine.store,
        "torch": "" if machine.gpu else CPU_TORCH,  # empty: the version in requirements, which runs on GPUs
        "upstream": f"127.0.0.1:{machine.board_port}",
        "worker_memory": f"{max(1, int(MEMORY_SHARE * memory_bytes() / 2**30))}g",
    }
    files: dict[str, str] = {}
    if machine.runs_board:
        files["nginx.conf"] = environment.get_template("nginx.conf.jinja").render(values)
        # compose.yaml contains this digest, so that Compose starts the proxy again if nginx.conf has changed.
        values["nginx_digest"] = _digest(files["nginx.conf"])[:12]
    files |= {name: environment.get_template(f"{name}.jinja").render(values) for name in RENDERED}
    files |= {name: (TEMPLATES / name).read_text(encoding="utf-8") for name in COPIED}
    # The template has no dot in its name, or git would apply it to the folder of templates.
    files[".gitignore"] = (TEMPLATES / "gitignore").read_text(encoding="utf-8")
    return files


def _project(folder: Path) -> str:
    """Return Compose's name for the containers and volumes of a folder, such as "board-3f1c9a".

    It contains a hash of the path, so that two folders with one name do not share volumes. A folder that has a compose.yaml
    already keeps the name in it, even after it was moved.
    """
    with suppress(OSError):
        if used := re.search(r"^name: (\S+)$", _text_of(folder / "compose.yaml"), re.MULTILINE):
            return used[1]
    name = re.sub("[^a-z0-9_-]", "", folder.name.lower()).lstrip("_-")  # the characters that Compose allows
    return f"{name or 'hannun'}-{_digest(str(folder))[:6]}"


def _check(machine: Machine) -> None:
    """Raise SettingsError if the host, the ports or the folder cannot be used."""
    if machine.host and not re.fullmatch(HOST_PATTERN, machine.host):
        raise SettingsError(f"--host {machine.host}: name the host only, such as board.example.org")
    if len({*machine.ports}) < len(machine.ports):
        raise SettingsError(f"the ports {', '.join(map(str, machine.ports))} must differ")
    folder = machine.folder.resolve()
    if not str(folder).isprintable():
        raise SettingsError(f"{str(folder)!r}: a folder with this name cannot be named in systemd's units")
    existing = nearest_existing(folder)
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        raise SettingsError(f"{folder}: {existing} is not a folder that this user may write")


def _check_ports(machine: Machine) -> None:
    """Raise SettingsError if another program uses a port, unless the folder was set up before."""
    if (machine.folder.resolve() / "compose.yaml").exists():
        return  # the containers may be running, and use the ports
    for port in machine.ports:
        if not is_in_use(port):
            continue
        if port == HTTPS_PORT:
            raise SettingsError(f"port {port} is in use; the board needs it for {machine.host}, so end that program")
        raise SettingsError(f"port {port} is in use; name another one with --port or --board-port")


def check_docker() -> str | None:
    """Return what is missing for `docker compose up`, in a line with the remedy, or None."""
    if shutil.which("docker") is None:
        return "Docker is not installed: apt-get install docker.io docker-compose docker-buildx"
    if _version("docker", "version", "--format", "{{.Server.Version}}") is None:
        return "the Docker daemon does not answer: systemctl start docker, and add this user to the group docker"
    compose = _version("docker", "compose", "version", "--short")
    if compose is None or compose < MIN_COMPOSE:
        return "docker compose 2 is missing: apt-get install docker-compose-v2 (or docker-compose from Debian 13 on)"
    if compose < BUILDKIT_COMPOSE and os.environ.get("DOCKER_BUILDKIT") != "1":
        return f"Compose {compose[0]}.{compose[1]} builds without BuildKit unless DOCKER_BUILDKIT=1 is set: set it"
    return None


def _version(*command: str) -> tuple[int, int] | None:
    """Return the first two numbers of the version that a command prints, or None if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.match(r"v?(\d+)\.(\d+)", done.stdout.strip())
    return (int(found[1]), int(found[2])) if found and not done.returncode else None


def is_in_use(port: int) -> bool:
    """Return whether a program of this machine listens at a port, by IPv4 or IPv6."""
    return _is_bound(socket.AF_INET, "127.0.0.1", port) or _is_bound(socket.AF_INET6, "::1", port)


def _is_bound(family: socket.AddressFamily, address: str, port: int) -> bool:
    """Return whether a port of an address is in use.

    A port that this user may not bind, such as 80, counts as free, because Docker runs as root and may bind it.
    """
    try:
        with socket.socket(family) as probe:
            # Otherwise a port counts as in use for a minute after its program has ended.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((address, port))
    except OSError as error:  # also if the kernel has no IPv6
        return error.errno == errno.EADDRINUSE
    return False


def _write(path: Path, content: str) -> None:
    """Write a file, and remember the hash of what was written."""
    _replace_file(path, content)
    _remember_hash(path, content)


def _remember_hash(path: Path, content: str) -> None:
    hashes = _written_hashes(path.parent) | {path.name: _digest(content)}
    _replace_file(path.parent / HASHES_FILE, json.dumps(hashes, indent=2) + "\n")


def _proposal(path: Path) -> Path:
    """Return where the new content of a file that was changed by hand is written: `compose.yaml.new`."""
    return path.with_name(f"{path.name}.new")


def _write_proposal(path: Path, content: str) -> None:
    """Write what a file that was changed by hand would contain beside it, and remember it, to propose it only once."""
    _replace_file(_proposal(path), content)
    _remember_hash(_proposal(path), content)


def _replace_file(path: Path, content: str) -> None:
    """Write a file atomically, so that an interrupted set-up leaves no incomplete one. Raises OSError that names it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for leftover in path.parent.glob(f".{path.name}.*.partial"):
            leftover.unlink(missing_ok=True)
        partial_file = path.with_name(f".{path.name}.{os.getpid()}.partial")
        partial_file.write_text(content, encoding="utf-8")
        partial_file.replace(path)
    except OSError as error:
        error.filename = error.filename or str(path)  # the error of a full disk names no file
        raise


def _written_hashes(folder: Path) -> dict[str, str]:
    """Return the hash of each file and proposal as it was written last, by name."""
    return _read_json(folder / HASHES_FILE)


def _text_of(path: Path) -> str:
    """Return the content of a file that the operator may have changed, with any encoding."""
    return path.read_text(encoding="utf-8", errors="surrogateescape")


def _read_json(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file, or an empty dict if there is none."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _digest(content: str) -> str:
    """Return the SHA-256 of a text in hexadecimal."""
    return hashlib.sha256(content.encode(errors="surrogateescape")).hexdigest()


def _make_folder(path: Path) -> None:
    """Create a folder that the containers can write. Only root can give it to their user."""
    path.mkdir(parents=True, exist_ok=True)
    if os.geteuid() == 0:
        os.chown(path, CONTAINER_USER, CONTAINER_USER)
