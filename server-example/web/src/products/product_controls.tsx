// Which raster product is on the map, and of which time.
import { failures } from "../api/loads";
import { long } from "../ui/clock";
import { Skeleton, Trouble } from "../ui/states";
import { word } from "../ui/words";
import { productFile } from "../view";
import { file, files, filesBeside, newestFiles } from "./catalogue";
import { productTrouble } from "./product_layer";

export function ProductControls() {
  const all = files.value;
  const of = file.value;
  if (!all) return failures.value.has("products") ? null : <Skeleton />;
  if (!of) return <p>{word("noProducts")}</p>;
  return (
    <section class="choices" aria-label={word("products")}>
      <label>
        {word("product")}
        <select
          id="product"
          value={of.series}
          onChange={({ currentTarget }) => (productFile.value = newestFiles.value.find(({ series }) => series === currentTarget.value)?.key ?? "")}
        >
          {newestFiles.value.map(({ series, title, duration }) => (
            <option key={series} value={series}>
              {[title, duration].filter(Boolean).join(" · ")}
            </option>
          ))}
        </select>
      </label>
      <label>
        {word("time")}
        <select id="product-time" value={of.key} onChange={({ currentTarget }) => (productFile.value = currentTarget.value)}>
          {filesBeside.value.map(({ key, timestamp }) => (
            <option key={key} value={key}>
              {long(Date.parse(timestamp))}
            </option>
          ))}
        </select>
      </label>
      {productTrouble.value && <Trouble text={productTrouble.value} />}
    </section>
  );
}
