"""The filter of system calls inside the sandbox: `python -m evaluator.sandbox.system_calls COMMAND …` sets it, and becomes
the command. Set from inside, it is the same whoever built the sandbox, and nothing that is started later is without it.

Everything that inference needs is allowed; what has let programs out of sandboxes, or lets them leave something behind
in the kernel, is refused (https://github.com/moby/profiles/blob/main/seccomp/default.json has the reasons for most).
"""

import errno
import os
import sys

REFUSED = (
    # Namespaces and mounts of its own, in which it would have every capability.
    *("unshare", "setns", "mount", "umount2", "pivot_root", "chroot", "fsopen", "fsconfig", "fsmount", "fspick"),
    *("move_mount", "open_tree", "mount_setattr", "open_by_handle_at", "name_to_handle_at"),
    # Large and young parts of the kernel that no model needs.
    *("io_uring_setup", "io_uring_enter", "io_uring_register", "userfaultfd", "bpf", "perf_event_open"),
    # Other processes, and the keyrings, which outlive an evaluation.
    *("ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "keyctl", "add_key", "request_key"),
    # The machine.
    *("kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot", "swapon", "swapoff"),
    *("acct", "quotactl", "syslog", "settimeofday", "clock_settime", "adjtimex", "clock_adjtime", "iopl", "ioperm"),
    *("modify_ldt", "vhangup", "nfsservctl", "lookup_dcookie", "uselib", "personality"),
)
NEW_USER_NAMESPACE = 0x10000000  # CLONE_NEWUSER
NETLINK, LAST_COMMON = 16, 10  # address families; AF_UNIX, AF_INET and AF_INET6 are among the first ten


def restrict() -> None:
    """From now on, for this process and all that come of it. Raises OSError or RuntimeError where there is no filter."""
    import pyseccomp

    refuse = pyseccomp.ERRNO(errno.EPERM)
    rules = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    for name in REFUSED:
        if pyseccomp.resolve_syscall(pyseccomp.system_arch(), name) >= 0:  # else this machine has no such call
            rules.add_rule(refuse, name)
    own = pyseccomp.Arg(0, pyseccomp.MASKED_EQ, NEW_USER_NAMESPACE, NEW_USER_NAMESPACE)
    rules.add_rule(refuse, "clone", own)
    rules.add_rule(pyseccomp.ERRNO(errno.ENOSYS), "clone3")  # its flags lie in memory: libraries then use clone
    for family in range(LAST_COMMON + 1, NETLINK):
        rules.add_rule(refuse, "socket", pyseccomp.Arg(0, pyseccomp.EQ, family))
    rules.add_rule(refuse, "socket", pyseccomp.Arg(0, pyseccomp.GT, NETLINK))
    rules.load()


def main(command: list[str]) -> None:
    try:
        restrict()
    except (ImportError, OSError, RuntimeError) as error:
        sys.exit(f"no filter of system calls can be set: {error}; apt-get install libseccomp2")
    os.execvp(command[0], command)  # noqa: S606 - what policy.py put together


if __name__ == "__main__":
    main(sys.argv[1:])
