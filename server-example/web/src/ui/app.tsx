import { isHelpOpen } from "../keys";
import { MapView } from "../map/map_view";
import { isStationId } from "../domain/station_id";
import { alert, area, isEmbedded, isFeedsOpen, isPanelOpen, isTableOpen, layer, place, station, written } from "../view";
import { Banner } from "./banner";
import { Header } from "./header";
import { Help } from "./help";
import { Legend } from "./legend";
import { AlertList, AlertPanel, AreaPanel, FeedsPanel, ModelControls, NamedStation, PlacePanel, ProductControls, QualityPanel, StationPanel, TablePanel } from "./parts";
import { Rail } from "./rail";
import { height, Sheet } from "./sheet";
import { Progress } from "./states";
import { EmbeddedTime, TimeBar } from "./time_bar";
import { word } from "./words";

export function App() {
  if (isEmbedded.value) return <Embedded />;
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
        <Sheet name={subject()} canClose={layer.value !== "quality" || station.value !== undefined || isFeedsOpen.value}>
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

/** In another page: the map, its legend and its time, and the way to the whole page. */
function Embedded() {
  return (
    <div class="page embed" data-panel="closed" data-layer={layer.value}>
      <main class="stage" aria-label={word("map")}>
        <h1 class="hidden">mesonet</h1>
        <MapView />
        <Progress />
        <Legend />
      </main>
      <footer class="foot">
        <Banner />
        <div class="row">
          <EmbeddedTime />
          <a id="whole" href={`./${written(true)}`} target="_blank" rel="noopener">
            {word("whole")}
          </a>
        </div>
      </footer>
    </div>
  );
}

/** What the panel is about. */
function subject(): string {
  if (station.value) return word("station");
  if (layer.value === "quality") return word(isFeedsOpen.value ? "feeds" : "quality");
  if (layer.value === "stations" && isTableOpen.value) return word("table");
  if (area.value) return word("area");
  return word(alert.value ? "alert" : "place");
}

function Subject() {
  if (station.value && !isStationId(station.value)) return <NamedStation key={station.value} name={station.value} />;
  if (station.value) return <StationPanel key={station.value} id={station.value} />;
  if (layer.value === "quality") return isFeedsOpen.value ? <FeedsPanel /> : <QualityPanel />;
  if (layer.value === "stations" && isTableOpen.value) return <TablePanel />;
  if (area.value) return <AreaPanel code={area.value} />;
  if (alert.value) return <AlertPanel id={alert.value} />;
  if (place.value) return <PlacePanel key={`${place.value.lat} ${place.value.lon}`} {...place.value} />;
  return null;
}
