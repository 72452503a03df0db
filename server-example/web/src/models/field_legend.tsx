// The colours of a field of a model.
import { Ramp, Under } from "../ui/legend_parts";
import { Trouble } from "../ui/states";
import { field, paintOf } from "./fields";
import { tileTrouble, underPointer } from "./model_layer";

export function FieldLegend() {
  const of = field.value;
  const paint = of && paintOf(of);
  return (
    <>
      {tileTrouble.value && <Trouble text={tileTrouble.value} />}
      {paint && <Ramp {...paint} />}
      {paint && <Under value={underPointer.value} unit={paint.unit} noEcho={of.no_echo} />}
    </>
  );
}
