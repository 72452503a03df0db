// What the page loads when raster products are first shown.
export { loadFiles } from "./catalogue";
export { ProductControls } from "./product_controls";
export { ProductLegend } from "./product_legend";
export { productLayer as layerOf } from "./product_layer";
