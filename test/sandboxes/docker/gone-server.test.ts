import { expect } from "bun:test";
import { existsSync } from "node:fs";
import { openPostgres } from "../../../db/client.ts";
import { DOCKER, docker } from "../../helpers/docker-engine.ts";
import { needs } from "../../helpers/needs.ts";
import { startOther } from "../../helpers/other-server.ts";
import { POSTGRES } from "../../helpers/postgres.ts";
import { silence } from "../../helpers/servers.ts";
import { startSessionServer } from "../../helpers/session-server.ts";
import { until } from "../../helpers/until.ts";

const isBuilt = existsSync("dist/svc-agent");
const [lacks, isHere] = !isBuilt ? ["dist/svc-agent (npm run build)", false] : DOCKER;
const test = needs(POSTGRES ? lacks : "a real Postgres", POSTGRES && isHere);
const KEY = "ef".repeat(32);

test("a server that was gone ends its old sandboxes in Docker when it is back, not those of others", async () => {
  const lost = await startSessionServer({ SVC_MASTER_KEY: KEY, SVC_SANDBOX_PROVIDER: "docker" });
  const database = await openPostgres(lost.databaseUrl);
  const other = await startOther(lost, { SVC_MASTER_KEY: KEY }, "docker");
  try {
    const { session_id: left } = await lost.create();
    await lost.becomes(left, "running");
    const { session_id: restarted } = await lost.create();
    await lost.becomes(restarted, "running");
    await lost.kill();
    for (const id of [left, restarted]) expect(await inDocker(id)).not.toEqual([]);

    await silence(database.db, { of: lost.dataDir, watchedFrom: other.api.dataDir });
    other.look();
    for (const id of [left, restarted])
      expect((await other.becomes(id, "failed")).error).toContain("has not sent a heartbeat since");
    expect((await other.call("POST", `/${restarted}/restart`)).status).toBe(202);
    await other.becomes(restarted, "running");
    // the unreachable machine belongs to no other server
    for (const id of [left, restarted]) expect(await inDocker(id)).not.toEqual([]);

    await lost.start();
    for (const id of [left, restarted])
      await until(`nothing is left of ${id}`, async () => (await inDocker(id)).length === 0);
    expect(await lost.get(left)).toMatchObject({ status: "failed", sandbox_status: "error" });
    expect(await lost.get(restarted)).toMatchObject({ status: "running", error: null });
    expect(other.provider.sandboxes.has(restarted)).toBe(true);
  } finally {
    await other.stop();
    await database.close();
    await lost.stop();
  }
});

/** Names of a session's containers and networks. */
async function inDocker(sessionId: string): Promise<string[]> {
  const containers: { Names: string[] }[] = await docker("GET", "/containers/json?all=1");
  const networks: { Name: string }[] = await docker("GET", "/networks");
  const names = [...containers.flatMap(({ Names }) => Names), ...networks.map(({ Name }) => Name)];
  return names.filter((name) => name.includes(sessionId));
}
