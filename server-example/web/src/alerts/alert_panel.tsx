// One alert: what it says in both languages, where, its life as a line of time, and what it follows.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import L from "leaflet";

import type { AlertFeature } from "../api/types";
import { HOUR_MS, local, utcShort } from "../domain/time";
import { goTo } from "../map/map_view";
import { Trouble } from "../ui/states";
import { word } from "../ui/words";
import { alert, language, locale } from "../view";
import { byId, chainOf, colourOfAlert, inOtherLanguage, statusOf } from "./record";

export function AlertPanel({ id }: { id: string }) {
  const one = byId.value.get(id);
  const other = useSignal<AlertFeature | undefined>(undefined);
  const trouble = useSignal<string | undefined>(undefined);
  useEffect(() => {
    other.value = undefined;
    trouble.value = undefined;
    const geometry = byId.peek().get(id)?.geometry;
    if (geometry) {
      const bounds = L.geoJSON(geometry).getBounds();
      const centre = bounds.getCenter();
      const size = Math.max(bounds.getNorth() - bounds.getSouth(), bounds.getEast() - bounds.getWest());
      goTo(centre.lat, centre.lng, Math.max(Math.min(Math.floor(Math.log2(220 / Math.max(size, 0.01))), 9), 4));
    }
  }, [id, one === undefined]);
  if (!one) return <p class="quiet">{word("loadingOf", word("alerts"))}</p>;
  const { properties: of } = one;
  const chain = chainOf(id);
  const unknown = (of.previousIds ?? []).filter((previous) => !byId.value.has(previous));
  const time = (text: string | undefined) =>
    text && (
      <time dateTime={text} title={local(Date.parse(text), locale.value)}>
        {utcShort(Date.parse(text), locale.value)}
      </time>
    );
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
          {word(of.alertType)} · {word(status === "Unknown" ? "NotHeard" : status)}
        </p>
        <h2>{of.alertHeadline}</h2>
        <p class="quiet">
          {of.issuer} · {[of.severity, of.urgency, of.certainty].filter(Boolean).join(" · ")}
        </p>
      </header>
      <dl class="times">
        {times.map(
          ([name, text]) =>
            text && (
              <>
                <dt>{word(name)}</dt>
                <dd>{time(text)}</dd>
              </>
            ),
        )}
      </dl>
      <section>
        <h3>{word("chain")}</h3>
        <Timeline chain={chain} id={id} />
        <ol class="messages">
          {chain.map((message) => (
            <li key={message.id} aria-current={message.id === id ? "step" : undefined}>
              <button type="button" onClick={() => (alert.value = message.id)} style={`--alert:${colourOfAlert(message)}`}>
                <span class="quiet">{time(message.properties.sent)}</span> <b>{message.properties.messageType}</b>{" "}
                {word(statusOf(message) === "Unknown" ? "NotHeard" : statusOf(message))}
                <small>{message.properties.alertHeadline}</small>
              </button>
            </li>
          ))}
        </ol>
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
          {word("inFrench")}
        </button>
        {of.web && (
          <a href={of.web} rel="noreferrer" target="_blank">
            {new URL(of.web).host}
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
          <ul class="areas">
            {of.areas.map(({ description, status: own, kind }, at) => (
              <li key={at}>
                {description} {kind === "ThreatArea" && <small>{kind}</small>} {own && own !== "Active" && own !== "Unknown" && <small>{word(own)}</small>}
              </li>
            ))}
          </ul>
        </section>
      )}
    </article>
  );
}

/** The messages of a chain on a line of time, each from when it was sent to when it expires or is followed. */
function Timeline({ chain, id }: { chain: readonly AlertFeature[]; id: string }) {
  const sent = ({ properties }: AlertFeature) => Date.parse(properties.sent ?? properties.effectiveTime ?? "");
  const expiry = ({ properties }: AlertFeature) => Date.parse(properties.eventEndTime ?? properties.expiryTime ?? "") || sent(chain.at(-1)!) + HOUR_MS;
  const first = Math.min(...chain.map(sent));
  const last = Math.max(...chain.map(expiry), first + HOUR_MS);
  const x = (time: number) => ((time - first) / (last - first)) * 340 + 4;
  const height = chain.length * 18 + 20;
  const follower = (one: AlertFeature) => chain.find(({ properties }) => properties.previousIds?.includes(one.id));
  return (
    <svg class="timeline" viewBox={`0 0 360 ${height}`} role="img" aria-label={`${word("chain")}: ${chain.length}`}>
      {chain.map((one, row) => {
        const next = follower(one);
        const end = next ? Math.min(sent(next), expiry(one)) : expiry(one);
        const y = row * 18 + 6;
        const colour = colourOfAlert(one);
        return (
          <g key={one.id} opacity={one.id === id ? 1 : 0.65}>
            <rect x={x(sent(one))} y={y} width={Math.max(x(end) - x(sent(one)), 3)} height={10} rx={2} fill={colour} />
            {expiry(one) > end && <line x1={x(end)} x2={x(expiry(one))} y1={y + 5} y2={y + 5} stroke={colour} stroke-dasharray="3 3" />}
            {next && <path d={`M${x(end)} ${y + 10}V${chain.indexOf(next) * 18 + 6}`} stroke={colour} fill="none" />}
          </g>
        );
      })}
      <text x={4} y={height - 3}>
        {utcShort(first, locale.value)}
      </text>
      <text x={356} y={height - 3} text-anchor="end">
        {utcShort(last, locale.value)}
      </text>
    </svg>
  );
}
