// Documents in any encoding as UTF-8. The module reads UTF-8 alone: the tables of the others are larger than
// its readers, and every platform has them.
import { MesonetError } from "./error.js";

/** Number of bytes from the start within which a declaration is looked for. */
const START_BYTES = 512;

/**
 * A text as UTF-8. A document that declares another encoding was decoded already: the byte order mark says
 * that the declaration does not hold any more.
 */
export function encoded(text: string): Uint8Array {
  return new TextEncoder().encode(text.startsWith("<?xml") ? `\ufeff${text}` : text);
}

/**
 * A document as UTF-8. Its encoding is that of its byte order mark, else the one that it declares, else
 * UTF-8, which is returned as it is.
 *
 * @throws {MesonetError} for an encoding that is not known, and for bytes that are not in it.
 */
export function unicode(bytes: Uint8Array): Uint8Array {
  const label = encodingOf(bytes);
  if (label === undefined) {
    return bytes;
  }
  let decoder;
  try {
    decoder = new TextDecoder(label, { fatal: true });
  } catch {
    throw new MesonetError(`its encoding "${label}" is not known`);
  }
  try {
    return encoded(decoder.decode(bytes));
  } catch {
    throw new MesonetError(`it has bytes that are not ${label}`);
  }
}

/** The encoding of a document by its start, unless it is UTF-8. */
function encodingOf(bytes: Uint8Array): string | undefined {
  const [first, second, third, fourth] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0x3c && second === 0 && third !== 0 && fourth === 0)) {
    return "utf-16le";
  }
  if ((first === 0xfe && second === 0xff) || (first === 0 && second === 0x3c && third === 0 && fourth !== 0)) {
    return "utf-16be";
  }
  if (first !== 0x3c || second !== 0x3f) {
    return undefined;
  }
  const start = String.fromCharCode(...bytes.subarray(0, START_BYTES));
  const label = /^<\?xml(?:(?!\?>).)*?encoding\s*=\s*(["'])(.*?)\1/s.exec(start)?.[2]!;
  // A declaration that can be read is in no encoding of two bytes, whatever it says.
  return label === undefined || /^(utf-?8|(us-)?ascii|utf-16(le|be)?|(iso-10646-)?ucs-2|(cs)?unicode)$/i.test(label)
    ? undefined
    : label;
}
