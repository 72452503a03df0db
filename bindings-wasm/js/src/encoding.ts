// Converts documents in any encoding to UTF-8. The module reads only UTF-8: the tables of other
// encodings are larger than its readers, and every platform has them.
import { attached } from "./check.js";
import { MesonetError } from "./error.js";

/** Number of bytes from the start within which a declaration is looked for. */
const START_BYTES = 512;

/**
 * A text as UTF-8. If the document declares another encoding, it was decoded already: the byte
 * order mark says that the declaration no longer holds.
 */
export function encoded(text: string, what: string): Uint8Array {
  const marked = text.startsWith("<?xml") ? `\ufeff${text}` : text;
  return attached(new TextEncoder().encode(marked), what);
}

/**
 * A document as UTF-8. The byte order mark gives the encoding, or else the declaration; the default
 * is UTF-8, which is returned unchanged.
 *
 * @throws {MesonetError} for an unknown encoding, and for bytes that are invalid in the encoding.
 */
export function unicode(bytes: Uint8Array, what: string): Uint8Array {
  const wide = wideEncodingOf(bytes);
  const label = wide ?? declaredEncodingOf(bytes);
  if (label === undefined || /^utf-?8$/i.test(label)) {
    return bytes;
  }
  const decoder = decoderOf(label, what);
  // A declaration that can be read is not in a two-byte encoding, whatever it says.
  const isMistaken = wide === undefined && decoder.encoding.startsWith("utf-16");
  return encoded(decoded(bytes, isMistaken ? decoderOf("utf-8", what) : decoder, what), what);
}

function decoderOf(label: string, what: string): TextDecoder {
  try {
    return new TextDecoder(label, { fatal: true });
  } catch {
    throw new MesonetError(`${what}: its encoding "${label}" is not known`);
  }
}

function decoded(bytes: Uint8Array, decoder: TextDecoder, what: string): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new MesonetError(`${what} has bytes that are not ${decoder.encoding}`);
  }
}

/** The two-byte encoding that the start of a document shows. */
function wideEncodingOf([first, second, third, fourth]: Uint8Array): string | undefined {
  if ((first === 0xff && second === 0xfe) || (first === 0x3c && second === 0 && third !== 0 && fourth === 0)) {
    return "utf-16le";
  }
  if ((first === 0xfe && second === 0xff) || (first === 0 && second === 0x3c && third === 0 && fourth !== 0)) {
    return "utf-16be";
  }
  return undefined;
}

/** The encoding that the declaration of a document names. */
function declaredEncodingOf(bytes: Uint8Array): string | undefined {
  if (bytes[0] !== 0x3c || bytes[1] !== 0x3f) {
    return undefined;
  }
  const start = String.fromCharCode(...bytes.subarray(0, START_BYTES));
  return /^<\?xml(?:(?!\?>).)*?encoding\s*=\s*(["'])(.*?)\1/s.exec(start)?.[2];
}
