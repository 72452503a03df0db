// Pictures of a layer at several times: the one that is shown, and those that come next, out of sight until it is their turn.
import { signal } from "@preact/signals";
import type L from "leaflet";

/** The picture that is shown gives way to one that has not come after this time. */
const PATIENCE_MS = 1_500;

interface Frame {
  readonly layer: L.GridLayer;
  isLoaded: boolean;
}

export class Frames<T extends L.GridLayer> {
  private readonly kept = new Map<string, Frame & { readonly layer: T }>();
  private wanted = "";
  private needed = new Set<string>();
  private seen: string | undefined;
  /** Counts what has come. */
  private readonly came = signal(0);

  constructor(
    private readonly map: L.Map,
    private readonly make: (key: string) => T,
  ) {}

  /** Shows a picture once it has come, makes those ready that are next, and drops the others. */
  show(key: string, next: readonly string[] = []): T {
    this.wanted = key;
    const frame = this.frameOf(key);
    for (const one of next) this.frameOf(one);
    this.needed = new Set([key, ...next]);
    this.drop();
    if (frame.isLoaded) this.turn();
    else setTimeout(() => this.wanted === key && this.turn(), PATIENCE_MS);
    return frame.layer;
  }

  /** Whether a picture can be shown at once; who asks is told when more have come. */
  isReady(key: string): boolean {
    void this.came.value;
    return this.kept.get(key)?.isLoaded ?? false;
  }

  clear(): void {
    for (const { layer } of this.kept.values()) layer.remove();
    this.kept.clear();
    this.seen = undefined;
    this.wanted = "";
  }

  private frameOf(key: string): Frame & { readonly layer: T } {
    const known = this.kept.get(key);
    if (known) return known;
    const made = { layer: this.make(key), isLoaded: false };
    this.kept.set(key, made);
    made.layer.on("loading", () => (made.isLoaded = false));
    made.layer.on("load", () => {
      made.isLoaded = true;
      this.came.value += 1;
      if (this.wanted === key) this.turn();
    });
    made.layer.addTo(this.map);
    this.hide(made.layer, key !== this.seen);
    return made;
  }

  /** Puts the wanted picture in the place of the one that is seen, which would go on loading tiles out of sight. */
  private turn(): void {
    this.seen = this.wanted;
    for (const [key, { layer }] of this.kept) this.hide(layer, key !== this.seen);
    this.drop();
  }

  /** Drops what is neither seen nor needed. */
  private drop(): void {
    for (const [key, { layer }] of this.kept) {
      if (key === this.seen || this.needed.has(key)) continue;
      layer.remove();
      this.kept.delete(key);
    }
  }

  private hide(layer: L.GridLayer, isHidden: boolean): void {
    const box = layer.getContainer();
    if (box) box.style.visibility = isHidden ? "hidden" : "";
  }
}
