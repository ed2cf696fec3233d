import { randomUUID } from "node:crypto";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { readBounded } from "../../http/body.ts";
import { toSvcError } from "../../http/errors.ts";
import { methodNotAllowed } from "../../http/methods.ts";
import { routesTo } from "../../models/catalog.ts";
import { type Call, startCall } from "./call.ts";
import { failureBody } from "./failure.ts";
import { createKeyFinder } from "./key.ts";
import { BODY_MAX, FIRST_BYTE_MS, SHORT_MS } from "./limits.ts";
import { listModels } from "./list-models.ts";
import { passWhole } from "./pass-whole.ts";
import { formatOf, type ModelRoute, methodOf, modelRoute } from "./paths.ts";
import { createRate } from "./rate.ts";
import { createRecorder } from "./record.ts";
import { readModelRequest } from "./request-body.ts";
import { send } from "./send.ts";

export interface ModelGateway {
  /** Answers a request with an `isModelPath` path. */
  handle(request: Request): Promise<Response>;
  /** Ends the calls in progress, and waits until they are recorded. */
  close(): Promise<void>;
}

/**
 * The model gateway (contract: Models): `/v1/llm`. It passes requests and responses through as they are, and measures
 * them. It bypasses the framework, which would parse and buffer them.
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
  const recorder = createRecorder(deps);
  const calls = new Set<Call>();

  async function handle(request: Request): Promise<Response> {
    const id = randomUUID();
    const started = performance.now();
    const { pathname } = new URL(request.url);
    const route = modelRoute(pathname);
    const response = await answer(request, route).catch((error: unknown) =>
      request.signal.aborted ? new Response(null, { status: 499 }) : refuse(deps, pathname, error, id),
    );
    response.headers.set("X-Request-Id", id);
    response.headers.set("X-Content-Type-Options", "nosniff");
    response.headers.set("Cache-Control", "no-store");
    const ms = performance.now() - started;
    const { method } = request;
    const { status } = response;
    const name = route ? pathname : "/v1/llm/*";
    deps.metrics.requestSeconds.observe({ method, route: name, status }, ms / 1000);
    deps.log.info({ request: id, method, route: name, status, ms: Math.round(ms) }, "answered");
    return response;
  }

  async function answer(request: Request, route: ModelRoute | null): Promise<Response> {
    const holder = await findKeyHolder(request.headers);
    if (!route)
      throw new SvcError(
        "not_found",
        "The model gateway has no such route. See docs/models.md for those it has.",
      );
    if (request.method !== methodOf(route)) throw methodNotAllowed([methodOf(route)]);
    rate.count(holder);
    const { search: query } = new URL(request.url);
    const outgoing = { route, query, headers: request.headers, signal: request.signal };
    if (route.kind === "models") return await listModels(deps, outgoing);
    const leave = rate.enter(holder);
    let call: Call | null = null;
    try {
      const body = readModelRequest(route, await readBounded(request, BODY_MAX));
      const routes = routesTo(deps.models.upstreams(), route.format, body.model);
      const [first] = routes;
      if (!first) throw unknownModel(body.model);
      const { bodyFor } = body;
      if (route.kind === "count_tokens") {
        return await passWhole(await send(deps, routes, { ...outgoing, bodyFor, firstByteMs: SHORT_MS }));
      }
      call = await startCall(
        { log: deps.log, recorder },
        { hash: holder.hash, body, route, prices: first.model.prices },
      );
      calls.add(call);
      void call.over.then(leave).then(() => call && calls.delete(call));
      const sending = { ...outgoing, bodyFor, firstByteMs: FIRST_BYTE_MS };
      return await call.pass(request.signal, (signal) => send(deps, routes, { ...sending, signal }));
    } finally {
      // a call that has begun leaves when it is over
      if (call === null) leave();
    }
  }

  return {
    handle,
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

function refuse(deps: Deps, path: string, cause: unknown, id: string): Response {
  const error = toSvcError(cause, "UNKNOWN", id);
  if (error.status >= 500 && !(cause instanceof SvcError))
    deps.log.error({ request: id, err: error.code === "internal" ? cause : undefined }, error.message);
  const { status, headers } = error;
  return Response.json(failureBody(formatOf(path), error, id), { status, headers });
}
