import ipaddr from "ipaddr.js";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Lease } from "../../splice/connection.ts";

/** Visitors of public apps who have not signed in. */
export interface Strangers {
  /** Admits one request of a stranger, or a WebSocket until it ends. @throws rate_limited */
  enter(request: {
    appId: string;
    /** The name of the app that is requested, for `isOpen`. */
    place: string;
    /** The client's. */
    address: string;
    isWebSocket: boolean;
  }): Lease;
}

/** Limits on the requests and WebSockets that are open at once. */
export interface StrangerLimits {
  address: Limit;
  app: Limit;
}

interface Limit {
  requests: number;
  webSockets: number;
}

/** A page over HTTP/2 may send a hundred requests at once, and an office may have one address. */
const LIMITS: StrangerLimits = {
  address: { requests: 200, webSockets: 50 },
  app: { requests: 2_000, webSockets: 1_000 },
};
/** How often it is checked whether the apps with open requests are still public. */
const CHECK_MS = 2_000;
const RETRY_S = 5;

/** A network of one customer, which may use any address in it (RFC 6177). */
const V6_BITS = 64;

interface Visit {
  place: string;
  /** Null until the request is forwarded. */
  cut: (() => void) | null;
}

/**
 * Counts the requests of strangers, by address and by app, and ends those that are open when an app is closed to the public:
 * event streams, downloads and WebSockets would last for hours.
 * @param isOpen whether an app is public now
 */
export function createStrangers(
  { log }: Pick<Deps, "log">,
  isOpen: (place: string) => Promise<boolean>,
  limits = LIMITS,
): Strangers {
  const counts = new Map<string, number>();
  const visits = new Set<Visit>();
  let timer: ReturnType<typeof setInterval> | null = null;
  let isChecking = false;

  return {
    enter({ appId, place, address, isWebSocket }) {
      const what = isWebSocket ? "webSockets" : "requests";
      const keys = [
        { key: `${what} from ${networkOf(address)} to ${appId}`, max: limits.address[what] },
        { key: `${what} to ${appId}`, max: limits.app[what] },
      ];
      for (const { key, max } of keys) if ((counts.get(key) ?? 0) >= max) throw tooMany(isWebSocket);
      for (const { key } of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
      const visit: Visit = { place, cut: null };
      visits.add(visit);
      timer ??= setInterval(() => void check(), CHECK_MS);
      return {
        begin(cut) {
          visit.cut = cut;
        },
        end() {
          if (!visits.delete(visit)) return;
          for (const { key } of keys) lower(key);
          if (visits.size > 0 || timer === null) return;
          clearInterval(timer);
          timer = null;
        },
      };
    },
  };

  function lower(key: string): void {
    const count = (counts.get(key) ?? 1) - 1;
    if (count > 0) counts.set(key, count);
    else counts.delete(key);
  }

  async function check(): Promise<void> {
    if (isChecking) return;
    isChecking = true;
    try {
      for (const place of new Set([...visits].map((visit) => visit.place))) {
        if (await isOpen(place)) continue;
        for (const visit of visits) if (visit.place === place) visit.cut?.();
      }
    } catch (error) {
      log.warn({ err: error }, "cannot check whether apps are still public");
    } finally {
      isChecking = false;
    }
  }
}

/** An IPv4 address, or the network of an IPv6 address. */
function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${V6_BITS}`).toString();
}

function tooMany(isWebSocket: boolean): SvcError {
  const what = isWebSocket ? "WebSockets" : "requests";
  const sentence = `Too many ${what} are open at once from your address or to this app. Try again in a few seconds.`;
  return new SvcError("rate_limited", sentence, {}, { "Retry-After": String(RETRY_S) });
}
