"""`python -m submissions init`: set up a board in a Space, as static files, or on a machine."""

import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from submissions.commands.arguments import DEFAULT_FOLDER
from submissions.config.settings import load_settings
from submissions.setup.machine import Machine, check_docker, next_steps, plan_machine, remembered_options
from submissions.setup.plan import Plan, carry_out, show
from submissions.setup.space import HubBoard, check_space_name, plan_space
from submissions.store.hub_api import HubApi
from submissions.texts.errors import SettingsError


def init(args: Namespace) -> int:
    """Show what is missing, create it, and print what to do next. Return 1 if the operator declines.

    Raises SettingsError if something cannot be created.
    """
    if not args.space and not args.machine:
        _ask_where(args)
    board = HubBoard(check_space_name(args.space), args.static) if args.space else None
    if args.static and board is None:
        raise SettingsError("--static needs --space ORG/NAME, the Space that shows the files")
    machine = _machine(args, board) if args.machine else None
    plans = list(_plans(board, machine, args))
    for heading, plan in plans:
        print(heading)
        show(plan, print)
    steps = [step for _, plan in plans for step in plan.steps]
    if args.dry_run:
        return 0
    if steps and not args.yes and not _confirmed():
        return 1
    try:
        carry_out(steps, print)
    except OSError as error:
        raise SettingsError(f"{error.filename or 'a file'}: {error.strerror or error}") from None
    print("next:")
    for line in _next(board, machine):
        print(f"  {line}")
    return 0


def _plans(board: HubBoard | None, machine: Machine | None, args: Namespace) -> Iterator[tuple[str, Plan]]:
    if board:
        settings = load_settings()
        api = HubApi(lambda: settings.hub_token_value)
        yield f"on the Hub, {api.endpoint}:", plan_space(board, api, settings.hub_token_value)
    if machine:
        problem = check_docker()
        if problem and not args.dry_run and not args.no_docker:
            raise SettingsError(f"{problem}; or write the files for another machine with --no-docker")
        yield f"on this machine, {machine.folder.resolve()}:", plan_machine(machine, runs_here=not args.no_docker)


def _machine(args: Namespace, board: HubBoard | None) -> Machine:
    before = remembered_options(Path(args.machine))  # of an earlier run; options that are given now replace them
    host = args.host or before.get("host")
    # Another host has its own port.
    port_before = before.get("port") if host == before.get("host") else None
    common: dict[str, Any] = {
        "folder": Path(args.machine),
        "port": args.port or port_before or (80 if host else 8080),
        "board_port": args.board_port or before.get("board_port") or 7860,
        "host": host,
        "gpu": args.gpu or before.get("gpu") or Path("/dev/nvidiactl").exists(),
    }
    if board is None and before.get("space"):  # an earlier run made this the folder of a Space's worker
        board = HubBoard(str(before["space"]), bool(before.get("static")))
    if board is None:
        return Machine(**common)
    if host:
        raise SettingsError("--host is for a board on this machine; this one is in a Space")
    return Machine(
        **common, space=board.space, static=board.static, store=board.store, private_store=board.private_store
    )


def _next(board: HubBoard | None, machine: Machine | None) -> Iterator[str]:
    if machine:
        yield from next_steps(machine)
    elif board:
        yield "start a worker: python -m submissions init --space … --machine FOLDER on a machine with a GPU"
    if board:
        yield f"open https://huggingface.co/spaces/{board.space}"


def _ask_where(args: Namespace) -> None:
    """Ask what to set up, and set the options in `args` accordingly. Raises SettingsError if there is nobody to ask."""
    if not sys.stdin.isatty():
        raise SettingsError(
            "name what to set up: --space ORG/NAME (with --static for files), --machine FOLDER, or both"
        )
    place = input("Where shall the board run? [space/static/machine] ").strip().lower()
    if place in ("space", "static"):
        args.space = input("Name of the Space, ORG/NAME: ").strip()
        if not args.space:
            raise SettingsError("no name of a Space was given")
        args.static = place == "static"
    elif place == "machine":
        args.machine = input(f"Folder [{DEFAULT_FOLDER}]: ").strip() or DEFAULT_FOLDER
    else:
        raise SettingsError(f"{place!r} is not one of space, static and machine")


def _confirmed() -> bool:
    return input("Go on? [y/N] ").strip().lower() in ("y", "yes")
