// Takes a picture of every view of the explorer, light, dark and on a phone, to be looked at:
// `node tests/js/explorer_pictures.mjs FOLDER [part of a name] [origin]`. Without an origin, such as that of `npm run dev`, a
// server of the workspace is started on its sample.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import { browse, openView } from "./explorer.mjs";
import { LOOKS, VIEWS } from "./explorer_views.mjs";
import { startServer } from "./server.mjs";

const [folder, only = "", origin] = process.argv.slice(2);
if (!folder) throw new Error("usage: node tests/js/explorer_pictures.mjs FOLDER [part of a name] [origin]");
await mkdir(folder, { recursive: true });
const server = origin ? { origin, stop: () => undefined } : await startServer("--assume-plan", "commercial");
const browser = await browse();
try {
  for (const [name, [address, isReady]] of Object.entries(VIEWS)) {
    for (const [look, options] of Object.entries(LOOKS)) {
      const picture = `${name}-${look}`;
      if (!picture.includes(only)) continue;
      const { page, problems } = await openView(browser, server.origin, address, options);
      await isReady(page);
      await page.waitForTimeout(1_200);
      await page.screenshot({ path: join(folder, `${picture}.png`) });
      console.log(picture, ...problems);
      await page.close();
    }
  }
} finally {
  await browser.close();
  await server.stop();
}
