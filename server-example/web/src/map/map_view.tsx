// The map with its layers, and what a click on it means.
import { effect } from "@preact/signals";
import L from "leaflet";
import { useEffect, useRef } from "preact/hooks";

import { details } from "../station/network";
import { nearLon, wrapLon } from "../domain/mercator";
import { QUALITIES } from "../domain/quality";
import { OLD_S, span } from "../domain/time";
import { withUnit } from "../domain/variables";
import { word } from "../ui/words";
import { camera, isPanelOpen, layer, locale, place, station, system } from "../view";
import { addBasemap } from "./basemap";
import type { Overlay } from "./overlay";
import { stationAt, stationsLayer, valueOf } from "./stations_layer";

/** What tests and the benchmark look at. */
export interface Probe {
  map: L.Map;
  stations: Overlay;
}
declare global {
  interface Window {
    explorer?: Probe;
  }
}

/** The width of a sheet of paper between its margins. */
const PAPER_PX = 680;

let shown: L.Map | undefined;
let tell: (map: L.Map) => void;
/** The map, for layers that come later. */
export const theMap = new Promise<L.Map>((resolve) => (tell = resolve));

/** Moves the map to a place. */
export function goTo(lat: number, lon: number, zoom = 8): void {
  shown?.setView([lat, nearLon(lon, shown.getCenter().lng)], Math.max(shown.getZoom(), zoom), { animate: false });
}

/** Whether a place is in the part of the map that is seen. */
export const isInView = (lat: number, lon: number): boolean => shown?.getBounds().contains([lat, nearLon(lon, shown.getCenter().lng)]) ?? true;

export function MapView() {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => (element.current ? start(element.current) : undefined), []);
  useEffect(() => {
    element.current?.setAttribute("aria-label", word("map"));
  });
  return <div id="map" ref={element} role="application" tabIndex={0} />;
}

function start(element: HTMLElement): () => void {
  const { lat, lon, zoom } = camera.peek();
  const map = L.map(element, {
    center: [lat, lon],
    zoom,
    minZoom: 2,
    maxZoom: 11,
    zoomControl: false,
    attributionControl: false,
    preferCanvas: true,
    // Round the world and on: nothing ends at 180°.
    maxBounds: [[-85, -36_000], [85, 36_000]],
    wheelPxPerZoomLevel: 90,
    zoomAnimation: !matchMedia("(prefers-reduced-motion: reduce)").matches,
  });
  shown = map;
  L.control.scale({ position: "bottomright", maxWidth: 110 }).addTo(map);
  L.control.zoom({ position: "topright" }).addTo(map);
  map.createPane("lines");
  addBasemap(map);
  const stations = stationsLayer(map).addTo(map);
  window.explorer = { map, stations };
  listen(map, element);
  tell(map);
  const watcher = new ResizeObserver(() => {
    map.invalidateSize({ animate: false });
    // Paper has another width: the picture is made smaller there, not cut.
    element.style.setProperty("--width", `${element.clientWidth}px`);
    element.style.setProperty("--height", `${element.clientHeight}px`);
    element.style.setProperty("--on-paper", String(Math.min(PAPER_PX / Math.max(element.clientWidth, 1), 1)));
  });
  watcher.observe(element);
  return () => {
    watcher.disconnect();
    map.remove();
  };
}

function listen(map: L.Map, element: HTMLElement): void {
  const tip = L.tooltip({ className: "tip", direction: "top", offset: [0, -8], opacity: 1 });
  const isPicking = () => layer.value === "stations" || layer.value === "quality";
  map.on("moveend", () => {
    const { lat, lng } = map.getCenter();
    camera.value = { lat, lon: wrapLon(lng), zoom: map.getZoom() };
  });
  // An address that was edited or gone back to.
  effect(() => {
    const { lat, lon, zoom } = camera.value;
    const now = map.getCenter();
    const near = nearLon(lon, now.lng);
    if (Math.abs(now.lat - lat) + Math.abs(now.lng - near) > 0.01 || map.getZoom() !== zoom)
      map.setView([lat, near], zoom, { animate: false });
  });
  map.on("mousemove", ({ containerPoint, latlng }: L.LeafletMouseEvent) => {
    const id = isPicking() ? stationAt(map, containerPoint) : undefined;
    element.classList.toggle("on-station", id !== undefined || layer.value === "models");
    if (!id) {
      tip.remove();
      return;
    }
    tip.setLatLng(latlng).setContent(tipOf(id)).addTo(map);
  });
  map.on("click", ({ containerPoint, latlng }: L.LeafletMouseEvent) => {
    if (layer.value === "models") {
      station.value = undefined;
      place.value = { lat: latlng.lat, lon: wrapLon(latlng.lng) };
      return;
    }
    const id = isPicking() ? stationAt(map, containerPoint) : undefined;
    if (id) station.value = id;
    tip.remove();
  });
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.target !== element) return;
    const size = map.getSize();
    if (layer.value === "models") {
      const { lat, lng } = map.getCenter();
      place.value = { lat, lon: wrapLon(lng) };
    } else if (isPicking()) {
      const id = stationAt(map, { x: size.x / 2, y: size.y / 2 }, Infinity);
      if (id) station.value = id;
    }
  });
  effect(() => {
    void isPanelOpen.value;
    requestAnimationFrame(() => map.invalidateSize({ animate: false }));
  });
}

function tipOf(id: string): HTMLElement {
  const box = document.createElement("div");
  const name = document.createElement("strong");
  name.textContent = details.value.get(id)?.name ?? "…";
  box.append(name);
  const of = valueOf(id);
  if (of) {
    const line = document.createElement("div");
    const old = of.age_s > OLD_S ? ` · ${span(of.age_s, locale.value)}` : "";
    line.textContent = `${withUnit(of.value, of.unit, system.value, locale.value)} · ${word(QUALITIES[of.quality]!)}${old}`;
    box.append(line);
  }
  return box;
}
