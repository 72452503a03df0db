// What the page loads when a station or the table is first opened.
export { NamedStation, StationPanel } from "./station_panel";
export { TablePanel } from "./table_panel";
