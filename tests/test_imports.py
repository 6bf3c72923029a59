"""The library is built in layers: each folder imports only from those before it, and nothing imports in a circle."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "barrier_lab"
LAYERS = (
    # What everybody uses
    "errors", "english", "frames", "run_directory", "temporary_folder",
    # What is given
    "script", "planning",
    # The reading side
    "trace", "diagnose", "timeline", "display", "result",
    # The writing side
    "recording", "rank", "runner", "tracing",
    # What people call
    "api", "exercises", "claims", "new_lesson", "cli", "__main__",
)  # fmt: skip
READING = ("trace", "diagnose", "timeline", "display", "result")
WRITING = ("recording", "rank", "runner", "tracing")
ALONE = ("rank/guard.py", "tracing/startup/sitecustomize.py")  # programs that Python runs by their path


def modules() -> dict[str, Path]:
    """All modules of the package by their name without the package's."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(path: Path) -> set[str]:
    """The modules that a file imports, at its top or in a function; those of the package without its name."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name.removeprefix("barrier_lab.") for name in found}


def imported(name: str) -> set[str]:
    """The modules of the package that one of them imports."""
    known = modules()
    found = imports(known[name])
    found |= {each.rpartition(".")[0] for each in found - known.keys()}
    return (found & known.keys()) - {"", name}


def room(name: str) -> str:
    """The folder, or the file beside the folders."""
    return name.partition(".")[0]


MODULES = [name for name, path in modules().items() if name and str(path.relative_to(PACKAGE)) not in ALONE]


def test_every_folder_has_its_layer():
    assert {room(name) for name in MODULES} <= set(LAYERS)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_imports_only_from_layers_below(name):
    above = [other for other in imported(name) if LAYERS.index(room(other)) > LAYERS.index(room(name))]
    assert above == []


def test_no_modules_import_each_other_in_a_circle():
    try:
        TopologicalSorter({name: imported(name) for name in MODULES}).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(error.args[1]))


@pytest.mark.parametrize("name", [name for name in MODULES if room(name) in READING])
def test_reading_needs_neither_torch_nor_the_writing_side(name):
    found = imports(modules()[name])
    assert not [other for other in found if other.partition(".")[0] in ("torch", *WRITING)]
