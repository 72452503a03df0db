// A part of the page that comes when it is first shown: until then its outline, and if it does not come, why.
import { signal } from "@preact/signals";
import type { ComponentType, FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";

import { isOffline, returns } from "../api/client";
import { Skeleton, Trouble } from "./states";
import { word } from "./words";

export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): FunctionComponent<P> {
  const part = signal<{ readonly of?: ComponentType<P>; readonly trouble?: string }>({});
  const ask = () => {
    part.value = {};
    load().then(
      (of) => (part.value = { of }),
      (error: Error) => (part.value = { trouble: isOffline.peek() ? word("offline") : error.message }),
    );
  };
  return (props) => {
    const { of: Part, trouble } = part.value;
    useEffect(() => {
      if (!part.peek().of) ask();
    }, [returns.value]);
    if (Part) return <Part {...props} />;
    return trouble ? <Trouble text={trouble} retry={ask} /> : <Skeleton />;
  };
}
