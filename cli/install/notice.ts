import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { compareVersions, isVersion } from "../../src/contract/release.ts";
import { VERSION } from "../../src/contract/version.ts";
import { isRecord } from "../config.ts";
import type { Handler } from "../spec.ts";
import type { System } from "../system.ts";
import type * as table from "../table/install.ts";
import { readRecord } from "./record.ts";

const DAY_MS = 86_400_000;
/** How long the background check waits for the server. */
const CHECK_MS = 2_000;

/** What is known about newer versions. Times are in milliseconds since 1970; 0: never. */
interface State {
  checked_at: number;
  noticed_at: number;
  latest: string | null;
}

export function statePath({ env }: Pick<System, "env">): string {
  const xdg = env["XDG_STATE_HOME"];
  const base = xdg && isAbsolute(xdg) ? xdg : join(env["HOME"] || homedir(), ".local", "state");
  return join(base, "svc", "update.json");
}

/**
 * Prints a notice of a newer version, at most once a day. The version is looked up once a day too, by a process in the
 * background that the command does not wait for: its result is shown after a later command.
 */
export async function noticeUpdate(system: System): Promise<void> {
  if ((await readRecord(system).catch(() => null)) === null) return;
  const state = await readState(system);
  const now = system.now();
  const isDue = (at: number) => Math.abs(now - at) >= DAY_MS;
  const { latest } = state;
  const isNewer = latest !== null && compareVersions(latest, VERSION) > 0;
  if (isNewer && isDue(state.noticed_at) && (await writeState(system, { ...state, noticed_at: now })))
    await system.stderr.write(`svc ${latest} is available (this is ${VERSION}). Run: svc update\n`);
  // recorded first: a check that fails is not repeated by every command
  const { noticed_at } = await readState(system);
  if (isDue(state.checked_at) && (await writeState(system, { latest, noticed_at, checked_at: now }))) {
    Bun.spawn([...system.self, "__check-update"], {
      env: { ...system.env },
      stdio: ["ignore", "ignore", "ignore"],
      detached: true,
    }).unref();
  }
}

/** Looks up the newest version for the notice. */
export const checkUpdate: Handler<typeof table.checkUpdate> = async ({ system }) => {
  try {
    const record = await readRecord(system);
    if (record === null) return;
    const { latestVersion } = await import("./latest.ts");
    const latest = await latestVersion(system, record.source, CHECK_MS);
    await writeState(system, { ...(await readState(system)), latest });
  } catch {
    // a server that does not answer is not worth a message
  }
};

async function readState(system: System): Promise<State> {
  const { readFile } = await import("node:fs/promises");
  try {
    const value: unknown = JSON.parse(await readFile(statePath(system), "utf8"));
    if (isRecord(value)) {
      const time = (at: unknown) => (typeof at === "number" ? at : 0);
      const latest =
        typeof value["latest"] === "string" && isVersion(value["latest"]) ? value["latest"] : null;
      return { checked_at: time(value["checked_at"]), noticed_at: time(value["noticed_at"]), latest };
    }
  } catch {}
  return { checked_at: 0, noticed_at: 0, latest: null };
}

/** @returns whether it was written: in a home that is read-only there is no notice */
async function writeState(system: System, state: State): Promise<boolean> {
  const path = statePath(system);
  const { mkdir } = await import("node:fs/promises");
  const { replace } = await import("../config-write.ts");
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await replace(path, `${JSON.stringify(state)}\n`);
    return true;
  } catch {
    return false;
  }
}
