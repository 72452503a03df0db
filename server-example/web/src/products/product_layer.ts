import type L from "leaflet";

export function productLayer(_map: L.Map): void {}
