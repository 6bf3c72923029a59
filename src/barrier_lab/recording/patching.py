"""Replace functions, and restore them."""

from collections.abc import Callable
from typing import Any

Attribute = tuple[Any, str]  # a class or a module, and the name of its attribute


def replace(functions: dict[Attribute, Callable]) -> Callable[[], None]:
    """Set each attribute to its function.  Returns a function that restores the originals."""
    plain = {(owner, name): vars(owner)[name] for owner, name in functions}  # getattr would lose how they bind
    for (owner, name), function in functions.items():
        setattr(owner, name, function)

    def undo() -> None:
        for (owner, name), attribute in plain.items():
            setattr(owner, name, attribute)

    return undo
