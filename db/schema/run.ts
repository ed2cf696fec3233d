import {
  bigint,
  bigserial,
  index,
  integer,
  jsonb,
  pgEnum,
  pgTable,
  primaryKey,
  text,
  uuid,
} from "drizzle-orm/pg-core";
import type { BlockedOn } from "../../src/contract/blocked-on.ts";
import type { EgressPolicy } from "../../src/contract/egress/policy.ts";
import { REFUSAL_REASONS } from "../../src/contract/egress/refusal.ts";
import {
  type BootStep,
  LOG_SOURCES,
  PROVIDERS,
  SANDBOX_STATES,
  SESSION_STATUSES,
  STOP_REASONS,
} from "../../src/contract/session.ts";
import { accounts } from "./account.ts";
import { projects } from "./project.ts";
import { time } from "./time.ts";

export const sessionStatus = pgEnum("session_status", SESSION_STATUSES);
/** `BOOT_STEPS`, in the order in which they were added. */
export const bootStep = pgEnum("boot_step", [
  "branch",
  "image",
  "sandbox",
  "clone",
  "runtime",
  "setup",
  "waiting",
] as const satisfies readonly BootStep[]);
export const sandboxProvider = pgEnum("sandbox_provider", PROVIDERS);
export const sandboxState = pgEnum("sandbox_state", SANDBOX_STATES);
export const stopReason = pgEnum("stop_reason", STOP_REASONS);
/** The desired state of a run; `status` is the actual one. */
export const runGoal = pgEnum("run_goal", ["running", "stopped", "deleted"]);
/** What became of a connection out of a sandbox: it passed, or why it was refused. */
export const egressOutcome = pgEnum("egress_outcome", ["passed", ...REFUSAL_REASONS]);
export const logSource = pgEnum("log_source", LOG_SOURCES);

/**
 * The life of a sandbox, from the first start to the deletion. The table of its kind has a row with the same id:
 * `project_sessions` or `app_deployments`.
 */
export const runs = pgTable(
  "runs",
  {
    runId: text("run_id").primaryKey(),
    /** The name of a `RunKind`. */
    kind: text("kind").notNull(),
    projectId: uuid("project_id")
      .notNull()
      .references(() => projects.projectId, { onDelete: "cascade" }),
    accountId: uuid("account_id")
      .notNull()
      .references(() => accounts.accountId, { onDelete: "cascade" }),
    provider: sandboxProvider("provider").notNull(),
    /**
     * Where its sandboxes run: the id of a server, or the cluster that all servers share. Only servers there reach
     * them.
     */
    place: text("place").notNull(),
    status: sessionStatus("status").notNull(),
    goal: runGoal("goal").notNull().default("running"),
    /** Counts the starts: each has its own sandbox and service key. */
    generation: integer("generation").notNull().default(1),
    step: bootStep("step"),
    /** What a start, or a running sandbox, waits for: a slot, the git host or the engine. */
    blockedOn: jsonb("blocked_on").$type<BlockedOn>(),
    error: text("error"),
    stopReason: stopReason("stop_reason"),
    /** The process that works on the run, and when its claim expires unless it is renewed. */
    worker: text("worker"),
    workerUntil: time("worker_until"),
    createdAt: time("created_at").notNull().defaultNow(),
    updatedAt: time("updated_at").notNull().defaultNow(),
    /** When the sandbox of this start became ready; null until then. */
    readyAt: time("ready_at"),
  },
  (table) => [
    index("runs_project_id").on(table.projectId),
    index("runs_account_id_status").on(table.accountId, table.status),
  ],
);

/** The sandbox of a run (spec 2.3). */
export const sessionSandboxes = pgTable("session_sandboxes", {
  runId: text("run_id")
    .primaryKey()
    .references(() => runs.runId, { onDelete: "cascade" }),
  state: sandboxState("state").notNull(),
  /** HMAC-SHA256 of the sandbox service key, as of a token; each start has a new one. */
  serviceKeyHash: text("service_key_hash").notNull().unique("session_sandboxes_service_key_hash_unique"),
  /** The key itself, sealed for the project and this run: the API signs with it for the daemon. */
  serviceKey: text("service_key").notNull(),
  /** The generation of the run that started this sandbox. */
  generation: integer("generation").notNull().default(1),
  /** The daemon's address, as the API reaches it; null while it is not known. */
  host: text("host"),
  port: integer("port"),
  /**
   * What it may connect to: the mode is that of its start, the list that of the default branch now. Null: it was started
   * before there were policies.
   */
  egress: jsonb("egress").$type<EgressPolicy>(),
  createdAt: time("created_at").notNull().defaultNow(),
  updatedAt: time("updated_at").notNull().defaultNow(),
});

/** The connections out of a run's sandboxes: those that passed by host, and the refused ones by host and port. */
export const runEgress = pgTable(
  "run_egress",
  {
    runId: text("run_id")
      .notNull()
      .references(() => runs.runId, { onDelete: "cascade" }),
    outcome: egressOutcome("outcome").notNull(),
    /** Empty: all further hosts together. */
    host: text("host").notNull(),
    /** 0 for those that passed. */
    port: integer("port").notNull(),
    connections: bigint("connections", { mode: "number" }).notNull(),
    /** In bytes. */
    sent: bigint("sent", { mode: "number" }).notNull(),
    received: bigint("received", { mode: "number" }).notNull(),
    lastAt: time("last_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.runId, table.outcome, table.host, table.port] })],
);

/** The end of a run's log: svc's own lines, and the output of builds and ended sandboxes. */
export const runLog = pgTable(
  "run_log",
  {
    seq: bigserial("seq", { mode: "number" }).primaryKey(),
    runId: text("run_id")
      .notNull()
      .references(() => runs.runId, { onDelete: "cascade" }),
    at: time("at").notNull().defaultNow(),
    source: logSource("source").notNull(),
    text: text("text").notNull(),
  },
  (table) => [index("run_log_run_id").on(table.runId, table.seq)],
);
