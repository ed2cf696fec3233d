import { randomUUID } from "node:crypto";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { methodNotAllowed } from "../../http/methods.ts";
import { routesTo } from "../../models/catalog.ts";
import type { Answer, Streamed } from "../../splice/answer.ts";
import type { Decision } from "../../splice/connection.ts";
import type { RequestHead } from "../../splice/head.ts";
import { type Call, startCall } from "./call.ts";
import { createKeyFinder, type HeldKey } from "./key.ts";
import { BODY_MAX, FIRST_BYTE_MS } from "./limits.ts";
import { listModels } from "./list-models.ts";
import { createOutcomes, type Seen } from "./outcomes.ts";
import { sendShort } from "./pass-whole.ts";
import { methodOf, modelRoute } from "./paths.ts";
import { createRate } from "./rate.ts";
import { createRecorder } from "./record.ts";
import { readModelRequest } from "./request-body.ts";
import { type Outgoing, send } from "./send.ts";
import { createUpstreamFinder } from "./stored-upstreams.ts";

export interface ModelGateway {
  /** Decides about a request with an `isModelPath` path. */
  decide: (head: RequestHead) => Promise<Decision>;
  /** An error of HTTP itself, in the shape of the path's format. */
  explain(error: unknown, head: RequestHead): Answer;
  /** Ends the calls in progress, and waits until they are recorded. */
  close(): Promise<void>;
}

/**
 * The model gateway (contract: Models): `/v1/llm`. It passes requests and responses through as they are, and measures
 * them. The splice accepts the requests, and the responses are written to its connections: the framework would parse and
 * buffer them, and each event of a stream would pass two sockets more.
 *
 * 1. The key names the session; the rate is checked before the body is read.
 * 2. The body names the model. Only its upstreams' name for it, and the option by which OpenAI's format reports the usage
 *    of a stream, are edited into the bytes (`request-body.ts`).
 * 3. The call is recorded, if the key is still valid and no budget is used up (`record.ts`), then sent (`send.ts`): another upstream is tried only before the first byte.
 * 4. `call.ts` passes the response on, and `meter.ts` reads the usage from it. The end of the response follows the record.
 */
export function createModelGateway(deps: Deps): ModelGateway {
  const rate = createRate(deps.config.modelRates, deps.clock);
  const findKeyHolder = createKeyFinder(deps);
  const findUpstreams = createUpstreamFinder(deps);
  const recorder = createRecorder(deps);
  const { finish, refuse } = createOutcomes(deps);
  const calls = new Set<Call>();

  async function decide(head: RequestHead): Promise<Decision> {
    const seen: Seen = { id: randomUUID(), started: performance.now(), head };
    const [path = ""] = head.target.split("?", 1);
    const route = modelRoute(path);
    const header = headerOf(head);
    try {
      const holder = await findKeyHolder(header);
      if (!route)
        throw new SvcError(
          "not_found",
          "The model gateway has no such route. See docs/models.md for those it has.",
        );
      if (head.method !== methodOf(route)) throw methodNotAllowed([methodOf(route)]);
      rate.count(holder);
      return {
        maxBytes: BODY_MAX,
        async handle(body, signal) {
          const outgoing = { route, query: head.target.slice(path.length), header, signal };
          try {
            return finish(seen, await answer(holder, body, outgoing));
          } catch (error) {
            if (signal.aborted) return { status: 499 };
            return finish(seen, refuse(error, seen));
          }
        },
      };
    } catch (error) {
      return { answer: finish(seen, refuse(error, seen)) };
    }
  }

  async function answer(
    holder: HeldKey,
    bytes: Uint8Array<ArrayBuffer>,
    outgoing: Omit<Outgoing, "bodyFor" | "firstByteMs">,
  ): Promise<Answer | Streamed> {
    const { route, signal } = outgoing;
    const leave = rate.enter(holder);
    let call: Call | null = null;
    try {
      const upstreams = await findUpstreams(holder.projectId);
      if (route.kind === "models") return await listModels(deps, upstreams, outgoing);
      const body = readModelRequest(route, bytes);
      const routes = routesTo(upstreams, route.format, body.model);
      const [first] = routes;
      if (!first) throw unknownModel(body.model);
      const { bodyFor } = body;
      if (route.kind === "count_tokens") return await sendShort(deps, routes, { ...outgoing, bodyFor });
      const request = { hash: holder.hash, body, route, prices: first.model.prices };
      call = await startCall({ log: deps.log, recorder }, request);
      calls.add(call);
      void call.over.then(leave).then(() => call && calls.delete(call));
      const sending = { ...outgoing, bodyFor, firstByteMs: FIRST_BYTE_MS };
      return await call.pass(signal, (ended) => send(deps, routes, { ...sending, signal: ended }));
    } finally {
      // a call that has begun leaves when it is over
      if (call === null) leave();
    }
  }

  return {
    decide,
    explain(error, head) {
      const seen: Seen = { id: randomUUID(), started: performance.now(), head };
      return finish(seen, refuse(error, seen));
    },
    async close() {
      for (const call of calls) call.abort();
      await Promise.all([...calls].map(({ over }) => over));
    },
  };
}

function unknownModel(model: string): SvcError {
  const name = model.replace(/[^\x20-\x7e]/g, "?");
  return new SvcError(
    "model_not_found",
    `The model "${name}" does not exist at this gateway. GET the models of this base URL for those that do.`,
  );
}

/** Reads header fields; a field that is given several times is a list (RFC 9110, 5.3). */
function headerOf({ fields }: RequestHead): (name: string) => string | null {
  return (name) => {
    const values = fields.filter(({ key }) => key === name).map(({ value }) => value);
    return values.length > 0 ? values.join(", ") : null;
  };
}
