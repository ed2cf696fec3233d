import { writeEnv } from "./env-file.ts";
import { freePort, isPortTaken } from "./probe.ts";
import { DEFAULT_HOST } from "./settings.ts";
import type { Stack } from "./stack.ts";

const DATABASE_PORT = "SVC_SELF_HOST_DB_PORT";

/**
 * Chooses another port for the database of a stopped server if a program has taken the one of its settings: any free port
 * will do, and nobody has to know it.
 */
export async function settleDatabasePort(stack: Stack, env: Map<string, string>): Promise<void> {
  if (!(await isPortTaken(DEFAULT_HOST, Number(env.get(DATABASE_PORT))))) return;
  env.set(DATABASE_PORT, `${await freePort()}`);
  await writeEnv(stack, env);
}
