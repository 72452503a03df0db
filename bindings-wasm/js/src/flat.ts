// Reads what `flat.rs` writes into the memory of WebAssembly: numbers one after the other, and one
// text with all the texts. Members must be read in the order in which they are declared in Rust.

/** A module that writes values into its memory. */
interface Writer {
  linear_memory(): unknown;
}

export class FlatReader {
  readonly #memory: WebAssembly.Memory;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #numbers = new Float64Array(0);
  #bytes = new Uint8Array(0);
  #at = 0;
  #texts = "";
  #begin = 0;

  constructor(raw: Writer) {
    this.#memory = raw.linear_memory() as WebAssembly.Memory;
  }

  /** Begins with the value at an address. */
  start(address: number): void {
    if (this.#numbers.length === 0) {
      // The first time, and after the memory grew.
      this.#numbers = new Float64Array(this.#memory.buffer);
      this.#bytes = new Uint8Array(this.#memory.buffer);
    }
    const at = address / Float64Array.BYTES_PER_ELEMENT;
    const from = this.#numbers[at]!;
    this.#texts = this.#decoder.decode(this.#bytes.subarray(from, from + this.#numbers[at + 1]!));
    this.#begin = 0;
    this.#at = at + 2;
  }

  number(): number {
    return this.#numbers[this.#at++]!;
  }

  numberOrNull(): number | null {
    const number = this.#numbers[this.#at++]!;
    return Number.isNaN(number) ? null : number;
  }

  flag(): boolean {
    return this.#numbers[this.#at++] === 1;
  }

  text<T extends string>(): T {
    const begin = this.#begin;
    this.#begin += this.#numbers[this.#at++]!;
    return this.#texts.slice(begin, this.#begin) as T;
  }

  textOrNull<T extends string>(): T | null {
    if (Number.isNaN(this.#numbers[this.#at]!)) {
      this.#at += 1;
      return null;
    }
    return this.text<T>();
  }

  /** Whether there is an object, whose members come next. */
  isObject(): boolean {
    return this.#numbers[this.#at++] === 1;
  }

  list<T>(read: (of: FlatReader) => T): T[] {
    const length = this.#numbers[this.#at++]!;
    if (length === 0) {
      return [];
    }
    // Pushed to an empty array, the first element would make room for seventeen.
    const list = new Array<T>(length);
    for (let at = 0; at < length; at += 1) {
      list[at] = read(this);
    }
    return list;
  }

  texts<T extends string>(): T[] {
    return this.list(text) as T[];
  }
}

const text = (of: FlatReader): string => of.text();
