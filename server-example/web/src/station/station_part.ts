// What the page loads when a station or the table is first opened.
import "uplot/dist/uPlot.min.css";

export { NamedStation, StationPanel } from "./station_panel";
export { TablePanel } from "./table_panel";
