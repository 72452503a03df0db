/// <reference types="vite/client" />

declare module "virtual:basemap" {
  /** The address of the outlines. */
  const address: string;
  export default address;
}

declare module "virtual:places" {
  /** The address of the towns. */
  const address: string;
  export default address;
}

declare module "virtual:names" {
  /** The address of what the map names from afar. */
  const address: string;
  export default address;
}
