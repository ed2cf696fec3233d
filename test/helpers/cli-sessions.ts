import { PATCH_OMITTED } from "../../src/contract/diff-commits.ts";
import type { AllowedHosts, SessionNetwork } from "../../src/contract/network.ts";
import type { Prompt } from "../../src/contract/prompt.ts";
import type { SavedWork } from "../../src/contract/saved-work.ts";
import type { LogLine, Session, SessionChoices, SessionEvent } from "../../src/contract/session.ts";
import type { OneTry, Tries } from "../../src/contract/tries.ts";
import type { Turn as StoredTurn } from "../../src/contract/turn.ts";
import type { WorkspaceChanges, WorkspaceFolder } from "../../src/contract/workspace.ts";
import { ADA } from "./authors.ts";

export const SESSION_ID = "1a2b3c4d-5e6f-4a7b-8c9d-0e1f2a3b4c5d";
const PROJECT_ID = "11111111-1111-4111-8111-111111111111";
const TIME = "2026-11-20T10:00:00.000Z";

export function session(change: Partial<Session> = {}): Session {
  const { session_id = SESSION_ID, name = "Login page" } = change;
  return {
    session_id,
    project_id: PROJECT_ID,
    account_id: "22222222-2222-4222-8222-222222222222",
    branch_name: session_id,
    base_ref: "main",
    name,
    title: name,
    tries_id: TRIES_ID,
    agent_name: "build",
    model: null,
    mode: "full",
    effort: null,
    runtime: null,
    status: "running",
    step: null,
    blocked_on: null,
    error: null,
    stop_reason: null,
    sandbox_provider: "local",
    sandbox_url: `http://localhost:8008/v1/p/${session_id}/8000`,
    sandbox_status: "active",
    activity: null,
    activity_at: null,
    waiting_for: null,
    walls: null,
    setup: null,
    saved: null,
    cost: null,
    tokens: { input: 0, output: 0, cached: 0 },
    created_by: ADA.user_id,
    author: ADA,
    created_at: TIME,
    updated_at: TIME,
    last_active_at: TIME,
    ...change,
  };
}

export const booting = (step: Session["step"], change: Partial<Session> = {}): Session =>
  session({ status: "provisioning", step, sandbox_status: "provisioning", ...change });

export const logLine = (text: string, source: LogLine["source"] = "sandbox"): LogLine => ({
  at: TIME,
  source,
  text,
});

export const changed = (now: Session): SessionEvent => ({ type: "session", session: now });
export const logged = (text: string, source?: LogLine["source"]): SessionEvent => ({
  type: "log",
  line: logLine(text, source),
});
export const deleted: SessionEvent = { type: "deleted", session_id: SESSION_ID };

/** What a scripted stream does next: an event, words as they stand, a pause in ms or until something is, or the end. */
export type Turn = SessionEvent | string | number | Promise<void> | "cut";

/** An event stream that plays `script`, with ids from `first` on, and then stays open in silence. */
export function eventStream(script: readonly Turn[], first = 1): Response {
  const encoder = new TextEncoder();
  let id = first;
  const turns = script.values();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (;;) {
        const { value: turn, done } = turns.next();
        if (done) return new Promise(() => {});
        if (turn === "cut") return controller.close();
        if (typeof turn === "number" || turn instanceof Promise) {
          await (typeof turn === "number" ? Bun.sleep(turn) : turn);
          continue;
        }
        const text =
          typeof turn === "string"
            ? turn
            : `event: ${turn.type}\nid: ${id++}\ndata: ${JSON.stringify(turn)}\n\n`;
        return controller.enqueue(encoder.encode(text));
      }
    },
  });
  return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
}

const ONE = "/projects/:p/sessions/:n";
export const SAVED_PATCH = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-old\n+new\r\n";
const CHANGES: WorkspaceChanges = {
  ...{ base: "b".repeat(40), head: "c".repeat(40), version: "d".repeat(64), more: 0 },
  files: [{ path: "a", status: "modified", additions: 1, deletions: 1, binary: false }],
};
const SAVED: SavedWork = {
  commit: "c".repeat(40),
  base: "b".repeat(40),
  saved_at: TIME,
  message: "Unpushed work of a session",
  files: [{ path: "a", status: "modified", additions: 1, deletions: 1, binary: false }],
  patch: SAVED_PATCH,
  truncated: false,
};

export const prompt = ({ body }: { body: unknown }): Prompt => ({
  prompt_id: Object(body).prompt_id ?? SESSION_ID,
  session_id: SESSION_ID,
  number: 1,
  state: "queued",
  error: null,
  text: Object(body).text ?? "Go on",
  answer: null,
  attachments: [],
  created_by: ADA.user_id,
  author: ADA,
  created_at: TIME,
  started_at: null,
  ended_at: null,
});

export const storedTurn: StoredTurn = {
  turn_id: "msg_1",
  session_id: SESSION_ID,
  number: 1,
  prompt_id: null,
  author: ADA,
  state: "done",
  error: null,
  retry: null,
  sandbox: 1,
  model: "anthropic/claude",
  tokens: { input: 10, output: 5, cached: 0 },
  cost: 0.01,
  started_at: TIME,
  ended_at: TIME,
  parts: [],
};

const TRIES_ID = "5e6f7a8b-0000-4000-8000-000000000000";

