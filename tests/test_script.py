"""What is read from a script's text, of which nothing runs outside a rank."""

import gc
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal, Optional, Union

import pytest

from barrier_lab.errors import UsageError
from barrier_lab.script import source as script

WORKER = "def worker(rank, world_size{}): pass\n"
TYPES = {
    "int": int,
    "'int'": int,
    "float | None": float | None,
    "Optional[str]": Optional[str],  # noqa: UP045
    "typing.Union[int, 'str']": Union[int, str],  # noqa: UP007
    "list[int]": list[int],
    "tuple[int, ...]": tuple[int, ...],
    "Literal['a', -1, None]": Literal["a", -1, None],
    "list[Literal['a'] | bool]": list[Literal["a"] | bool],
}
EVALUATES = {  # each ends, hangs or uses the process that evaluates it
    "ends": "[c for c in ().__class__.__base__.__subclasses__() if c.__name__ == '_wrap_close'][0]"
    ".__init__.__globals__['_exit'](0)",
    "hangs": "[int, int('9') ** int('9') ** int('9')][0]",
    "asks": "int.x",
    "calls": "Literal[print('here')]",
    "hides": "'[int][0]'",
}
NO_PYTHON = {
    "a zero byte": b"x = 1\n\x00",
    "two bytes a letter": WORKER.format("").encode("utf-16"),
    "an unknown encoding": b"# -*- coding: klingon -*-\n",
    "another encoding than it says": b"# \xe9\n",
    "many parentheses": b"x = " + b"(" * 5000 + b")" * 5000,
    "many operators": b"x = 1" + b"+1" * 100_000,
    "many signs": b"x = " + b"-" * 100_000 + b"1",
    "two megabytes": b"#" * 2_000_000,
    "a long number": b"x = " + b"9" * 10_000,
}
ENCODED = {
    "with a byte order mark": b"\xef\xbb\xbf" + WORKER.format("").encode(),
    "with Windows' line ends": WORKER.format("").replace("\n", "\r\n").encode(),
    "in Latin-1 that says so": b"# -*- coding: latin-1 -*-\n# \xe9\n" + WORKER.format("").encode(),
}


def read(folder: Path, text: str | bytes) -> script.Script:
    path = folder / "mine.py"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return script.read(path)


@pytest.mark.parametrize("annotation", TYPES)
def test_a_type_is_read_from_the_syntax_tree(tmp_path: Path, annotation: str) -> None:
    about = read(tmp_path, WORKER.format(f", *, x: {annotation} = None"))
    assert about.parameters["x"][0] == TYPES[annotation]


@pytest.mark.parametrize("what", EVALUATES)
def test_an_annotation_is_never_evaluated(tmp_path: Path, capsys, what: str) -> None:
    with pytest.raises(UsageError, match="plain type"):
        read(tmp_path, WORKER.format(f", *, x: {EVALUATES[what]} = 1"))
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("default", ["9**9**9", "'x' * 10**10", "-" * 2000 + "1", "open('/dev/zero').read()"])
def test_a_default_is_never_evaluated(tmp_path: Path, default: str) -> None:
    with pytest.raises(UsageError, match="plain default"):
        read(tmp_path, WORKER.format(f", *, x: int = {default}"))


@pytest.mark.parametrize("what", NO_PYTHON)
def test_a_file_that_is_no_python_gets_one_sentence(tmp_path: Path, what: str) -> None:
    with pytest.raises(UsageError, match=r"mine.py (is|has) .*: (correct|simplify|give)"):
        read(tmp_path, NO_PYTHON[what])


@pytest.mark.parametrize("what", ENCODED)
def test_a_file_may_be_encoded_as_python_allows(tmp_path: Path, what: str) -> None:
    assert read(tmp_path, ENCODED[what]).name == "mine"


@pytest.mark.parametrize(
    "call",
    [
        "from barrier_lab import main\nRANKS = 3\nmain(worker, world_size=RANKS, init=False)",
        "import barrier_lab\nRANKS: int = 3\nbarrier_lab.main(worker, world_size=RANKS, init=False)",
        "from barrier_lab import main as start\nstart(worker, world_size=3, init=False)",
    ],
)
def test_the_options_of_main_may_be_constants_of_the_file(tmp_path: Path, call: str) -> None:
    about = read(tmp_path, WORKER.format("") + call)
    assert (about.world_size, about.init) == (3, False)


@pytest.mark.parametrize("option", ["world_size=int(input())", "world_size=UNKNOWN", "**options"])
def test_options_of_main_that_only_a_run_could_tell_get_one_sentence(tmp_path: Path, option: str) -> None:
    with pytest.raises(UsageError, match=r"in main\(worker, …\) of mine.py cannot be read"):
        read(tmp_path, WORKER.format("") + f"main(worker, {option})")


def test_a_main_of_the_script_s_own_is_not_ours(tmp_path: Path) -> None:
    assert read(tmp_path, WORKER.format("") + "def main(size): pass\nmain(size=int(input()))").world_size == 2


@pytest.fixture
def threads_change_while_python_parses():
    """A switch of threads at each garbage collection, of which a long file makes many while it is parsed."""

    def switch(phase: str, info: dict) -> None:
        time.sleep(0.0001)

    before = gc.get_threshold()
    gc.callbacks.append(switch)
    gc.set_threshold(200)
    yield
    gc.set_threshold(*before)
    gc.callbacks.remove(switch)


def test_several_threads_may_read_scripts_at_once(tmp_path: Path, threads_change_while_python_parses) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(WORKER.format(", *, x: 'list[int]' = [1, 2]") + "y = [" + "f(a[0], (1, 2)), " * 500 + "]\n")
    with ThreadPoolExecutor(4) as pool:
        abouts = list(pool.map(script.read, [mine] * 8))
    assert {about.name for about in abouts} == {"mine"}
