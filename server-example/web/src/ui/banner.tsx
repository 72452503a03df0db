// What has to be said all the time: that the data is recorded, that a plan is assumed.
import { useSignal } from "@preact/signals";

import { about } from "../api/client";
import { hourOf, zoneName } from "../domain/time";
import { locale } from "../view";
import { zone } from "./clock";
import { word } from "./words";

const day = (text: string, locale: string, timeZone = "UTC") =>
  new Date(text).toLocaleDateString(locale, { timeZone, day: "numeric", month: "long", year: "numeric" });

export function Banner() {
  const isOpen = useSignal(false);
  const { replay, replayAlerts, assumedPlan } = about.value ?? {};
  if (!replay && !assumedPlan) return null;
  const of = (text: string) => {
    const ms = Date.parse(text);
    return `${day(text, locale.value, zone.value)}, ${hourOf(ms, zone.value)} ${zoneName(ms, locale.value, zone.value)}`;
  };
  return (
    <div class="banner" role="note" data-open={isOpen.value ? "" : undefined}>
      <p>
        {replay && (
          <>
            {word("replay")} <b>{day(replay, locale.value)}</b>
            {replayAlerts && `; ${word("replayAlerts", of(replayAlerts.canada), of(replayAlerts.unitedStates))}`}.{" "}
          </>
        )}
        {assumedPlan && `${word("assumed", assumedPlan)}.`}
      </p>
      <button type="button" class="link" aria-expanded={isOpen.value} onClick={() => (isOpen.value = !isOpen.value)}>
        {word(isOpen.value ? "less" : "more")}
      </button>
    </div>
  );
}
