// Messages on a line of time: when each was in force, and what it gave way to.
import type { AlertFeature, AlertStatus } from "../api/types";
import { HOUR_MS } from "../domain/time";
import { elsewhere, short } from "../ui/clock";
import { word } from "../ui/words";
import { eventOf, whereOf } from "./events";
import { colourOfAlert, end_ms, followerOf, sent_ms, shownFor_ms, statusOf } from "./record";

const ROW = 18;
const WIDTH = 360;
/** Room for the number of a row. */
const LEFT = 20;
const RIGHT = 4;

/** The status of a message in words; one that is sent later than the time shown has none yet. */
export function statusWord(status: AlertStatus): string {
  return word(status === "Unknown" ? "NotHeard" : status);
}

/** Each message is a bar from when it was sent to when it gave way or ended; dashes lead to when it would have. */
export function Timeline({ name, messages, chosen }: { name: string; messages: readonly AlertFeature[]; chosen?: string }) {
  const known = messages.filter((one) => !Number.isNaN(sent_ms(one)));
  if (known.length === 0) return null;
  const now = shownFor_ms(known[0]!);
  const first = Math.min(...known.map(sent_ms));
  const ends = known.map((one) => end_ms(one) ?? sent_ms(one) + HOUR_MS);
  const last = Math.max(...ends, first + HOUR_MS);
  const x = (time: number) => ((time - first) / (last - first)) * (WIDTH - LEFT - RIGHT) + LEFT;
  const height = known.length * ROW;
  return (
    <svg class="timeline" viewBox={`0 0 ${WIDTH} ${height + 20}`} role="img" aria-label={`${name}: ${word("messageCount", known.length)}`}>
      {known.map((one, row) => {
        const next = followerOf(one);
        const own = ends[row]!;
        const until = next ? Math.max(Math.min(sent_ms(next), own), sent_ms(one)) : own;
        const [y, colour, below] = [row * ROW + 4, colourOfAlert(one), next ? known.indexOf(next) : -1];
        const isSent = sent_ms(one) <= now;
        return (
          <g key={one.id} opacity={chosen === undefined || one.id === chosen ? 1 : 0.6}>
            <text class="row" x={LEFT - 6} y={y + 9} text-anchor="end">
              {row + 1}
            </text>
            <title>{`${one.properties.alertHeadline} · ${statusWord(statusOf(one))}`}</title>
            <rect
              x={x(sent_ms(one))}
              y={y}
              width={Math.max(x(until) - x(sent_ms(one)), 3)}
              height={10}
              rx={2}
              fill={colour}
              fill-opacity={isSent ? 1 : 0.15}
              stroke={colour}
              stroke-width={isSent ? 0 : 1}
            />
            {own > until && <line x1={x(until)} x2={x(own)} y1={y + 5} y2={y + 5} stroke={colour} stroke-dasharray="3 3" />}
            {below > row && <path d={`M${x(until)} ${y + 10}V${below * ROW + 4}`} stroke={colour} fill="none" />}
          </g>
        );
      })}
      {now > first && now < last && (
        <g class="now">
          <title>{`${word("now")}: ${short(now)}`}</title>
          <line x1={x(now)} x2={x(now)} y1={0} y2={height} />
        </g>
      )}
      <text x={LEFT} y={height + 16}>
        {short(first)}
      </text>
      <text x={WIDTH - RIGHT} y={height + 16} text-anchor="end">
        {short(last)}
      </text>
    </svg>
  );
}

/** A time with that of other clocks in its tip. */
export function Time({ text }: { text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <time dateTime={text} title={elsewhere(Date.parse(text))}>
      {short(Date.parse(text))}
    </time>
  );
}

export interface MessagesProps {
  readonly messages: readonly AlertFeature[];
  readonly chosen?: string;
  /** The state of a message, where it is not that of the whole. */
  readonly stateOf?: (one: AlertFeature) => AlertStatus;
  readonly onPick: (id: string) => void;
}

/** The messages as a list: what, when, where and until when. Each is a step that can be opened. */
export function Messages({ messages, chosen, stateOf = statusOf, onPick }: MessagesProps) {
  return (
    <ol class="messages">
      {messages.map((message, at) => {
        const [next, end] = [followerOf(message), end_ms(message)];
        return (
          <li key={message.id} aria-current={message.id === chosen ? "step" : undefined}>
            <button type="button" class="text" onClick={() => onPick(message.id)} style={`--alert:${colourOfAlert(message)}`}>
              <b>{eventOf(message)}</b>
              <span class="quiet">
                {at + 1} · <Time text={message.properties.sent} /> · {word(message.properties.messageType)} {statusWord(stateOf(message))}
              </span>
              <small>
                {[whereOf(message), end !== undefined && word("until", short(end))].filter(Boolean).join(" · ")}
                {next && (
                  <>
                    {" "}
                    · {word("supersededBy")} <Time text={next.properties.sent} />
                  </>
                )}
              </small>
            </button>
          </li>
        );
      })}
    </ol>
  );
}
