import { AlertPanel } from "../alerts/alert_panel";
import { AlertList } from "../alerts/alert_list";
import { isHelpOpen } from "../keys";
import { MapView } from "../map/map_view";
import { ModelControls } from "../models/model_controls";
import { PlacePanel } from "../models/place_panel";
import { ProductControls } from "../products/product_controls";
import { QualityPanel } from "../quality/quality_panel";
import { StationPanel } from "../station/station_panel";
import { alert, closePanel, isPanelOpen, layer, place, station } from "../view";
import { Banner } from "./banner";
import { Header } from "./header";
import { Help } from "./help";
import { Legend } from "./legend";
import { Rail } from "./rail";
import { Progress } from "./states";
import { TimeBar } from "./time_bar";
import { word } from "./words";

export function App() {
  return (
    <div class="page" data-panel={isPanelOpen.value ? "open" : "closed"} data-layer={layer.value}>
      <Header />
      <Rail />
      <main class="stage" aria-label={word("map")}>
        <MapView />
        <Progress />
        <div class="controls">
          {layer.value === "models" && <ModelControls />}
          {layer.value === "products" && <ProductControls />}
          {layer.value === "alerts" && <AlertList />}
        </div>
        <Legend />
      </main>
      {isPanelOpen.value && (
        <aside class="panel" aria-label={word(station.value ? "stations" : layer.value)}>
          {(layer.value !== "quality" || station.value) && (
            <button type="button" class="close" onClick={closePanel} aria-label={word("close")} title={`${word("close")} (Esc)`}>
              ×
            </button>
          )}
          <Subject />
        </aside>
      )}
      <footer class="foot">
        <Banner />
        <TimeBar />
      </footer>
      {isHelpOpen.value && <Help />}
    </div>
  );
}

function Subject() {
  if (station.value) return <StationPanel key={station.value} id={station.value} />;
  if (layer.value === "quality") return <QualityPanel />;
  if (alert.value) return <AlertPanel id={alert.value} />;
  if (place.value) return <PlacePanel {...place.value} />;
  return null;
}
