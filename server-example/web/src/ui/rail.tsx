import { alertsOver, layer, LAYERS, type Layer } from "../view";
import { word } from "./words";

const SIGNS: Readonly<Record<Layer, string>> = {
  stations: "M12 21s-6-5.6-6-11a6 6 0 1 1 12 0c0 5.400-6 11-6 11zm0-8.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5z",
  quality: "M4 13l5 5L20 6",
  alerts: "M12 4l9 16H3zM12 10v5M12 17.500v.5",
  models: "M3 17c4-8 7 2 10-5s5-6 8-6M3 21c4-8 7 2 10-5s5-6 8-6",
  products: "M12 12m-9 0a9 9 0 1 0 18 0a9 9 0 1 0-18 0M12 12m-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0M12 12l6-6",
};

/** The layers, one of which is shown, and the alerts that may lie over any other. */
export function Rail() {
  return (
    <nav class="rail" aria-label={word("layers")}>
      {LAYERS.map((one, at) => (
        <button
          key={one}
          type="button"
          data-layer={one}
          aria-current={layer.value === one ? "page" : undefined}
          title={`${word(one)} (${at + 1})`}
          onClick={() => (layer.value = one)}
        >
          <svg viewBox="0 0 24 24" aria-hidden="true">
            <path d={SIGNS[one]} />
          </svg>
          <span>{word(one)}</span>
        </button>
      ))}
      <button
        type="button"
        class="over"
        aria-pressed={alertsOver.value}
        title={word("alertsOver")}
        disabled={layer.value === "alerts"}
        onClick={() => (alertsOver.value = !alertsOver.value)}
      >
        <svg viewBox="0 0 24 24" aria-hidden="true">
          <path d={SIGNS.alerts} />
        </svg>
        <span>{word("alertsToo")}</span>
      </button>
    </nav>
  );
}
