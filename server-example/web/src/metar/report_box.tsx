// A box for the text of a METAR or SPECI, and beside each of its groups what it says. A report of the station is put
// into it by a button; any other can be pasted.
import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import { Trouble } from "../ui/states";
import { word } from "../ui/words";
import type { Line } from "./decode";

/** The box; `given` is the report to show, in an object of its own each time. */
export function ReportBox({ given }: { given: Signal<{ readonly text: string } | undefined> }) {
  const box = useRef<HTMLDetailsElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const state = useSignal<{ lines?: () => readonly Line[]; trouble?: string }>({});
  const read = async () => {
    const text = field.current?.value.trim() ?? "";
    if (text === "") {
      state.value = {};
      return;
    }
    try {
      const { decode } = await import("./decode");
      state.value = { lines: await decode(text) };
    } catch (error) {
      state.value = { trouble: (error as Error).message };
    }
  };
  const chosen = given.value;
  useEffect(() => {
    if (!chosen || !field.current || !box.current) return;
    field.current.value = chosen.text;
    box.current.open = true;
    box.current.scrollIntoView({ block: "nearest" });
    void read();
  }, [chosen]);
  const { lines, trouble } = state.value;
  return (
    <details class="report" ref={box}>
      <summary>{word("readReport")}</summary>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void read();
        }}
      >
        <label>
          {word("reportText")}
          <textarea
            ref={field}
            id="report"
            rows={3}
            spellcheck={false}
            autocomplete="off"
            aria-invalid={trouble !== undefined}
            onPaste={() => setTimeout(() => void read())}
            onKeyDown={(event) => {
              if (event.key !== "Enter" || event.shiftKey) return;
              event.preventDefault();
              void read();
            }}
          />
        </label>
        <button type="submit">{word("decode")}</button>
      </form>
      {trouble && <Trouble text={trouble} />}
      {lines && <Lines all={lines()} />}
    </details>
  );
}

function Lines({ all }: { all: readonly Line[] }) {
  return (
    <table class="groups">
      <thead class="hidden">
        <tr>
          <th scope="col">{word("groups")}</th>
          <th scope="col">{word("meaning")}</th>
        </tr>
      </thead>
      <tbody>
        {all.map(({ groups, about, text }, at) => (
          <tr key={at} class={about === "" ? "quiet" : ""}>
            <th scope="row">
              <code>{groups}</code>
            </th>
            <td>
              {about && <b>{about}</b>} {text}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
