"""Find an experiment's script and read, without running it, what it takes.

The file is parsed, not imported: a learner's file may loop or crash at import,
and that must happen in a rank, under a deadline.
"""

import ast
import inspect
import typing
from dataclasses import dataclass
from pathlib import Path

from barrier_lab.errors import UsageError

SCRIPTS = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Script:
    """What a script says of itself."""

    path: Path
    name: str
    doc: str
    parameters: dict[str, tuple[object, object]]  # name -> (type, default)
    init: bool  # the process group is made for it
    world_size: int  # how many ranks it starts with when nobody says


def find(name_or_path: str | Path) -> Path:
    """The file of an experiment given by name, or the reader's own file given by path."""
    text = str(name_or_path)
    named = SCRIPTS / f"{text}.py"
    if text.isidentifier() and named.is_file():
        return named
    path = Path(text).expanduser()
    if path.is_file() and path.suffix == ".py":
        return path.resolve()
    known = ", ".join(experiments())
    raise UsageError(f"There is no experiment {text!r}: give the path of a .py file, or one of {known}.")


def experiments() -> list[str]:
    """The names of the book's own experiments."""
    return sorted(p.stem for p in SCRIPTS.glob("*.py"))


def read(path: Path, reserved: set[str] = frozenset()) -> Script:
    """Parse a script.  ``UsageError`` if it is no experiment, or if its worker uses a reserved parameter name."""
    try:
        tree = ast.parse(path.read_text(), filename=str(path))
    except (SyntaxError, UnicodeDecodeError) as error:
        where = f" in line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        raise UsageError(
            f"{path.name} is not valid Python{where} ({error.args[0]}): correct it, then run again."
        ) from None
    worker = next((n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "worker"), None)
    if worker is None:
        raise UsageError(f"{path.name} has no worker: define worker(rank, world_size) at its top level.")
    if len(worker.args.posonlyargs + worker.args.args) != 2:
        raise UsageError(
            f"worker in {path.name} takes other arguments than (rank, world_size): "
            "put its own ones after a *, with defaults."
        )
    options = _main_options(tree)
    parameters = _parameters(worker, path)
    for name in sorted(reserved & parameters.keys()):
        raise UsageError(f"The parameter {name!r} of worker in {path.name} is a name that run uses: rename it.")
    return Script(
        path=path,
        name=path.stem,
        doc=inspect.cleandoc(ast.get_docstring(tree) or ""),
        parameters=parameters,
        init=options.get("init", True),
        world_size=options.get("world_size", 2),
    )


def _main_options(tree: ast.Module) -> dict[str, object]:
    """The keywords of the script's ``main(worker, …)`` call."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "main":
            return {k.arg: k.value.value for k in node.keywords if k.arg and isinstance(k.value, ast.Constant)}
    return {}


def _parameters(worker: ast.FunctionDef, path: Path) -> dict[str, tuple[object, object]]:
    found = {}
    for argument, default in zip(worker.args.kwonlyargs, worker.args.kw_defaults, strict=True):
        try:
            value = ast.literal_eval(default)
            if value is None and argument.annotation is None:
                raise ValueError("None tells no type")
            kind = _type(argument.annotation) if argument.annotation else type(value)
        except (ValueError, TypeError, NameError, SyntaxError):
            raise UsageError(
                f"The parameter {argument.arg!r} of worker in {path.name} needs a plain type and a plain default, "
                f"such as {argument.arg}: float = 1.0."
            ) from None
        found[argument.arg] = (kind, value)
    return found


def _type(annotation: ast.expr) -> object:
    """Evaluate an annotation made of plain types, ``Literal``, ``|`` and ``None``."""
    names = {t.__name__: t for t in (int, float, str, bool, list, tuple)} | {
        "Literal": typing.Literal,
        "Optional": typing.Optional,
    }
    code = compile(ast.Expression(annotation), "<annotation>", "eval")
    return eval(code, {"__builtins__": {}}, names)


def checked(script: Script, given: dict[str, object]) -> dict[str, object]:
    """The script's parameters with the given values converted to their types.

    Strings from the shell and objects from Python pass through the same check.  ``UsageError`` for an
    unknown name or a value of the wrong type.
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
    """``value`` in the adapter's type; a string that is none may spell one, as "None" or "[1, 2]" does in a shell."""
    from pydantic import ValidationError

    try:
        return adapter.validate_python(value)
    except ValidationError:
        if not isinstance(value, str):
            raise
        try:
            spelled = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            spelled = value
        return adapter.validate_python(spelled)
