// The colours of a field of a model, and what its lines and barbs stand for.
import { digits, shown, shownUnit } from "../domain/variables";
import { Fitted, Ramp, Signs, Under } from "../ui/legend_parts";
import { Trouble } from "../ui/states";
import { word } from "../ui/words";
import { locale, system } from "../view";
import { linedField, stepOf } from "./contours";
import { fieldName } from "./field_names";
import { field, paintOf, paintUnit } from "./fields";
import { hasWind, tileTrouble, underPointer } from "./model_layer";

export function FieldLegend() {
  const of = field.value;
  const paint = of && paintOf(of);
  const lined = linedField();
  return (
    <>
      {tileTrouble.value && <Trouble text={tileTrouble.value} />}
      {paint && <Ramp {...paint} />}
      {paint && <Under value={underPointer.value} unit={paint.unit} noEcho={of.no_echo} />}
      {paint && <Fitted />}
      {lined && (
        <p class="sign">
          <svg viewBox="0 0 26 14" aria-hidden="true">
            <path d="M1 10C8 2 15 14 25 5" />
          </svg>{" "}
          {word("lineEvery", fieldName(lined.name), stepText(lined))}
        </p>
      )}
      <Signs of={[hasWind.value && "barb", "faint", "name"]} />
    </>
  );
}

/** The step between two lines; a difference is not moved by the zero of a scale. */
function stepText(of: Parameters<typeof stepOf>[0]): string {
  const unit = paintUnit(of);
  const to = shownUnit(unit, system.value);
  return `${digits(shown(stepOf(of), unit, system.value) - shown(0, unit, system.value), to, locale.value, true)}\u202f${to}`;
}
