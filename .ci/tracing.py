"""Traces the benchmarks' program `counted` on one core, where the pool has one thread. Linux on x86-64 only."""
import ctypes
import os
import signal
import sys

TRACEME, PEEKTEXT, PEEKUSER, POKETEXT, POKEUSER, CONT, SINGLESTEP, SETOPTIONS = 0, 1, 3, 4, 6, 7, 9, 0x4200
PROGRAM_COUNTER = 16 * 8
TGKILL = 234
TRACECLONE, EXITKILL = 1 << 3, 1 << 20
WALL = 0x40000000

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


def ptrace(request, thread, place=None, value=0):
    if libc.ptrace(request, thread, place, value) < 0:
        raise OSError(ctypes.get_errno(), "ptrace")


def peek(request, thread, place):
    return libc.ptrace(request, thread, place, None)


def wait(thread):
    """Waits until a thread stops that is let go on; says whether by the signal that ends a measurement."""
    _, status = os.waitpid(thread, WALL)
    if not os.WIFSTOPPED(status):
        sys.exit("the program ended while it was counted")
    return os.WSTOPSIG(status) == signal.SIGUSR2


def start(command):
    """Starts a program on one core; returns its process and what it prints."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(writer, 1)
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        ptrace(TRACEME, 0)
        os.execv(command[0], command)
    os.close(writer)
    os.waitpid(pid, 0)
    ptrace(SETOPTIONS, pid, value=TRACECLONE | EXITKILL)
    ptrace(CONT, pid)
    return pid, os.fdopen(reader)


def marked(command, measure):
    """Yields what a program marks: its name, what was measured, and the number of units.

    `measure` takes the process and the thread, and lets the thread go on until it sends the second signal.
    """
    pid, output = start(command)
    while True:
        thread, status = os.waitpid(-1, WALL)
        if not os.WIFSTOPPED(status):
            if thread == pid and status:
                sys.exit(f"{command[0]} ended with status {status}")
            if thread == pid:
                return
            continue
        reason = os.WSTOPSIG(status)
        if reason == signal.SIGUSR1:
            name, units = output.readline().strip().split("|")
            others = [int(task) for task in os.listdir(f"/proc/{pid}/task") if int(task) != thread]
            # They would do a part of the work, so much faster than the one that is counted. The system may
            # have ended one that was idle.
            stopped = [other for other in others if libc.syscall(TGKILL, pid, other, signal.SIGSTOP) == 0
                       and os.WIFSTOPPED(os.waitpid(other, WALL)[1])]
            yield name, measure(pid, thread), int(units)
            for other in stopped:
                ptrace(CONT, other)
        # What the tracing itself causes is not the program's to see.
        quiet = reason in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGTRAP, signal.SIGSTOP)
        ptrace(CONT, thread, value=0 if quiet else reason)
