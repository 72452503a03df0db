// What the page loads when alerts are first shown.
export { AlertList } from "./alert_list";
export { AlertPanel } from "./alert_panel";
export { AlertsLegend } from "./alerts_legend";
export { alertsLayer as layerOf } from "./alerts_layer";
export { AreaPanel } from "./area_panel";
export { loadAlerts } from "./record";
