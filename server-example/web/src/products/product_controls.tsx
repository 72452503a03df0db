import { word } from "../ui/words";

export function ProductControls() {
  return <p>{word("noProducts")}</p>;
}
