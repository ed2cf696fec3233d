import { eq } from "drizzle-orm";
import { sessionSandboxes } from "../../../../db/schema/index.ts";
import { type EgressPolicy, limited, OPEN } from "../../../contract/egress/policy.ts";
import type { Deps } from "../../../deps.ts";
import { createCache } from "../../../lib/cache.ts";
import type { EgressGate } from "../../../sandboxes/egress/gate.ts";
import { type EgressChange, recordEgress } from "./record.ts";

/** A new policy applies within this time; and the most policies to cache. */
const POLICY = { keepMs: 2_000, max: 10_000 };
/** Connections are recorded in batches, this often. */
const FLUSH_MS = 1_000;
/** Hosts of one sandbox in a batch; further ones are counted together. */
const PENDING_MAX = 500;

type Parts = Pick<Deps, "db" | "log" | "changes"> & { limit: EgressPolicy; clock: () => Date };

/** The gate of this server: reads policies from the database, and records there what passed and what was refused. */
export interface ServerEgressGate extends EgressGate {
  /** Records what is not recorded yet. */
  flush(): Promise<void>;
}

export function createEgressGate(parts: Parts): ServerEgressGate {
  const cached = createCache<EgressPolicy>(POLICY, () => true);
  let pending = new Map<string, Map<string, EgressChange>>();
  let last = Promise.resolve();
  let isScheduled = false;

  return {
    policyOf: async (sessionId) =>
      limited(await cached(sessionId, () => readPolicy(parts, sessionId)), parts.limit),
    refused(sessionId, { host, port, reason }) {
      add(sessionId, {
        outcome: reason,
        host,
        port,
        connections: 1,
        sent: 0,
        received: 0,
        lastAt: parts.clock(),
      });
    },
    passed(sessionId, { host, sent, received }) {
      add(sessionId, {
        outcome: "passed",
        host,
        port: 0,
        connections: 1,
        sent,
        received,
        lastAt: parts.clock(),
      });
    },
    flush,
  };

  function add(sessionId: string, change: EgressChange): void {
    const known = pending.get(sessionId) ?? new Map<string, EgressChange>();
    pending.set(sessionId, known);
    const key = `${change.outcome} ${change.host} ${change.port}`;
    const other = { ...change, host: "", port: 0 };
    const entry = known.has(key) || known.size < PENDING_MAX ? change : other;
    const name = entry === change ? key : `${change.outcome}  0`;
    const { connections = 0, sent = 0, received = 0 } = known.get(name) ?? {};
    known.set(name, {
      ...entry,
      connections: connections + change.connections,
      sent: sent + change.sent,
      received: received + change.received,
    });
    if (isScheduled) return;
    isScheduled = true;
    setTimeout(() => void flush(), FLUSH_MS).unref();
  }

  function flush(): Promise<void> {
    isScheduled = false;
    last = last.then(writePending);
    return last;
  }

  async function writePending(): Promise<void> {
    const batch = pending;
    pending = new Map();
    for (const [runId, changes] of batch) {
      try {
        await recordEgress(parts, runId, [...changes.values()]);
      } catch (error) {
        parts.log.warn({ run: runId, err: error }, "cannot record the connections of a sandbox");
      }
    }
  }
}

/** @throws when there is no such sandbox */
async function readPolicy({ db }: Pick<Deps, "db">, sessionId: string): Promise<EgressPolicy> {
  const [row] = await db
    .select({ egress: sessionSandboxes.egress })
    .from(sessionSandboxes)
    .where(eq(sessionSandboxes.runId, sessionId));
  if (!row) throw new Error("no sandbox has this id");
  return row.egress ?? OPEN;
}
