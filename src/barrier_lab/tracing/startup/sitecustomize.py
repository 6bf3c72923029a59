"""Run by Python at startup if this folder is first on PYTHONPATH.

Waits for the import of ``torch.distributed`` and imports nothing from torch itself.  Python imports only one module of
this name, so the ``sitecustomize`` that this file shadows is run as well.
"""

import importlib.machinery
import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.dirname(os.path.dirname(HERE))
WATCHED = "torch.distributed"


class _Finder:
    """Meta path finder that calls ``_record`` once ``torch.distributed`` has been loaded."""

    def find_spec(self, name, path=None, target=None):
        if name != WATCHED:
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def exec_module(module):
                load(module)
                _record(module)

            spec.loader.exec_module = exec_module
        return spec


def _record(module) -> None:
    """Load the package and start watching.  Errors must not break the program."""
    try:
        if "barrier_lab" not in sys.modules:
            spec = importlib.util.spec_from_file_location(
                "barrier_lab", os.path.join(PACKAGE, "__init__.py"), submodule_search_locations=[PACKAGE]
            )
            package = importlib.util.module_from_spec(spec)
            sys.modules["barrier_lab"] = package
            spec.loader.exec_module(package)
        from barrier_lab.tracing import rank

        rank.watch(module)
    except Exception as error:
        sys.stderr.write(f"barrier_lab: this process is not recorded: {type(error).__name__}: {error}\n")


def _run_hidden() -> None:
    elsewhere = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", elsewhere)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


if os.environ.get("BARRIER_LAB_TRACE"):
    sys.meta_path.insert(0, _Finder())
_run_hidden()
