// The first thing that runs: asks for the first picture while the program that draws it is still on its way.
import { askFirst } from "./first";

const first = askFirst(location.hash);
import("./main").then(
  ({ start }) => start(first),
  () => document.getElementById("trouble")?.removeAttribute("hidden"),
);
