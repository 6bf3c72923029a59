"""The built book holds what it promises: all lessons, whole links, true text alternatives, nothing from the web."""

import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from bs4 import BeautifulSoup
from conftest import ROOT

TOC = yaml.safe_load((ROOT / "_toc.yml").read_text())
CHAPTERS = [chapter["file"] for part in TOC["parts"] for chapter in part["chapters"]]
LESSONS = [Path(name).stem for name in CHAPTERS if name.startswith("notebooks/")]


@cache
def parsed(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def pages(book: Path) -> list[Path]:
    """All pages that a reader can open from the table of contents."""
    return [book / f"{name}.html" for name in [TOC["root"], *CHAPTERS]]


def test_every_page_of_the_table_of_contents_is_built(book):
    assert [page for page in pages(book) if not page.exists()] == []


def test_the_lessons_stand_in_their_order(book):
    links = parsed(book / "book" / "index.html").select("nav.bd-links a[href*=notebooks]")
    assert [Path(link["href"]).stem for link in links] == LESSONS


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_shows_a_run_with_its_verdict(book, lesson):
    page = parsed(book / "notebooks" / f"{lesson}.html")
    assert page.select(".bl-run .bl-timeline svg")
    assert all(len(verdict.text.split()) > 3 for verdict in page.select("p.bl-verdict"))


def test_the_first_page_shows_a_measured_hang_and_two_doors(book):
    page = parsed(book / "book" / "index.html")
    assert page.h1.text.startswith("One rank did not come. Find which, and on which line.")
    assert "Rank 0 is waiting in its 2nd barrier (one_sided.py:" in page.select_one("p.bl-hung").text
    doors = page.select(".bl-doors a")
    assert [door["href"] for door in doors] == ["my_job_hangs.html", "learning_path.html"]


def test_the_front_door_of_the_build_leads_to_the_first_page(book):
    assert "book/index.html" in (book / "index.html").read_text()


def test_every_claim_has_its_row(book):
    claims = [claim for page in pages(book) for claim in parsed(page).select("dl.bl-claim")]
    rows = parsed(book / "book" / "sources_measured.html").select("table.bl-claims tbody tr")
    assert len(rows) == len(claims) > 0


def test_every_link_within_the_book_leads_somewhere(book):
    broken = []
    for page in pages(book):
        for link in parsed(page).select("a[href]"):
            url = urlsplit(link["href"])
            if url.scheme or url.netloc:
                continue
            target = (page.parent / unquote(url.path)).resolve() if url.path else page
            if not target.exists() or (url.fragment and unquote(url.fragment) not in ids(target)):
                broken.append(f"{page.name}: {link['href']}")
    assert broken == []


@cache
def ids(page: Path) -> set[str]:
    return {element["id"] for element in parsed(page).select("[id]")}


def test_the_learning_path_gives_the_minutes_that_the_lessons_give(book):
    rows = parsed(book / "book" / "learning_path.html").select("table tbody tr")
    for lesson, row in zip(LESSONS, rows, strict=True):
        minutes = [cell.text for cell in row.select("td")[2:]]
        cards = parsed(book / "notebooks" / f"{lesson}.html").select(".sd-card")[:3]
        given = [re.findall(r"\d+", card.text) for card in cards]
        assert any(minutes == pair for numbers in given for pair in map(list, pairwise(numbers))), lesson


def test_no_id_stands_twice_on_a_page(book):
    for page in pages(book):
        ids = [element["id"] for element in parsed(page).select("[id]")]
        assert sorted({i for i in ids if ids.count(i) > 1}) == [], page.name


def test_no_page_names_a_script_style_or_picture_of_the_web(book):
    for page in pages(book):
        found = parsed(page).select("script[src], link[href], img[src], iframe[src], source[src]")
        addresses = [element.get("src") or element.get("href") for element in found]
        assert [address for address in addresses if address.startswith(("http", "//"))] == [], page.name


def test_every_picture_has_a_text_alternative_that_is_no_file_name(book):
    for page in pages(book):
        for picture in parsed(page).select("img"):
            assert is_true_text(picture.get("alt", "")), f"{page.name}: {picture}"


def test_every_timeline_is_named_and_described(book):
    for page in pages(book):
        for figure in parsed(page).select(".bl-timeline svg"):
            assert figure.get("role") == "img", page.name
            assert is_true_text(figure.find("title", recursive=False).text), page.name
            assert re.search(r"\branks? \d", figure.find("desc", recursive=False).text, re.I), page.name


def is_true_text(text: str) -> bool:
    """More than a word, and not the name of a file."""
    return len(text.split()) > 1 and not re.search(r"\.(png|svg|jpg)$", text)


def test_the_status_page_lists_every_notebook_and_the_backend(book):
    page = parsed(book / "book" / "status.html")
    assert {f"notebooks/{lesson}" for lesson in LESSONS} <= {link.text for link in page.select("table a")}
    assert any(row.text.split()[:2] in (["Backend", "gloo"], ["Backend", "nccl"]) for row in page.select("tr"))
