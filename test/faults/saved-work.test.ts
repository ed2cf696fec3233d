import { afterAll, beforeAll, expect } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Session } from "../../src/contract/session.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { type SessionServer, startSessionServer } from "../helpers/session-server.ts";

const test = needs("a real Postgres", POSTGRES && process.platform === "linux");

let server: SessionServer;
/** A session that runs, with unpushed work, which the first test leaves for the next. */
let left: string | undefined;

beforeAll(async () => {
  if (POSTGRES) server = await startSessionServer();
});
afterAll(() => server?.stop());

const inWorkspace = (id: string, path: string) => join(server.dataDir, "sandboxes", id, "workspace", path);

/** A session that runs, with work that is not pushed. */
async function working(): Promise<string> {
  const { session_id: id } = await server.create();
  await server.becomes(id, "running");
  writeFileSync(inWorkspace(id, "new.txt"), "work\n");
  return id;
}

const savedOf = async (id: string): Promise<Session["saved"]> => (await server.get(id))?.saved ?? null;

test("a stop saves the work, and a restart with --restore restores it", async () => {
  const id = await working();
  await server.call("POST", `/${id}/stop`);
  const stopped = await server.becomes(id, "stopped");
  expect(stopped.saved).toMatchObject({ files: 1, live: false });
  await server.call("POST", `/${id}/restart`, { restore: true });
  await server.becomes(id, "running");
  expect(readFileSync(inWorkspace(id, "new.txt"), "utf8")).toBe("work\n");
  // at once, and not only when the sandbox has saved it as its own
  expect(await savedOf(id)).toMatchObject({ commit: stopped.saved?.commit ?? "", live: true });
  // a restart of a running session saves, too, and restores only on request
  await server.call("POST", `/${id}/restart`);
  await server.becomes(id, "running");
  expect([existsSync(inWorkspace(id, "new.txt")), (await savedOf(id))?.live]).toEqual([false, false]);
  await server.call("POST", `/${id}/restart`, { restore: true });
  await server.becomes(id, "running");
  // a sandbox that is ended in the same state saves it as its own
  await server.call("POST", `/${id}/restart`, { restore: true });
  await server.becomes(id, "running");
  expect(readFileSync(inWorkspace(id, "new.txt"), "utf8")).toBe("work\n");
  left = id;
});

test("work that was saved when the server stopped is restored when its session is woken", async () => {
  const id = left ?? (await working());
  await server.end();
  await server.start();
  expect(await server.get(id)).toMatchObject({
    status: "stopped",
    stop_reason: "server",
    saved: { files: 1, live: false },
  });
  const woken = await fetch(`${server.url()}/v1/p/${id}/8000/`, {
    headers: { Authorization: `Bearer ${server.token}`, Accept: "text/html" },
  });
  expect(woken.status).toBe(503);
  await server.becomes(id, "running");
  expect(readFileSync(inWorkspace(id, "new.txt"), "utf8")).toBe("work\n");
  await server.call("DELETE", `/${id}`);
});
