import type { DaemonHealth, DaemonPrompt, DaemonPromptBody } from "../../src/contract/daemon.ts";
import type { Wall } from "../../src/contract/session.ts";
import { type Provider, type Sandbox, SandboxError, type SandboxSpec } from "../../src/sandboxes/provider.ts";
import { type Sandboxes, sandboxesOf } from "../../src/sandboxes/sandboxes.ts";
import { until } from "./until.ts";

const STAND_IN_WALLS: readonly Wall[] = ["files", "processes"];

/** The state of one sandbox of the stand-in, and its received requests. */
export interface StandIn {
  spec: SandboxSpec;
  environment: Readonly<Record<string, string>>;
  sandbox: Sandbox;
  /** The daemon's health; a test changes it. */
  health: DaemonHealth;
  /** Bodies of `POST /svc/env`, with the header that came with them. */
  envs: { body: unknown; context: string }[];
  /** Delivered prompts, each once, in order. */
  prompts: DaemonPromptBody[];
  /** Bodies of `POST /svc/abort`. */
  aborts: number;
  /** Exits like a process. */
  die(exitCode: number, outOfMemory?: boolean): void;
}

/**
 * A provider whose sandboxes are HTTP servers in the test's own process, to be told how to fail: what a test needs for
 * the states of a session, which no engine can be brought into at will. The real ones have a suite of their own.
 */
export class StandInProvider implements Provider {
  readonly name: Provider["name"];
  volumes: Provider["volumes"] = null;
  readonly sandboxes = new Map<string, StandIn>();
  readonly sandboxesOf: Sandboxes;
  /** Called in `start`; may wait, or throw. */
  onStart: (spec: SandboxSpec, signal: AbortSignal) => void | Promise<void> = () => {};
  #lists = 0;
  /** Called in every other method. */
  onCall: (method: "find" | "list" | "stop" | "logs") => void | Promise<void> = () => {};
  /** Health of a sandbox that was just started. */
  firstHealth: Partial<DaemonHealth> = {};
  /** A sandbox's response to a prompt: its state, or another response. */
  onPrompt: (
    body: DaemonPromptBody,
    standIn: StandIn,
  ) =>
    | Promise<Pick<DaemonPrompt, "state" | "error"> | Response>
    | Pick<DaemonPrompt, "state" | "error">
    | Response = () => ANSWERED;
  /** Called when the agent of a sandbox is aborted, if it is busy. */
  onAbort: (standIn: StandIn) => void = () => {};
  /** A sandbox's response to all requests that its daemon does not handle. */
  onRequest: (request: Request, standIn: StandIn) => Response | Promise<Response> = () =>
    new Response(null, { status: 404 });
  runtimeProblem: NonNullable<Provider["runtimeProblem"]> = () => null;
  /** More lines of a sandbox's log. */
  log = "";
  /** The session ids of the calls of `stop`. */
  readonly stopped: string[] = [];
  starts = 0;
  readonly #servers = new Map<string, Bun.Server<undefined>>();

  constructor(name: Provider["name"] = "local") {
    this.name = name;
    this.sandboxesOf = sandboxesOf([this]);
  }

