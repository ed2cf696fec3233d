import { type Static, Type } from "@sinclair/typebox";
import { author } from "./author.ts";
import { blockedOn } from "./blocked-on.ts";
import { EFFORT_MAX, EFFORT_PATTERN, NAME_MAX, PROMPT_MAX_BYTES, REF_MAX_BYTES } from "./limits.ts";
import { listeningPort } from "./ports.ts";
import { attachments, promptChange } from "./prompt.ts";
import { PERMISSION_MODES, type PermissionMode, RUNTIME_NAME } from "./runtimes.ts";
import { nullable, oneOf } from "./schema.ts";
import { SETUP_RESULTS } from "./setup.ts";
import { costUsed, tokensUsed } from "./usage.ts";

/** Spec 3.2. `queued`, `branching` and `completed` are defined and never written. */
export const SESSION_STATUSES = [
  "queued",
  "branching",
  "provisioning",
  "running",
  "stopped",
  "failed",
  "completed",
] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];

/** The statuses of a session that has a sandbox or is getting one. */
export const LIVE_STATUSES = ["provisioning", "running"] as const satisfies readonly SessionStatus[];

/** Whether a session has a sandbox or is getting one. Only then may anything act in its name. */
export function isAlive({ status }: { status: SessionStatus }): boolean {
  return LIVE_STATUSES.some((live) => live === status);
}

/** Spec 3.3. */
export const SANDBOX_STATES = ["provisioning", "active", "stopped", "error", "archived"] as const;

/** The steps between `provisioning` and `running`, in order. A failure names its step. */
export const BOOT_STEPS = ["branch", "image", "waiting", "sandbox", "clone", "setup", "runtime"] as const;
export type BootStep = (typeof BOOT_STEPS)[number];

/** Where sandboxes can run. */
export const PROVIDERS = ["docker", "local", "kubernetes"] as const;
export type ProviderName = (typeof PROVIDERS)[number];

/** What isolates a sandbox from its machine and from other sandboxes, in display order. */
export const WALLS = [
  "files",
  "processes",
  "user",
  "network",
  "syscalls",
  "process_limit",
  "memory_limit",
  "cpu_limit",
  "disk_limit",
] as const;
export type Wall = (typeof WALLS)[number];

/** Who ended a session that is `stopped`, or what: `waiting`, that its agent waited too long for a person. */
export const STOP_REASONS = ["user", "idle", "server", "waiting"] as const;

/**
 * What the agent of a running session does: `working`, `waiting` for a person to allow something or to answer a question,
 * or `idle`, when it has done what it was told.
 */
export const ACTIVITIES = ["working", "waiting", "idle"] as const;
export type Activity = (typeof ACTIVITIES)[number];
/** The answers to a permission request: for this time, for this kind from now on, or not at all. */
export const PERMISSION_REPLIES = ["once", "always", "reject"] as const;
/** An answer to a question, in characters. */
const ANSWER_MAX = 10_000;

/** The most that `GET /logs` returns, in bytes: the end of the log. */
export const LOG_MAX_BYTES = 1024 * 1024;

const uuid = Type.String({ format: "uuid" });
const time = Type.String({ format: "date-time" });
/** The pattern is the check; the `enum` is for readers of the OpenAPI document. */

/** What an agent waits for. */
export const waitingFor = Type.Object({
  request_id: Type.String(),
  kind: oneOf(["permission", "question"]),
  kept: Type.Boolean({
    description:
      "Whether the sandbox that asked has ended: the agent gets the answer as a prompt, and starts for it",
  }),
  permission: nullable(Type.String({ description: "What it asks to be allowed, such as `bash`" })),
  patterns: Type.Array(Type.String({ description: "Which commands, files or addresses" })),
  questions: Type.Array(
    Type.Object({
      question: Type.String(),
      options: Type.Array(Type.Object({ label: Type.String(), description: Type.String() })),
      multiple: Type.Boolean({ description: "Whether several options may be chosen" }),
      custom: Type.Boolean({ description: "Whether free text is accepted" }),
    }),
  ),
});
export type WaitingFor = Static<typeof waitingFor>;

