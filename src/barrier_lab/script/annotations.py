"""Read a parameter's type from the syntax tree of its annotation, by table lookup: nothing is evaluated."""

import ast
import functools
import operator
import typing

_PLAIN = {kind.__name__: kind for kind in (int, float, str, bool, list, tuple)} | {"List": list, "Tuple": tuple}


def type_of(annotation: ast.expr) -> object:
    """The type an annotation names.  Raises ``ValueError``, ``TypeError`` or ``SyntaxError`` if it is not supported."""
    match annotation:
        case ast.Constant(value=None):
            return None
        case ast.Constant(value=str(text)):  # a quoted annotation, such as "int"
            return type_of(ast.parse(text, mode="eval").body)
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            return type_of(left) | type_of(right)
        case ast.Subscript(value=generic, slice=inner):
            return _subscripted(_name(generic), inner)
    kind = _PLAIN.get(_name(annotation))
    if kind is None:
        raise ValueError("no plain type")
    return kind


def _subscripted(name: str, inner: ast.expr) -> object:
    parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    if name == "Literal":
        return typing.Literal[tuple(ast.literal_eval(part) for part in parts)]
    if name == "Optional" and len(parts) == 1:
        return type_of(parts[0]) | None
    if name == "Union" and parts:
        return functools.reduce(operator.or_, map(type_of, parts))
    if _PLAIN.get(name) is list and len(parts) == 1:
        return list[type_of(parts[0])]
    if _PLAIN.get(name) is tuple:
        return tuple[tuple(... if _is_ellipsis(part) else type_of(part) for part in parts)]
    raise ValueError("no plain type")


def _is_ellipsis(part: ast.expr) -> bool:
    return isinstance(part, ast.Constant) and part.value is ...


def _name(node: ast.expr) -> str:
    """ "Literal" for ``Literal`` and ``typing.Literal``; empty for anything else."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id="typing" | "t"), attr=name):
            return name
    return ""
