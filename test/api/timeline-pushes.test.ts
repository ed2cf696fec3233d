import { afterAll, beforeAll, expect } from "bun:test";
import type { TimelineEvent } from "../../src/contract/timeline.ts";
import { timelineActor } from "../../src/contract/timeline-text.ts";
import { type GatewayBench, runClient, scratch, startGateway } from "../helpers/gateway.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { git } from "../helpers/remote.ts";

const test = needs("a real Postgres", POSTGRES);
let bench: GatewayBench;

beforeAll(async () => {
  if (POSTGRES) bench = await startGateway();
});
afterAll(() => bench?.stop());

test("a push through svc has who pushed: a person, an agent, a script; a push to the host has nobody", async () => {
  const place = bench.external;
  const path = `/v1/projects/${place.project.project_id}`;
  const session = await bench.session(place);
  const script = await bench.api.call("POST", `${path}/cli-token`, { body: { name: "ci" } });
  const branch = session.branch;
  bench.remote.commit(branch, { work: "0\n" }, { from: "main" });
  const body = { title: "t", head_ref: branch };
  const cr = (await bench.api.call("POST", `${path}/change-requests`, { body })).body;
  using clone = scratch();
  const folder = clone.path;
  git(["clone", "--quiet", "--branch", branch, bench.remote.url, folder]);
  const timeline = async (): Promise<TimelineEvent[]> =>
    (await bench.api.call("GET", `${path}/change-requests/${cr.number}/timeline`)).body.events;
  const credentials = [bench.api.token, session.cloneCredential, session.token, script.body.token];
  for (const credential of credentials) {
    git(["-C", folder, "commit", "--quiet", "--allow-empty", "--message", "more"]);
    const pushed = await runClient(folder, "push", bench.url(place, credential), `HEAD:${branch}`);
    expect(pushed.code).toBe(0);
    await timeline();
  }
  bench.remote.commit(branch, { work: "1\n" });
  const pushes = (await timeline()).filter(({ event }) => event === "pushed");
  expect(pushes.map(timelineActor)).toEqual([
    "first",
    "an agent of first",
    "an agent of first",
    'the token "ci"',
    "somebody",
  ]);
  expect(pushes[1]?.actor).toMatchObject({ kind: "agent", session_id: session.id });
  expect(pushes.map(({ head }) => head)).toEqual([2, 3, 4, 5, 6]);
  // a force push of the person is theirs, too
  git(["-C", folder, "reset", "--quiet", "--hard", "HEAD~2"]);
  git(["-C", folder, "commit", "--quiet", "--allow-empty", "--message", "other"]);
  await runClient(folder, "push", "--force", bench.url(place, bench.api.token), `HEAD:${branch}`);
  expect((await timeline()).at(-1)).toMatchObject({ actor: { name: "first", kind: "user" }, head: 7 });
});
