/** The stream of events, as the HTML standard has it (9.2.6). */

/** An event of `live` of a client. */
export interface LiveEvent {
  /** The topic, or `resync`: what was shown must be fetched anew. */
  readonly topic: "readings" | "verdicts" | "alerts" | "runs" | "products" | "resync";
  /** What the operation of the topic would answer; of `resync` its `reason`. */
  readonly data: unknown;
  /** Where the stream goes on after this event: the `lastEventId` of another call. */
  readonly id: string;
}

/** What the pieces of a stream say. */
export class EventReader {
  readonly #decoder = new TextDecoder();
  #rest = "";
  #name = "";
  #data: string[] = [];
  #nextId: string;
  /** The id of the last event, also of one that only says where the stream is. */
  id: string;
  /** How long the service asks to wait before the next connection, in milliseconds. */
  retryMs = 3000;

  constructor(id: string) {
    this.id = id;
    this.#nextId = id;
  }

  /** The events that a piece ends. */
  *read(piece: Uint8Array): Generator<LiveEvent, void, undefined> {
    const text = this.#rest + this.#decoder.decode(piece, { stream: true });
    const lines = text.split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      const event = this.#line(line.replace(/\r$/, ""));
      if (event !== undefined) {
        yield event;
      }
    }
  }

  #line(line: string): LiveEvent | undefined {
    if (line !== "") {
      this.#field(line);
      return undefined;
    }
    const [name, data] = [this.#name, this.#data.join("\n")];
    [this.#name, this.#data] = ["", []];
    this.id = this.#nextId;
    if (data === "" || name === "position") {
      return undefined;
    }
    return { topic: name as LiveEvent["topic"], data: JSON.parse(data) as unknown, id: this.id };
  }

  #field(line: string): void {
    const colon = line.indexOf(":");
    const [name, rest] = colon < 0 ? [line, ""] : [line.slice(0, colon), line.slice(colon + 1)];
    const value = rest.startsWith(" ") ? rest.slice(1) : rest;
    if (name === "event") {
      this.#name = value;
    } else if (name === "data") {
      this.#data.push(value);
    } else if (name === "id" && !value.includes("\0")) {
      this.#nextId = value;
    } else if (name === "retry" && /^\d+$/.test(value)) {
      this.retryMs = Number(value);
    }
  }
}
