"""Test the sandbox with attacks that run inside a real one, and how the parent process handles their output."""

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pyseccomp
import pytest

from evaluator.core.data_types import Prompt
from evaluator.core.errors import EvaluationError, SandboxError
from evaluator.engines.options import EngineOptions
from evaluator.job.command import installation_of
from evaluator.job.folder import MAX_LINE, Job
from evaluator.job.process import run_inference
from evaluator.sandbox import policy as sandbox
from evaluator.sandbox import system_calls
from evaluator.sandbox.control_group import ControlGroup, control_group
from evaluator.sandbox.environment import USER
from evaluator.sandbox.layout import NOBODY
from evaluator.sandbox.policy import MAX_PROCESSES, SandboxPolicy, grant_access, new_user, sandbox_command
from evaluator.sandbox.system_calls import REFUSED
from evaluator.worker.loop import Worker
from scripts.support.serving import python
from submissions.config.paths import ROOT
from submissions.config.settings import Settings
from submissions.records.result import EvalResult
from tests.support.slow import only_first

pytestmark = pytest.mark.integration


@cache
def cgroup_version() -> str:
    """Return the version of control groups that can be created on this host."""
    with control_group(2**30, 100) as group:
        return group.version


@pytest.fixture
def _control_groups() -> None:
    if cgroup_version() == "none":
        pytest.skip("no control group can be created on this host")


Inside = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def inside(tmp_path: Path) -> Inside:
    """Return a function that runs Python code in the sandbox, with a model to read and a folder to write."""
    model = tmp_path / "model"
    out = tmp_path / "out"
    for folder in (model, out):
        folder.mkdir()
    (model / "config.json").write_text("{}")
    (model / "config.json").chmod(0o600)  # the mode that save_pretrained gives to weights
    grant_access(out, model)

    def run(code: str, memory: int = 2**31, group: int | None = None) -> "subprocess.CompletedProcess[str]":
        environment = {**USER, "PATH": os.environ["PATH"]}
        command = sandbox_command([sys.executable, "-c", code], SandboxPolicy([model], out, environment, memory))
        with control_group(group or 2**36, MAX_PROCESSES) as joined_group:
            words = joined_group.wrap_command(command)
            return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60, cwd=tmp_path)

    return run


def test_sandbox_allows_model_output_and_imports(inside: Inside, tmp_path: Path) -> None:
    done = inside(f"open('{tmp_path}/out/answers', 'w').write(open('{tmp_path}/model/config.json').read())")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/answers").read_text() == "{}"
    assert inside("import evaluator.job.folder").returncode == 0


@pytest.mark.slow
def test_sandboxed_user_has_name_and_home(inside: Inside) -> None:
    """Libraries ask for both when they are imported: torch on a machine with a GPU names its cache after the user."""
    code = "import getpass, pathlib; getpass.getuser(); (pathlib.Path.home() / 'cache').mkdir(); import torch._dynamo"
    done = inside(code, memory=2**33)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=lambda: _accept(server), daemon=True).start()
        yield server


def _accept(server: socket.socket) -> None:
    while True:
        try:
            server.accept()[0].close()
        except OSError:
            return


def test_sandbox_blocks_network(inside: Inside, listener: socket.socket) -> None:
    connect = f"import socket; socket.create_connection(('127.0.0.1', {listener.getsockname()[1]}), 5)"
    assert subprocess.run([sys.executable, "-c", connect]).returncode == 0, "the listener can be reached from outside"
    for attack in (
        connect,
        "import socket; socket.create_connection(('169.254.169.254', 80), 5)",
        "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('8.8.8.8', 53))",
        "import socket; socket.getaddrinfo('example.com', 80)",
        "import socket; socket.socket(socket.AF_INET6).connect(('2001:4860:4860::8888', 53))",
    ):
        done = inside(attack)
        assert done.returncode == 1 and "rror" in done.stderr, attack


