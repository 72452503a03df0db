// Which raster product is on the map.
import { Trouble } from "../ui/states";
import { word } from "../ui/words";
import { chosen, file, files } from "./catalogue";
import { productTrouble } from "./product_layer";

export function ProductControls() {
  const all = files.value;
  if (!all) return <p class="quiet">…</p>;
  if (all.length === 0) return <p>{word("noProducts")}</p>;
  return (
    <section class="choices" aria-label={word("products")}>
      <label class="whole">
        <span class="hidden">{word("product")}</span>
        <select id="product" value={file.value?.key} onChange={({ currentTarget }) => (chosen.value = currentTarget.value)}>
          {all.map(({ key, title, duration, timestamp }) => (
            <option key={key} value={key}>
              {[title, duration, `${timestamp.slice(0, 16).replace("T", " ")} UTC`].filter(Boolean).join(" · ")}
            </option>
          ))}
        </select>
      </label>
      {productTrouble.value && <Trouble text={productTrouble.value} />}
    </section>
  );
}
