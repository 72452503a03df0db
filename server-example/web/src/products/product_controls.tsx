// Which raster product is on the map.
import { utc } from "../domain/time";
import { Trouble } from "../ui/states";
import { word } from "../ui/words";
import { locale } from "../view";
import { chosen, file, files } from "./catalogue";
import { productTrouble } from "./product_layer";

export function ProductControls() {
  const all = files.value;
  if (!all) return <p class="quiet">…</p>;
  if (all.length === 0) return <p>{word("noProducts")}</p>;
  return (
    <section class="choices" aria-label={word("products")}>
      <label>
        {word("product")}
        <select id="product" value={file.value?.key} onChange={({ currentTarget }) => (chosen.value = currentTarget.value)}>
          {all.map(({ key, title, duration, timestamp }) => (
            <option key={key} value={key}>
              {title} {duration} {timestamp.slice(0, 16).replace("T", " ")}
            </option>
          ))}
        </select>
      </label>
      <p class="quiet">{file.value && utc(Date.parse(file.value.timestamp), locale.value)}</p>
      {productTrouble.value && <Trouble text={productTrouble.value} />}
    </section>
  );
}
