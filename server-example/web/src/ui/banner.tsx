// What has to be said all the time: that the data of the layer is recorded, and of when; that a plan is assumed.
import { useSignal } from "@preact/signals";

import { about } from "../api/client";
import { timeline } from "../timeline";
import { alertsOver, layer, locale } from "../view";
import { zone } from "./clock";
import { word } from "./words";

const day = (ms: number) => new Date(ms).toLocaleDateString(locale.value, { timeZone: zone.value, day: "numeric", month: "long", year: "numeric" });
const hour = (ms: number) => new Date(ms).toLocaleTimeString(locale.value, { timeZone: zone.value, hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short" });
const dayAndHour = (ms: number) => `${day(ms)}, ${hour(ms)}`;

/** When what the layer shows was recorded, where the server replays. */
function recorded(): readonly string[] {
  const { replay, replayAlerts } = about.value ?? {};
  if (!replay) return [];
  const { times_ms, shown_ms } = timeline.value ?? { times_ms: [], shown_ms: 0 };
  const ofAlerts = replayAlerts
    ? word("replay.alerts", dayAndHour(Date.parse(replayAlerts.canada)), dayAndHour(Date.parse(replayAlerts.unitedStates)))
    : word("replay.stations", day(Date.parse(replay)));
  if (layer.value === "alerts") return [ofAlerts];
  const own =
    layer.value === "models" || layer.value === "products"
      ? times_ms.length > 0 && word(`replay.${layer.value}`, dayAndHour(layer.value === "models" ? times_ms[0]! : shown_ms))
      : word("replay.stations", day(Date.parse(replay)));
  return [own, alertsOver.value && ofAlerts].filter((text) => text !== false);
}

export function Banner() {
  const isOpen = useSignal(false);
  const { replay, assumedPlan } = about.value ?? {};
  if (!replay && !assumedPlan) return null;
  return (
    <div class="banner" role="note" data-open={isOpen.value ? "" : undefined}>
      <p>{[...recorded(), assumedPlan && `${word("assumed", assumedPlan)}.`].filter(Boolean).join(" ")}</p>
      <button type="button" class="link" aria-expanded={isOpen.value} onClick={() => (isOpen.value = !isOpen.value)}>
        {word(isOpen.value ? "less" : "more")}
      </button>
    </div>
  );
}
