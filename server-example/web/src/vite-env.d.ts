/// <reference types="vite/client" />

declare module "virtual:outlines" {
  /** The addresses of the outlines: `far` and `near`, and blocks of coasts by the longitude and latitude of their corner. */
  const addresses: Readonly<Record<string, string>>;
  export default addresses;
}

declare module "virtual:towns" {
  /** The addresses of the towns: `places` are all, `names` what the map names from afar. */
  const addresses: Readonly<Record<"places" | "names", string>>;
  export default addresses;
}
