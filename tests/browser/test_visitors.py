"""The tests' own hands in each browser."""

import psutil
import pytest

in_webkit = pytest.mark.parametrize("any_browser", ["webkit"], indirect=True)

LATE = """() => setTimeout(() => {
    document.body.innerHTML = "<button>press</button>";
    document.querySelector("button").onclick = (event) => { event.target.textContent = "pressed"; };
}, 500)"""


@in_webkit  # the others wait by themselves
def test_a_click_waits_for_what_it_clicks(any_browser):
    any_browser.goto("data:text/html,<body></body>")
    any_browser.evaluate(LATE)
    any_browser.click("button")
    any_browser.wait_for("button", "pressed")
    assert any_browser.complaints() == []


@pytest.fixture(scope="module")
def killed():
    """The processes of pages that were killed."""
    return []


@in_webkit
def test_a_test_whose_browser_crashes_runs_once_more(any_browser, killed):
    any_browser.goto("data:text/html,<p>here</p>")
    if not killed:
        killed.extend(kill_page(any_browser))
        assert len(killed) == 1
    assert any_browser.evaluate("() => document.body.textContent") == "here"


def kill_page(visitor):
    processes = psutil.Process(visitor.driver.service.process.pid).children(recursive=True)
    pages = [each for each in processes if each.name().startswith("WebKitWebProc")]
    for each in pages:
        each.kill()
    return pages


@in_webkit
def test_an_error_of_a_page_is_no_crash(any_browser):
    any_browser.goto("data:text/html,<p>here</p>")
    with pytest.raises(Exception, match="nothing") as raised:
        any_browser.evaluate("() => { throw new Error('nothing'); }")
    assert not any_browser.has_crashed(raised.value)
