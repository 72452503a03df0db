// What is on the map as a table: the stations in view with the variable that is chosen.
import { useSignal } from "@preact/signals";

import { isBad, QUALITIES } from "../domain/quality";
import { iso, span } from "../domain/time";
import { mapVariable, shown, shownUnit, withUnit } from "../domain/variables";
import { isInView } from "../map/map_view";
import { short } from "../ui/clock";
import { Mark } from "../ui/legend_parts";
import { word } from "../ui/words";
import { camera, language, locale, station, system, variable } from "../view";
import { cell, columns, details, places, position, shown_ms } from "./network";
import { save } from "./plots";

/** So many rows are drawn; the file has all. */
const MOST = 300;

interface Row {
  readonly id: string;
  readonly name: string;
  readonly value: number;
  readonly quality: number;
  readonly age_s: number;
}

const ORDERS = ["value", "station", "age"] as const;
type Order = (typeof ORDERS)[number];

function rowsInView(): readonly Row[] {
  const of = columns.value;
  void camera.value;
  if (!of) return [];
  const at = Math.min(position.value, of.times_ms.length - 1);
  return of.ids.flatMap((id, column) => {
    const [place, spot] = [cell(of, 0, at, column), places.value.get(id)];
    const value = of.values[place]!;
    if (!spot || Number.isNaN(value) || !isInView(spot.lat, spot.lon)) return [];
    return [{ id, name: details.value.get(id)?.name ?? id, value, quality: of.qualities[place]!, age_s: of.ages[place]! }];
  });
}

export function TablePanel() {
  const order = useSignal<{ by: Order; isDown: boolean }>({ by: "value", isDown: true });
  const { label, unit, name } = mapVariable(columns.value?.names[0] ?? variable.value);
  const { by, isDown } = order.value;
  const compare: Readonly<Record<Order, (a: Row, b: Row) => number>> = {
    value: (a, b) => a.value - b.value,
    station: (a, b) => a.name.localeCompare(b.name),
    age: (a, b) => a.age_s - b.age_s,
  };
  const rows = [...rowsInView()].sort((a, b) => (isDown ? -1 : 1) * compare[by](a, b) || a.name.localeCompare(b.name));
  const head = (column: Order, text: string) => (
    <th scope="col" aria-sort={by === column ? (isDown ? "descending" : "ascending") : "none"}>
      <button type="button" class="link text" onClick={() => (order.value = { by: column, isDown: by === column ? !isDown : column === "value" })}>
        {text} {by === column && (isDown ? "↓" : "↑")}
      </button>
    </th>
  );
  return (
    <article class="table">
      <h2>{label[language.value]}</h2>
      <p class="quiet">
        {short(shown_ms.value)} · {word("inView", rows.length.toLocaleString(locale.value))}
      </p>
      <p class="row">
        <button type="button" disabled={rows.length === 0} onClick={() => saveCsv(name, rows)}>
          {word("asCsv")}
        </button>
      </p>
      {rows.length > 0 && (
        <table>
          <thead>
            <tr>
              {head("station", word("station"))}
              {head("value", word("value"))}
              {head("age", word("age"))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, MOST).map(({ id, name: title, value, quality, age_s }) => (
              <tr key={id}>
                <th scope="row">
                  <button type="button" class="link text" onClick={() => (station.value = id)}>
                    {title}
                  </button>
                </th>
                <td class="number">
                  {isBad(QUALITIES[quality]!) && (
                    <span title={word(QUALITIES[quality]!)}>
                      <Mark quality={QUALITIES[quality]!} />{" "}
                    </span>
                  )}
                  {withUnit(value, unit, system.value, locale.value)}
                </td>
                <td class="number quiet">{span(age_s, locale.value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {rows.length > MOST && <p class="quiet">{word("firstOfStations", MOST, rows.length.toLocaleString(locale.value))}</p>}
    </article>
  );
}

/** A text as a field of CSV. */
const field = (text: string) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** Saves the rows as CSV, in the units that are shown. */
function saveCsv(name: string, rows: readonly Row[]): void {
  const { unit } = mapVariable(name);
  const to = shownUnit(unit, system.value);
  const lines = rows.map(({ id, name: title, value, quality, age_s }) => {
    const { lon, lat } = places.value.get(id)!;
    const time = iso(shown_ms.value - age_s * 1000);
    return [id, field(title), lat, lon, time, name, Number(shown(value, unit, system.value).toFixed(3)), to, QUALITIES[quality]].join(",");
  });
  const text = ["station_id,station,latitude,longitude,timestamp,variable,value,unit,quality", ...lines].join("\n");
  save(new Blob([`${text}\n`], { type: "text/csv" }), `${name} ${iso(shown_ms.value).replaceAll(":", "")}.csv`);
}
