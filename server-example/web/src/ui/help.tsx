import { useEffect, useRef } from "preact/hooks";

import { isHelpOpen } from "../keys";
import { has, word } from "./words";

const KEYS: readonly [string, string][] = [
  ["/", "keySearch"],
  ["← →", "keyTime"],
  ["␣", "keyPlay"],
  ["1 – 5", "keyLayers"],
  ["keyEnter", "keyOpen"],
  ["keyEsc", "keyClose"],
];

export function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="help" aria-label={word("help")} onClose={() => (isHelpOpen.value = false)}>
      <h2>{word("keys")}</h2>
      <dl>
        {KEYS.map(([key, about]) => (
          <>
            <dt>
              <kbd>{has(key) ? word(key) : key}</kbd>
            </dt>
            <dd>{word(about)}</dd>
          </>
        ))}
      </dl>
      <p>
        <a href="swagger">OpenAPI</a> · Natural Earth · GeoNames (CC BY 4.0) · Leaflet · uPlot
      </p>
      <form method="dialog">
        <button type="submit">{word("close")}</button>
      </form>
    </dialog>
  );
}
