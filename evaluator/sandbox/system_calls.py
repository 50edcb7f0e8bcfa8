"""`python -m evaluator.sandbox.system_calls COMMAND …`: install the sandbox's system call filter, then exec COMMAND.

The filter is installed inside the sandbox, so it does not depend on the tool that built it, and every later process
inherits it. It allows everything that inference needs. It refuses calls that have been used to escape from sandboxes or
that can leave state behind in the kernel (https://github.com/moby/profiles/blob/main/seccomp/default.json explains most
of them).
"""

import errno
import os
import sys
from socket import AF_INET, AF_INET6, AF_NETLINK, AF_UNIX

# A name that libseccomp does not know is skipped: an older version does not know new calls. A test finds misspelt names.
REFUSED = (
    # New namespaces and mounts, in which the process would have every capability.
    "unshare",
    "setns",
    "mount",
    "umount2",
    "pivot_root",
    "chroot",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "move_mount",
    "open_tree",
    "mount_setattr",
    "open_by_handle_at",
    "name_to_handle_at",
    # Large, recent parts of the kernel that models do not need.
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "userfaultfd",
    "bpf",
    "perf_event_open",
    # Access to other processes, and to keyrings, which outlive an evaluation.
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "process_madvise",
    "pidfd_getfd",
    "kcmp",
    "keyctl",
    "add_key",
    "request_key",
    # Control of the host.
    "kexec_load",
    "kexec_file_load",
    "init_module",
    "finit_module",
    "delete_module",
    "reboot",
    "swapon",
    "swapoff",
    "acct",
    "quotactl",
    "quotactl_fd",
    "syslog",
    "settimeofday",
    "clock_settime",
    "adjtimex",
    "clock_adjtime",
    "iopl",
    "ioperm",
    "vhangup",
    # Old or poorly tested calls that models do not need.
    "modify_ldt",
    "nfsservctl",
    "lookup_dcookie",
    "uselib",
    "personality",
)
NEW_USER_NAMESPACE = 0x10000000  # CLONE_NEWUSER
# Families of sockets that libraries use: between processes of the sandbox, and AF_NETLINK to list its network interfaces.
# All others are refused, such as AppleTalk, Bluetooth and vsock.
ALLOWED_FAMILIES = (AF_UNIX, AF_INET, AF_INET6, AF_NETLINK)


def restrict() -> None:
    """Install the filter for this process and its descendants.

    Raises ImportError if pyseccomp is not installed, RuntimeError if the library libseccomp is not, and OSError if the
    kernel refuses the filter.
    """
    import pyseccomp

    refuse = pyseccomp.ERRNO(errno.EPERM)
    rules = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    for name in REFUSED:
        # Calls that this architecture does not have, or that libseccomp does not know, are negative.
        if pyseccomp.resolve_syscall(pyseccomp.system_arch(), name) >= 0:
            rules.add_rule(refuse, name)
    # Namespaces of other kinds need capabilities, which the process could only get in a new user namespace.
    new_user = pyseccomp.Arg(0, pyseccomp.MASKED_EQ, NEW_USER_NAMESPACE, NEW_USER_NAMESPACE)
    rules.add_rule(refuse, "clone", new_user)
    # seccomp cannot read the flags of clone3, which are in memory. ENOSYS makes libraries fall back to clone.
    rules.add_rule(pyseccomp.ERRNO(errno.ENOSYS), "clone3")
    last = max(ALLOWED_FAMILIES)
    for family in range(last):
        if family not in ALLOWED_FAMILIES:
            rules.add_rule(refuse, "socket", pyseccomp.Arg(0, pyseccomp.EQ, family))
    rules.add_rule(refuse, "socket", pyseccomp.Arg(0, pyseccomp.GT, last))
    rules.load()


def main(command: list[str]) -> None:
    """Install the filter and run a command. Without the filter, end with a message instead."""
    try:
        restrict()
    except ImportError as error:
        sys.exit(f"the system call filter cannot be installed: {error}; pip install -r evaluator/requirements.txt")
    except RuntimeError as error:
        sys.exit(f"the system call filter cannot be installed: {error}; apt-get install libseccomp2")
    except OSError as error:
        sys.exit(f"the system call filter cannot be installed: the kernel refuses it: {error}")
    os.execvp(command[0], command)  # noqa: S606 - the command is composed by policy.py


if __name__ == "__main__":
    main(sys.argv[1:])
