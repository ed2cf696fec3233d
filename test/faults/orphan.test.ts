import { afterAll, beforeAll, expect } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { needs } from "../helpers/needs.ts";
import { type SessionServer, startSessionServer } from "../helpers/session-server.ts";
import { until } from "../helpers/until.ts";

const test = needs("dist/svc-agent (npm run build)", existsSync("dist/svc-agent"));

let server: SessionServer;
beforeAll(async () => {
  server = await startSessionServer({ TEST_ORPHAN_S: "2" });
});
afterAll(() => server.stop());

test("a sandbox whose server does not come back exits, and the next server saves its unpushed work", async () => {
  const { session_id: id } = await server.create();
  await server.becomes(id, "running");
  const folder = join(server.dataDir, "sandboxes", id);
  await server.kill();
  // after the last moment at which the server could have been sent it
  writeFileSync(join(folder, "workspace", "unsaved.txt"), "not pushed\n");
  await until("nothing of the sandbox runs", async () => server.processes(id).length === 0);
  expect(existsSync(join(folder, "workspace", "unsaved.txt"))).toBe(true);

  await server.start();
  const ended = await server.becomes(id, "failed");
  expect(ended.error).toContain("SVC_ORPHAN_MINUTES");
  expect(ended.saved).toMatchObject({ live: false });
  expect(existsSync(folder)).toBe(false);
  const { status, body } = await server.call("GET", `/${id}/saved`);
  expect({ status, patch: body.patch }).toMatchObject({
    status: 200,
    patch: expect.stringContaining("+not pushed"),
  });

  await server.call("POST", `/${id}/restart`, { restore: true });
  await server.becomes(id, "running");
  expect(existsSync(join(folder, "workspace", "unsaved.txt"))).toBe(true);
});
