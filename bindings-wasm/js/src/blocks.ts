import { array, object, text, uint32, uint8Array } from "./check.js";
import { MesonetError, refusing } from "./error.js";
import type { Raw } from "./grid.js";

/** What Zarr says of the chunks of an array. */
export interface ChunkMetadata {
  /** The type of the integers: `int16`. */
  readonly dataType: string;
  /** The shape of a chunk; rows and columns are the last two axes, and multiples of 16. */
  readonly shape: readonly number[];
}

/** A chunk of integers, row by row. */
export interface Chunk {
  data: Int16Array;
  shape: number[];
  stride: number[];
}

/** The codec of the chunks of one array. */
export interface BlocksCodec {
  readonly kind: "array_to_bytes";
  /** @throws {MesonetError} for bytes that are not such a chunk. */
  decode(bytes: Uint8Array): Chunk;
  /** @throws {MesonetError} always: model runs are read here, not written. */
  encode(): never;
}

/** The codec `mesonet.blocks` of model runs, as zarrita takes codecs. */
export interface Blocks {
  /** The name of the codec in Zarr, `mesonet.blocks`. */
  readonly codecName: string;
  /**
   * The codec of an array.
   *
   * @throws {MesonetError} for a configuration, of which the codec has none, and for chunks that it
   * does not take.
   */
  fromConfig(configuration: unknown, metadata: ChunkMetadata): BlocksCodec;
}

export function blocksOf(raw: Raw): Blocks {
  const codecName = raw.blocks_codec();
  return Object.freeze({ codecName, fromConfig });

  function fromConfig(configuration: unknown, metadata: ChunkMetadata): BlocksCodec {
    const members = Object.keys(object(configuration ?? {}, "configuration"));
    if (members.length > 0) {
      throw new MesonetError(`${codecName} has no configuration; got ${members.join(", ")}`);
    }
    const { dataType, shape: axes } = object(metadata, "metadata");
    if (text(dataType, "dataType") !== "int16") {
      throw new MesonetError(`${codecName} takes arrays of int16; got ${dataType}`);
    }
    const shape = array(axes, "shape").map((length) => uint32(length, "length of an axis"));
    if (shape.length < 2) {
      throw new MesonetError(`${codecName} takes arrays of two or more axes; got ${shape.length}`);
    }
    const [rows, columns] = shape.slice(-2) as [number, number];
    const planes = shape.slice(0, -2).reduce((product, length) => product * length, 1);
    uint32(planes, "number of planes");
    const stride = shape.map((_, axis) => shape.slice(axis + 1).reduce((one, more) => one * more, 1));

    return Object.freeze({
      kind: "array_to_bytes" as const,
      decode(bytes: Uint8Array): Chunk {
        const checked = uint8Array(bytes, "bytes");
        const data = refusing(() => raw.decode_blocks(checked, planes, rows, columns));
        return { data, shape: [...shape], stride: [...stride] };
      },
      encode(): never {
        throw new MesonetError(`${codecName} is only read here; the server and the wheel write it`);
      },
    });
  }
}
