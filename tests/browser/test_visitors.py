"""The tests' own hands in each browser."""

import pytest

LATE = """() => setTimeout(() => {
    document.body.innerHTML = "<button>press</button>";
    document.querySelector("button").onclick = (event) => { event.target.textContent = "pressed"; };
}, 500)"""


@pytest.mark.parametrize("any_browser", ["webkit"], indirect=True)  # the others wait by themselves
def test_a_click_waits_for_what_it_clicks(any_browser):
    any_browser.goto("data:text/html,<body></body>")
    any_browser.evaluate(LATE)
    any_browser.click("button")
    any_browser.wait_for("button", "pressed")
    assert any_browser.complaints() == []
