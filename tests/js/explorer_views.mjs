// The views of the explorer, each with its address and what has to be there before it is looked at.
import { waitForStations } from "./explorer.mjs";

const DESKTOP = { viewport: { width: 1440, height: 900 } };
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };
/** How a view is looked at: options of a page. */
export const LOOKS = {
  light: { ...DESKTOP, colorScheme: "light" },
  dark: { ...DESKTOP, colorScheme: "dark" },
  phone: { ...PHONE, colorScheme: "light" },
  "phone-dark": { ...PHONE, colorScheme: "dark" },
};
/** The part of a sheet A4 within its margins, in pixels of CSS. */
export const PAPER = { width: 680, height: 960 };
export const TORONTO = "700f7e18-e84e-51b2-90bd-f054766d1ec5";
/** The newest report of the station in the sample. */
const REPORT =
  "CYYZ 032100Z 23008KT 210V280 15SM SCT040 BKN240 29/22 A2981 RMK SC3CS4 SLP092 DENSITY ALT 2500FT";

const stations = (page) => waitForStations(page, 1);
/** Asks why the temperature has its verdict, in either language. */
const askWhy = async (page) => {
  await page.getByRole("button", { name: /^(Why|Pourquoi)\? (Air temperature|Température de l’air)/ }).first().click();
  await page.locator(".around circle").first().waitFor();
};
const tiles = (page) => page.waitForFunction(() => document.querySelectorAll(".field .leaflet-tile-loaded").length >= 2);

export const VIEWS = {
  // The alerts come first: the clock goes on, and after eleven minutes the first of them has ended.
  alerts: ["#layer=alerts", (page) => page.locator(".list h2 span").waitFor()],
  alert: [
    "#layer=alerts",
    async (page) => {
      const list = page.locator(".list .toggle:visible");
      const warning = page.locator(".list button", { hasText: /red warning - tornado|alerte rouge - tornade|avertissement rouge - tornade/ }).first();
      // On a phone the list is opened, once the alerts have come.
      await list.or(warning).first().waitFor();
      if (await list.isVisible()) await list.click();
      await warning.click();
      await page.locator(".messages li").first().waitFor();
    },
  ],
  area: [
    "#layer=alerts&area=TXC463&map=29.4,-99,7",
    async (page) => {
      await page.locator(".messages li").first().waitFor();
    },
  ],
  over: ["#layer=stations&map=29.4,-99,6&alerts=over", stations],
  map: ["#layer=stations", stations],
  wind: ["#layer=stations&variable=windSpeed10m&map=43.5,-79.5,6", stations],
  close: ["#layer=stations&map=43.7,-79.6,8", stations],
  station: [
    `#layer=stations&map=43.7,-79.6,7&station=${TORONTO}`,
    async (page) => {
      await page.locator(".plot canvas").first().waitFor();
      await askWhy(page);
    },
  ],
  plots: [
    `#layer=stations&map=43.7,-79.6,7&station=${TORONTO}`,
    async (page) => {
      await page.locator(".plot canvas").nth(3).waitFor();
      await page.locator(".plot").nth(1).scrollIntoViewIfNeeded();
      await page.locator(".plot").first().evaluate((plot) => plot.scrollIntoView({ block: "start" }));
    },
  ],
  report: [
    `#layer=stations&map=43.7,-79.6,7&station=${TORONTO}`,
    async (page) => {
      await page.locator(".report summary").click();
      await page.locator("#report").fill(REPORT);
      await page.locator("#report").press("Enter");
      await page.locator(".groups").evaluate((table) => table.scrollIntoView({ block: "center" }));
    },
  ],
  models: ["#layer=models&model=nam211&product=temperature_2m&map=42,-97,4", tiles],
  sounding: [
    "#layer=models&model=nam211&product=temperature_2m&map=42,-97,4&place=42,-97",
    async (page) => {
      await tiles(page);
      await page.locator(".hodograph .part").first().waitFor();
    },
  ],
  isobars: ["#layer=models&model=nam211&product=temperature_2m&map=42,-97,4&lines=pressure", tiles],
  fitted: [
    "#layer=stations&map=43.7,-79.6,6&scale=fitted",
    async (page) => {
      await waitForStations(page, 2_000);
      await page.locator("#signs summary").click();
    },
  ],
  coast: ["#layer=stations&map=49,-123.5,8", stations],
  embed: ["#layer=stations&map=45,-75,6&embed", stations],
  radar: ["#layer=products", tiles],
  extremes: [
    `#layer=stations&map=43.7,-79.6,7&station=${TORONTO}`,
    async (page) => {
      await page.locator(".plot canvas").nth(2).waitFor();
      await page.locator(".extremes").evaluate((part) => part.scrollIntoView({ block: "start" }));
    },
  ],
  feeds: ["#layer=quality&feeds=open", (page) => page.getByRole("rowheader", { name: "METAR" }).waitFor()],
  quality: ["#layer=quality", (page) => page.locator(".worst li").first().waitFor()],
  checks: [
    "#layer=quality",
    async (page) => {
      await page.locator(".panel section button", { hasText: /why|pourquoi/ }).click();
      await page.locator(".checks tr").first().waitFor();
      await page.locator(".checks").evaluate((table) => table.scrollIntoView({ block: "center" }));
    },
  ],
  table: ["#layer=stations&map=43.7,-79.6,8&table=open", (page) => page.locator(".panel tbody tr").nth(10).waitFor({ state: "attached" })],
  help: [
    "#layer=stations",
    async (page) => {
      await stations(page);
      await page.locator("#help").click();
      await page.locator("dialog.help").waitFor();
    },
  ],
  search: [
    "#layer=stations",
    async (page) => {
      await stations(page);
      await page.locator("#search").fill("quebec");
      await page.getByRole("option", { name: /^Québec, QC/ }).waitFor();
    },
  ],
  empty: ["#layer=stations&map=60,-40,6", (page) => page.locator(".hint-line").waitFor()],
};

const SMALL = { viewport: { width: 1280, height: 800 } };
const DOUBTFUL = "184e5e8a-0a72-5fba-b84b-989836e5bd68";

/** The pictures of the README: how each is looked at, its address, and what is done first. */
export const README = {
  "explorer-station": [
    { ...SMALL, colorScheme: "light" },
    `#layer=stations&map=45.5,-78.3,8&time=2024-08-03T21:00Z&station=${DOUBTFUL}`,
    async (page) => {
      await askWhy(page);
      await page.locator(".explain").evaluate((part) => part.scrollIntoView());
    },
  ],
  "explorer-alert": [{ ...SMALL, colorScheme: "light" }, ...VIEWS.alert],
  "explorer-sounding": [
    { ...SMALL, colorScheme: "dark" },
    "#layer=models&model=nam211&product=temperature&level=850&map=42,-97,4&place=40,-98",
    VIEWS.sounding[1],
  ],
};
