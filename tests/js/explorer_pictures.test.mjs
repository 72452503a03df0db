// The command that takes pictures of every view, on one of them.
import assert from "node:assert/strict";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { run } from "./child.mjs";
import { LOOKS } from "./explorer_views.mjs";

const COMMAND = fileURLToPath(new URL("explorer_pictures.mjs", import.meta.url));
const take = (...args) => run(process.execPath, [COMMAND, ...args]);

test("a view is there as a picture, and on the sheet beside what was there before", async () => {
  const folder = await mkdtemp(join(tmpdir(), "pictures-"));
  const [before, after] = [join(folder, "before"), join(folder, "after")];
  try {
    assert.equal(take(before, "--only", "embed-dark"), "embed-dark\n");
    assert.equal(take(after, before, "--only", "embed-dark"), "embed-dark\n");
    assert.deepEqual((await readdir(after)).sort(), ["embed-dark.png", "index.html"]);
    const picture = await readFile(join(after, "embed-dark.png"));
    assert.equal(picture.toString("latin1", 1, 4), "PNG");
    assert.deepEqual({ width: picture.readUInt32BE(16), height: picture.readUInt32BE(20) }, LOOKS.dark.viewport);
    const links = [...(await readFile(join(after, "index.html"), "utf8")).matchAll(/<img src="([^"]+)"/g)].map(([, link]) => link);
    assert.deepEqual(links, ["../before/embed-dark.png", "embed-dark.png"]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("a name that no picture has is refused with those that there are", () => {
  assert.throws(() => take("nowhere", "--only", "glacier"), /no picture has "glacier" in its name: alerts-light, alerts-dark, /);
});
