import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { toSvcError } from "../../http/errors.ts";
import type { Answer, Streamed } from "../../splice/answer.ts";
import type { RequestHead } from "../../splice/head.ts";
import { failureBody, jsonAnswer } from "./failure.ts";
import { formatOf, modelRoute } from "./paths.ts";

/** A request of the model gateway. */
export interface Seen {
  id: string;
  /** Milliseconds, of `performance.now()`. */
  started: number;
  head: RequestHead;
}

const FIXED_HEADERS = { "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store" } as const;

export interface Outcomes {
  /** Logs and counts a response, and adds the headers that all responses have. */
  finish<T extends Answer | Streamed>(seen: Seen, made: T): T;
  /** An error in the shape of the format. */
  refuse(cause: unknown, seen: Seen): Answer;
}

export function createOutcomes({ log, metrics }: Pick<Deps, "log" | "metrics">): Outcomes {
  return {
    finish({ id, started, head }, made) {
      const ms = performance.now() - started;
      const { method } = head;
      const { status } = made;
      const [path = ""] = head.target.split("?", 1);
      const route = modelRoute(path) ? path : "/v1/llm/*";
      metrics.requestSeconds.observe({ method, route, status }, ms / 1000);
      log.info({ request: id, method, route, status, ms: Math.round(ms) }, "answered");
      return { ...made, headers: { ...made.headers, "X-Request-Id": id, ...FIXED_HEADERS } };
    },
    refuse(cause, { id, head }) {
      const error = toSvcError(cause, "UNKNOWN", id);
      if (error.status >= 500 && !(cause instanceof SvcError))
        log.error({ request: id, err: error.code === "internal" ? cause : undefined }, error.message);
      return jsonAnswer(error.status, failureBody(formatOf(head.target), error, id), error.headers);
    },
  };
}
