"""Find an experiment's script and read its parameters without running it.

The file is parsed, not imported, and nothing in it is evaluated: a learner's file may loop, crash or do anything else
on import, and that must happen in a rank, under a deadline.
"""

import ast
import importlib.util
import inspect
import threading
from dataclasses import dataclass
from pathlib import Path

from barrier_lab.errors import UsageError
from barrier_lab.script.annotations import type_of

SCRIPTS = Path(__file__).resolve().parents[3] / "scripts"
LARGEST = 1_000_000  # bytes of a script; parsing more takes seconds and hundreds of megabytes
# CPython 3.11 may raise "SystemError: AST constructor recursion depth mismatch" if two threads parse concurrently.
_parsing = threading.Lock()
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)  # raised by ast for text that is not Python


@dataclass(frozen=True, slots=True)
class Script:
    """A parsed script."""

    path: Path
    name: str
    doc: str
    parameters: dict[str, tuple[object, object]]  # name -> (type, default)
    init: bool  # whether the process group is initialized for the worker
    world_size: object  # default number of ranks


def find(name_or_path: str | Path) -> Path:
    """Find a script, by the name of one of the book's experiments or by path.  Raises ``UsageError`` if not found."""
    text = str(name_or_path)
    named = SCRIPTS / f"{text}.py"
    if text.isidentifier() and named.is_file():
        return named
    path = Path(text).expanduser()
    if path.is_file() and path.suffix == ".py":
        return path.resolve()
    known = ", ".join(experiments())  # none where the package is installed without the book
    raise UsageError(f"There is no experiment {text!r}: give the path of a .py file{known and f', or one of {known}'}.")


def experiments() -> list[str]:
    """The names of the book's own experiments."""
    return sorted(p.stem for p in SCRIPTS.glob("*.py"))


def read(path: Path, reserved: set[str] = frozenset()) -> Script:
    """Parse a script.  Raises ``UsageError`` if it has no valid worker, or if a parameter has a reserved name."""
    tree = _tree(path)
    workers = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "worker"]
    if not workers:
        raise UsageError(f"{path.name} has no worker: define worker(rank, world_size) at its top level.")
    worker = workers[-1]
    if len(worker.args.posonlyargs + worker.args.args) != 2:
        raise UsageError(
            f"worker in {path.name} takes other arguments than (rank, world_size): "
            "put its own ones after a *, with defaults."
        )
    options = _main_options(tree, path)
    parameters = _parameters(worker, path)
    for name in sorted(reserved & parameters.keys()):
        raise UsageError(f"The parameter {name!r} of worker in {path.name} is a name that run uses: rename it.")
    return Script(
        path=path,
        name=path.stem,
        doc=inspect.cleandoc(ast.get_docstring(tree) or ""),
        parameters=parameters,
        init=bool(options.get("init", True)),
        world_size=options.get("world_size", 2),
    )


def _tree(path: Path) -> ast.Module:
    """Parse a file in any encoding.  Raises ``UsageError`` if that fails."""
    try:
        source = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}): make it readable, then run again.") from None
    if len(source) > LARGEST:
        raise UsageError(f"{path.name} has {len(source):,} bytes: give a script of at most {LARGEST:,}.")
    try:
        with _parsing:
            return ast.parse(importlib.util.decode_source(source), filename=str(path))
    except (RecursionError, MemoryError):
        raise UsageError(f"{path.name} is nested too deeply for Python: simplify it, then run again.") from None
    except (SyntaxError, ValueError) as error:
        where = f" in line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        what = error.msg if isinstance(error, SyntaxError) else str(error)
        raise UsageError(f"{path.name} is not valid Python{where} ({what}): correct it, then run again.") from None


def _main_options(tree: ast.Module, path: Path) -> dict[str, object]:
    """The keyword arguments of the script's ``main(worker, …)`` call: literals, or names of module constants."""
    constants = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    options = {}
    for keyword in _main_keywords(tree):
        value = keyword.value
        value = constants.get(value.id, value) if isinstance(value, ast.Name) else value
        try:
            if keyword.arg is None:
                raise ValueError("its names are not there to be read")
            options[keyword.arg] = ast.literal_eval(value)
        except (*_UNREADABLE, TypeError):
            raise UsageError(
                f"{keyword.arg or 'What follows **'} in main(worker, …) of {path.name} cannot be read without running "
                "the file: write a plain value, or the name of a constant at the top level of the file."
            ) from None
    return options


def _main_keywords(tree: ast.Module) -> list[ast.keyword]:
    """The keyword arguments of the first call of this package's ``main``."""
    names = {"main"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in ("barrier_lab", "barrier_lab.cli"):
            names |= {alias.asname or alias.name for alias in node.names if alias.name == "main"}
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name), args=[ast.Name(id="worker"), *_]) if name in names:
                return node.keywords
            case ast.Call(func=ast.Attribute(attr="main"), args=[ast.Name(id="worker"), *_]):
                return node.keywords
    return []


def _parameters(worker: ast.FunctionDef, path: Path) -> dict[str, tuple[object, object]]:
    found = {}
    for argument, default in zip(worker.args.kwonlyargs, worker.args.kw_defaults, strict=True):
        try:
            value = ast.literal_eval(default)
            if value is None and argument.annotation is None:
                raise ValueError("None tells no type")
            with _parsing:
                kind = type_of(argument.annotation) if argument.annotation else type(value)
        except (*_UNREADABLE, TypeError):
            raise UsageError(
                f"The parameter {argument.arg!r} of worker in {path.name} needs a plain type and a plain default, "
                f"such as {argument.arg}: float = 1.0."
            ) from None
        found[argument.arg] = (kind, value)
    return found


def checked(script: Script, given: dict[str, object]) -> dict[str, object]:
    """Merge the given values into the script's defaults, converted to the parameters' types.

    Strings from the shell and objects from Python are validated alike.  Raises ``UsageError`` for an unknown name or a
    value of the wrong type.
    """
    from pydantic import TypeAdapter, ValidationError

    values = {name: default for name, (_, default) in script.parameters.items()}
    for name, value in given.items():
        if name not in script.parameters:
            known = ", ".join(script.parameters) or "no parameters"
            raise UsageError(f"{script.name} has no parameter {name!r}: it takes {known}.")
        try:
            values[name] = _converted(TypeAdapter(script.parameters[name][0]), value)
        except ValidationError as error:
            wanted = error.errors()[0]["msg"]
            raise UsageError(
                f"The parameter {name!r} of {script.name} cannot be {value!r}: {wanted[0].lower()}{wanted[1:]}."
            ) from None
    return values


def _converted(adapter, value: object) -> object:
    """Convert ``value`` to the adapter's type.  A string that fails is tried as a literal: "None" or "[1, 2]"."""
    from pydantic import ValidationError

    try:
        return adapter.validate_python(value)
    except ValidationError:
        if not isinstance(value, str):
            raise
        try:
            with _parsing:
                spelled = ast.literal_eval(value)
        except (*_UNREADABLE, TypeError):
            spelled = value
        return adapter.validate_python(spelled)
