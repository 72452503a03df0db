// Which model, field and level is on the map.
import { failures } from "../api/loads";
import { hour, level_hpa, LINES, lines, locale, model, place, product } from "../view";
import { longTime, runStart_ms } from "../domain/time";
import { Skeleton } from "../ui/states";
import { word } from "../ui/words";
import { fieldName } from "./field_names";
import { coverage, field, levelOf, models, products } from "./fields";

export function ModelControls() {
  const all = models.value;
  if (!all) return failures.value.has("models") ? null : <Skeleton />;
  const names = Object.keys(all);
  if (names.length === 0) return <p>{word("noModels")}</p>;
  const of = field.value;
  const run = coverage.value?.latest_run;
  const hasPressure = products.value.some(({ name }) => name === "pressure_msl");
  return (
    <section class="choices" aria-label={word("models")}>
      <label>
        {word("model")}
        <select
          id="model"
          value={model.value}
          onChange={({ currentTarget }) => {
            hour.value = 0;
            place.value = undefined;
            model.value = currentTarget.value;
          }}
        >
          {names.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        {word("field")}
        <select id="field" value={product.value} onChange={({ currentTarget }) => (product.value = currentTarget.value)}>
          {products.value.map(({ name }) => (
            <option key={name} value={name}>
              {fieldName(name)}
            </option>
          ))}
        </select>
      </label>
      {of?.levels_hpa && (
        <label>
          {word("level")}
          <select id="level" value={levelOf(of)} onChange={({ currentTarget }) => (level_hpa.value = Number(currentTarget.value))}>
            {of.levels_hpa.map((level) => (
              <option key={level} value={level}>
                {level} hPa
              </option>
            ))}
          </select>
        </label>
      )}
      <label>
        {word("lines")}
        <select id="lines" value={lines.value} onChange={({ currentTarget }) => (lines.value = LINES[currentTarget.selectedIndex]!)}>
          {LINES.map((one) => (
            <option key={one} value={one} disabled={one === "pressure" && !hasPressure}>
              {word(`lines.${one || "none"}`)}
            </option>
          ))}
        </select>
      </label>
      <p class="quiet">
        <span lang="en">{coverage.value?.title}</span>. {run && `${word("run")} ${longTime(runStart_ms(run), locale.value)}`}
        <br />
        <span lang="en">{coverage.value?.attribution}</span>
      </p>
      {!place.value && <p class="hint">{word("clickPlace")}</p>}
    </section>
  );
}
