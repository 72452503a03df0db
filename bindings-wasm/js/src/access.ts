import { flag, milliseconds, text } from "./check.js";
import { refusing } from "./error.js";
import type { PlanName } from "./generated/names.js";
import type { Raw } from "./raw.js";

/** The access of a caller to one product. */
export interface ProductAccess {
  /** Whether the caller may use it. */
  allowed: boolean;
  /** The lowest plan that may use it. */
  requires: PlanName;
  /**
   * The standing needed in addition to the plan, such as `staff`; `none` if no standing is needed.
   */
  requiresStanding: string;
}

/** What a caller may use. */
export interface Capabilities {
  /** The access by id of the product, such as `historical.bulk`. */
  products: Record<string, ProductAccess>;
  /** Limits in milliseconds; null for none. */
  limits: {
    /** The longest window: end − start. */
    maxWindowMs: number | null;
    /** How far back a window may end: now − end. */
    maxReachMs: number | null;
  };
}

/** Plans. */
export interface AccessFunctions {
  /**
   * Checks a window against the lookback of a plan, as the service does: its length, and how far
   * back it ends. Times are whole milliseconds since 1970.
   *
   * @param plan By default `none`. @param nowMs By default the present.
   * @throws {MesonetError} for a window beyond a limit, which the message names, and for an unknown
   * plan.
   */
  checkLookback(startMs: number, endMs: number, plan?: PlanName, nowMs?: number): void;
  /**
   * What a caller on a plan may use in the observation service, as `/api/v1/capabilities` answers.
   *
   * @param plan By default `none`. @throws {MesonetError} for an unknown plan.
   */
  capabilities(plan?: PlanName, options?: { readonly staff?: boolean }): Capabilities;
}

export function accessFunctions(raw: Raw): AccessFunctions {
  return {
    checkLookback(startMs, endMs, plan = "none", nowMs = Date.now()) {
      const window = [milliseconds(startMs, "startMs"), milliseconds(endMs, "endMs")] as const;
      const [now, name] = [milliseconds(nowMs, "nowMs"), text(plan, "plan")];
      refusing(() => raw.check_lookback(...window, now, name));
    },
    capabilities(plan = "none", { staff = false } = {}) {
      const [name, isStaff] = [text(plan, "plan"), flag(staff, "staff")];
      const told = refusing(() => raw.products(name, isStaff));
      const products: Capabilities["products"] = {};
      for (let at = 0; at < told.length; at += 4) {
        const [id, allowed, requires, requiresStanding] = told.slice(at, at + 4) as [
          ...[id: string, allowed: string, requires: PlanName, requiresStanding: string],
        ];
        products[id] = { allowed: allowed === "true", requires, requiresStanding };
      }
      const [maxWindowMs, maxReachMs] = Array.from(raw.limits(name), (limit) =>
        Number.isNaN(limit) ? null : limit,
      ) as [number | null, number | null];
      return { products, limits: { maxWindowMs, maxReachMs } };
    },
  };
}
