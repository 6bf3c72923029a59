"""The built book holds what it promises: all lessons, whole links, true text alternatives, nothing from the web."""

import json
import os
import re
import subprocess
import sys
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


def test_a_run_that_went_wrong_leads_to_the_lesson_on_it_from_another_page(book):
    links = {page: parsed(page).select("p.bl-more a") for page in pages(book)}
    assert sum(map(len, links.values())) >= 5
    for page, found in links.items():
        for link in found:
            there = (page.parent / link["href"]).resolve()
            assert there.exists() and there != page.resolve()
            assert link.text == parsed(there).h1.contents[0].text


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_shows_a_run_with_its_verdict(book, lesson):
    page = parsed(book / "notebooks" / f"{lesson}.html")
    assert page.select(".bl-run .bl-timeline svg")
    assert all(len(verdict.text.split()) > 3 for verdict in page.select("p.bl-verdict"))


def test_the_first_page_shows_a_measured_hang_and_two_doors(book):
    page = parsed(book / "book" / "index.html")
    assert page.h1.text.startswith("One rank never arrived. Find which one, and on which line.")
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


# --- a cell that fails --------------------------------------------------------------------------------------

TINY = {
    "_config.yml": f"""\
title: Tiny
only_build_toc_files: true
execute: {{execute_notebooks: force, timeout: 4, raise_on_error: false}}
sphinx:
  local_extensions: {{barrier_lab_failed: {ROOT / "book" / "_ext"}}}
""",
    "_toc.yml": "format: jb-book\nroot: good\nchapters: [{file: bad}, {file: slow}]\n",
    "good.md": "# A page that is well\n\n```{code-cell} python\nprint(2)\n```\n",
    "bad.md": """\
# A page with a bad cell

```{code-cell} python
print(1)
```

```{code-cell} python
:tags: [raises-exception]
raise OSError("as it should")
```

```{code-cell} python
assert 2 + 2 == 5, "that is wrong"
```

```{code-cell} python
print("never run")
```
""",
    "slow.md": "# A page that hangs\n\n```{code-cell} python\nimport time\ntime.sleep(99)\n```\n",
}
HEAD = "---\njupytext:\n  text_representation: {extension: .md, format_name: myst}\nkernelspec: {name: python3}\n---\n"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> tuple[Path, subprocess.CompletedProcess]:
    """A book of three pages, two of them with a cell that fails: its build folder, and what ``make book`` says last."""
    folder = tmp_path_factory.mktemp("tiny")
    for name, text in TINY.items():
        (folder / name).write_text((HEAD if name.endswith(".md") else "") + text)
    tool = Path(sys.executable).with_name("jupyter-book")
    environment = {key: value for key, value in os.environ.items() if key != "PYTEST_CURRENT_TEST"}
    command = [tool, "build", folder, "-W", "-n", "--keep-going"]
    built = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert built.returncode != 0
    last = [sys.executable, ROOT / "book" / "_ext" / "said_at_the_end.py", folder / "_build", str(built.returncode)]
    return folder / "_build", subprocess.run(last, capture_output=True, text=True, timeout=60, check=False)


def test_a_page_with_a_cell_that_failed_says_so_at_its_top(tiny):
    article = parsed(tiny[0] / "html" / "bad.html").article
    box = article.select_one(".bl-failed-cell")
    assert "Cell 3" in box.text and "AssertionError: that is wrong" in box.text
    assert box.find_previous_sibling().name == "h1"
    cell = article.select_one(box.a["href"])
    assert "2 + 2 == 5" in cell.text


def test_a_page_whose_cell_took_too_long_says_so_too(tiny):
    article = parsed(tiny[0] / "html" / "slow.html").article
    box = article.select_one(".bl-failed-cell")
    assert "Cell 1" in box.text
    assert "time.sleep(99)" in article.select_one(box.a["href"]).text


def test_a_page_that_is_well_says_nothing(tiny):
    assert not parsed(tiny[0] / "html" / "good.html").select(".bl-failed-cell")


def test_the_build_names_page_and_cell_at_its_end_and_fails(tiny):
    build, said = tiny
    assert said.returncode == 1
    first, second, rest = said.stdout.splitlines()
    assert first == "Cell 3 of bad (A page with a bad cell) failed: AssertionError: that is wrong"
    assert second.startswith("Cell 1 of slow (A page that hangs) failed: ")
    assert "2 pages say so" in rest and (build / "html" / "index.html").as_uri() in rest
    assert [one["page"] for one in json.loads((build / "failed_cells.json").read_text())] == ["bad", "slow"]


def test_no_page_of_this_book_has_a_cell_that_failed(book):
    assert [page.name for page in pages(book) if parsed(page).select(".bl-failed-cell")] == []