def test_sandbox_hides_tokens_and_other_processes(inside: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANNUN_HUB_TOKEN", "hf_secret")
    code = """
import os, glob
seen = [open(p, 'rb').read() for p in glob.glob('/proc/[0-9]*/environ') if os.access(p, os.R_OK)]
print(sorted(os.environ), any(b'hf_secret' in s for s in seen), len(glob.glob('/proc/[0-9]*')) < 5)
"""
    done = inside(code)
    assert "hf_secret" not in done.stdout and done.stdout.split("]")[1].split() == ["False", "True"], done.stdout
    assert set(json.loads(done.stdout.split("]")[0].replace("'", '"') + "]")) <= {
        "PATH",
        "PWD",
        "LC_CTYPE",
        "HOME",
        "USER",
    }


@pytest.mark.parametrize(
    "path",
    [ROOT / "assets/samples/ko-vqa/items.jsonl", ROOT / "tests/conftest.py", ROOT / ".git/HEAD", "/etc/passwd",
     "/etc/shadow", "/root/.bashrc", "/proc/1/root/etc/passwd", "/proc/sys/kernel/core_pattern.x"],
)  # fmt: skip
def test_sandbox_hides_gold_answers_and_host_files(inside: Inside, path: Path) -> None:
    done = inside(f"open({str(path)!r}).read()")
    assert done.returncode == 1 and ("FileNotFound" in done.stderr or "PermissionError" in done.stderr)


@pytest.mark.parametrize(
    "target", ["{0}/model/config.json", "{1}/evaluator/core/data_types.py", "/usr/bin/env", "{0}/other", "/x"]
)
def test_sandbox_allows_writing_to_one_folder(inside: Inside, tmp_path: Path, target: str) -> None:
    done = inside(f"open({target.format(tmp_path, ROOT)!r}, 'a')")
    assert done.returncode == 1 and ("Read-only" in done.stderr or "Permission" in done.stderr), done.stderr


def test_sandbox_runs_without_privileges(inside: Inside) -> None:
    done = inside("import os; print(os.getuid(), open('/proc/self/status').read())")
    status = dict(line.split(":", 1) for line in done.stdout.splitlines()[1:] if ":" in line)
    assert done.stdout.startswith("65534") and status["NoNewPrivs"].strip() == "1"
    assert all(int(status[name], 16) == 0 for name in ("CapEff", "CapPrm", "CapBnd" if os.geteuid() == 0 else "CapAmb"))
    assert inside("import os; os.setuid(0)").returncode == 1


def test_sandbox_limits_processes(inside: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "MAX_PROCESSES", 200)
    done = inside("""
import os, signal
made = 0
try:
    while made < 5000:
        if os.fork() == 0:
            signal.pause()
        made += 1
except BlockingIOError:
    pass
print(made)
""")
    assert 0 < int(done.stdout) <= 200


def test_sandbox_limits_memory_of_process(inside: Inside) -> None:
    done = inside("x = bytearray(3 * 2**30)", memory=2**30)
    assert done.returncode == 1 and "MemoryError" in done.stderr


# Each takes 400 MB that the limit on the data of a single process does not count.
SHARED_MEMORY = {
    "memfd": "f = os.memfd_create('x'); [os.write(f, bytes(2**20)) for _ in range(400)]",
    "shared mapping": "m = mmap.mmap(-1, 400 * 2**20); [m.write(bytes(2**20)) for _ in range(400)]",
    "many processes": """
reader, writer = os.pipe()
children = []
for _ in range(8):
    if (child := os.fork()) == 0:
        x = bytearray(b'x') * (50 * 2**20)
        os.write(writer, b'x')
        time.sleep(60)
    children.append(child)
os.set_blocking(reader, False)
there = 0
while there < 8:
    try:
        there += len(os.read(reader, 8))
    except BlockingIOError:
        if os.waitpid(-1, os.WNOHANG)[0]:
            os._exit(1)
    time.sleep(0.01)
for child in children:
    os.kill(child, 9)
""",
    "scratch folder": "f = open('/tmp/x', 'wb'); [f.write(bytes(2**20)) for _ in range(400)]",
}


@pytest.mark.parametrize("name", only_first(SHARED_MEMORY))
def test_control_group_limits_shared_memory(_control_groups: None, inside: Inside, name: str) -> None:
    code = f"import mmap, os, time\n{SHARED_MEMORY[name]}\nprint('all')"
    unlimited = inside(code, memory=2**29)
    assert "all" in unlimited.stdout, unlimited.stderr
    limited = inside(code, memory=2**29, group=2 * 10**8)
    assert limited.returncode != 0 and "all" not in limited.stdout


def _wait_until_joined(process: "subprocess.Popen[bytes]", group: Path) -> None:
    while str(process.pid) not in (group / "cgroup.procs").read_text().split():
        assert process.poll() is None


def test_control_group_ends_with_its_processes(_control_groups: None) -> None:
    with control_group(2**30, 100) as group:
        assert group.folders and all(folder.is_dir() for folder in group.folders)
        left = subprocess.Popen(group.wrap_command(["sleep", "60"]))
        _wait_until_joined(left, group.folders[-1])
        subprocess.run(group.wrap_command(["true"]), check=True)
    assert left.wait() == -9
    assert not any(folder.exists() for folder in group.folders)
    late = subprocess.run(group.wrap_command(["echo", "unlimited"]), capture_output=True, text=True)
    assert late.returncode == 125 and not late.stdout


def test_worker_without_group_of_its_own_sees_kills_of_its_container(
    _control_groups: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a container the file system of control groups is read-only, and the limit is that of the container."""
    with control_group(2**26, 100) as container:
        monkeypatch.setattr("evaluator.sandbox.control_group.own_groups", lambda hierarchy: [])
        monkeypatch.setattr("evaluator.sandbox.control_group.memory_groups", lambda: list(container.folders))
        for size, killed in ((2**20, False), (2**28, True)):
            with control_group(2**30, 100) as group:
                assert group.version == "none"
                command = container.wrap_command([sys.executable, "-c", f"x = bytearray({size})"])
                assert bool(subprocess.run(group.wrap_command(command)).returncode) == killed
                assert group.has_run_out_of_memory() == killed


def test_kernel_kills_sandboxed_process_before_worker(inside: Inside) -> None:
    assert inside("print(open('/proc/self/oom_score_adj').read())").stdout.strip() == "1000"


def test_control_group_of_killed_worker_is_removed(_control_groups: None) -> None:
    with control_group(2**30, 100) as own_group:
        # The worker must still run: another evaluation on this host removes groups of dead workers at once.
        worker = subprocess.Popen(["sleep", "60"])
        left = [folder.with_name(f"hannun-{worker.pid}-0123") for folder in own_group.folders]
        for folder in left:
            folder.mkdir()
        sleeper = subprocess.Popen(ControlGroup(tuple(left), "v1").wrap_command(["sleep", "60"]))
        _wait_until_joined(sleeper, left[-1])
        worker.kill()
        worker.wait()
        with control_group(2**30, 100):
            assert not any(folder.exists() for folder in left)
        assert sleeper.wait() == -9 and all(folder.exists() for folder in own_group.folders)


def test_control_group_of_worker_in_other_container_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel lists processes of another PID namespace as 0, and a signal to 0 ends the sender's process group."""
    (tmp_path / "cgroup.subtree_control").write_text("memory pids")
    others = tmp_path / "hannun-999999999-0123"  # its worker is not visible here
    others.mkdir()
    (others / "cgroup.procs").write_text("0\n0\n")
    killed = list[int]()
    monkeypatch.setattr("evaluator.sandbox.control_group.own_groups", lambda hierarchy: [tmp_path])
    monkeypatch.setattr("evaluator.sandbox.control_group.os.kill", lambda process, _: killed.append(process))
    with control_group(2**30, 100):
        assert killed == [] and others.exists()


def test_missing_control_group_is_logged_with_reason(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("evaluator.sandbox.control_group.own_groups", lambda hierarchy: [])
    with caplog.at_level("INFO"), control_group(2**30, 100) as group:
        assert group.version == "none" and "the controller memory is not mounted" in caplog.text


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may choose the user ids of a namespace")
def test_new_user_exists_in_a_rootless_container(tmp_path: Path) -> None:
    """Such a container has 65,536 user ids, as Podman gives them to it, and its root cannot give files to others."""
    code = f"""
from pathlib import Path
from evaluator.sandbox.policy import grant_access, new_user
user = new_user()
grant_access(Path({str(tmp_path)!r}), Path({str(tmp_path)!r}), user)
print(user)
"""
    (tmp_path / "answers").touch()
    waiting = ["unshare", "--user", "sh", "-c", 'echo ready; read go; exec "$0" "$@"', sys.executable, "-c", code]
    with subprocess.Popen(waiting, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout and process.stdout.readline() == "ready\n"  # it is in its namespace
        for ids in ("uid_map", "gid_map"):
            Path(f"/proc/{process.pid}/{ids}").write_text("0 0 65536")
        said, _ = process.communicate("go\n", timeout=60)
    assert int(said) == NOBODY == (tmp_path / "answers").stat().st_uid


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give each evaluation a separate user")
def test_new_user_differs_for_each_evaluation(tmp_path: Path) -> None:
    users = []
    for name in ("first", "second"):
        model = tmp_path / name / "model"
        out = tmp_path / name / "out"
        model.mkdir(parents=True)
        out.mkdir()
        grant_access(out, model, user := new_user())
        policy = SandboxPolicy([model], out, {"PATH": os.environ["PATH"]}, user=user)
        code = f"import os; open('{out}/mine', 'w').write(str(os.getuid()))"
        subprocess.run(sandbox_command([sys.executable, "-c", code], policy), check=True)
        users.append((out / "mine").read_text())
    assert len({*users, "0", "65534"}) == 4


def test_grant_access_does_not_follow_link(tmp_path: Path) -> None:
    """Check that a link does not make a file of the operator readable for everyone."""
    model = tmp_path / "model"
    out = tmp_path / "out"
    secret = tmp_path / "secret"
    for folder in (model, out):
        folder.mkdir()
    secret.write_text("private")
    secret.chmod(0o600)
    (model / "tokenizer.json").symlink_to(secret)
    (model / "config.json").write_text("{}")
    (model / "config.json").chmod(0o600)
    grant_access(out, model)
    assert secret.stat().st_mode & 0o777 == 0o600
    assert os.geteuid() or (model / "config.json").stat().st_mode & 0o777 == 0o604


def test_sandbox_root_is_read_only(inside: Inside) -> None:
    done = inside("""
import os
for place in ("/x", "/etc/x", "/home", "/usr/x", "/proc/sys/kernel/x", "/dev/x"):
    try:
        os.makedirs(place) if place == "/home" else open(place, "w")
        print(place)
    except OSError:
        pass
""")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_sandbox_limits_file_size(inside: Inside, tmp_path: Path) -> None:
    done = inside(f"open('{tmp_path}/out/answers', 'wb').truncate(100 * 2**30)")
    assert done.returncode == 1 and "File too large" in done.stderr
    assert (tmp_path / "out/answers").stat().st_size == 0


BROKEN_ANSWERS: dict[str, str | bytes] = {
    "deep JSON": '{"id": ' + "[" * 200_000 + "\n",
    "too long line": '{"id": "ID", "text": "' + "x" * MAX_LINE + '", "status": "ok", "seconds": 1.0}\n',
    "negative token count": '{"id": "ID", "text": "", "status": "ok", "seconds": 1.0, "tokens": -5}\n',
    "impossible token count": '{"id": "ID", "text": "", "status": "ok", "seconds": 1.0, "tokens": 1e300}\n',
    "a year per answer": '{"id": "ID", "text": "", "status": "ok", "seconds": 31536000}\n',
    "not JSON": "nonsense\n",
    "not an object": "[1]\n",
    "missing text": '{"id": "ID"}\n',
    "number as text": '{"id": "ID", "text": 5, "status": "ok", "seconds": 1.0}\n',
    "unknown status": '{"id": "ID", "text": "", "status": "right", "seconds": 1.0}\n',
    "NaN seconds": '{"id": "ID", "text": "", "status": "ok", "seconds": NaN}\n',
    "not UTF-8": b'{"id": "ID", "text": "\xff", "status": "ok", "seconds": 1.0}\n',
}


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job.prepare(tmp_path / "job", EngineOptions(tmp_path, "float32", 8), [Prompt("1", "?")])


@pytest.mark.parametrize("name", BROKEN_ANSWERS)
def test_job_answers_rejects_malformed_output(job: Job, name: str) -> None:
    content = BROKEN_ANSWERS[name]
    raw = content if isinstance(content, bytes) else content.encode()
    job.answers_file.write_bytes(raw.replace(b"ID", job.ids["1"].encode()))
    with pytest.raises(EvaluationError) as error:
        job.answers()
    assert error.value.code == "model_error"


def test_job_answers_does_not_follow_link(job: Job, tmp_path: Path) -> None:
    """Check that the parent process, which reads and truncates the answers file, does not touch a host file."""
    precious = tmp_path / "precious"
    precious.write_text("not a whole line")
    job.answers_file.symlink_to(precious)
    with pytest.raises(EvaluationError):
        job.answers()
    assert precious.read_text() == "not a whole line"
    job.answers_file.unlink()
    os.mkfifo(job.answers_file)
    with pytest.raises(EvaluationError):
        job.answers()


@pytest.mark.parametrize(
    "event", ["nonsense", '{"event": "failed", "code": "<b>"}', '{"event": "loaded", "batch_size": -1}']
)
def test_run_inference_rejects_malformed_event(job: Job, event: str, monkeypatch: pytest.MonkeyPatch) -> None:
    command = [sys.executable, "-c", f"print({event!r}, flush=True); import time; time.sleep(600)"]
    monkeypatch.setattr("evaluator.job.command.sandbox_command", lambda *_: command)
    with pytest.raises(EvaluationError) as error:
        run_inference(job, 0, 1, 0, lambda *_: None)
    assert error.value.code == "model_error"


def test_run_inference_ignores_second_environment_event(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that only the environment event from before the model is loaded counts."""
    first, second = ({"event": "environment", "values": {"hardware": name}} for name in ("real", "leaked question"))
    code = f"print({json.dumps(first)!r}); print({json.dumps(second)!r})"
    monkeypatch.setattr("evaluator.job.command.sandbox_command", lambda *_: [sys.executable, "-c", code])
    run_inference(job, 0, 1, 0, lambda *_: None)
    assert job.environment() == {"hardware": "real", "sandbox": "bubblewrap", "cgroup": cgroup_version()}


@pytest.mark.parametrize(("earlier", "code"), [("", "internal_error"), ('{"event": "environment"}', "model_error")])
def test_failure_before_model_is_read_is_fault_of_machine(
    job: Job, earlier: str, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = json.dumps({"event": "failed", "code": "internal_error", "message": "KeyError: 'uid not found'"})
    script = "\n".join([*([f"print({earlier!r})"] if earlier else []), f"print({failed!r})", "raise SystemExit(3)"])
    monkeypatch.setattr("evaluator.job.command.sandbox_command", lambda *_: [sys.executable, "-c", script])
    with pytest.raises(EvaluationError, match="uid not found") as error:
        run_inference(job, 0, 1, 0, lambda *_: None)
    assert error.value.code == code


@pytest.mark.parametrize(("events", "code"), [([], "internal_error"), ([{"event": "environment"}], "model_error")])
def test_exit_without_report_while_loading_is_fault_of_model(
    job: Job, events: list[dict[str, str]], code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A panic of a library in Rust, which files of a model can provoke, is not a Python exception that is reported."""
    lines = "".join(json.dumps(event) + "\n" for event in events)
    script = f"print({lines!r}, end='', flush=True); raise SystemExit(1)"
    monkeypatch.setattr("evaluator.job.command.sandbox_command", lambda *_: [sys.executable, "-c", script])
    with pytest.raises(EvaluationError) as error:
        run_inference(job, 0, 1, 0, lambda *_: None)
    assert error.value.code == code


def test_engine_that_cannot_start_is_fault_of_machine(tmp_path: Path) -> None:
    options = EngineOptions(tmp_path, "float32", 8, engine="json:JSONDecoder")
    job = Job.prepare(tmp_path / "job", options, [Prompt("1", "?")])
    with pytest.raises(EvaluationError, match="environment") as error:
        run_inference(job, 0, 1, 0, lambda *_: None, sandbox=False)
    assert error.value.code == "internal_error"


def test_worker_requires_sandbox(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox.try_sandbox.cache_clear()
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SandboxError, match="apt-get install bubblewrap"):
        Worker(settings)
    monkeypatch.undo()
    sandbox.try_sandbox.cache_clear()


DUMMY_CLI = ["-m", "tests.support.cli", "evaluator.engines.dummy:DummyEngine"]


@pytest.mark.slow
def test_run_reads_model_of_links_in_sandbox(environment: dict[str, str], models_dir: Path, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("bwrap", "prlimit", "setpriv", "true"):
        (tools / name).symlink_to(str(shutil.which(name)))
    environment["PATH"] = str(tools)
    folder = tmp_path / "models--tiny--x/snapshots/a"
    blobs = tmp_path / "models--tiny--x/blobs"
    folder.mkdir(parents=True)
    blobs.mkdir()
    (blobs / "answer").write_text('{"answer": "read through a link"}')
    (folder / "dummy.json").symlink_to("../../blobs/answer")
    for number, file in enumerate(sorted((models_dir / "tiny/extractive").iterdir())):
        (blobs / str(number)).write_bytes(file.read_bytes())
        (folder / file.name).symlink_to(f"../../blobs/{number}")
    arguments = ["run", "--model", str(folder), "--benchmark", "korquad-2", "--limit", "3", "--latency-samples", "0"]
    done = python(*DUMMY_CLI, *arguments, "--out", str(tmp_path / "out"), environment=environment)
    assert done.returncode == 0, done.stderr
    result = EvalResult.model_validate_json((tmp_path / "out/result.json").read_bytes())
    assert result.environment["sandbox"] == "bubblewrap"
    assert (tmp_path / "out/details.jsonl").read_text().count("read through a link") == 3


def test_app_reports_missing_sandbox(environment: dict[str, str], tmp_path: Path) -> None:
    environment["PATH"] = f"{tmp_path}:{Path(sys.executable).parent}"
    done = python("app.py", environment=environment)
    assert done.returncode == 2 and "HANNUN_WORKER=off" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("sandbox_option", only_first(["auto", "none"]))
def test_run_without_sandbox_is_recorded(environment: dict[str, str], tmp_path: Path, sandbox_option: str) -> None:
    arguments = [
        "run",
        "--model",
        "tiny/extractive",
        "--benchmark",
        "korquad-2",
        "--limit",
        "3",
        "--latency-samples",
        "0",
    ]
    environment["PATH"] = f"{tmp_path}:{Path(sys.executable).parent}"
    words = [*DUMMY_CLI, *arguments, "--out", str(tmp_path / "out"), "--sandbox", sandbox_option]
    done = python(*words, environment=environment)
    if sandbox_option == "auto":
        assert done.returncode == 2 and "--sandbox none" in done.stderr and "Traceback" not in done.stderr
    else:
        assert done.returncode == 0, done.stderr
        result = EvalResult.model_validate_json((tmp_path / "out/result.json").read_bytes())
        assert result.environment["sandbox"] == "none"


# Try each call in a new process and print the names of those that were not refused.
SYSTEM_CALLS = """
import ctypes, os, sys
import pyseccomp
libc = ctypes.CDLL(None, use_errno=True)
buffer = ctypes.create_string_buffer(4096)
number = lambda name: pyseccomp.resolve_syscall(pyseccomp.system_arch(), name)
CALLS = {
    "a user namespace": ("unshare", 0x10000000),
    "a process in a user namespace": ("clone", 0x10000000 | 17, 0, 0, 0, 0),
    "a mount namespace": ("unshare", 0x00020000),
    "io_uring": ("io_uring_setup", 8, buffer),
    "userfaultfd": ("userfaultfd", 1),
    "a keyring that others read": ("keyctl", 0, -3, 1),
    "a key": ("add_key", b"user", b"note", b"from one evaluation to the next", 31, -3),
    "a trace": ("ptrace", 0, 0, 0, 0),
    "vsock": ("socket", 40, 1, 0),
    "packets": ("socket", 17, 3, 0),
    "the kernel's crypto": ("socket", 38, 5, 0),
    "amateur radio": ("socket", 3, 5, 0),
    "AppleTalk": ("socket", 5, 2, 0),
    "a family before the first": ("socket", 0, 1, 0),
    "a family in the upper half of the argument": ("socket", ctypes.c_ulong(2**32 + 17), 3, 0),
    "a file of another process": ("pidfd_getfd", -1, 0, 0),
    "advice for another process": ("process_madvise", -1, 0, 0, 0, 0),
    "quotas": ("quotactl_fd", -1, 0, 0, 0),
    "bpf": ("bpf", 0, buffer, 72),
}
for name, (call, *arguments) in CALLS.items():
    if (child := os.fork()) == 0:
        got = libc.syscall(number(call), *arguments)
        os._exit(1 if got == -1 and ctypes.get_errno() in (1, 38) else 0)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
        print(name)
"""


def test_sandbox_refuses_unneeded_system_calls(inside: Inside) -> None:
    outside = subprocess.run([sys.executable, "-c", SYSTEM_CALLS], capture_output=True, text=True, cwd=ROOT)
    assert "a keyring that others read" in outside.stdout and "a trace" in outside.stdout, (
        "the calls work outside the sandbox"
    )
    done = inside(SYSTEM_CALLS)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    # Threads, processes, shared memory and local sockets still work.
    needed = inside("""
import multiprocessing, multiprocessing.shared_memory, socket, subprocess, sys, threading
threading.Thread(target=print, args=("thread",)).start()
subprocess.run([sys.executable, "-c", "print('process')"], check=True)
multiprocessing.shared_memory.SharedMemory(create=True, size=4096).unlink()
with socket.create_server(("127.0.0.1", 0)) as server:
    socket.create_connection(server.getsockname())
""")
    assert needed.returncode == 0 and {"thread", "process"} <= set(needed.stdout.split()), needed.stderr


def test_refused_system_calls_have_known_names() -> None:
    """A misspelt name would be skipped. -1 is for unknown names; calls of other architectures are below."""
    architecture = pyseccomp.system_arch()
    assert [name for name in REFUSED if pyseccomp.resolve_syscall(architecture, name) == -1] == []
    assert pyseccomp.resolve_syscall(architecture, "umount3") == -1


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (ModuleNotFoundError("No module named 'pyseccomp'"), "pip install"),
        (RuntimeError("Unable to find libseccomp"), "apt-get install libseccomp2"),
        (OSError(22, "Invalid argument"), "the kernel refuses it"),
    ],
)
def test_missing_filter_is_reported_with_remedy(error: Exception, remedy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def restrict() -> None:
        raise error

    monkeypatch.setattr(system_calls, "restrict", restrict)
    with pytest.raises(SystemExit, match=remedy):
        system_calls.main(["true"])


def test_installation_returns_only_environment_or_file(tmp_path: Path) -> None:
    """Check that a script in /data/bin does not expose all of /data."""
    script = tmp_path / "data/bin/serve.sh"
    environment = tmp_path / "venv/bin/vllm"
    for program in (script, environment):
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    (tmp_path / "python/bin").mkdir(parents=True)
    (tmp_path / "venv/pyvenv.cfg").write_text(f"home = {tmp_path}/python/bin\nversion = 3.11.7\n")
    assert installation_of(f"{script} {{model}} {{port}}") == [script]
    assert installation_of(f"{environment} serve {{model}} {{port}}") == [tmp_path / "python", tmp_path / "venv"]
    for command in ("true {model} {port}", "no-such-program {model} {port}", "malformed"):
        assert installation_of(command) == []
