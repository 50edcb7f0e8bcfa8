"""Imitate kubectl for Jobs, following its reference: `python -m tests.support.kubectl FOLDER COMMAND …`.

create -f - -o name                             starts the container of a Job and prints job.batch/NAME
get pods -l job-name=NAME -o jsonpath=…phase    prints Running, Succeeded or Failed, or nothing without a pod
delete --ignore-not-found --wait=false JOB      sends SIGTERM to the container's first process
"""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import yaml

# Records the process ID and the exit status of the container's process, as a kubelet does.
WRAPPER = 'sh -c "$1" & echo $! > "$2/pid"; wait $!; echo $? > "$2/code"'


def main(folder: Path, verb: str, *arguments: str) -> None:
    if verb == "create":
        job = yaml.safe_load(sys.stdin)
        (container,) = job["spec"]["template"]["spec"]["containers"]
        assert (job["kind"], container["command"][:2]) == ("Job", ["sh", "-c"])
        pod = folder / job["metadata"]["name"]
        pod.mkdir(parents=True)
        with (pod / "log").open("wb") as log:
            command = ["sh", "-c", WRAPPER, "sh", container["command"][2], str(pod)]
            subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        print(f"job.batch/{pod.name}")
    elif verb == "get":
        assert arguments[:2] == ("pods", "-l") and arguments[-1] == "jsonpath={.items[*].status.phase}"
        pod = folder / arguments[2].removeprefix("job-name=")
        if pod.exists():
            code = (pod / "code").read_text() if (pod / "code").exists() else None
            ended = "Succeeded" if code and code.strip() == "0" else "Failed"
            print("Running" if code is None else ended, end="")
    elif verb == "delete":
        pod = folder / arguments[-1].removeprefix("job.batch/")
        with suppress(FileNotFoundError, ProcessLookupError):
            os.kill(int((pod / "pid").read_text()), signal.SIGTERM)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
