"""Chromium, Firefox and WebKit, the engine of Safari, behind one face: a page, a real mouse and real keys.

Playwright drives Chromium and the Firefox that everybody has (by WebDriver BiDi), selenium drives WebKit.
"""

import os
import re
import shutil
import subprocess
import warnings
from contextlib import contextmanager

from tests.browser import PATIENCE
from tests.browser.lab import find_browser, open_browser, wait_for

SIZE = {"width": 1400, "height": 1000}
PACKAGES = {"chromium": "chromium", "firefox": "firefox-esr", "webkit": "webkit2gtk-driver xvfb"}  # of Debian
FIREFOXES = ["firefox-esr", "firefox"]
SHOWN = """([selector, text]) => {
    const element = document.querySelector(selector);
    return element?.getClientRects().length > 0 && (text === null || element.textContent.trim() === text);
}"""

NOTE_ERRORS = """() => {
    window.errors = [];
    const note = (what) => errors.push(String(what));
    addEventListener("error", (event) => note(event.message));
    addEventListener("unhandledrejection", (event) => note(event.reason));
    const { error } = console;
    console.error = (...words) => { note(words.join(" ")); error.apply(console, words); };
}"""
PLACE = """(selector, tell) => {
    const element = document.querySelector(selector);
    element.scrollIntoView({ block: "center", behavior: "instant" });
    const painted = () => {
        const { left, top, width, height } = element.getBoundingClientRect();
        tell([Math.round(left + width / 2), Math.round(top + height / 2)]);
    };
    requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(painted)));
}"""


class Visitor:
    """A page. Selectors are CSS, and the first element counts; functions are JavaScript and take one argument."""

    def has_crashed(self, error):
        """Whether this error says that the browser is gone, whatever it showed."""
        return False

    def wait_until(self, function, argument=None, every=0.05, patience=PATIENCE):
        wait_for(lambda: self.evaluate(function, argument), every, patience)

    def wait_for(self, selector, text=None):
        """Wait until this element can be seen, and says this."""
        self.wait_until(SHOWN, [selector, text])

    def focus(self, selector):
        self.evaluate("selector => document.querySelector(selector).focus()", selector)


class PlaywrightVisitor(Visitor):
    def __init__(self, browser):
        self.page = browser.new_page(viewport=SIZE)
        self.page.set_default_timeout(PATIENCE)
        self.found = []
        self.page.on("pageerror", lambda error: self.found.append(str(error)))
        self.page.on("console", lambda line: self.found.append(line.text) if line.type == "error" else None)
        self.goto, self.evaluate, self.press = self.page.goto, self.page.evaluate, self.page.keyboard.press

    def click(self, selector):
        self.page.locator(selector).first.click()

    def complaints(self):
        """Errors since the last call."""
        found, self.found[:] = self.found[:], []
        return found


class WebKitVisitor(Visitor):
    """It tells of errors after a page was loaded only.

    start: makes a driver.
    """

    def __init__(self, start):
        self.start = start
        self.open()

    def open(self):
        self.driver = self.start()
        self.driver.set_window_size(*SIZE.values())

    def has_crashed(self, error):
        from selenium.common.exceptions import InvalidSessionIdException, WebDriverException

        return type(error) in (WebDriverException, InvalidSessionIdException)  # what a script does has its own types

    def restart(self):
        self.driver.quit()
        self.open()

    def goto(self, address):
        self.driver.get(address)
        self.evaluate(NOTE_ERRORS)

    def evaluate(self, function, argument=None):
        return self.driver.execute_script(f"return ({function})(arguments[0])", argument)

    def click(self, selector):
        from selenium.webdriver.common.actions.action_builder import ActionBuilder

        self.wait_for(selector)
        actions = ActionBuilder(self.driver, duration=0)
        # By place: WebKit's driver looks for an element of a scrolled page where it was before.
        place = None
        while place != (place := self.driver.execute_async_script(f"({PLACE})(...arguments)", selector)):
            pass  # what comes to life above it may still push it down
        actions.pointer_action.move_to_location(*place).click()
        actions.perform()

    def press(self, key):
        from selenium.webdriver import ActionChains, Keys

        *held, last = (
            name if len(name) == 1 else getattr(Keys, re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper())
            for name in key.split("+")
        )
        actions = ActionChains(self.driver, duration=0)
        for one in held:
            actions.key_down(one)
        actions.send_keys(last)
        for one in held:
            actions.key_up(one)
        actions.perform()

    def complaints(self):
        """Errors since the last call."""
        return self.evaluate("() => errors.splice(0)")


def find_path(name):
    """Where the browser of this name is, or None."""
    if name == "chromium":
        return find_browser()
    if name == "firefox":
        return next(filter(None, map(shutil.which, FIREFOXES)), None)
    return shutil.which("WebKitWebDriver") if shutil.which("Xvfb") else None


@contextmanager
def open_visitor(name, path, playwright):
    """A page of this browser, which is started for it."""
    if name == "webkit":
        with open_webkit(path) as visitor:
            yield visitor
        return
    if name == "firefox":
        browser = playwright.firefox.launch(channel="moz-firefox", executable_path=path, timeout=PATIENCE)
    else:
        browser = open_browser(playwright, path)
    try:
        yield PlaywrightVisitor(browser)
    finally:
        browser.close()


@contextmanager
def open_webkit(path):
    from selenium.webdriver import WebKitGTK, WebKitGTKOptions
    from selenium.webdriver.webkitgtk.service import Service

    def start():
        service = Service(path, env={**os.environ, "DISPLAY": screen})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # selenium's own
            driver = WebKitGTK(options=WebKitGTKOptions(), service=service)
        driver.set_script_timeout(PATIENCE / 1000)
        driver.set_page_load_timeout(PATIENCE / 1000)
        return driver

    with open_screen() as screen:
        visitor = WebKitVisitor(start)
        try:
            yield visitor
        finally:
            visitor.driver.quit()


@contextmanager
def open_screen():
    """A screen that nobody sees: its name for DISPLAY."""
    command = ["Xvfb", "-displayfd", "1", "-screen", "0", "1600x1200x24", "-nolisten", "tcp"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as screen:
        try:
            yield f":{screen.stdout.readline().strip()}"
        finally:
            screen.terminate()
