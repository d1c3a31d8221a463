"""What axe-core finds in a page that not everybody can use."""

from axe_playwright_python.sync_playwright import Axe

# Code has thousands of tokens in a few colors: one of each color stays.
EACH_COLOR_ONCE = """() => {
    const seen = new Set();
    for (const token of document.querySelectorAll(".highlight span")) {
        const color = `${token.closest("[class*='highlight-']")?.className} ${token.className}`;
        if (seen.has(color)) token.replaceWith(...token.childNodes);
        seen.add(color);
    }
}"""
ONLY = {"light": {}, "dark": {"runOnly": ["color-contrast", "link-in-text-block"]}}  # a theme changes colors alone


def violations(page, theme="light", context=None, **options):
    """Axe's violations in a page, or in its part `context`; what passes is not described element by element."""
    page.evaluate(EACH_COLOR_ONCE)
    options = {"resultTypes": ["violations"], **ONLY[theme], **options}
    return Axe().run(page, context=context, options=options).response["violations"]


def told(found):
    """Each violation by its name, with the first element that it was found in."""
    return "\n".join(f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in found)
