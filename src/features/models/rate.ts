import type { Config } from "../../config.ts";
import { SvcError } from "../../contract/errors.ts";
import type { KeyHolder } from "./key.ts";
import { SERVER_CALLS_MAX, SESSION_CALLS_MAX } from "./limits.ts";

const MINUTE_MS = 60_000;

/** The limits on how often, and how many at once, the models are called through this server. */
export interface Rate {
  /** Counts a request. @throws rate_limited, with `Retry-After` */
  count(holder: KeyHolder): void;
  /** Counts a call in progress, until the returned function is called. @throws rate_limited, unavailable */
  enter(holder: KeyHolder): () => void;
}

export function createRate(rates: Config["modelRates"], clock: () => Date): Rate {
  /** The requests of the current minute, by session or project. */
  let counts = new Map<string, number>();
  let minute = 0;
  const open = new Map<string, number>();
  let all = 0;

  function countOne(id: string, max: number, what: string): void {
    const now = clock().getTime();
    if (Math.floor(now / MINUTE_MS) !== minute) {
      minute = Math.floor(now / MINUTE_MS);
      counts = new Map();
    }
    const count = (counts.get(id) ?? 0) + 1;
    if (count > max) {
      const seconds = Math.ceil(((minute + 1) * MINUTE_MS - now) / 1000);
      throw limited(`${what} may make ${max} requests a minute. Try again in ${seconds} s.`, seconds, max);
    }
    counts.set(id, count);
  }

  return {
    count({ sessionId, projectId }) {
      countOne(sessionId, rates.session, "A session");
      countOne(projectId, rates.project, "A project");
    },
    enter({ sessionId }) {
      const mine = open.get(sessionId) ?? 0;
      if (mine >= SESSION_CALLS_MAX)
        throw limited(`A session may have ${SESSION_CALLS_MAX} calls in progress.`, 1, SESSION_CALLS_MAX);
      if (all >= SERVER_CALLS_MAX) {
        const sentence = "This server has too many model calls in progress. Try again.";
        throw new SvcError("unavailable", sentence, {}, { "Retry-After": "1" });
      }
      open.set(sessionId, mine + 1);
      all++;
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        all--;
        const left = (open.get(sessionId) ?? 1) - 1;
        if (left > 0) open.set(sessionId, left);
        else open.delete(sessionId);
      };
    },
  };
}

function limited(message: string, seconds: number, max: number): SvcError {
  const headers = {
    "Retry-After": String(Math.max(seconds, 1)),
    "X-RateLimit-Limit": String(max),
    "X-RateLimit-Remaining": "0",
  };
  return new SvcError("rate_limited", message, {}, headers);
}
