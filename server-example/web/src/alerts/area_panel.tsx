// The alerts of an area: what was in force when, and what gave way to what.
import { loading } from "../api/client";
import { Skeleton } from "../ui/states";
import { word } from "../ui/words";
import { openAlert } from "../view";
import { alerts, areaIn, messagesFor, statusOf } from "./record";
import { Messages, Timeline } from "./timeline";

export function AreaPanel({ code }: { code: string }) {
  const messages = messagesFor(code);
  const own = messages.map((one) => areaIn(one, code)).find((one) => one !== undefined);
  if (!alerts.value) return loading.value.size > 0 ? <Skeleton lines={6} /> : null;
  if (!own) return <p class="quiet">{word("noAlertsHere", code)}</p>;
  const stateIn = (one: (typeof messages)[number]) => areaIn(one, code)?.status ?? statusOf(one);
  const inForce = messages.filter((one) => stateIn(one) === "Active").length;
  return (
    <article class="area">
      <header>
        <h2>{own.description}</h2>
        <p class="quiet">
          {code} · {word("activeAlerts", inForce, messages.length)}
        </p>
      </header>
      <section>
        <h3>{word("areaTimeline")}</h3>
        <Timeline name={own.description} messages={messages} />
        <Messages
          messages={messages}
          stateOf={stateIn}
          onPick={openAlert}
        />
      </section>
    </article>
  );
}
