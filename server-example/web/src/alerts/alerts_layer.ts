// The outlines of alerts on the map.
import { effect } from "@preact/signals";
import L from "leaflet";

import type { AlertFeature } from "../api/types";
import { alert, alertsOver, area, layer, station } from "../view";
import { alerts, colourOfAlert, onlyActive, statusOf } from "./record";

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
  effect(() => {
    const isOn = layer.value === "alerts" || alertsOver.value;
    if (!isOn) {
      group.remove();
      return;
    }
    group.clearLayers();
    const chosen = alert.value;
    const shown = (alerts.value ?? []).filter(
      (one) => one.id === chosen || statusOf(one) === "Active" || (!onlyActive.value && layer.value === "alerts"),
    );
    const rank = (one: AlertFeature) => ORDER.indexOf(one.properties.alertType) + (one.id === chosen ? 10 : 0);
    for (const one of [...shown].sort((a, b) => rank(a) - rank(b))) {
      if (one.geometry) group.addLayer(outline(one, one.id === chosen, renderer));
    }
    group.addTo(map);
  });
}

function outline(one: AlertFeature, isChosen: boolean, renderer: L.Canvas): L.GeoJSON {
  const colour = colourOfAlert(one);
  const isActive = statusOf(one) === "Active";
  const pattern = isActive ? undefined : hatch(colour);
  const drawn = L.geoJSON(one.geometry ?? undefined, {
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
  drawn.bindTooltip(() => one.properties.alertHeadline, { sticky: true, className: "tip" });
  drawn.on("mouseover", () => drawn.bringToFront());
  drawn.on("click", (event: L.LeafletMouseEvent) => {
    if (layer.value !== "alerts") return;
    L.DomEvent.stopPropagation(event);
    station.value = area.value = undefined;
    alert.value = one.id;
  });
  return drawn;
}
