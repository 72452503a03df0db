// The outlines of alerts on the map.
import { effect, signal } from "@preact/signals";
import L from "leaflet";

import type { AlertFeature } from "../api/types";
import { short } from "../ui/clock";
import { word } from "../ui/words";
import { alert, alertsOver, layer, openAlert } from "../view";
import { eventOf, wanted, whereOf } from "./events";
import { active, alerts, colourOfAlert, end_ms, statusOf } from "./record";

const ORDER = ["Statement", "Advisory", "Watch", "Warning"];

/** A pattern of stripes in a colour, for what has ended. */
function hatch(colour: string): CanvasPattern | undefined {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 8;
  const context = tile.getContext("2d");
  if (!context) return undefined;
  context.strokeStyle = colour;
  context.lineWidth = 1.4;
  for (const from of [-4, 4]) {
    context.moveTo(from, 8);
    context.lineTo(from + 8, 0);
  }
  context.stroke();
  return context.createPattern(tile, "repeat") ?? undefined;
}

/** Keeps a layer on the map that shows what is to be seen of the alerts. */
export function alertsLayer(map: L.Map): void {
  const renderer = L.canvas({ padding: 0.3 });
  const group = L.layerGroup();
  /** The copies of the world that are seen: 0 is that of Greenwich, 1 the one to the east of it. */
  const worlds = signal<readonly [number, number]>([0, 0]);
  const look = () => {
    const bounds = map.getBounds();
    const world = (lon: number) => Math.floor((lon + 180) / 360);
    const [first, last] = [world(bounds.getWest()), world(bounds.getEast())];
    if (first !== worlds.value[0] || last !== worlds.value[1]) worlds.value = [first, last];
  };
  map.on("moveend", look);
  look();
  effect(() => {
    const isOn = layer.value === "alerts" || alertsOver.value;
    if (!isOn) {
      group.remove();
      return;
    }
    group.clearLayers();
    const chosen = alert.value;
    const isList = layer.value === "alerts";
    const seen = new Set(isList ? wanted.value : active.value);
    const shown = (alerts.value ?? []).filter((one) => one.id === chosen || seen.has(one));
    const rank = (one: AlertFeature) => ORDER.indexOf(one.properties.alertType) + (one.id === chosen ? 10 : 0);
    for (const one of [...shown].sort((a, b) => rank(a) - rank(b))) {
      if (!one.geometry) continue;
      for (let world = worlds.value[0]; world <= worlds.value[1]; world += 1) group.addLayer(outline(one, one.id === chosen, renderer, world));
    }
    group.addTo(map);
  });
}

function outline(one: AlertFeature, isChosen: boolean, renderer: L.Canvas, world: number): L.GeoJSON {
  const colour = colourOfAlert(one);
  const isActive = statusOf(one) === "Active";
  const pattern = isActive ? undefined : hatch(colour);
  const drawn = L.geoJSON(one.geometry ?? undefined, {
    coordsToLatLng: ([lon, lat]: [number, number]) => L.latLng(lat, lon + world * 360),
    style: {
      renderer,
      color: colour,
      weight: isChosen ? 3.5 : isActive ? 1.6 : 1,
      fillOpacity: isActive ? (isChosen ? 0.4 : 0.25) : 0.6,
      // A canvas takes a pattern where Leaflet's types have a colour.
      fillColor: (pattern ?? colour) as string,
      ...(isActive ? {} : { dashArray: "4 3" }),
    },
  } as L.GeoJSONOptions);
  drawn.bindTooltip(() => tipOf(one), { sticky: true, className: "tip" });
  drawn.on("mouseover", () => drawn.bringToFront());
  drawn.on("click", (event: L.LeafletMouseEvent) => {
    if (layer.value !== "alerts") return;
    L.DomEvent.stopPropagation(event);
    openAlert(one.id);
  });
  return drawn;
}

/** What, where, until when. */
function tipOf(one: AlertFeature): HTMLElement {
  const end = end_ms(one);
  const box = document.createElement("div");
  const what = document.createElement("strong");
  what.textContent = eventOf(one);
  const where = document.createElement("div");
  where.textContent = [whereOf(one), end !== undefined && word("until", short(end))].filter(Boolean).join(" · ");
  box.append(what, where);
  return box;
}
