/// <reference types="vite/client" />

declare module "virtual:far" {
  /** The address of the outlines as they are seen from afar. */
  const address: string;
  export default address;
}

declare module "virtual:near" {
  /** The address of the outlines as they are seen from nearer. */
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