/** A try at a task that has pushed something. */
const oneTry = (change: Partial<Session> = {}): OneTry => ({
  session: session({ tries_id: TRIES_ID, ...change }),
  change: { head_sha: "a".repeat(40), files_changed: 2, additions: 3, deletions: 1 },
  checks: { state: "success", total: 1, passed: 1, failed: 0, pending: 0, required: [] },
  change_request: { number: 3, status: "open" },
});
const TRIES: Tries = { tries_id: TRIES_ID, tries: [oneTry()] };

/** What the agent of a session can work with. */
export const CHOICES: SessionChoices = {
  runtime: "opencode",
  source: "agent",
  current: { model: "small", agent_name: "build", mode: "full", effort: null },
  models: [
    { id: "svc/small", name: "small", efforts: ["low", "high"] },
    { id: "anthropic/large", name: "Large\x1b[2J", efforts: [] },
  ],
  other_models: false,
  agents: [{ name: "build", description: "Works on the code" }],
  modes: ["ask", "auto-edit", "full"],
};

const NETWORK: SessionNetwork = {
  egress: "restricted",
  allow: ["preset:packages"],
  connections: [
    {
      ...{ outcome: "not_allowed", host: "x.example", port: 443, connections: 3, sent: 0, received: 0 },
      last_at: TIME,
    },
    {
      ...{ outcome: "passed", host: "registry.npmjs.org", port: null, connections: 2, sent: 9, received: 12 },
      last_at: TIME,
    },
  ],
};

/** The fake API's default responses about sessions. */
export const SESSION_ROUTES = {
  "POST /projects/:p/tries": () => Response.json(TRIES, { status: 201 }),
  "GET /projects/:p/tries/:n": () => TRIES,
  "POST /projects/:p/tries/:n/choose": () => TRIES,
  "GET /projects/:p/sessions": () => ({ sessions: [session()] }),
  "POST /projects/:p/sessions": ({ body }: { body: unknown }) => {
    const { session_id, name, base_ref } = Object(body);
    return Response.json(booting(null, { session_id, name: name ?? null, base_ref: base_ref ?? "main" }), {
      status: 201,
    });
  },
  [`GET ${ONE}`]: () => session(),
  [`PATCH ${ONE}`]: ({ body }: { body: unknown }) => session(Object(body)),
  [`DELETE ${ONE}`]: () => ({ ok: true }),
  [`GET ${ONE}/choices`]: () => CHOICES,
  "GET /projects/:p/runtimes": () => ({ runtimes: [] }),
  [`POST ${ONE}/restart`]: () => Response.json(booting(null), { status: 202 }),
  [`POST ${ONE}/stop`]: () => Response.json(session(), { status: 202 }),
  [`POST ${ONE}/prompt`]: (asked: { body: unknown }) =>
    Response.json({ prompt: prompt(asked) }, { status: 202 }),
  [`GET ${ONE}/prompts`]: (asked: { body: unknown }) => ({ prompts: [prompt(asked)] }),
  [`POST ${ONE}/abort`]: () => ({ ok: true }),
  [`GET ${ONE}/conversation`]: () => ({ turns: [storedTurn], event_id: "1" }),
  [`POST ${ONE}/answer`]: () => ({ ok: true }),
  [`GET ${ONE}/logs`]: () => ({
    lines: [logLine("cut the branch", "svc"), logLine("Step 1", "build"), logLine("listening on 8000")],
    truncated: false,
  }),
  [`GET ${ONE}/saved`]: ({ headers }: { headers: Headers }) =>
    headers.get("accept")?.includes("text/x-diff")
      ? new Response(SAVED_PATCH, { headers: { "Content-Type": "text/x-diff; charset=utf-8" } })
      : SAVED,
  [`GET /p/${SESSION_ID}/8000/svc/health`]: () => ({ daemon: "ok" }),
  [`GET ${ONE}/events`]: ({ path }: { path: string }) => {
    const session_id = path.split("/").at(-2) ?? "";
    return eventStream([changed(session({ session_id }))]);
  },
  [`GET ${ONE}/files`]: (): WorkspaceFolder => ({
    path: "",
    entries: [
      { name: "src", path: "src", type: "directory", size: null },
      { name: "a.txt", path: "a.txt", type: "file", size: 12 },
    ],
    more: 3,
  }),
  [`GET ${ONE}/diff`]: ({ headers }: { headers: Headers }) =>
    headers.get("accept")?.includes("text/x-diff")
      ? new Response(SAVED_PATCH, {
          headers: { "Content-Type": "text/x-diff; charset=utf-8", [PATCH_OMITTED]: "2" },
        })
      : CHANGES,
  [`GET ${ONE}/ports`]: () => ({ ports: [{ port: 5173, process: "node" }] }),
  [`GET ${ONE}/exec`]: () => ({
    commands: [
      {
        exec_id: "88888888-8888-4888-8888-000000000001",
        user_id: "99999999-9999-4999-8999-000000000001",
        ...{ user_name: "Ada", command: ["npm", "test"], tty: false, created_at: TIME },
      },
    ],
  }),
  [`GET ${ONE}/network`]: (): SessionNetwork => NETWORK,
  "POST /projects/:p/network/allow": ({ body }: { body: unknown }): AllowedHosts => ({
    hosts: Object(body).hosts,
    ...{ status: "unchanged", egress: "restricted", change_request: null },
  }),
  [`POST ${ONE}/preview`]: ({ body }: { body: unknown }) =>
    Response.json(
      { url: `http://p${Object(body).port}-${SESSION_ID}.localhost:8008/?token=abc`, expires_at: TIME },
      { status: 201 },
    ),
};
