// Takes a picture of every view of the explorer, light, dark and on a phone, to be looked at:
// `node tests/js/explorer_pictures.mjs FOLDER [part of a name] [origin]`. Without an origin, such as that of `npm run dev`, a
// server of the workspace is started on its sample. `node tests/js/explorer_pictures.mjs docs/images README` makes those of the README.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import { browse, openView } from "./explorer.mjs";
import { LOOKS, README, VIEWS } from "./explorer_views.mjs";
import { startServer } from "./server.mjs";

/** Tiles are painted and plots drawn after they have come. */
const SETTLING_MS = 1_200;

const [folder, only = "", origin] = process.argv.slice(2);
if (!folder) throw new Error("usage: node tests/js/explorer_pictures.mjs FOLDER [part of a name] [origin]");
const looks = Object.entries(VIEWS).flatMap(([name, view]) => Object.entries(LOOKS).map(([look, options]) => [`${name}-${look}`, [options, ...view]]));
const all = only === "README" ? Object.entries(README) : looks.filter(([picture]) => picture.includes(only));
await mkdir(folder, { recursive: true });
const server = origin ? { origin, stop: () => undefined } : await startServer("--assume-plan", "commercial");
const browser = await browse();
try {
  for (const [picture, [options, address, isReady]] of all) {
    const { page, problems } = await openView(browser, server.origin, address, options);
    await isReady(page);
    await page.waitForLoadState("networkidle");
    await page.waitForTimeout(SETTLING_MS);
    await page.screenshot({ path: join(folder, `${picture}.png`) });
    console.log(picture, ...problems);
    await page.close();
  }
} finally {
  await browser.close();
  await server.stop();
}
