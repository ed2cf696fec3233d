import { expect } from "bun:test";
import { openPostgres } from "../../db/client.ts";
import { caller } from "../helpers/api.ts";
import { APP_PROGRAM, benchApps, entryOf, isLive, NODE_INSIDE } from "../helpers/apps.ts";
import { needs } from "../helpers/needs.ts";
import { startOther } from "../helpers/other-server.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { silence } from "../helpers/servers.ts";
import { startSessionServer } from "../helpers/session-server.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres, and node below /usr", POSTGRES && NODE_INSIDE);
const KEY = "cd".repeat(32);

test("another server takes over an app of an unreachable server, which cleans up when it is back", async () => {
  const lost = await startSessionServer({ SVC_MASTER_KEY: KEY });
  const through = (url: () => string) =>
    benchApps({
      ...lost,
      url,
      call: (method, path, body) =>
        caller(url(), lost.token)(method, path, body === undefined ? {} : { body }),
    });
  const first = through(lost.url);
  const run = { command: "exec node server.js", port: 3000, volume: "/data" };
  const keeps = { slug: "keeps" };
  await first.merge({ "server.js": APP_PROGRAM, "says.txt": "one" }, [entryOf(), entryOf({ ...keeps, run })]);
  const { app } = await first.becomes("it is live", isLive(1));
  await first.becomes("the one with a volume is live", isLive(1), keeps);
  const id = app.live?.deployment_id ?? "";
  const database = await openPostgres(lost.databaseUrl);
  const other = await startOther(lost, { SVC_MASTER_KEY: KEY });
  const bench = through(() => other.api.url);
  try {
    await lost.kill();
    await silence(database.db, { of: lost.dataDir, watchedFrom: other.api.dataDir });
    other.look();
    await bench.becomes("it is lost", ({ state }) => state === "down");
    const { deployments } = await bench.becomes("it runs on the other", ({ state }) => state === "live");
    expect(deployments).toHaveLength(1);
    expect(lost.processes(id)).not.toHaveLength(0);
    // the other server does not start it with an empty volume
    await bench.becomes("it is lost", ({ state }) => state === "down", keeps);
    expect((await bench.call("POST", "/keeps/deploy")).status).toBe(202);
    const failed = await bench.becomes("it has failed", (_, [last]) => last?.state === "failed", keeps);
    expect(failed.app.live?.number).toBe(1);
    expect(failed.deployments[0]?.error).toStartWith("The app's volume is on the machine of a server that");
    await lost.start();
    await until("nothing is left of it", () => lost.processes(id).length === 0);
    expect((await bench.get()).app.state).toBe("live");
    await bench.becomes("it runs where its volume is", isLive(1), keeps);
  } finally {
    await other.stop();
    await database.close();
    await lost.stop();
  }
});
