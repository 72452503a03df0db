"""How all recipes look, and where they write."""

import argparse
import os
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

INK, GRID, RED, BLUE, GREEN = "#22303c", "#d7dde3", "#c0392b", "#1f6fb2", "#2e8b57"
QUALITY = {
    "Suppressed": "#4d4d4d",
    "Missing": "#999999",
    "Error": "#b2182b",
    "Doubtful": "#ef8a62",
    "Inconsistent": "#fddbc7",
    "Instrumentation": "#af8dc3",
    "Good": "#7fbf7b",
    "Unknown": "#d9d9d9",
}
"""A colour for each base quality."""

plt.rcParams.update(
    {
        "figure.dpi": 100,
        "font.size": 9,
        "axes.edgecolor": GRID,
        "axes.labelcolor": INK,
        "axes.titlelocation": "left",
        "axes.titleweight": "bold",
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": GRID,
        "grid.linewidth": 0.6,
        "text.color": INK,
        "xtick.color": INK,
        "ytick.color": INK,
        "legend.frameon": False,
    }
)


def service():
    """The address of the service: ``--url``, else MESONET_URL, else a server on this machine."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", default=os.environ.get("MESONET_URL", "http://localhost:8080"))
    parser.add_argument("--out", type=Path, default=Path("."), help="folder of the image")
    return parser.parse_args()


def save(figure, out, name):
    """Writes the image and says where."""
    path = out / f"{name}.png"
    figure.savefig(path, bbox_inches="tight")
    plt.close(figure)
    print(path)
