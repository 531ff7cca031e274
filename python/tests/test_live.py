"""Progress as a page: what it shows, and to whom."""

from __future__ import annotations

import http.client
import json
import re
import threading

import pytest
from browser import chromium
from conftest import SMALL

from octavo.runs import live
from octavo.runs.execute import Progress


@pytest.fixture
def served(capfd):
    with live.page(wanted=True) as page:
        address = re.search(r"Progress: http://127\.0\.0\.1:(\d+)/\n", capfd.readouterr().err)
        yield page, int(address[1])


def ask(port, path="/", host=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path, headers={"Host": host or f"127.0.0.1:{port}"})
    answer = connection.getresponse()
    return answer.status, answer.read(), answer.headers


def test_the_state_is_what_was_said_last(served):
    page, port = served
    heard = []
    watch = page.beside(heard.append)
    assert ask(port, "/state")[1] == b"null"
    progress = Progress(3, ["<b>a</b>"], 1, {"b": 0.25}, [])
    watch(progress)
    assert heard == [progress]
    state = json.loads(ask(port, "/state")[1])
    assert state.pop("seconds") >= 0
    shown = {"total": 3, "done": 1, "kept": 1, "latest": ["<b>a</b>"], "running": {"b": 0.25}, "failed": []}
    assert state == shown


def test_only_this_machine_is_answered_and_only_by_its_own_name(served):
    _, port = served
    assert ask(port)[0] == 200
    assert ask(port, host=f"localhost:{port}")[0] == 200
    assert ask(port, host="evil.example")[0] == 403
    assert ask(port, host=f"evil.example:{port}")[0] == 403
    assert ask(port, "/../../etc/passwd")[0] == 404
    assert "default-src 'none'" in ask(port)[2]["Content-Security-Policy"]


def test_the_page_listens_on_this_machine_alone(monkeypatch):
    made = []
    begin = live._Server.__init__

    def kept(self, *arguments):
        begin(self, *arguments)
        made.append(self)

    monkeypatch.setattr(live._Server, "__init__", kept)
    with live.page(wanted=True):
        assert [server.server_address[0] for server in made] == ["127.0.0.1"]


def test_a_closed_tab_is_no_error_and_others_are(capfd):
    server = live._Server(("127.0.0.1", 0), live._handler(live.Page()))
    for error, told in ((BrokenPipeError(), False), (ConnectionResetError(), False), (KeyError("x"), True)):
        try:
            raise error
        except (OSError, KeyError):
            server.handle_error(None, ("127.0.0.1", 1))
        assert bool(capfd.readouterr().err) is told
    server.server_close()


def test_nothing_is_served_unless_it_is_wanted(capfd):
    before = threading.active_count()
    with live.page(wanted=False) as page:
        page.beside(lambda _: None)(Progress(1))
        assert threading.active_count() == before
    assert capfd.readouterr().err == ""


def test_the_page_shows_labels_as_text(served):
    page, port = served
    page.beside(lambda _: None)(Progress(2, ["<b>first</b>"], 0, {"second": 0.5}, ["third: <i>why</i>"]))
    with chromium() as browser:
        shown = browser.new_page()
        shown.goto(f"http://127.0.0.1:{port}/")
        shown.wait_for_function("document.title === '1 of 2 done'")
        assert shown.locator("#latest li").all_inner_texts() == ["<b>first</b>"]
        assert shown.locator("#running li").all_inner_texts() == ["50 %: second"]
        assert shown.locator("#failed li").all_inner_texts() == ["third: <i>why</i>"]
        assert shown.locator("h2:visible").all_inner_texts() == ["Failed", "Running", "Finished, latest first"]
        assert shown.locator("#all").get_attribute("max") == "2"
        page.beside(lambda _: None)(Progress(2, ["first"], 0, {"second": 0.75}))
        shown.locator("#running li", has_text="75 %").wait_for()
        assert shown.locator("h2:visible").all_inner_texts() == ["Running", "Finished, latest first"]
        assert shown.evaluate("[0, 59.9, 3661, 90061, 360000].map(clock)") == [
            "00:00:00",
            "00:00:59",
            "01:01:01",
            "25:01:01",
            "100:00:00",
        ]
        shown.evaluate("() => { show = () => { throw new Error('not drawn') } }")
        shown.wait_for_timeout(1200)
        assert "ended" not in shown.locator("#time").inner_text()


@pytest.mark.parametrize("command", [("run",), ("compare", "-p", "grit"), ("sweep",)])
def test_a_page_about_what_does_not_run_is_refused(cli, tmp_path, command):
    (tmp_path / "sweep.toml").write_text('[scenario]\nworkload = { name = "fir", scale = 0.01 }\n[grid]\nseed = [1]\n')
    source = ("sweep.toml",) if command == ("sweep",) else ("--workload", "fir", "--scale", str(SMALL))
    told = cli(*command, *source, "--watch", "--dry-run")
    assert told.returncode == 2
    assert "--watch" in told.stderr
    assert "leave one of them out" in told.stderr


def test_commands_say_where_it_is(cli, tmp_path):
    told = cli("run", "--workload", "fir", "--scale", str(SMALL), "--watch", "-o", str(tmp_path / "run"))
    assert told.returncode == 0, told.stderr
    assert re.search(r"^Progress: http://127\.0\.0\.1:\d+/$", told.stderr, re.MULTILINE)
