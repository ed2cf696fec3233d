import { EXECUTOR_PATH } from "../../src/contract/executor.ts";
import { field, isObject, parseJson, textField } from "../../src/contract/json.ts";
import { BODY_MAX_BYTES } from "../../src/contract/limits.ts";
import { type Api, readBounded } from "../api.ts";
import { CliError } from "../failure.ts";
import { readLines } from "./read-lines.ts";

/** Requests in progress; the next line is read when one of them is answered. */
const PENDING_MAX = 16;
/** The time limit of a request: a tool may wait for a minute, and git may run after that. */
const SECONDS = 180;
/** Error codes of JSON-RPC 2.0. */
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
/** The first of the codes that an implementation may define. */
const SERVER_ERROR = -32_000;

interface Streams {
  input: AsyncIterable<Uint8Array>;
  write(line: string): Promise<void>;
}

/**
 * Passes the messages of a client of the Model Context Protocol (stdio: one JSON a line) to the endpoint of the host, and
 * its responses back. Returns when the input has ended and every request is answered.
 */
export async function bridge(api: Api, { input, write }: Streams): Promise<void> {
  /** The requests in progress, by their ids as JSON. */
  const pending = new Map<string, { cancel: AbortController; done: Promise<void> }>();
  let writing = Promise.resolve();
  let version: string | undefined;
  /** The first failure that is not a response: the client no longer reads. */
  let broken: { error: unknown } | undefined;

  for await (const line of readLines(input, BODY_MAX_BYTES)) {
    if (broken) throw broken.error;
    const message = line === null ? null : parseJson(line);
    if (!isObject(message)) await send(refusal(line === null));
    else if (!isRequest(message)) notify(message);
    else {
      const key = JSON.stringify(message["id"]);
      if (pending.size >= PENDING_MAX) await Promise.race([...pending.values()].map(({ done }) => done));
      const cancel = new AbortController();
      const done = request(message, cancel.signal)
        .catch((error: unknown) => {
          broken ??= { error };
        })
        .finally(() => pending.delete(key));
      pending.set(key, { cancel, done });
    }
  }
  await Promise.all([...pending.values()].map(({ done }) => done));
  if (broken) throw broken.error;

  async function request(message: Record<string, unknown>, signal: AbortSignal): Promise<void> {
    const response = await exchange(message, signal).catch((error: unknown) => failureOf(message, error));
    if (signal.aborted) return;
    if (message["method"] === "initialize") version = textField(field(response, "result"), "protocolVersion");
    await send(response);
  }

  /** The server keeps no state, so a cancellation ends the request itself. Nobody waits for other notifications. */
  function notify(message: Record<string, unknown>): void {
    if (message["method"] !== "notifications/cancelled") return;
    pending.get(JSON.stringify(field(message["params"], "requestId")))?.cancel.abort();
  }

  async function exchange(message: Record<string, unknown>, signal: AbortSignal): Promise<unknown> {
    const opened = await api.open({
      path: EXECUTOR_PATH,
      body: message,
      accept: "application/json, text/event-stream",
      headers: version ? { "MCP-Protocol-Version": version } : {},
      seconds: SECONDS,
      signal,
    });
    const response = parseJson(new TextDecoder().decode(await readBounded(opened)));
    if (isObject(response)) return response;
    throw new CliError("unexpected_response", `${api.target.name} sent a response that is not of MCP.`);
  }

  /** Responses are written one after the other. */
  function send(response: unknown): Promise<void> {
    writing = writing.then(() => write(`${JSON.stringify(response)}\n`));
    return writing;
  }
}

function isRequest(message: Record<string, unknown>): boolean {
  return typeof message["method"] === "string" && message["id"] !== undefined;
}

function refusal(isTooLong: boolean) {
  const error = isTooLong
    ? { code: INVALID_REQUEST, message: `The message is larger than ${BODY_MAX_BYTES} bytes.` }
    : { code: PARSE_ERROR, message: "The line is not a JSON object." };
  return { jsonrpc: "2.0", id: null, error };
}

/** The failure of a request, with the hint: an agent shows it to its user. */
function failureOf({ id }: Record<string, unknown>, error: unknown) {
  if (!(error instanceof CliError)) throw error;
  const { code, message, extra } = error;
  const text = extra.hint === undefined ? message : `${message} ${extra.hint}`;
  return { jsonrpc: "2.0", id, error: { code: SERVER_ERROR, message: text, data: { code } } };
}
