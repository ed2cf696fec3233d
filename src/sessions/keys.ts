import { randomBytes } from "node:crypto";
import { eq } from "drizzle-orm";
import type { Db } from "../../db/client.ts";
import { projectSessions, sessionSandboxes, tokens } from "../../db/schema/index.ts";
import { mintToken } from "../auth/token.ts";
import { SERVICE_KEY_PREFIX } from "../contract/account.ts";
import type { Deps } from "../deps.ts";
import type { SandboxKeys } from "./environment.ts";
import { interruptPrompt } from "./prompts/interrupt.ts";
import { keyPurpose } from "./reach.ts";
import { thisStart } from "./this-start.ts";
import type { SessionRow } from "./wire.ts";

/**
 * Ends what lived by a session's sandbox, which is gone: the tokens that open svc for it, its place among the sandboxes,
 * and the answer that it was giving.
 */
export async function endKeys(
  tx: Db,
  sessionId: string,
  sandbox: { state: "stopped" | "error"; updatedAt: Date },
): Promise<void> {
  await tx.delete(tokens).where(eq(tokens.sessionId, sessionId));
  await tx
    .update(sessionSandboxes)
    .set({ ...sandbox, host: null, port: null })
    .where(eq(sessionSandboxes.sessionId, sessionId));
  const how = sandbox.state === "stopped" ? "session was stopped" : "sandbox ended";
  await interruptPrompt(tx, sessionId, `The ${how} in the middle of the answer.`, sandbox.updatedAt);
}

/**
 * Makes the keys of one start (spec 5.7). Those of an earlier start open nothing from then on.
 * @throws when the session is to be something else by now: a later start has keys of its own
 */
export async function makeKeys(deps: Deps, session: SessionRow): Promise<SandboxKeys> {
  const { sessionId, projectId, generation } = session;
  const serviceKey = SERVICE_KEY_PREFIX + randomBytes(32).toString("base64url");
  const now = deps.clock();
  const sandbox = {
    state: "provisioning" as const,
    serviceKeyHash: deps.keys.hashToken(serviceKey),
    serviceKey: deps.keys.seal(projectId, keyPurpose(sessionId), serviceKey),
    generation,
    host: null,
    port: null,
    updatedAt: now,
  };
  return await deps.db.transaction(async (tx) => {
    const [row] = await tx.select().from(projectSessions).where(thisStart(session)).for("update");
    if (!row) throw new Error("the session is to be something else by now");
    await tx.delete(tokens).where(eq(tokens.sessionId, sessionId));
    const minted =
      session.purpose === "agent" &&
      (await mintToken(tx, deps.keys, {
        userId: session.createdBy,
        projectId,
        sessionId,
        name: `session ${sessionId}`,
      }));
    await tx
      .insert(sessionSandboxes)
      .values({ sessionId, createdAt: now, ...sandbox })
      .onConflictDoUpdate({ target: sessionSandboxes.sessionId, set: sandbox });
    return { serviceKey, token: minted ? minted.secret : null };
  });
}
