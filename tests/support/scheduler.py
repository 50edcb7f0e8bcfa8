"""A stand-in for the commands of a job scheduler, written from Slurm's manual pages: `python -m … FOLDER COMMAND …`.

sbatch SCRIPT   starts a job, as `sbatch --parsable --wrap` does; prints its number
squeue JOB      prints the job's state, as `squeue -h -j JOB -o %T` does; nothing once it is over
scancel JOB     SIGTERM, as `scancel --full JOB` does
kill JOB        what becomes of it when its node dies: SIGKILL to all of its processes
preempt JOB     the same, by the scheduler, which tells so
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
    mark = folder / f"{argument}.preempted"
    if command == "squeue":
        if mark.exists():
            print("PREEMPTED")
        elif _runs(pid):
            print("RUNNING")
        return
    if command == "preempt":
        mark.touch()
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGTERM if command == "scancel" else signal.SIGKILL)


def _runs(pid: int) -> bool:
    """Whether a process is there, and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
