"""shared/engine.js in each browser: the numbers of torch. In Node, tests/widgets has many more of them."""

import pytest

from tests.widgets import engine_cases

COUNT, SEED = 30, 2
COMPUTE = """([read, told]) => {
    window.told = told;
    const script = document.createElement("script");
    script.type = "module";
    script.textContent = `import * as engine from "./shared/engine.js"; window.answers = (${read})(engine, told);`;
    document.head.append(script);
}"""


@pytest.fixture(scope="module")
def cases():
    return engine_cases.cases(COUNT, SEED)


@pytest.mark.parametrize("any_browser", ["chromium", "firefox", "webkit"], indirect=True)
def test_all_numbers_are_those_of_torch(any_browser, address, cases):
    any_browser.goto(address)
    any_browser.evaluate(COMPUTE, [engine_cases.ANSWERS, [engine_cases.told(case) for case in cases]])
    any_browser.wait_until("() => window.answers !== undefined || window.errors?.length > 0")
    answers = any_browser.evaluate("() => window.answers")
    assert any_browser.complaints() == []
    wrong = [engine_cases.compare(case, answer) for case, answer in zip(cases, answers, strict=True)]
    assert not any(wrong), wrong
