import { AlertList } from "../alerts/alert_list";
import { AlertPanel } from "../alerts/alert_panel";
import { AreaPanel } from "../alerts/area_panel";
import { isHelpOpen } from "../keys";
import { MapView } from "../map/map_view";
import { ModelControls } from "../models/model_controls";
import { PlacePanel } from "../models/place_panel";
import { ProductControls } from "../products/product_controls";
import { QualityPanel } from "../quality/quality_panel";
import { isStationId } from "../domain/station_id";
import { NamedStation, StationPanel } from "../station/station_panel";
import { TablePanel } from "../station/table_panel";
import { alert, area, isPanelOpen, isTableOpen, layer, place, station } from "../view";
import { Banner } from "./banner";
import { Header } from "./header";
import { Help } from "./help";
import { Legend } from "./legend";
import { Rail } from "./rail";
import { height, Sheet } from "./sheet";
import { Progress } from "./states";
import { TimeBar } from "./time_bar";
import { word } from "./words";

export function App() {
  return (
    <div class="page" data-panel={isPanelOpen.value ? "open" : "closed"} data-height={height.value} data-layer={layer.value}>
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
        <Sheet name={subject()} canClose={layer.value !== "quality" || station.value !== undefined}>
          <Subject />
        </Sheet>
      )}
      <footer class="foot">
        <Banner />
        <TimeBar />
      </footer>
      {isHelpOpen.value && <Help />}
    </div>
  );
}

/** What the panel is about. */
function subject(): string {
  if (station.value) return word("station");
  if (layer.value === "quality") return word("quality");
  if (layer.value === "stations" && isTableOpen.value) return word("table");
  if (area.value) return word("area");
  return word(alert.value ? "alert" : "place");
}

function Subject() {
  if (station.value && !isStationId(station.value)) return <NamedStation key={station.value} name={station.value} />;
  if (station.value) return <StationPanel key={station.value} id={station.value} />;
  if (layer.value === "quality") return <QualityPanel />;
  if (layer.value === "stations" && isTableOpen.value) return <TablePanel />;
  if (area.value) return <AreaPanel code={area.value} />;
  if (alert.value) return <AlertPanel id={alert.value} />;
  if (place.value) return <PlacePanel key={`${place.value.lat} ${place.value.lon}`} {...place.value} />;
  return null;
}
