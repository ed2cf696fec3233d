import type { SessionBench } from "./sessions.ts";
import type { StandIn, StandInProvider } from "./stand-in-provider.ts";
import { until } from "./until.ts";

type Json = Record<string, unknown>;
interface Message {
  info: Json & { id: string };
  parts: (Json & { id: string })[];
}

/** The id of the conversation in every stand-in of a runtime. */
export const CONVERSATION = "ses_1";

/**
 * The routes of the agent runtime (opencode 1.18) that the server and pages read its conversation from, with a test for
 * its agent. Every sandbox of a provider that starts gets one, in memory that ends with the sandbox.
 */
export class RuntimeHost {
  messages: Message[] = [];
  isBusy = false;
  title = "New session - 2026-11-20T10:00:00.000Z";
  /** Whether messages have the texts under way, as the adapter's do, or none of them, as opencode's. */
  hasTextsUnderWay = true;
  /** Requests that are not answered, by their path. */
  isDown: (pathname: string) => boolean = () => false;
  /** Requests for messages, by their limits. */
  readonly reads: number[] = [];
  /** Paths of the answers to what it asked. */
  readonly replies: string[] = [];
  readonly #asks: (Json & { id: string; kind: string })[] = [];
  readonly #streams = new Set<ReadableStreamDefaultController<Uint8Array>>();

  /** The number of open streams of events. */
  get followers(): number {
    return this.#streams.size;
  }

  /** Adds a message, or replaces its fields. */
  message(info: Json & { id: string; role: "user" | "assistant" }): void {
    const known = this.messages.find((each) => each.info.id === info.id);
    const whole = { sessionID: CONVERSATION, time: { created: 1_000 }, ...known?.info, ...info };
    if (known) known.info = whole;
    else this.messages.push({ info: whole, parts: [] });
    this.emit("message.updated", { info: whole });
  }

  /** Adds a part to a message, or replaces its fields. */
  part(messageID: string, part: Json & { id: string }): void {
    const message = this.messages.find((each) => each.info.id === messageID);
    const at = message?.parts.findIndex(({ id }) => id === part.id) ?? -1;
    const whole = { sessionID: CONVERSATION, messageID, ...message?.parts[at], ...part };
    if (at >= 0) message?.parts.splice(at, 1, whole);
    else message?.parts.push(whole);
    this.emit("message.part.updated", { part: whole });
  }

  /** More of a text, as the runtime streams it. */
  delta(messageID: string, partID: string, delta: string): void {
    const part = this.messages
      .find(({ info }) => info.id === messageID)
      ?.parts.find(({ id }) => id === partID);
    const more = { messageID, partID, field: "text", delta };
    const before = String(part?.["text"] ?? "");
    if (part && this.hasTextsUnderWay) part["text"] = before + delta;
    this.emit("message.part.delta", this.hasTextsUnderWay ? { ...more, offset: before.length } : more);
  }

  setBusy(isBusy: boolean): void {
    this.isBusy = isBusy;
    this.emit("session.status", { status: { type: isBusy ? "busy" : "idle" } });
  }

  /** The model calls the conversation something. */
  rename(title: string): void {
    this.title = title;
    this.emit("session.updated", { info: this.#info });
  }

  get #info(): Json {
    return { id: CONVERSATION, title: this.title, time: { created: 1_000 } };
  }

  /** Sends an event that is not kept. */
  emit(type: string, properties: Json): void {
    const event = JSON.stringify({ type, properties: { sessionID: CONVERSATION, ...properties } });
    for (const stream of this.#streams) stream.enqueue(Buffer.from(`data: ${event}\n\n`));
  }

  /** Cuts all streams of events. */
  cut(): void {
    for (const stream of this.#streams) stream.close();
    this.#streams.clear();
  }

  /** What it waits for, as its lists have it. */
  get asks(): readonly Json[] {
    return this.#asks;
  }

  answer(request: Request): Response | Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (this.isDown(pathname)) return new Response(null, { status: 503 });
    if (pathname === "/event")
      return new Response(this.#stream(), { headers: { "Content-Type": "text/event-stream" } });
    if (pathname === "/session/status")
      return Response.json(this.isBusy ? { [CONVERSATION]: { type: "busy" } } : {});
    if (pathname === "/session") return Response.json([this.#info]);
    if (pathname === `/session/${CONVERSATION}`) return Response.json(this.#info);
    if (request.method === "POST") return request.json().then((body) => this.#reply(pathname, body));
    if (pathname === "/permission" || pathname === "/question")
      return Response.json(this.#asks.filter(({ kind }) => pathname === `/${kind}`));
    if (pathname !== `/session/${CONVERSATION}/message`) return new Response(null, { status: 404 });
    const limit = Number(searchParams.get("limit"));
    this.reads.push(limit);
    return Response.json(this.messages.slice(-limit));
  }

  /** Asks a person, as the runtime does. */
  ask(kind: "permission" | "question", ask: Json & { id: string }): void {
    const whole = { sessionID: CONVERSATION, ...ask };
    this.#asks.push({ ...whole, kind });
    this.emit(`${kind}.asked`, whole);
  }

  /** A person answers. @returns whether it waited for that */
  reply(id: string, verb: string, body: Json): boolean {
    const at = this.#asks.findIndex((ask) => ask.id === id);
    const [ask] = at < 0 ? [] : this.#asks.splice(at, 1);
    if (!ask) return false;
    this.emit(`${ask.kind}.${verb === "reject" ? "rejected" : "replied"}`, { requestID: id, ...body });
    return true;
  }

  #reply(pathname: string, body: Json): Response {
    const [, , id = "", verb = ""] = pathname.split("/");
    if (!this.reply(id, verb, body)) return new Response(null, { status: 404 });
    this.replies.push(pathname);
    return Response.json(true);
  }

  #stream(): ReadableStream<Uint8Array> {
    let own: ReadableStreamDefaultController<Uint8Array>;
    return new ReadableStream({
      start: (controller) => {
        own = controller;
        this.#streams.add(controller);
        controller.enqueue(Buffer.from('data: {"type":"server.connected","properties":{}}\n\n'));
      },
      cancel: () => void this.#streams.delete(own),
    });
  }
}

/** Gives each sandbox that starts from now on a runtime. @returns finds that of a session's sandbox */
export function hostRuntimes(provider: StandInProvider): (sessionId: string) => RuntimeHost {
  const hosts = new WeakMap<StandIn, RuntimeHost>();
  provider.firstHealth = { ...provider.firstHealth, conversation: CONVERSATION };
  const hostOf = (standIn: StandIn) => {
    const host = hosts.get(standIn) ?? new RuntimeHost();
    hosts.set(standIn, host);
    return host;
  };
  provider.onRequest = (request, standIn) => hostOf(standIn).answer(request);
  return (sessionId) => {
    const standIn = provider.sandboxes.get(sessionId);
    if (!standIn) throw new Error(`no sandbox of session ${sessionId}`);
    return hostOf(standIn);
  };
}

/** Starts a session, and waits until the server follows its runtime. */
export async function followedSession(
  bench: SessionBench,
  runtimeOf: (sessionId: string) => RuntimeHost,
): Promise<{ id: string; runtime: RuntimeHost }> {
  const { session_id: id } = await bench.create();
  await bench.becomes(id, "running");
  const runtime = runtimeOf(id);
  await until("the runtime is followed", () => runtime.followers > 0);
  return { id, runtime };
}
