"""A program that is started, receives signals, and is waited for."""

from __future__ import annotations

import errno
import os
import select
import shutil
import signal
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from octavo.errors import ProfileError

if TYPE_CHECKING:
    import resource
    from collections.abc import Iterator, Mapping, Sequence
    from types import FrameType

_PASSED_ON = (signal.SIGTERM, signal.SIGHUP)
_OF_TERMINALS = (signal.SIGINT, signal.SIGQUIT)
"""Signals that terminals also send to the program."""


_SIGNALLED = 128
"""The number that shells add to the signal that killed a program."""


def status_of(code: int) -> int:
    """The exit status that shells use, from one that is minus a signal if that killed the program."""
    return code if code >= 0 else _SIGNALLED - code


class MissingProgramError(ProfileError):
    """A program that does not exist, with the status that shells use for it."""

    code = "missing"
    exit_code = 127


class RefusedProgramError(ProfileError):
    """A program that cannot be executed, with the status that shells use for it."""

    code = "unreadable"
    exit_code = 126


def check(name: str) -> None:
    """Make sure that a program can be started, before anything makes room for its results.

    Raises:
        ProfileError: it is not there, or cannot be executed.

    """
    if shutil.which(name) is not None:
        return
    if shutil.which(name, mode=os.F_OK) is not None or (os.sep in name and os.path.exists(name)):  # noqa: PTH110
        raise RefusedProgramError(f"cannot run `{name}`: {os.strerror(errno.EACCES)}", key=name)
    raise _missing(name)


def _missing(name: str) -> MissingProgramError:
    hint = "name a program that is on the PATH, or its path, such as ./program"
    return MissingProgramError(f"cannot run `{name}`: there is no such program", hint, key=name)


class Program:
    """A running program; it has this process's files, and its environment unless it gets another one."""

    def __init__(self) -> None:
        self.began = time.monotonic_ns()
        self.ended: int | None = None
        """When it ended, in nanoseconds of the monotonic clock."""
        self.pid = 0
        self._news, self._tell = os.pipe()  # An event with a lock would be none for handlers of signals.
        self._awaiting = threading.Thread(target=self._await, daemon=True)
        self._came: list[int] = []

    def start(
        self, command: Sequence[str], *, output: int | None = None, environment: Mapping[str, str] | None = None
    ) -> None:
        """Start it.

        Args:
            command: the program, by name or path, and its arguments.
            output: the file that its standard output goes to instead.
            environment: its environment instead of this process's.

        Raises:
            ProfileError: it is not there, or cannot be executed.

        """
        actions = [] if output is None else [(os.POSIX_SPAWN_DUP2, output, 1)]
        usual = [signal.SIGPIPE, signal.SIGXFSZ]  # Python itself ignores these.
        self.began = time.monotonic_ns()
        try:
            self.pid = os.posix_spawnp(
                command[0], list(command), environment or os.environ, file_actions=actions, setsigdef=usual
            )
        except FileNotFoundError:
            raise _missing(command[0]) from None
        except OSError as error:
            raise RefusedProgramError(f"cannot run `{command[0]}`: {error.strerror}", key=command[0]) from None
        self._awaiting.start()
        for number in self._came:
            self._pass_on(number)

    def _await(self) -> None:
        with suppress(ChildProcessError):
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        self.ended = time.monotonic_ns()
        os.write(self._tell, b".")

    def wait(self, seconds: float) -> None:
        """Wait until it has ended, a signal comes, or some time has passed."""
        if select.select([self._news], [], [], seconds)[0]:
            os.read(self._news, 1)

    def close(self) -> None:
        """Forget it; it must have been waited for, or never started."""
        if self.pid:
            self._awaiting.join()
        os.close(self._news)
        os.close(self._tell)

    def reap(self) -> tuple[int, resource.struct_rusage]:
        """Its exit status, or minus the signal that killed it, and the resources that it and its children used.

        It must have ended.
        """
        _, status, used = os.wait4(self.pid, 0)
        return os.waitstatus_to_exitcode(status), used

    def _pass_on(self, number: int) -> None:
        if number in _PASSED_ON or not _in_foreground():
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    @contextmanager
    def heeding(self) -> Iterator[list[int]]:
        """Survive signals that the terminal sends to the program, too, such as Ctrl-C; pass on other requests to end.

        The signals that came. Only the main thread receives them; ignored ones (`nohup`) are not received.
        """

        def heed(number: int, _frame: FrameType | None) -> None:
            self._came.append(number)
            if self.pid and self.ended is None:
                self._pass_on(number)
            os.write(self._tell, b".")

        if threading.current_thread() is not threading.main_thread():
            yield self._came
            return
        heeded = [number for number in (*_OF_TERMINALS, *_PASSED_ON) if signal.getsignal(number) != signal.SIG_IGN]
        before = {number: signal.signal(number, heed) for number in heeded}
        try:
            yield self._came
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _in_foreground() -> bool:
    """Whether the terminal sends Ctrl-C to both this process and the program."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