/** How the setup command of the last start ended. */
const sessionSetup = Type.Object({
  state: oneOf(SETUP_RESULTS),
  problem: nullable(Type.String(), "Why it failed, such as `exit 1`; null unless `failed`"),
  output: Type.Array(Type.String(), { description: "The last lines of a command that failed" }),
});
export type SessionSetup = Static<typeof sessionSetup>;

/** A session as it crosses the wire. */
export const session = Type.Object({
  session_id: uuid,
  project_id: uuid,
  account_id: uuid,
  branch_name: Type.String(),
  base_ref: Type.String(),
  name: nullable(Type.String()),
  title: nullable(
    Type.String(),
    "Its name; without one, what the agent calls the conversation, or the first words of the first prompt. Null before that",
  ),
  tries_id: nullable(uuid, "The same for sessions that try one task"),
  agent_name: nullable(Type.String()),
  model: nullable(Type.String()),
  mode: oneOf(PERMISSION_MODES),
  effort: nullable(Type.String(), "The reasoning effort; null: the model's own"),
  runtime: nullable(
    Type.String({ description: "The agent that works in it; null: the project's, until it has started" }),
  ),
  status: oneOf(SESSION_STATUSES),
  step: nullable(oneOf(BOOT_STEPS)),
  blocked_on: nullable(
    blockedOn,
    "What its start, or its running sandbox, waits for: a slot, the git host or the engine. Null: nothing",
  ),
  error: nullable(Type.String({ description: "Why it failed, as a sentence; null unless `failed`" })),
  stop_reason: nullable(oneOf(STOP_REASONS)),
  sandbox_provider: oneOf(PROVIDERS),
  sandbox_url: Type.String({ description: "The daemon of the sandbox, through the proxy of the API" }),
  sandbox_status: nullable(oneOf(SANDBOX_STATES)),
  activity: nullable(
    oneOf(ACTIVITIES),
    "Null unless it runs or waits for an answer, and while it is not known",
  ),
  activity_at: nullable(time, "Since when"),
  waiting_for: nullable(waitingFor, "The oldest request, while `activity` is `waiting`"),
  walls: nullable(
    Type.Array(oneOf(WALLS), {
      description: "What isolates the sandbox; empty if nothing does. Null without a sandbox, or if unknown",
    }),
  ),
  setup: nullable(sessionSetup, "Null without a setup command, and until it has ended"),
  saved: nullable(
    Type.Object({
      commit: Type.String(),
      at: time,
      files: nullable(Type.Integer({ description: "The number of files that differ from the branch" })),
      live: Type.Boolean({
        description: "Whether the running sandbox has it; otherwise a restart can restore it",
      }),
    }),
  ),
  cost: costUsed,
  tokens: tokensUsed,
  created_by: uuid,
  author,
  created_at: time,
  updated_at: time,
  last_active_at: time,
});
export type Session = Static<typeof session>;

const name = Type.String({ minLength: 1, maxLength: NAME_MAX, pattern: "\\S" });

export const initialPrompt = Type.String({ minLength: 1, maxLength: PROMPT_MAX_BYTES });

const mode = Type.Unsafe<PermissionMode>({
  ...oneOf(PERMISSION_MODES),
  description:
    "What the agent may do without asking: `ask`: read; `auto-edit`: change files, too; `full`, the default: everything",
});
const effort = Type.String({ minLength: 1, maxLength: EFFORT_MAX, pattern: EFFORT_PATTERN });

/** Body of `POST /v1/projects/:id/sessions`. */
export const createSessionBody = Type.Object({
  session_id: Type.Optional(uuid),
  base_ref: Type.Optional(Type.String({ minLength: 1, maxLength: REF_MAX_BYTES + 11 })),
  agent_name: Type.Optional(name),
  initial_prompt: Type.Optional(initialPrompt),
  attachments,
  name: Type.Optional(name),
  model: Type.Optional(name),
  mode: Type.Optional(mode),
  effort: Type.Optional(effort),
  provider: Type.Optional(oneOf(PROVIDERS)),
  runtime: Type.Optional(Type.String({ pattern: RUNTIME_NAME })),
});
export type CreateSessionBody = Static<typeof createSessionBody>;

/** `?status=` of the list. */
export const sessionStatus = oneOf(SESSION_STATUSES);

