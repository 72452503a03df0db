// The colours of a raster product.
import { Ramp, Signs, Under } from "../ui/legend_parts";
import { productPaint } from "./catalogue";
import { underPointer } from "./product_layer";

export function ProductLegend() {
  const paint = productPaint.value;
  return (
    paint && (
      <>
        <Ramp {...paint} />
        <Under value={underPointer.value} unit={paint.unit} noEcho={paint.noEcho} />
        <Signs of={["faint", "name"]} />
      </>
    )
  );
}
