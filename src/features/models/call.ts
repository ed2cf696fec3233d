import { SvcError } from "../../contract/errors.ts";
import type { TokensUsed } from "../../contract/usage.ts";
import type { Deps } from "../../deps.ts";
import type { Prices } from "../../models/catalog.ts";
import type { Answer, Streamed } from "../../splice/answer.ts";
import { CALL_MS, SILENCE_MS } from "./limits.ts";
import { type Meter, meterStream, meterWhole } from "./meter.ts";
import { createPace } from "./pace.ts";
import { passWhole } from "./pass-whole.ts";
import type { ModelRoute } from "./paths.ts";
import type { CallEnd, Recorder } from "./record.ts";
import type { ModelRequest } from "./request-body.ts";
import { responseHeaders, type Sent, type UpstreamBody } from "./send.ts";
import { costOf } from "./usage-of.ts";

/** A call of a model, from its record to the end of its response. */
export interface Call {
  /** Resolves when its end is recorded. */
  over: Promise<void>;
  abort(): void;
  /** Sends it, and passes the response on. @param client aborted when the client has gone */
  pass(client: AbortSignal, send: (signal: AbortSignal) => Promise<Sent>): Promise<Answer | Streamed>;
}

interface CallRequest {
  /** The hash of the key. */
  hash: string;
  body: ModelRequest;
  route: ModelRoute;
  /** Of the upstream that is tried first. */
  prices: Prices | null;
}

const NO_TOKENS: TokensUsed = { input: 0, output: 0, cached: 0 };
const NOTHING: Omit<CallEnd, "state"> = { upstream: null, status: null, tokens: NO_TOKENS, cost: 0 };

/** Records that a call begins. @throws what `Recorder.begin` throws */
export async function startCall(
  { log, recorder }: Pick<Deps, "log"> & { recorder: Recorder },
  { hash, body, route, prices }: CallRequest,
): Promise<Call> {
  const prompt = { ...NO_TOKENS, input: body.estimatedInput };
  const estimate = costOf(prices, prompt);
  const callId = await recorder.begin({ hash, model: body.model, estimate });
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const stop = new AbortController();
  const limit = setTimeout(() => stop.abort(), CALL_MS);
  let ending: Promise<void> | null = null;

  function end(how: CallEnd): Promise<void> {
    ending ??= recorder
      .end(callId, how)
      .catch((error: unknown) => log.error({ err: error }, "cannot record the end of a model's call"))
      .finally(() => {
        clearTimeout(limit);
        resolve();
      });
    return ending;
  }

  async function pass(
    client: AbortSignal,
    send: (signal: AbortSignal) => Promise<Sent>,
  ): Promise<Answer | Streamed> {
    client.addEventListener("abort", () => stop.abort(), { once: true });
    if (client.aborted) stop.abort();
    let sent: Sent;
    try {
      sent = await send(stop.signal);
    } catch (error) {
      // an upstream that did not answer in time may have read the prompt
      const isUnused = error instanceof SvcError && error.code === "model_unreachable";
      await end(
        isUnused ? { state: "complete", ...NOTHING } : { state: "incomplete", ...NOTHING, cost: estimate },
      );
      throw error;
    }
    const { response, body: upstreamBody, via } = sent;
    const { status } = response;
    const upstream = via.upstream.id;
    if (status >= 400) {
      const answer = await passWhole(sent, stop.signal);
      await end({ state: "complete", ...NOTHING, upstream, status });
      return answer;
    }
    const isStream = /^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "");
    const meter = isStream ? meterStream({ hides: body.addsUsage, kind: route.kind }) : meterWhole();
    const finish = () => end({ ...measured(meter, via.model.prices, body.estimatedInput), upstream, status });
    stop.signal.addEventListener("abort", () => {
      sent.abort();
      void finish();
    });
    if (stop.signal.aborted) sent.abort();
    const noted = (tokens: TokensUsed) => recorder.note(callId, tokens);
    return {
      status,
      headers: responseHeaders(response, via.upstream),
      pump: (write) => passOn(upstreamBody, write, { meter, finish, noted, stop, log }),
    };
  }

  return { over, abort: () => stop.abort(), pass };
}

/** What a response has used: as reported, or, for what was not reported, with an estimated cost. */
function measured(
  { usage, isFinal, estimatedOutput }: Meter,
  prices: Prices | null,
  estimatedInput: number,
): Pick<CallEnd, "state" | "tokens" | "cost"> {
  const tokens = usage ?? NO_TOKENS;
  if (isFinal) return { state: "complete", tokens, cost: costOf(prices, tokens) };
  const estimated = {
    input: tokens.input > 0 ? tokens.input : estimatedInput,
    output: Math.max(tokens.output, estimatedOutput),
    cached: tokens.cached,
  };
  return { state: "incomplete", tokens, cost: costOf(prices, estimated) };
}

interface Passing {
  meter: Meter;
  finish(): Promise<void>;
  noted(tokens: TokensUsed): Promise<void>;
  stop: AbortController;
  log: Deps["log"];
}

/** How often a pause within a response is checked: a timer for each event would cost more than the event. */
const SILENCE_CHECK_MS = 10_000;

/** Passes the body on: its end follows the record of the usage. */
async function passOn(
  body: UpstreamBody,
  write: (bytes: Uint8Array) => Promise<void> | null,
  { meter, finish, noted, stop, log }: Passing,
): Promise<void> {
  let heardAt = performance.now();
  const pace = createPace();
  const silence = setInterval(() => {
    if (performance.now() - heardAt > SILENCE_MS) stop.abort();
  }, SILENCE_CHECK_MS);
  let isNoted = false;
  try {
    for (;;) {
      const { done, value } = await body.next();
      heardAt = performance.now();
      const pieces = value ? meter.push(value) : meter.end();
      if (meter.isFinal || done) {
        await finish();
      } else if (meter.usage && !isNoted) {
        isNoted = true;
        noted(meter.usage).catch(() => log.warn("cannot note the usage of a model's call"));
      }
      for (const piece of pieces) {
        const full = write(piece);
        if (full !== null) await full;
      }
      if (done) return;
      await pace();
    }
  } catch (error) {
    stop.abort();
    throw error;
  } finally {
    clearInterval(silence);
  }
}
