// The colours of the types of alerts.
import { Signs } from "../ui/legend_parts";
import { word } from "../ui/words";
import { alerts, colourOfAlert, onlyActive } from "./record";

export function AlertsLegend() {
  const kinds = ["Warning", "Watch", "Advisory", "Statement"];
  const example = (kind: string) => (alerts.value ?? []).find(({ properties }) => properties.alertType === kind);
  return (
    <>
      <ul class="keys">
        {kinds.map((kind) => {
          const one = example(kind);
          return (
            <li key={kind}>
              <svg class="mark" viewBox="0 0 16 16" aria-hidden="true">
                <rect x={2} y={3} width={12} height={10} fill={one ? colourOfAlert(one) : "#7a7f87"} fill-opacity={0.3} stroke={one ? colourOfAlert(one) : "#7a7f87"} stroke-width={2} />
              </svg>{" "}
              {word(kind)}
            </li>
          );
        })}
      </ul>
      <Signs of={[!onlyActive.value && "ended", "faint", "name"]} />
    </>
  );
}
