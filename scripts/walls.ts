import { readConfig } from "../src/config.ts";
import { WALLS, type Wall } from "../src/contract/session.ts";
import { CONTAINER_WALLS } from "../src/sandboxes/docker/docker.ts";
import { dockerAnswers, engineEndpoint } from "../src/sandboxes/docker/engine.ts";
import { findIsolation, wallsOf } from "../src/sandboxes/local/isolation.ts";

/** One line on what isolates the sandboxes of a server with these variables; empty if the server decides it elsewhere. */
export async function wallsHere(env: Record<string, string | undefined>): Promise<string> {
  const { dataDir, sandboxProviders, sandboxIsolation } = readConfig(env);
  const [provider = (await dockerAnswers()) ? "docker" : "local"] = sandboxProviders;
  if (provider === "docker")
    return wallsLine(`containers of the Docker engine at ${engineEndpoint().url}`, CONTAINER_WALLS);
  if (provider !== "local") return "";
  if (sandboxIsolation === "none") return "Sandboxes: processes of this user. Nothing isolates them.\n";
  try {
    return wallsLine("bubblewrap", wallsOf(await findIsolation({ dataDir, isolation: "required" })));
  } catch (error) {
    return `Sessions cannot start: ${error instanceof Error ? error.message : String(error)}\n`;
  }
}

/** `Sandboxes: bubblewrap. Isolated: files, processes. Not limited: disk.` */
export function wallsLine(what: string, walls: readonly Wall[]): string {
  const names = (list: readonly Wall[]) => list.map((wall) => wall.replaceAll("_", " ")).join(", ");
  const missing = WALLS.filter((wall) => !walls.includes(wall));
  return `Sandboxes: ${what}. They have: ${names(walls)}${missing.length > 0 ? `; not: ${names(missing)}` : ""}.\n`;
}
