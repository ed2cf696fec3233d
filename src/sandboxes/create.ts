import type { Config } from "../config.ts";
import type { Sandboxes } from "./sandboxes.ts";
export async function createSandboxes(_config: Config, _options: unknown): Promise<Sandboxes> {
  throw new Error("temporary");
}
