"""A process of ours that works on orders, from the side that gives them."""

from __future__ import annotations

import codecs
import contextlib
import json
import math
import os
import selectors
import signal
import subprocess
import sys
import time
from enum import IntEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from octavo.addresses import NO_MORE, NO_MORE_STATUS
from octavo.isolation import errors
from octavo.plain import cut

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import TracebackType

_POLL_SECONDS = 0.05
"""Wall time between two checks for a wish to stop; our choice."""
_GRACE_SECONDS = 1.0
"""Wall time that a process gets to stop before it is killed; our choice."""
_LEAVE_SECONDS = 10.0
"""Wall time that user's code gets when its process ends, for instance to write a file; our choice."""
_MOST_BYTES = 1 << 20
"""Bytes to read at a time: more than a pipe holds."""
_MOST_WORDS = 1 << 14
"""How many characters are kept of the last words of a crashed process; our choice."""
_BEGIN = (
    "import sys; sys.path[:] = sys.argv[2:]; import signal; signal.signal(signal.SIGINT, signal.SIG_DFL); "
    "from {module} import main; main()"
)
"""A program that finds all modules that this process finds, and that ends silently if it is stopped before `main`."""
_PACKAGE = f"{Path(__file__).parents[1]}{os.sep}"


class Wish(IntEnum):
    """What should happen to an order in progress."""

    GO_ON = 0
    STOP = 1
    """In order, if that is quick enough."""
    KILL = 2


def go_on() -> Wish:
    """An order that nothing can stop."""
    return Wish.GO_ON


class VanishedError(Exception):
    """A process ended before it answered; arguments: how it ended, and where its Python code was, if that is known."""

    @property
    def details(self) -> str:
        """Where its code was; empty if unknown."""
        return str(self.args[1])


class Process:
    """One process. Ctrl-C does not reach it, so this side decides when it ends. Its output goes where ours goes."""

    def __init__(self, module: str) -> None:
        """Start the `main` of a module, which is to serve `octavo.isolation.orders`.

        Raises:
            OSError: there can be no further process.

        """
        self._answers, theirs = os.pipe()
        try:
            self._process = _started(module, theirs)
        except OSError:
            os.close(self._answers)
            raise
        finally:
            os.close(theirs)
        self._output = _Output(self._process, self._answers)
        self._asked = False
        self._over = False
        self._until = math.inf

    def __enter__(self) -> Process:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            self.kill()
        self.leave()

    def ask(
        self,
        order: Mapping[str, Any],
        *,
        told: Callable[[dict[str, Any]], object] | None = None,
        wish: Callable[[], Wish] = go_on,
    ) -> dict[str, Any]:
        """Give an order and wait for its answer; `told` gets the reports that come before it.

        Raises:
            VanishedError: the process ended without an answer, as it does soon after `wish` says to stop.
            BaseException: what the work raised.

        """
        with contextlib.suppress(BrokenPipeError):
            self._send(order)
        for answer in self._heard(wish):
            if "raised" in answer:
                raise errors.unpacked(answer["raised"])
            if answer.pop("last"):
                return answer
            if told is not None:
                told(answer)
        with contextlib.suppress(subprocess.TimeoutExpired):  # Its answers end a moment before it does.
            self._process.wait(_GRACE_SECONDS)
        self._end()
        raise VanishedError(_how(self._process.wait()), _places(self._output.words))

    @property
    def alive(self) -> bool:
        """Whether it takes further orders."""
        return not self._over and self._process.poll() is None and not self._output.silent

    def leave(self, wish: Callable[[], Wish] = go_on) -> None:
        """Let the process end, and wait for it; kill it if it does not."""
        self._until = min(self._until, time.monotonic() + _LEAVE_SECONDS)
        with contextlib.suppress(OSError):
            self._input.close()
        if not self._over:
            for _ in self._heard(wish):
                pass
        self._end()

    def kill(self) -> None:
        """End the process at once, and what it started; results appear whole or not at all, so nothing is damaged."""
        if self._process.poll() is None or (self._output.open and not self._over):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    @property
    def _input(self) -> IO[bytes]:
        assert self._process.stdin is not None  # noqa: S101 - for the type checker
        return self._process.stdin

    def _send(self, order: Mapping[str, Any]) -> None:
        self._input.write(json.dumps(order).encode() + b"\n")
        self._input.flush()

    def _heard(self, wish: Callable[[], Wish]) -> Iterator[dict[str, Any]]:
        """The output of the process, until it has ended or closed its answers."""
        ended = False
        while not ended:
            ended = self._process.poll() is not None or self._output.silent
            yield from self._output.answers(0 if ended else _POLL_SECONDS)
            self._heed(wish())

    def _heed(self, wish: Wish) -> None:
        if wish and not self._asked:
            self._asked = True
            self._until = min(self._until, time.monotonic() + _GRACE_SECONDS)
            self._process.send_signal(signal.SIGINT)
        if wish == Wish.KILL or time.monotonic() > self._until:
            self.kill()

    def _end(self) -> None:
        """Make sure that the process is gone, and that it leaves nothing behind here."""
        self.kill()
        self._process.wait()
        if not self._over:
            self._over = True
            self._output.close()
        with contextlib.suppress(OSError):
            self._input.close()


def command(module: str, *arguments: str) -> list[str]:
    """The command that calls `main` of one of our modules; it finds all modules that this process finds."""
    return [sys.executable, "-c", _BEGIN.format(module=module), *(arguments or ("",)), *sys.path]


def _started(module: str, answers: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - ourselves
        command(module, str(answers)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=[answers],
        start_new_session=True,
    )


class _Output:
    """The output of a process: answers as lines of JSON, and anything else, which is printed here."""

    def __init__(self, process: subprocess.Popen[bytes], answers: int) -> None:
        self._files = {answers: "answers"}
        self._pipes = (process.stdout, process.stderr)
        for pipe, name in zip(self._pipes, ("stdout", "stderr"), strict=True):
            assert pipe is not None  # noqa: S101 - for the type checker
            self._files[pipe.fileno()] = name
        self._decoders = {name: codecs.getincrementaldecoder("utf-8")("replace") for name in self._files.values()}
        self._selector = selectors.DefaultSelector()
        for file, name in self._files.items():
            os.set_blocking(file, False)
            self._selector.register(file, selectors.EVENT_READ, name)
        self._answers = answers
        self._rest = b""
        self.words = ""
        """Text among the answers that is none of them: the last words of a crash."""

    @property
    def open(self) -> bool:
        """Whether anyone can still send or print something."""
        return bool(self._files)

    @property
    def silent(self) -> bool:
        """Whether there can be no further answers."""
        return self._answers not in self._files

    def answers(self, seconds: float) -> Iterator[dict[str, Any]]:
        """How long to wait for answers, so that what was printed before them is printed first."""
        ready = [key for key, _ in self._selector.select(seconds)] if self._files else []
        for key in sorted(ready, key=lambda key: key.fd == self._answers):
            content = self._read(key.fd, key.data)
            if key.fd == self._answers:
                yield from self._lines(content)

    def _read(self, file: int, name: str) -> bytes:
        try:
            content = os.read(file, _MOST_BYTES)
        except BlockingIOError:
            return b""
        if name != "answers":
            _print(name, self._decoders[name].decode(content, final=not content))
        if not content:
            self._selector.unregister(file)
            del self._files[file]
        return content

    def _lines(self, content: bytes) -> Iterator[dict[str, Any]]:
        *lines, self._rest = (self._rest + content).split(b"\n")
        for line in lines:
            answer = _answer(line)
            if answer is None:
                self.words = (self.words + line.decode("utf-8", "replace") + "\n")[:_MOST_WORDS]
            else:
                yield answer

    def close(self) -> None:
        """Print what is left, and release everything."""
        for _ in self.answers(0):
            pass
        self._selector.close()
        os.close(self._answers)
        for pipe in self._pipes:
            if pipe is not None:
                pipe.close()


def _answer(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) and "last" in found else None


def _print(name: str, text: str) -> None:
    """Print the output of a process where this process prints. If nobody reads any more, that shows later."""
    stream = sys.stdout if name == "stdout" else sys.stderr
    if text and stream is not None:
        with contextlib.suppress(OSError, ValueError):
            stream.write(text)
            stream.flush()


def _how(status: int) -> str:
    """How a process ended."""
    if status == NO_MORE_STATUS:
        return NO_MORE
    if status >= 0:
        return f"its process ended with status {status} before it was done"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    hint = ", perhaps for lack of memory" if -status == signal.SIGKILL else ""
    return f"its process was ended by {name}{hint}"


def _places(words: str) -> str:
    """Where user's code was when a process crashed: the lines above ours in the report of Python's fault handler."""
    places = []
    for line in words.splitlines():
        if line.startswith('  File "'):
            if line.startswith(f'  File "{_PACKAGE}'):
                break
            places.append(line)
    return cut("It was here (most recent call first):\n" + "\n".join(places)) if places else ""
