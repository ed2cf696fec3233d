import { randomBytes } from "node:crypto";
import { SETUP_KEPT_MAX_BYTES } from "../../src/contract/setup.ts";
import type { Address } from "../../src/splice/upstream.ts";
import type { Children } from "../process/children.ts";
import { isSameSecret } from "../same-secret.ts";
import type { Settings } from "../settings.ts";
import { pack, unpack } from "./archive.ts";

/** Whether the command runs, and whether svc keeps what it adds; `restored`: svc had kept it. */
export type Decision = "run" | "run-and-keep" | "restored";

/** svc polls the daemon's health several times a second. It may also be restarting. */
const SILENT_MS = 60_000;
/** Blocks of zeros follow the last file, up to 10 KiB. */
const TAIL_BYTES = 64 * 1024;

/**
 * Where svc gives and takes what a setup command adds. The daemon's listener forwards svc's own requests here; nothing of the
 * repository runs meanwhile.
 */
export class Exchange {
  readonly address: Address;
  /** The `Authorization` that the listener sends: the port is open to all programs in the sandbox. */
  readonly authorization = `Bearer ${randomBytes(32).toString("base64url")}`;
  readonly #context: { settings: Settings; children: Children };
  readonly #server: Bun.Server<undefined>;
  /** Null unless a decision is due. */
  #decide: ((decision: Decision) => void) | null = null;
  /** Null unless svc is to take them. */
  #offered: { paths: readonly string[]; take(): void; over(isTaken: boolean): void } | null = null;

  constructor(context: { settings: Settings; children: Children }) {
    this.#context = context;
    this.#server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      // a large archive on a slow disk
      idleTimeout: 255,
      maxRequestBodySize: SETUP_KEPT_MAX_BYTES + TAIL_BYTES,
      fetch: (request) => this.#answer(request),
    });
    this.address = { hostname: "127.0.0.1", port: this.#server.port ?? 0 };
  }

  /** Waits for svc's decision; without one, the command runs. */
  decide(signal: AbortSignal): Promise<Decision> {
    const { promise, resolve } = Promise.withResolvers<Decision>();
    const give = (decision: Decision) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", none);
      resolve(decision);
    };
    const none = () => {
      if (this.#decide !== give) return;
      this.#decide = null;
      give("run");
    };
    this.#decide = give;
    const timer = setTimeout(none, SILENT_MS);
    signal.addEventListener("abort", none);
    return promise;
  }

  /** Waits until svc has taken what the command has added. @returns whether it did */
  offer(paths: readonly string[], signal: AbortSignal): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const none = () => over(false);
    const over = (isTaken: boolean) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", none);
      this.#offered = null;
      resolve(isTaken);
    };
    const timer = setTimeout(none, SILENT_MS);
    signal.addEventListener("abort", none);
    this.#offered = { paths, take: () => clearTimeout(timer), over };
    return promise;
  }

  stop(): void {
    void this.#server.stop(true);
  }

  async #answer(request: Request): Promise<Response> {
    if (!isSameSecret(request.headers.get("authorization") ?? "", this.authorization))
      return new Response(null, { status: 401 });
    const verb = new URL(request.url).pathname.split("/").at(-1);
    if (verb === "files") return this.#give();
    const decide = this.#decide;
    this.#decide = null;
    if (decide === null) return new Response(null, { status: 409 });
    if (verb === "run" || verb === "run-and-keep") decide(verb);
    else {
      const isRestored = await unpack(this.#context, request.body ?? new ReadableStream());
      decide(isRestored ? "restored" : "run");
      if (!isRestored) return new Response(null, { status: 500 });
    }
    return new Response(null, { status: 204 });
  }

  #give(): Response {
    const offered = this.#offered;
    if (offered === null) return new Response(null, { status: 409 });
    offered.take();
    const all = pack(this.#context, offered.paths);
    const watch = new TransformStream<Uint8Array, Uint8Array>({
      flush: () => offered.over(true),
    });
    const sent = all.pipeTo(watch.writable);
    sent.catch(() => offered.over(false));
    return new Response(watch.readable);
  }
}
