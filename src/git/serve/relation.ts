import type { Engine } from "../engine.ts";
import { engineFailure } from "../failure.ts";
import type { UpdateKind } from "../git.ts";
import type { RefUpdate } from "../update-refs.ts";
import type { Quarantine } from "./quarantine.ts";

/**
 * What a change does to its ref, seen from the objects. A tag that moves is rewritten, wherever it goes.
 * @returns "unknown" when the commit that the client began from is not here
 */
export async function examine(
  engine: Engine,
  quarantine: Quarantine,
  { ref, from, to }: RefUpdate,
): Promise<UpdateKind | "not a commit" | "unknown"> {
  if (to === null) return "delete";
  const isBranch = ref.startsWith("refs/heads/");
  const isSaved = ref.startsWith("refs/svc/");
  if ((isBranch || isSaved) && (await ask(engine, quarantine, ["cat-file", "-t", to])).text !== "commit")
    return "not a commit";
  if (from === null) return "create";
  if (!isBranch) return "rewrite";
  const { code } = await ask(engine, quarantine, ["merge-base", "--is-ancestor", from, to]);
  if (code === 0) return "fast-forward";
  return code === 1 ? "rewrite" : "unknown";
}

async function ask(
  engine: Engine,
  quarantine: Quarantine,
  args: string[],
): Promise<{ code: number; text: string }> {
  const result = await engine.runner.run({
    args,
    environment: quarantine.environment,
    deadlineMs: engine.limits.mergeMs,
    memory: engine.limits.mergeMemory,
    outputBytes: 1024,
  });
  if (result.code === null) throw engineFailure(engine, "looking at what was pushed", result);
  return { code: result.code, text: new TextDecoder().decode(result.stdout).trim() };
}
