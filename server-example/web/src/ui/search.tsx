// Search of stations by name and identifier, of towns by name, and of places by "lat, lon".
import { computed, signal } from "@preact/signals";

import { setFailure } from "../api/loads";
import { loadTowns, plain, townsCalled } from "../domain/towns";
import { goTo } from "../map/map_view";
import { favourites } from "../station/favourites";
import { details, places } from "../station/network";
import { layer, markStep, place, station } from "../view";
import { word } from "./words";

const typed = signal("");
const chosen = signal(0);
const isOpen = signal(false);
/** Closes the list after the focus has gone, not if it is back by then. */
let closing: ReturnType<typeof setTimeout> | undefined;
const MOST = 9;
/** So many towns at most where stations are found too. */
const MOST_TOWNS = 4;

interface Found {
  readonly id?: string;
  readonly title: string;
  readonly detail: string;
  readonly lat: number;
  readonly lon: number;
}

/** What is searched: one line for each station, made once. */
const lines = computed(() =>
  [...details.value].map(([id, { name, network, identifiers }]) => {
    const codes = Object.values(identifiers ?? {}).flat();
    return { id, name, network, codes: [...new Set(codes)], key: plain(name) };
  }),
);

/** What is offered before anything is typed: the reader's own place, and the stations that are kept. */
const firstChoices = computed<readonly Found[]>(() => {
  const kept = favourites.value.slice(0, MOST - 1).flatMap((id) => {
    const [detail, where] = [details.value.get(id), places.value.get(id)];
    return where ? [{ id, title: detail?.name ?? id, detail: word("kept"), ...where }] : [];
  });
  const near: Found = { title: word("nearMe"), detail: word("locating"), lat: Number.NaN, lon: Number.NaN };
  return "geolocation" in navigator ? [near, ...kept] : kept;
});

const found = computed<readonly Found[]>(() => {
  const text = plain(typed.value.trim());
  if (text === "") return firstChoices.value;
  const position = /^(-?\d+(?:\.\d+)?)[ ,;]+(-?\d+(?:\.\d+)?)$/.exec(text);
  if (position) {
    const [lat, lon] = [Number(position[1]), Number(position[2])];
    if (Math.abs(lat) <= 90 && Math.abs(lon) <= 180) return [{ title: `${lat}, ${lon}`, detail: "", lat, lon }];
  }
  const ranked: [number, Found][] = [];
  for (const { id, name, network, codes, key } of lines.value) {
    const code = codes.find((one) => plain(one).startsWith(text));
    const at = key.indexOf(text);
    if (code === undefined && at < 0) continue;
    const rank = code !== undefined ? (plain(code) === text ? -1 : 2) : at === 0 ? 1 : key[at - 1] === " " ? 3 : 4;
    const where = places.value.get(id);
    if (!where) continue;
    const { lon, lat } = where;
    ranked.push([rank, { id, title: name, detail: [codes[0], network].filter(Boolean).join(" · "), lat, lon }]);
  }
  ranked.sort((a, b) => a[0] - b[0] || a[1].title.localeCompare(b[1].title));
  const towns = townsCalled(text, Math.max(MOST_TOWNS, MOST - ranked.length)).map(({ town, rank }): [number, Found] => {
    const country = word(town.country === "CA" ? "canada" : "unitedStates");
    return [rank, { title: `${town.name}, ${town.region}`, detail: country, lat: town.lat, lon: town.lon }];
  });
  const all = [...towns, ...ranked.slice(0, MOST - towns.length)].sort((a, b) => a[0] - b[0]);
  return all.map(([, one]) => one);
});

/** Asks the browser where it is. The place is part of the address if the map goes there, and is sent nowhere else. */
function locate(): void {
  const answer = ({ coords: { latitude, longitude } }: GeolocationPosition) => {
    setFailure("nearMe");
    go({ title: "", detail: "", lat: latitude, lon: longitude });
  };
  const refusal = ({ message }: GeolocationPositionError) => setFailure("nearMe", { text: word("notLocated", message), again: locate });
  navigator.geolocation.getCurrentPosition(answer, refusal, { maximumAge: 300_000, timeout: 20_000 });
}

function go({ id, lat, lon }: Found): void {
  if (Number.isNaN(lat)) {
    close();
    locate();
    return;
  }
  markStep();
  goTo(lat, lon, id ? 8 : 9);
  if (id) {
    if (layer.value === "products") layer.value = "stations";
    station.value = id;
  } else if (layer.value === "models") place.value = { lat, lon };
  close();
}

function close(): void {
  isOpen.value = false;
  typed.value = "";
  document.querySelector<HTMLInputElement>("#search")?.blur();
}

export function Search() {
  const all = found.value;
  const isShown = isOpen.value && (typed.value.trim() !== "" || all.length > 0);
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (by !== 0) {
      chosen.value = (Math.max(chosen.value, by > 0 ? -1 : 0) + by + all.length) % Math.max(all.length, 1);
      event.preventDefault();
    } else if (event.key === "Enter" && all[chosen.value]) go(all[chosen.value]!);
    else if (event.key === "Escape") isOpen.value = false;
  };
  return (
    <search class="search">
      <input
        id="search"
        type="text"
        role="combobox"
        autocomplete="off"
        spellcheck={false}
        aria-expanded={isShown}
        aria-controls="found"
        aria-autocomplete="list"
        aria-activedescendant={isShown && all[chosen.value] ? `found-${chosen.value}` : undefined}
        aria-label={word("searchHint")}
        placeholder={word("searchHint")}
        value={typed.value}
        onInput={({ currentTarget }) => {
          typed.value = currentTarget.value;
          chosen.value = currentTarget.value.trim() === "" ? -1 : 0;
          isOpen.value = true;
        }}
        onFocus={() => {
          clearTimeout(closing);
          // Enter goes nowhere before something is typed or chosen.
          if (typed.value.trim() === "") chosen.value = -1;
          isOpen.value = true;
          void loadTowns();
        }}
        onBlur={() => {
          closing = setTimeout(() => (isOpen.value = false), 150);
        }}
        onKeyDown={onKeyDown}
      />
      <ul id="found" role="listbox" aria-label={word("found")} hidden={!isShown}>
        {all.map((one, at) => (
          <li
            key={one.id ?? `${one.title} ${one.lat} ${one.lon}`}
            id={`found-${at}`}
            role="option"
            aria-selected={at === chosen.value}
            onPointerDown={() => go(one)}
          >
            <span>
              <svg class="sign" viewBox="0 0 16 16" aria-hidden="true">
                {one.id ? <circle cx={8} cy={8} r={3.6} /> : <path d="M8 14.5S3.5 10 3.5 6.2a4.5 4.5 0 0 1 9 0C12.5 10 8 14.5 8 14.5z" />}
              </svg>
              {one.title}
            </span>
            <small>{one.detail}</small>
          </li>
        ))}
        {isShown && all.length === 0 && (
          <li role="option" aria-selected={false} aria-disabled="true">
            {word("nothingFound")}
          </li>
        )}
      </ul>
    </search>
  );
}
