/// <reference types="vite/client" />

declare module "virtual:basemap" {
  /** The address of the outlines. */
  const address: string;
  export default address;
}
