#!/usr/bin/env python3
"""How large model runs are: a table of what GRIB2 files take in a data folder.

    tests/scale/model_sizes.py mesonet-server gfs=FILE hrrr=FILE,FILE …

Each model's files are read into an empty folder. "Stored" is the bytes of the shards. It is compared with
the GRIB if all fields of the files were used.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path


def row(server, model, files):
    with tempfile.TemporaryDirectory() as folder:
        command = [server, "ingest", "--model", model, "--data", folder, "--json", *map(str, files)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        report = json.loads(done.stdout)
        run_folders = [path.parent for path in Path(folder).glob(f"models/{model}/*/zarr.json")]
        shards = [
            shard.stat().st_size
            for run in run_folders
            for product in run.iterdir()
            for shard in product.glob("c/**/*")
            if shard.is_file() and len(shard.relative_to(product).parts) > 2
        ]
        grid = json.loads((run_folders[0] / "zarr.json").read_text())
        grid = grid["attributes"]["mesonet"]["definition"]["grid"]
    return report, grid, sum(shards)


def main():
    server, *of_models = sys.argv[1:]
    print("| Model | Cells | Fields | GRIB | Stored | of the GRIB | Bits a value |")
    print("| --- | --- | --- | ---: | ---: | ---: | ---: |")
    for of_model in of_models:
        model, _, files = of_model.partition("=")
        files = [Path(file) for file in files.split(",")]
        report, grid, stored = row(server, model, files)
        models, cells = report["models"], grid["rows"] * grid["columns"]
        grib, used = sum(file.stat().st_size for file in files), models["used"]
        of_grib = f"{stored / grib:.2f}" if used == models["fields"] else ""
        fields = f"{used}" if used == models["fields"] else f"{used} of {models['fields']}"
        bits = stored * 8 / (used * cells)
        print(
            f"| `{model}` | {grid['rows']} × {grid['columns']} | {fields} | {grib:,} | {stored:,} |"
            f" {of_grib} | {bits:.1f} |"
        )


if __name__ == "__main__":
    main()
