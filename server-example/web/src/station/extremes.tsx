// The lowest and the highest of the day and of the day before, at the time shown, with when they were.
import { askJson, observations } from "../api/client";
import type { StationDetail, StationSummaries } from "../api/types";
import { isBad } from "../domain/quality";
import { HOUR_MS, hourOf } from "../domain/time";
import { shortName, withUnit } from "../domain/variables";
import { elsewhere, zone } from "../ui/clock";
import { Mark } from "../ui/legend_parts";
import { Trouble } from "../ui/states";
import { useAsked } from "../ui/use_asked";
import { word } from "../ui/words";
import { language, locale, system } from "../view";
import { refreshes, shown_ms } from "./network";

const NAMES = ["airTemperature", "relativeHumidity", "mslp", "windSpeed", "windGust", "precipitation", "snowfall"];
/** Of a day of which less is covered, that is said. */
const COVERED_PERCENT = 90;

const dateIn = (ms: number, timeZone: string) => new Date(ms).toLocaleDateString("en-CA", { timeZone });

export function Extremes({ id, detail: { timeZone = "UTC" } }: { id: string; detail: StationDetail }) {
  const at = shown_ms.value;
  const [before, today] = [dateIn(at - 24 * HOUR_MS, timeZone), dateIn(at, timeZone)];
  const { answer, trouble, again } = useAsked(
    (signal) => {
      const query = new URLSearchParams({ tz: timeZone, from: before, to: today, names: NAMES.join(",") });
      return askJson<StationSummaries>(observations(`/stations/${id}/summary?${query}`), { signal });
    },
    [id, before, today, timeZone, refreshes.value],
  );
  if (trouble && !answer) return <Trouble text={trouble} retry={again} />;
  const days = (answer?.periods ?? []).filter(({ variables }) => Object.keys(variables).length > 0).toReversed();
  if (!answer || days.length === 0) return null;
  return (
    <section class="extremes">
      <h3>{word("extremes")}</h3>
      <table>
        <thead>
          <tr>
            <th scope="col">
              <span class="hidden">{word("variable")}</span>
            </th>
            <th scope="col">{word("least")}</th>
            <th scope="col">{word("most")}</th>
          </tr>
        </thead>
        {days.map((day) => (
          <Day key={day.name} of={day} />
        ))}
      </table>
      <p class="quiet">{word("standardDays", answer.utcOffset === "Z" ? "UTC" : `UTC${answer.utcOffset}`)}</p>
    </section>
  );
}

function Day({ of: { name, variables } }: { of: StationSummaries["periods"][number] }) {
  const all = Object.entries(variables);
  const covered = Math.max(...all.flatMap(([, { max, total }]) => [max, total].map((one) => one?.coveragePercent ?? 0)));
  const date = new Date(`${name}T12:00:00Z`).toLocaleDateString(locale.value, { timeZone: "UTC", weekday: "short", day: "numeric", month: "short" });
  return (
    <tbody>
      <tr class="day">
        <th scope="rowgroup" colSpan={3}>
          <b>{date}</b> {covered < COVERED_PERCENT && <small>{word("covered", withUnit(Math.round(covered), "%", system.value, locale.value))}</small>}
        </th>
      </tr>
      {all.map(([variable, { unit, min, max, total }]) => (
        <tr key={variable}>
          <th scope="row">
            {shortName(variable, language.value)} {total && <small>{word("total")}</small>}
          </th>
          <td class="number">{!total && min && <Extreme of={min} unit={unit} />}</td>
          <td class="number">{total ? withUnit(total.value, unit, system.value, locale.value) : max && <Extreme of={max} unit={unit} />}</td>
        </tr>
      ))}
    </tbody>
  );
}

type OfDay = NonNullable<StationSummaries["periods"][number]["variables"][string]["max"]>;

function Extreme({ of: { value, quality, from }, unit }: { of: OfDay; unit: string }) {
  const ms = Date.parse(from.timestamp);
  return (
    <>
      {isBad(quality.baseQuality) && <Mark quality={quality.baseQuality} />} {withUnit(value, unit, system.value, locale.value)}{" "}
      <small title={elsewhere(ms)}>{hourOf(ms, zone.value)}</small>
    </>
  );
}
