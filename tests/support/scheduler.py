"""Imitate the commands of a job scheduler, following Slurm's manual pages: `python -m … FOLDER COMMAND …`.

sbatch SCRIPT   starts a job and prints its number, as `sbatch --parsable --wrap` does
squeue JOB      prints the job's state, as `squeue -h -j JOB -o %T` does, or nothing after its end
scancel JOB     sends SIGTERM, as `scancel --full JOB` does
kill JOB        sends SIGKILL to all processes of the job, as if its node had died
preempt JOB     does the same, and squeue prints PREEMPTED from then on
"""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path


def main(folder: Path, command: str, argument: str) -> None:
    folder.mkdir(exist_ok=True)
    if command == "sbatch":
        number = str(len(list(folder.glob("*.pid"))) + 1)
        with (folder / f"{number}.log").open("wb") as log:
            job = subprocess.Popen(
                ["bash", "-c", argument], stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        (folder / f"{number}.pid").write_text(str(job.pid))
        print(number)
        return
    pid = int((folder / f"{argument}.pid").read_text())
    preempted = folder / f"{argument}.preempted"
    if command == "squeue":
        if preempted.exists():
            print("PREEMPTED")
        elif _is_running(pid):
            print("RUNNING")
        return
    if command == "preempt":
        preempted.touch()
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGTERM if command == "scancel" else signal.SIGKILL)


def _is_running(pid: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
