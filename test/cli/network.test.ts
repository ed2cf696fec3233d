import { afterAll, beforeEach, expect, test } from "bun:test";
import type { AllowedHosts } from "../../src/contract/network.ts";
import { changeRequest, fakeApi, PROJECT_ID } from "../helpers/cli-api.ts";
import { svc } from "../helpers/cli-run.ts";
import { SESSION_ID } from "../helpers/cli-sessions.ts";

const api = fakeApi();
afterAll(() => api.stop());
beforeEach(() => api.reset());

const run = (...args: string[]) => svc(["network", ...args], { env: api.env });

test("ls prints what was refused and what passed, and how to allow the last that was refused", async () => {
  const ran = await run("ls", SESSION_ID);
  expect(ran.stdout).toBe(
    "not_allowed\tx.example\t443\t3\t0\t0\t2026-11-20T10:00:00.000Z\n" +
      "passed\tregistry.npmjs.org\t\t2\t9\t12\t2026-11-20T10:00:00.000Z\n",
  );
  expect(ran.stderr).toContain("Policy: restricted, allowed: preset:packages\n");
  expect(ran.stderr).toContain("To allow a host: svc network allow x.example\n");
  expect((await run("ls", SESSION_ID, "--refused", "--jq", ".[].host")).stdout).toBe("x.example\n");
});

test("allow names the change request, and says when the list has no effect", async () => {
  const answer: AllowedHosts = {
    ...{ hosts: ["x.example"], status: "open", egress: "open" },
    change_request: changeRequest({ number: 7 }),
  };
  api.on("POST /projects/:p/network/allow", () => answer);
  const ran = await run("allow", "x.example", "*.y.example");
  expect([ran.code, ran.stdout]).toEqual([
    0,
    "x.example will be allowed when change request #7 is merged.\n",
  ]);
  expect(ran.stderr).toContain('egress is "open" in svc.toml');
  expect(ran.stderr).toContain("svc cr merge 7");
  const [seen] = api.seen.filter(({ method }) => method === "POST");
  expect(seen).toMatchObject({
    path: `/projects/${PROJECT_ID}/network/allow`,
    body: { hosts: ["x.example", "*.y.example"] },
  });
});

test("hosts that the list has are no change", async () => {
  expect((await run("allow", "x.example")).stdout).toBe(
    "x.example: already in [network] allow of svc.toml.\n",
  );
});
