// What the page loads when models are first shown.
export { FieldLegend } from "./field_legend";
export { loadModels, loadProducts } from "./fields";
export { ModelControls } from "./model_controls";
export { modelLayer as layerOf } from "./model_layer";
export { PlacePanel } from "./place_panel";
