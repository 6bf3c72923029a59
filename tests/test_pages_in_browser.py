"""The pages in a real Chromium, from the file system: light and dark, wide and narrow."""

import pytest
import yaml
from axe_playwright_python.sync_playwright import Axe
from conftest import ROOT
from playwright.sync_api import Page, expect, sync_playwright

TOC = yaml.safe_load((ROOT / "_toc.yml").read_text())
PAGES = [TOC["root"], *(chapter["file"] for part in TOC["parts"] for chapter in part["chapters"])]
LOOKS = [(scheme, width) for scheme in ("light", "dark") for width in (1280, 390)]
RULES = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]},
    "resultTypes": ["violations"],  # what is right is not described, which takes half the time
}
# The theme's own: a button whose label is an icon.
ALLOWED = {"label-content-name-mismatch"}

# Elements that stick out of the page to the right, apart from what scrolls in a box of its own.
TOO_WIDE = """() => document.documentElement.scrollWidth > innerWidth
  ? [...document.querySelectorAll("main *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1)
      .map(e => e.outerHTML.slice(0, 120)).slice(0, 3) : []"""

# Elements whose words are cut off, with no way to scroll to them.
CUT = """() => [...document.querySelectorAll("main *")].filter(e => getComputedStyle(e).overflowX === "hidden"
  && e.clientWidth > 1 && e.scrollWidth > e.clientWidth + 1).map(e => e.outerHTML.slice(0, 120))"""


@pytest.fixture(scope="module")
def browser(chromium):
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def opened(browser, book):
    """A function that opens a page of the book for one test."""
    pages = []

    def open_page(name: str, width: int = 1280) -> Page:
        pages.append(browser.new_page(viewport={"width": width, "height": 800}))
        pages[-1].goto((book / f"{name}.html").as_uri())
        return pages[-1]

    yield open_page
    for page in pages:
        page.close()


@pytest.fixture(scope="module", params=PAGES)
def loaded(request, browser, book):
    """Each page of the book, loaded once for the tests of its looks, and what it asks of the web."""
    page = browser.new_page(reduced_motion="reduce")
    requests: list[str] = []
    page.on("request", lambda asked: requests.append(asked.url))
    page.goto((book / f"{request.param}.html").as_uri())
    page.wait_for_load_state("networkidle")
    yield page, requests
    page.close()


def dress(page: Page, scheme: str, width: int) -> None:
    """Show the page light or dark, wide or narrow."""
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    expect(page.locator("html")).to_have_attribute("data-theme", scheme)


def test_a_page_asks_nothing_of_the_web(loaded):
    _, requests = loaded
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []


def test_a_page_neither_scrolls_sideways_nor_cuts_words(loaded):
    page, _ = loaded
    for scheme, width in LOOKS:
        dress(page, scheme, width)
        assert page.evaluate(CUT) == [], f"{scheme}, {width} px"
        assert page.evaluate(TOO_WIDE) == [], f"{scheme}, {width} px"
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{scheme}, {width} px"


def test_axe_finds_nothing_new(loaded):
    page, _ = loaded
    for scheme, width in (("light", 1280), ("dark", 390)):  # each scheme and each width once: axe takes its time
        dress(page, scheme, width)
        page.wait_for_timeout(300)  # colours may fade from one scheme to the other
        violations = Axe().run(page, options=RULES).response["violations"]
        new = [(v["id"], v["nodes"][0]["html"][:200], len(v["nodes"])) for v in violations if v["id"] not in ALLOWED]
        assert new == [], f"{scheme}, {width} px"


def test_on_a_phone_a_timeline_scrolls_in_its_box_by_keyboard(opened):
    page = opened("book/index", width=390)
    box = page.locator(".bl-timeline").first
    assert box.evaluate("e => e.scrollWidth > e.clientWidth")
    for _ in range(60):
        page.keyboard.press("Tab")
        if box.evaluate("e => e === document.activeElement"):
            break
    assert box.evaluate("e => e === document.activeElement")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.activeElement.scrollLeft > 0")


def test_on_a_phone_a_shade_shows_where_more_is_to_come_and_outputs_are_wrapped(opened):
    for name in ("book/index", "notebooks/one_sided"):
        page = opened(name, width=390)
        for box in page.locator(".bl-timeline, div.highlight pre").all():
            assert (
                box.evaluate("e => getComputedStyle(e).backgroundAttachment") == "local, local, scroll, scroll, scroll"
            )
        cut = "e => e.scrollWidth > e.clientWidth"
        assert not any(box.evaluate(cut) for box in page.locator("pre.bl-output, pre.bl-check").all())


def test_the_first_screen_shows_sentence_hang_and_doors(opened):
    page = opened("book/index")
    for part in ("section > h1", ".bl-timeline", "p.bl-verdict", ".bl-doors .sd-col:last-child"):
        box = page.locator(part).first.bounding_box()
        assert box["y"] + box["height"] <= 800, part


def test_the_search_finds_a_message_without_the_web(opened, book):
    page = opened("search")
    page.goto((book / "search.html").as_uri() + "?q=barrier")
    page.wait_for_selector("ul.search li")