  async start(...[spec, watch, signal]: Parameters<Provider["start"]>): Promise<Sandbox> {
    this.starts++;
    await watch.step("image");
    watch.log("build", "\u001b[31mStep 1\u001b[0m of a build");
    await watch.step("sandbox");
    this.#end(spec.sessionId);
    await this.onStart(spec, signal);
    signal.throwIfAborted();
    const standIn: StandIn = {
      spec,
      environment: spec.environment("http://api.test"),
      envs: [],
      prompts: [],
      aborts: 0,
      health: {
        daemon: "ok",
        runtime: "ok",
        uptime_s: 1,
        time: new Date().toISOString(),
        runtime_pid: 1,
        repo: "x",
        branch: "x",
        commit: "x",
        clone: "ok",
        busy: false,
        conversation: null,
        active_at: new Date(0).toISOString(),
        saved: null,
        ...this.firstHealth,
      },
      sandbox: {
        sessionId: spec.sessionId,
        generation: spec.generation,
        address: null,
        state: "running",
        exitCode: null,
        outOfMemory: false,
      },
      die: (exitCode, outOfMemory = false) => {
        void this.#servers.get(spec.sessionId)?.stop(true);
        Object.assign(standIn.sandbox, { state: "ended", exitCode, outOfMemory, address: null });
      },
    };
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      // a stream of events is silent for longer
      idleTimeout: 0,
      fetch: async (request) => {
        const { pathname } = new URL(request.url);
        if (pathname === "/svc/health") return Response.json(standIn.health);
        if (pathname === "/svc/prompt") return await this.#prompt(await request.json(), standIn);
        if (pathname === "/svc/abort") {
          standIn.aborts++;
          const { busy } = standIn.health;
          if (busy) this.onAbort(standIn);
          return busy
            ? Response.json({ ok: true })
            : Response.json({ error: "No run.", code: "nothing_to_abort" }, { status: 409 });
        }
        if (pathname !== "/svc/env") return await this.onRequest(request, standIn);
        const context = request.headers.get("x-svc-user-context") ?? "";
        standIn.envs.push({ body: await request.json(), context });
        return Response.json({ ok: true });
      },
    });
    standIn.sandbox.address = { hostname: "127.0.0.1", port: server.port ?? 0 };
    this.#servers.set(spec.sessionId, server);
    this.sandboxes.set(spec.sessionId, standIn);
    return { ...standIn.sandbox };
  }

  async find(sessionId: string): Promise<Sandbox | null> {
    await this.onCall("find");
    const standIn = this.sandboxes.get(sessionId);
    return standIn ? { ...standIn.sandbox } : null;
  }

  async list(): Promise<Sandbox[]> {
    this.#lists++;
    await this.onCall("list");
    return [...this.sandboxes.values()].map(({ sandbox }) => ({ ...sandbox }));
  }

  /** Waits for a full check of the sandboxes that starts from now on; `look` starts it. */
  async untilLooked(look: () => void): Promise<void> {
    // a look begins with this list; the second one from now begins when one that began after now is over
    const begun = this.#lists;
    await until("the server has looked at its sandboxes", () => {
      look();
      return this.#lists >= begun + 2;
    });
  }

  async stop(sessionId: string): Promise<void> {
    await this.onCall("stop");
    this.stopped.push(sessionId);
    this.#end(sessionId);
  }

  async walls(): Promise<readonly Wall[]> {
    return STAND_IN_WALLS;
  }

  wallsOf(sessionId: string): readonly Wall[] | null {
    return this.sandboxes.has(sessionId) ? STAND_IN_WALLS : null;
  }

  async logs(sessionId: string): Promise<Uint8Array> {
    await this.onCall("logs");
    return Buffer.from(this.sandboxes.has(sessionId) ? `the sandbox's own words\n${this.log}` : "");
  }

  async close(): Promise<void> {
    for (const sessionId of [...this.sandboxes.keys()]) this.#end(sessionId);
  }

  async #prompt(body: DaemonPromptBody, standIn: StandIn): Promise<Response> {
    const answer = await this.onPrompt(body, standIn);
    if (answer instanceof Response) return answer;
    const { prompts } = standIn;
    if (!prompts.some(({ prompt_id }) => prompt_id === body.prompt_id)) prompts.push(body);
    return Response.json({ ok: true, prompt: { prompt_id: body.prompt_id, ...answer } });
  }

  #end(sessionId: string): void {
    void this.#servers.get(sessionId)?.stop(true);
    this.#servers.delete(sessionId);
    this.sandboxes.delete(sessionId);
  }
}

const ANSWERED = { state: "answered", error: null } as const;

/** An engine that never responds. */
export function engineGone(): never {
  throw new SandboxError("The engine does not answer.");
}

/** An engine that cannot be reached for the moment. */
export function engineAway(): never {
  throw new SandboxError("Cannot connect to Docker.", { away: true });
}
