"""Our recipes as texts: valid Python, and of the same dependencies as the Python package."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RECIPES = ROOT / "spack_repo/switchpoint/packages"


@pytest.mark.parametrize("recipe", ["switchpoint_kernels", "py_switchpoint"])
def test_a_recipe_is_python_with_the_class_that_spack_looks_for(recipe):
    tree = ast.parse((RECIPES / recipe / "package.py").read_text())
    classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    assert classes == [recipe.title().replace("_", "")]


def spack_range(requirement):
    """Spack's range for one of pip's: ``>=2.2,<4`` is ``2.2:3``, ``>=6,<7`` is ``6``."""
    first, past = re.fullmatch(r">=([\d.]+),<([\d.]+)", requirement).groups()
    *same, last = map(int, past.split("."))
    end = ".".join(map(str, [*same, last - 1]))
    return end if end == first else f"{first}:{end}"


def test_the_python_recipe_has_the_dependencies_of_pyproject():
    project = (ROOT / "pyproject.toml").read_text()
    listed = re.search(r"^dependencies = \[(.*?)^\]", project, re.MULTILINE | re.DOTALL)[1]
    wanted = {
        f"py-{name}": spack_range(versions)
        for name, versions in re.findall(r'"([\w-]+)(>=[\d.]+,<[\d.]+)"', listed)
    }
    wanted["py-hatchling"] = spack_range(re.search(r'"hatchling(>=.*?)"', project)[1])
    wanted["python"] = "3.10:3.13"
    assert 'requires-python = ">=3.10,<3.14"' in project

    recipe = (RECIPES / "py_switchpoint/package.py").read_text()
    given = dict(re.findall(r'depends_on\("((?:py-)?(?!reframe)[\w-]+)@([\d.:]+)"', recipe))

    assert given == wanted
