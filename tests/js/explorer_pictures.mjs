// Takes a picture of every view of the explorer in every look (light, dark, French, phone, on paper), to be looked at:
// `node tests/js/explorer_pictures.mjs FOLDER [BEFORE]` writes them into a folder, with an index.html that has them on one
// sheet, each beside that of the same name in the folder BEFORE. The server is that of MESONET_SERVER_BIN, else the debug build,
// on its sample. What an older one has no view of is said, and counts as no fault.
//   --only TEXT     the pictures with this part in their names, such as `station-dark`
//   --origin URL    of a server that runs, such as that of `npm run dev`
//   --readme        those of the README instead: --readme docs/images
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";

import { browse, openView } from "./explorer.mjs";
import { LOOKS, PAPER, README, VIEWS } from "./explorer_views.mjs";
import { startServer } from "./server.mjs";

/** Tiles are painted and plots drawn after they have come. */
const SETTLING_MS = 1_200;
/** What has not come by then is not there. */
const PATIENCE_MS = 20_000;
/** So many pages are open at once: most of the time each waits. */
const AT_ONCE = 3;

const options = { only: { type: "string", default: "" }, origin: { type: "string" }, readme: { type: "boolean", default: false } };
const { positionals, values } = parseArgs({ allowPositionals: true, options });
const [folder, before] = positionals;
if (!folder || positionals.length > 2) throw new Error("usage: node explorer_pictures.mjs FOLDER [BEFORE] [--only TEXT] [--origin URL] [--readme]");

const looks = { ...LOOKS, french: { ...LOOKS.light, locale: "fr-CA" }, print: LOOKS.light };
const everyLook = Object.entries(VIEWS).flatMap(([name, view]) => Object.entries(looks).map(([look, page]) => [`${name}-${look}`, [page, ...view]]));
const all = (values.readme ? Object.entries(README) : everyLook).filter(([picture]) => picture.includes(values.only));
if (all.length === 0) throw new Error(`no picture has "${values.only}" in its name: ${everyLook.map(([picture]) => picture).join(", ")}`);

await mkdir(folder, { recursive: true });
const server = values.origin ? { origin: values.origin, stop: () => undefined } : await startServer("--assume-plan", "commercial");
const browser = await browse();
const lacking = new Map();
try {
  const waiting = [...all];
  const takeSome = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await take(...next);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, takeSome));
} finally {
  await browser.close();
  await server.stop();
}
if (!values.readme) await writeFile(join(folder, "index.html"), await sheet());
if (lacking.size === all.length) throw new Error("the server has none of these views");

/** Takes one picture, or notes that there is none. */
async function take(picture, [look, address, isReady]) {
  const { page, problems } = await openView(browser, server.origin, address, look);
  try {
    page.setDefaultTimeout(PATIENCE_MS);
    await isReady(page);
    await page.waitForLoadState("networkidle");
    const fullPage = picture.endsWith("-print");
    if (fullPage) {
      await page.emulateMedia({ media: "print" });
      await page.setViewportSize(PAPER);
    }
    await page.waitForTimeout(SETTLING_MS);
    await page.screenshot({ path: join(folder, `${picture}.png`), fullPage });
    console.log(picture, ...problems);
  } catch (error) {
    lacking.set(picture, error.message.split("\n")[0]);
    console.log(`${picture}: this server has no such view (${lacking.get(picture)})`, ...problems);
  } finally {
    await page.context().close();
  }
}

/** All pictures on one page, a row for each view or, beside those from before, for each picture. */
async function sheet() {
  const earlier = before ? new Set(await readdir(before)) : new Set();
  const linkTo = (where, file) => encodeURI(join(relative(resolve(folder), resolve(where)), file));
  const figure = (file, isThere, where, title) =>
    `<figure><figcaption>${title}</figcaption>${isThere ? `<a href="${linkTo(where, file)}"><img src="${linkTo(where, file)}" alt="${title}" loading="lazy"></a>` : "<p>none</p>"}</figure>`;
  const figures = ([picture]) => {
    const now = figure(`${picture}.png`, !lacking.has(picture), folder, picture);
    return before ? figure(`${picture}.png`, earlier.has(`${picture}.png`), before, `${picture}, before`) + now : now;
  };
  // Beside those from before, each picture is a row of its own, else each view.
  const rowOf = (picture) => (before ? picture : picture.slice(0, picture.indexOf("-")));
  const rows = [...new Set(all.map(([picture]) => rowOf(picture)))].map((row) => `<section>${all.filter(([picture]) => rowOf(picture) === row).map(figures).join("\n")}</section>`);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Every view of the explorer</title>
<style>
  body { font: 14px system-ui, sans-serif; margin: 16px; }
  section { display: flex; gap: 12px; align-items: start; border-top: 1px solid #ccc; padding: 12px 0; overflow-x: auto; }
  figure { margin: 0; }
  img { height: ${before ? 560 : 320}px; border: 1px solid #ccc; }
</style>
<h1>Every view of the explorer</h1>
${rows.join("\n")}
</html>
`;
}
