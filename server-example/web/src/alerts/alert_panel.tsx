// One alert: what it says in both languages, where, its life as a line of time, and what it follows.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import type { AlertArea, AlertFeature } from "../api/types";
import { boxOf } from "../domain/mercator";
import { goTo } from "../map/map_view";
import { Skeleton, Trouble } from "../ui/states";
import { word } from "../ui/words";
import { area, isPlaced, language, openAlert } from "../view";
import { alerts, byId, chainOf, codeOf, colourOfAlert, inOtherLanguage, statusOf } from "./record";
import { Messages, statusWord, Time, Timeline } from "./timeline";

export function AlertPanel({ id }: { id: string }) {
  const one = byId.value.get(id);
  const other = useSignal<AlertFeature | undefined>(undefined);
  const trouble = useSignal<string | undefined>(undefined);
  useEffect(() => {
    other.value = undefined;
    trouble.value = undefined;
    const geometry = byId.peek().get(id)?.geometry;
    if (geometry && !isPlaced.value) {
      const [west, south, east, north] = boxOf(geometry.coordinates.flat(geometry.type === "Polygon" ? 1 : 2) as number[][]);
      const size = Math.max(north - south, east - west);
      goTo((south + north) / 2, (west + east) / 2, Math.max(Math.min(Math.floor(Math.log2(220 / Math.max(size, 0.01))), 9), 4));
      isPlaced.value = true;
    }
  }, [id, one === undefined]);
  if (!one) return alerts.value ? <p class="quiet">{word("noSuchAlert")}</p> : <Skeleton lines={12} />;
  const { properties: of } = one;
  const chain = chainOf(id);
  const unknown = (of.previousIds ?? []).filter((previous) => !byId.value.has(previous));
  const status = statusOf(one);
  const times = [
    ["sent", of.sent],
    ["effective", of.effectiveTime],
    ["expires", of.expiryTime],
    ["eventEnds", of.eventEndTime],
  ] as const;
  const showOther = async () => {
    try {
      const found = other.value ? undefined : await inOtherLanguage(id);
      const isSame = found?.properties.language?.slice(0, 2) === of.language?.slice(0, 2);
      trouble.value = found && isSame ? word("onlyOne") : undefined;
      other.value = isSame ? undefined : found;
    } catch (error) {
      trouble.value = (error as Error).message;
    }
  };
  return (
    <article class="alert">
      <header style={`--alert:${colourOfAlert(one)}`}>
        <p class="badge">
          {word(of.alertType === "Unknown" ? "alert" : of.alertType)} · {statusWord(status)}
        </p>
        <h2>{of.alertHeadline}</h2>
        <p class="quiet">
          {[of.issuer, ...[of.severity, of.urgency, of.certainty].filter((text) => text && text !== "Unknown").map((text) => word(text!))].join(" · ")}
        </p>
      </header>
      <dl class="times">
        {times.map(
          ([name, text]) =>
            text && (
              <>
                <dt>{word(name)}</dt>
                <dd>
                  <Time text={text} />
                </dd>
              </>
            ),
        )}
      </dl>
      <section>
        <h3>{word("chain")}</h3>
        <Timeline name={word("chain")} messages={chain} chosen={id} />
        <Messages messages={chain} chosen={id} onPick={openAlert} />
        {unknown.length > 0 && (
          <details>
            <summary>
              {word("supersedes")}: {unknown.length} {word("notOnRecord")}
            </summary>
            <ul class="ids">
              {unknown.map((previous) => (
                <li key={previous}>{previous}</li>
              ))}
            </ul>
          </details>
        )}
      </section>
      <section class="texts" lang={of.language?.slice(0, 2)}>
        <p class="text">{of.alertDescription}</p>
        {of.instruction && (
          <>
            <h3>{word("instruction")}</h3>
            <p class="text">{of.instruction}</p>
          </>
        )}
      </section>
      <p class="row">
        <button type="button" id="other-language" onClick={() => void showOther()}>
          {word("otherLanguage")}
        </button>
        {of.web && (
          <a href={of.web} rel="noreferrer" target="_blank">
            {URL.canParse(of.web) ? new URL(of.web).host : of.web}
          </a>
        )}
      </p>
      {trouble.value && <Trouble text={trouble.value} />}
      {other.value && (
        <section class="texts" lang={other.value.properties.language?.slice(0, 2) ?? (language.value === "fr" ? "en" : "fr")}>
          <h3>{other.value.properties.alertHeadline}</h3>
          <p class="text">{other.value.properties.alertDescription}</p>
          {other.value.properties.instruction && <p class="text">{other.value.properties.instruction}</p>}
        </section>
      )}
      {of.areas && of.areas.length > 0 && (
        <section>
          <h3>
            {word("areas")} <small>{of.areas.length}</small>
          </h3>
          <p class="quiet">{word("areasHint")}</p>
          <ul class="areas">
            {of.areas.map((one, at) => (
              <li key={at}>
                <Area of={one} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </article>
  );
}

/** An area that leads to its own line of time; one without a code is of this message alone. */
function Area({ of }: { of: AlertArea }) {
  const { description, status, kind } = of;
  const code = codeOf(of);
  return (
    <>
      {code === undefined ? (
        description
      ) : (
        <button type="button" class="link text" onClick={() => (area.value = code)}>
          {description}
        </button>
      )}{" "}
      {kind === "ThreatArea" && <small>{word("ThreatArea")}</small>} {status && status !== "Active" && status !== "Unknown" && <small>{word(status)}</small>}
    </>
  );
}
