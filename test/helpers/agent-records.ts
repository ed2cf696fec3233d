import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentRecord, RecordedEarlier } from "../../src/contract/agent-record.ts";
import { type SandboxOptions, SERVICE_KEY } from "./sandbox.ts";

/** A session whose sandboxes follow each other, with what svc keeps of its agent. */
export interface Lives extends Disposable {
  kept: AgentRecord | null;
  /** The options of its first sandbox, or of one after it. */
  first(): SandboxOptions;
  next(recorded: RecordedEarlier | null): SandboxOptions;
}

/** What svc tells an agent that has no record. */
export const RECAP = "# Earlier in this conversation\n\nall that svc knows";

export function startLives(env: Record<string, string> = {}): Lives {
  const folder = mkdtempSync(join(tmpdir(), "svc-lives-"));
  const api = async (request: Request): Promise<Response | null> => {
    if (!new URL(request.url).pathname.endsWith("/git/agent-record")) return null;
    if (request.headers.get("authorization") !== `Bearer ${SERVICE_KEY}`)
      return new Response(null, { status: 401 });
    if (request.method === "GET")
      return lives.kept ? Response.json(lives.kept) : new Response(null, { status: 404 });
    lives.kept = await request.json();
    return new Response(null, { status: 204 });
  };
  const options = (more: Record<string, string>): SandboxOptions => ({
    api,
    env: { SVC_WORKSPACE: join(folder, "workspace"), ...env, ...more },
  });
  const lives: Lives = {
    kept: null,
    first: () => options({}),
    next: (recorded) =>
      options({
        SVC_CONVERSATION_RECAP: RECAP,
        ...(recorded && { SVC_AGENT_RECORD: JSON.stringify(recorded) }),
      }),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
  return lives;
}
