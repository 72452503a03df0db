// What the page loads when the quality of the network is first shown.
export { FeedsPanel } from "./feeds_panel";
export { QualityPanel } from "./quality_panel";
