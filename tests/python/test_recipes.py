"""Each recipe of the docs runs on the sample and draws something."""

import subprocess
import sys
from pathlib import Path

import pytest
from matplotlib import image

RECIPES = Path(__file__).parents[2] / "docs" / "recipes"
NAMES = sorted(path.stem for path in RECIPES.glob("*.py") if path.stem != "style")


def test_every_recipe_is_shown_with_its_image():
    text = (RECIPES / "index.md").read_text(encoding="utf-8")
    for name in NAMES:
        assert f"({name}.py)" in text and f"(images/{name}.png)" in text
        assert (RECIPES / "images" / f"{name}.png").exists()
    assert len(NAMES) == 7


@pytest.mark.parametrize("name", NAMES)
def test_a_recipe_runs_without_a_warning(server, tmp_path, name):
    command = [sys.executable, "-W", "error", RECIPES / f"{name}.py"]
    done = subprocess.run(
        [*command, "--url", server.origin, "--out", tmp_path],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, "")
    drawn = image.imread(tmp_path / f"{name}.png")
    # Not a blank page: the share of pixels that are not white.
    assert 0.02 < (drawn[..., :3].min(-1) < 0.95).mean() < 0.9
