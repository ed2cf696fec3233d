import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stackOf } from "../../../cli/commands/self-host/stack.ts";
import { waitHealthy } from "../../../cli/commands/self-host/wait-healthy.ts";
import { CliError } from "../../../cli/failure.ts";
import { thisSystem } from "../../../cli/system.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-wait-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const CONTAINERS = ["db", "api"].map((name) => ({
  Config: { Labels: { "com.docker.compose.service": name } },
  State: { Status: name === "api" ? "restarting" : "running", StartedAt: "2026-01-01T00:00:00Z" },
  RestartCount: 1,
}));

/** A `docker` whose service `api` ends again and again, and has no log in its first `empty` readings. @returns its PATH, and its record of readings */
function engine(empty: number): { path: string; readings: string } {
  const bin = mkdtempSync(join(folder, "bin-"));
  const [containers, readings] = [join(bin, "containers"), join(bin, "readings")];
  writeFileSync(containers, JSON.stringify(CONTAINERS));
  writeFileSync(readings, "");
  const script = `#!/bin/sh
case "$*" in
  *version*) ;;
  ps*) echo 1; echo 2 ;;
  inspect*) cat '${containers}' ;;
  *logs*)
    echo >>'${readings}'
    [ $(wc -l <'${readings}') -le ${empty} ] || echo 'api  | no room on the disk' ;;
esac
`;
  writeFileSync(join(bin, "docker"), script, { mode: 0o755 });
  return { path: `${bin}:${process.env["PATH"]}`, readings };
}

/** @returns the log that the error of a start shows, and how often it was read */
async function start(empty: number) {
  const { path, readings } = engine(empty);
  const system = {
    ...thisSystem(),
    env: { PATH: path, SVC_SELF_HOST_DIR: folder },
    sleep: async () => {},
    fetch: async () => new Response(null, { status: 503 }),
  };
  const started = waitHealthy(system, stackOf(system), { mode: "compose" }, new Map(), async () => {});
  const error = await started.catch((reason: unknown) => reason);
  if (!(error instanceof CliError)) throw error;
  return { log: error.extra.log, times: readFileSync(readings, "utf8").length };
}

test("a service that ends again and again is shown with its log, which the engine may not give at once", async () => {
  const line = { source: "api", text: "no room on the disk" };
  for (const [empty, times, log] of [
    [0, 1, [line]],
    [1, 2, [line]],
    [3, 4, [line]],
    // it may have printed nothing at all
    [4, 4, []],
  ] as const)
    expect({ empty, ...(await start(empty)) }).toEqual({ empty, times, log: [...log] });
});