/** Body of `POST /v1/projects/:id/sessions/:sid/restart`; the body is optional. */
export const restartSessionBody = Type.Object({
  restore: Type.Optional(Type.Boolean({ description: "Restore the saved work" })),
});

const oneAnswer = Type.String({ minLength: 1, maxLength: ANSWER_MAX });

/** Body of `POST /v1/projects/:id/sessions/:sid/answer`. */
export const answerBody = Type.Object({
  request_id: Type.String({ minLength: 1, maxLength: 128 }),
  answer: Type.Union(
    [oneAnswer, Type.Array(Type.Array(oneAnswer, { maxItems: 50 }), { maxItems: 50 }), Type.Null()],
    {
      description:
        "For a permission `once`, `always` or `reject`. For one question, a label or free text; for several, the labels for each. Null gives no answer: the agent continues, or ends its run, without one.",
    },
  ),
});
export type AnswerBody = Static<typeof answerBody>;

/** An agent of the server, of `GET /v1/projects/:id/runtimes`. */
export const runtimeOffer = Type.Object({
  name: Type.String(),
  title: Type.String(),
  installed: nullable(Type.Boolean(), "Whether the server has it; null: the image of the sandbox decides"),
  problem: nullable(Type.String(), "Why sandboxes cannot have it, as a sentence"),
  missing_keys: Type.Array(
    Type.String({ description: "It needs one of these secrets, or an upstream of models in its format" }),
  ),
});
export type RuntimeOffer = Static<typeof runtimeOffer>;

/** Body of `PATCH /v1/projects/:id/sessions/:sid`. All but the name apply to the next prompt. */
export const editSessionBody = Type.Object(
  {
    name: Type.Optional(name),
    model: Type.Optional(name),
    agent_name: Type.Optional(nullable(name, "Null: the project's")),
    mode: Type.Optional(mode),
    effort: Type.Optional(nullable(effort, "Null: the model's own")),
  },
  { minProperties: 1 },
);
export type EditSessionBody = Static<typeof editSessionBody>;

/** Who named what there is to choose from: the running agent, the same agent in an earlier session, or only svc. */
const CHOICE_SOURCES = ["agent", "earlier", "svc"] as const;

/** Answer of `GET /v1/projects/:id/sessions/:sid/choices`: what the agent can work with. */
export const sessionChoices = Type.Object({
  runtime: Type.String(),
  source: oneOf(CHOICE_SOURCES),
  current: Type.Object({
    model: nullable(Type.String()),
    agent_name: nullable(Type.String()),
    mode: oneOf(PERMISSION_MODES),
    effort: nullable(Type.String()),
  }),
  models: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      efforts: Type.Array(
        Type.String({ description: "The model's reasoning efforts, as far as they are known" }),
      ),
    }),
  ),
  other_models: Type.Boolean({ description: "Whether models that are not in the list may be chosen, too" }),
  agents: Type.Array(Type.Object({ name: Type.String(), description: nullable(Type.String()) })),
  modes: Type.Array(oneOf(PERMISSION_MODES)),
});
export type SessionChoices = Static<typeof sessionChoices>;

/**
 * The source of a line in a session's log: svc, the build of the image, or the sandbox (daemon and runtime).
 */
export const LOG_SOURCES = ["svc", "build", "sandbox"] as const;

/** One line of a session's log. */
export const logLine = Type.Object({
  at: nullable(time),
  source: oneOf(LOG_SOURCES),
  text: Type.String(),
});
export type LogLine = Static<typeof logLine>;

/**
 * What `GET /v1/projects/:id/sessions/:sid/events` sends, one JSON an event; `event:` is the type, `id:` a cursor for
 * `Last-Event-ID`. It starts with the session and its unfinished prompts, and ends only with `deleted`.
 */
export const sessionEvent = Type.Union([
  Type.Object({ type: Type.Literal("session"), session }),
  Type.Object({ type: Type.Literal("log"), line: logLine }),
  Type.Object({ type: Type.Literal("prompt"), prompt: promptChange }),
  Type.Object({ type: Type.Literal("ports"), ports: Type.Array(listeningPort) }),
  Type.Object({ type: Type.Literal("deleted"), session_id: Type.String() }),
]);
export type SessionEvent = Static<typeof sessionEvent>;
