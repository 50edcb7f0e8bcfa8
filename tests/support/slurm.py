"""Run a real one-node Slurm on this machine. This needs Debian's slurmctld, slurmd and slurm-client."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from getpass import getuser
from pathlib import Path

CONFIG = """ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
PlugStackConfig=/dev/null
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MpiDefault=none
SwitchType=switch/none
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=1
KillWait=2
GresTypes=gpu
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=4 RealMemory=64000 State=UNKNOWN
PartitionName=all Nodes=n1 Default=YES MaxTime=INFINITE State=UP
"""
INSTALLED = all(
    shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") for name in ("slurmctld", "slurmd", "sbatch")
)
START_SECONDS = 60.0


@contextmanager
def slurm(folder: Path) -> Iterator[dict[str, str]]:
    """Start Slurm and yield the environment variables that its commands need."""
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    host = socket.gethostname().partition(".")[0]
    config = folder / "slurm.conf"
    config.write_text(CONFIG.format(host=host, ports=free_ports(), user=getuser(), folder=folder))
    (folder / "cgroup.conf").write_text("CgroupAutomount=no\n")
    environment = os.environ | {"SLURM_CONF": str(config), "PATH": f"{os.environ['PATH']}:/usr/sbin"}
    with (folder / "daemons.log").open("wb") as log:
        daemons = [
            subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
            for command in (["slurmctld", "-D", "-f", str(config)], ["slurmd", "-D", "-N", "n1", "-f", str(config)])
        ]
    try:
        _wait_until_idle(environment, folder)
        yield {"SLURM_CONF": str(config)}
    finally:
        for daemon in reversed(daemons):
            daemon.terminate()
            daemon.wait()


def _wait_until_idle(environment: dict[str, str], folder: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    command = ["sinfo", "-h", "-n", "n1", "-o", "%T"]
    while subprocess.run(command, env=environment, capture_output=True, text=True).stdout.strip() != "idle":
        assert time.monotonic() < deadline, (folder / "daemons.log").read_text()[-2000:]


def free_ports() -> list[int]:
    """Return two ports that nobody has now, for programs that cannot choose their own."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports
