"""Progress of long work as a page in the browser, served to this machine alone."""

from __future__ import annotations

import json
import sys
import threading
import time
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from octavo.runs.execute import Progress

_HERE = "127.0.0.1"
_MOST_SHOWN = 200
"""Finished runs that the page lists, the latest; chosen."""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'"


class Page:
    """The content of the page: the last progress that the work reported."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._state = json.dumps(None)

    def beside(self, watch: Callable[[Progress], None]) -> Callable[[Progress], None]:
        """What to pass as `watch` so that the page knows, too."""

        def both(progress: Progress) -> None:
            self._state = json.dumps(self._told(progress))
            watch(progress)

        return both

    def state(self) -> bytes:
        """The latest state as JSON; null before there is one."""
        return self._state.encode()

    def _told(self, progress: Progress) -> dict[str, Any]:
        return {
            "total": progress.total,
            "done": len(progress.done),
            "kept": progress.kept,
            "latest": progress.done[-_MOST_SHOWN:],
            "running": dict(progress.running),
            "failed": list(progress.failed),
            "seconds": time.monotonic() - self._began,
        }


@contextmanager
def page(*, wanted: bool) -> Iterator[Page]:
    """A page that is served while the work goes on, with its address on standard error; none unless it is wanted."""
    shown = Page()
    if not wanted:
        yield shown
        return
    server = _Server((_HERE, 0), _handler(shown))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
    thread.start()
    print(f"Progress: http://{_HERE}:{server.server_port}/", file=sys.stderr, flush=True)
    try:
        yield shown
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A tab that was closed while it was answered is no error."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def _handler(shown: Page) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """The page and its state, for browsers of this machine, by its own address."""

        server_version = "octavo"
        sys_version = ""

        def do_GET(self) -> None:
            port = self.connection.getsockname()[1]
            if self.headers.get("Host") not in (f"{_HERE}:{port}", f"localhost:{port}"):
                # A page from elsewhere whose name was made to lead here must not read what runs here.
                self.send_error(HTTPStatus.FORBIDDEN)
            elif self.path == "/":
                self._answer("text/html; charset=utf-8", files("octavo").joinpath("runs", "live.html").read_bytes())
            elif self.path == "/state":
                self._answer("application/json", shown.state())
            else:
                self.send_error(HTTPStatus.NOT_FOUND)

        def _answer(self, kind: str, content: bytes) -> None:
            self.send_response(HTTPStatus.OK)
            headers = {"Content-Type": kind, "Content-Length": str(len(content)), "Cache-Control": "no-store"}
            for name, value in {**headers, "Content-Security-Policy": _POLICY}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_arguments: object) -> None:
            """Standard error is for progress."""

    return Handler
