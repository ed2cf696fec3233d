import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { fakeApi } from "../helpers/cli-api.ts";
import { app, appDomain, deployment, previewOf } from "../helpers/cli-apps.ts";
import { svc } from "../helpers/cli-run.ts";

const api = fakeApi();
afterAll(() => api.stop());
beforeEach(() => api.reset());

const run = (line: string[]) => svc(line, { env: api.env });
const ONE = "/projects/:p/apps/web";
const LINE = { at: "2026-11-20T10:00:00.000Z", source: "build", text: "no such \u001b[31mmodule" };

test("ls prints a row per app, or the next step if there are none", async () => {
  const url = "http://web--shop.localhost:8008/";
  expect(await run(["apps", "ls"])).toMatchObject({
    code: 0,
    stdout: `web\tlive\t${"c".repeat(40)}\t2026-11-20T10:00:00.000Z\t${url}\tmembers\n`,
  });
  api.on("GET /projects/:p/apps", () => ({ apps: [] }));
  expect((await run(["apps", "ls"])).stderr).toContain("No apps yet. Add [[apps]] to svc.toml");
});

test("info prints the app and its deployments", async () => {
  const { stdout } = await run(["apps", "info", "web"]);
  expect(stdout).toContain("slug\tweb\nstate\tlive\n");
  expect(stdout).toContain(`\n1\tlive\t${"c".repeat(40)}\tchanged\t`);
});

test("the domains of an app: what to publish, and whether it was found", async () => {
  const added = await run(["apps", "domains", "add", "web", "www.example.com"]);
  expect(added.stdout).toContain("www.example.com: not served: its TXT record was not found.\n");
  expect(added.stdout).toContain("\n  _svc-challenge.www.example.com  TXT  svc-verify=x\n");
  expect(added.stdout).toContain("\n  www.example.com  CNAME  web--shop.localhost\n");
  expect(added.stderr).toContain("Next: svc apps domains verify web www.example.com");
  const verify = ["apps", "domains", "verify", "web", "www.example.com"];
  expect(await run(verify)).toMatchObject({
    code: 0,
    stdout: "www.example.com: served at https://www.example.com/\n",
  });
  for (const [found, said] of [
    [{ problem: "taken" }, "not served: another account"],
    [{ problem: "unanswered" }, "not served: the DNS resolver did not answer"],
    [{ state: "lost", served_until: "2026-11-23T10:00:00.000Z" }, "only until 2026-11-23T10:00:00.000Z"],
  ] as const) {
    api.on("POST /projects/:p/apps/web/domains/www.example.com/verify", () => appDomain(found));
    const ran = await run(verify);
    expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining(said)]);
  }
  expect((await run(["apps", "domains", "ls", "web"])).stdout).toStartWith("www.example.com\twaiting\t");
  expect(await run(["apps", "domains", "rm", "web", "www.example.com"])).toMatchObject({
    code: 0,
    stdout: "Removed the domain www.example.com.\n",
  });
});

describe("deploy --wait", () => {
  /** The server answers one after the other with these states of the deployment. */
  const becomes = (...states: ("building" | "starting" | "live" | "failed" | "stopped")[]) => {
    const error = states.at(-1) === "live" ? null : "The build failed.";
    const next = deployment({ number: 2, deployment_id: "d", state: "building" });
    let looks = 0;
    api.on(`POST ${ONE}/deploy`, () => app({ next }));
    api.on(`GET ${ONE}`, () => {
      const state = states[Math.min(looks++, states.length - 1)] ?? "live";
      return { app: app(), deployments: [{ ...next, state, error }, deployment()] };
    });
    api.on(`GET ${ONE}/logs`, () => ({ deployment: next, lines: [LINE], truncated: false }));
  };

  test("waits until the deployment is live", async () => {
    becomes("building", "starting", "live");
    const { code, stdout, stderr } = await run(["apps", "deploy", "web", "--wait"]);
    expect([code, stdout]).toEqual([0, "web: live at http://web--shop.localhost:8008/\n"]);
    expect(stderr).toContain("Deployment 2 is building…");
    expect(stderr).toContain("Deployment 2 is starting…");
  });

  test.each(["failed", "stopped"] as const)("fails with the end of the log if it is %s", async (state) => {
    becomes("building", state);
    const { code, stdout, stderr } = await run(["apps", "deploy", "web", "--wait"]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("Deployment 2 of web");
    expect(stderr).toContain("The build failed.");
    expect(stderr).toContain("build | no such");
    expect(stderr).not.toContain("\u001b[31m");
    expect(stderr).toContain("svc apps logs web --deployment 2");
    expect(api.seen.at(-1)?.query).toEqual({ deployment: "2", tail: "20" });
  });

  test("stops waiting after --timeout, and says that the deployment continues", async () => {
    becomes("building");
    const { code, stderr } = await run(["apps", "deploy", "web", "--wait", "--timeout", "1"]);
    expect(code).toBe(1);
    expect(stderr).toContain("It continues. To check it: svc apps info web");
  });

  test("without --wait it returns at once", async () => {
    becomes("building");
    expect(await run(["apps", "deploy", "web"])).toMatchObject({
      code: 0,
      stdout: "web: its deployment has started\n",
    });
  });
});

test("logs and open send their arguments to the server", async () => {
  await run(["apps", "logs", "web", "--deployment", "3", "--tail", "5"]);
  expect(api.seen.at(-1)?.query).toEqual({ deployment: "3", tail: "5" });
  expect((await run(["apps", "open", "web"])).stdout).toBe("http://web--shop.localhost:8008/?token=x\n");
  expect((await run(["apps", "deploy"])).code).toBe(2);
});

test("rollback sends a number, and says how to deploy again", async () => {
  const { stdout, stderr } = await run(["apps", "rollback", "web"]);
  expect(api.seen.at(-1)?.body).toEqual({});
  expect(stdout).toBe("web: its rollback to deployment 1 has started\n");
  expect(stderr).toContain("Commits do not deploy it until you do: svc apps deploy web");
  await run(["apps", "rollback", "web", "3"]);
  expect(api.seen.at(-1)?.body).toEqual({ deployment: 3 });
  const refused = await run(["apps", "rollback", "web", "last"]);
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toContain('A deployment is a number such as 3, not "last".');
});

test("history and diff print the deployments and what one changed", async () => {
  const author = { user_id: "u", name: "Ada", kind: "user", session_id: null } as const;
  const back = deployment({ number: 4, reason: "rollback", rollback_to: 2, author });
  api.on(`GET ${ONE}/deployments`, () => ({ deployments: [back, deployment()] }));
  const rows = (await run(["apps", "history", "web"])).stdout.split("\n").map((row) => row.split("\t"));
  expect(rows.map((row) => [row[0], row[3], row[4]]).slice(0, 2)).toEqual([
    ["4", "rollback", "Ada"],
    ["1", "changed", ""],
  ]);
  expect(JSON.parse((await run(["apps", "diff", "web", "1", "--json"])).stdout)).toMatchObject({
    files_changed: 0,
  });
});

describe("logs --follow", () => {
  const say = (text: string, at = LINE.at) => ({ at, source: "run", text });
  /** The server's responses in order; the last one repeats. */
  const says = (...answers: (object | { status: number })[]) => {
    let looks = 0;
    api.on(`GET ${ONE}/logs`, () => {
      const answer = answers[Math.min(looks++, answers.length - 1)] ?? {};
      return "status" in answer ? Response.json({}, { status: Number(answer.status) }) : answer;
    });
  };
  const log = (number: number, state: "live" | "retired", ...lines: object[]) => ({
    deployment: deployment({ number, deployment_id: `d${number}`, state }),
    lines,
    truncated: false,
  });

  test("shows each line once, and ends with the requested deployment", async () => {
    says(
      log(1, "live", LINE, say("one"), say("one")),
      { status: 503 },
      log(1, "live", LINE, { ...LINE, source: "svc", text: "between" }, say("one"), say("one"), say("one")),
      log(1, "retired", { ...LINE, source: "svc", text: "between" }, say("one"), say("two")),
    );
    const { code, stdout, stderr } = await run(["apps", "logs", "web", "-f", "--deployment", "1"]);
    expect(code).toBe(0);
    const texts = stdout
      .trim()
      .split("\n")
      .map((line) => line.split("\t").at(-1));
    expect(texts).toEqual([expect.stringContaining("no such"), "one", "one", "between", "one", "two"]);
    expect(stderr).toContain("Deployment 1 has ended: retired.");
  });

  test("continues with the next deployment, until the server returns an error", async () => {
    says(log(1, "live", say("oldest"), say("old")), log(2, "live", say("old"), say("new")), { status: 403 });
    const { code, stdout, stderr } = await run(["apps", "logs", "web", "--follow", "--tail", "1"]);
    expect(code).not.toBe(0);
    expect(stdout.match(/old(?:est)?|new/g)).toEqual(["old", "old", "new"]);
    expect(stderr).toContain("Deployment 2 is live…");
  });

  test("requests as many lines as --tail says", async () => {
    says(log(1, "retired", say("one")));
    await run(["apps", "logs", "web", "-f", "--deployment", "1", "--tail", "5000"]);
    expect(api.seen.at(-1)?.query).toEqual({ deployment: "1", tail: "5000" });
  });

  test("does not print JSON", async () => {
    expect(await run(["apps", "logs", "web", "-f", "--json"])).toMatchObject({ code: 2, stdout: "" });
  });
});

describe("cr apps", () => {
  const PREVIEWS = "/projects/:p/change-requests/:n/apps";
  const error = "It waits until another preview ends.";

  test("lists the previews, and cr show has them", async () => {
    const { stdout } = await run(["cr", "apps", "3"]);
    expect(stdout).toStartWith(`web\tlive\t${"c".repeat(40)}\t`);
    expect(stdout).toContain("http://web-cr3-a1b2c3--shop.localhost:8008/");
    api.on(`GET ${PREVIEWS}`, () => ({ apps: [previewOf({ state: "waiting", live: null, error })] }));
    const shown = (await run(["cr", "show", "3"])).stdout;
    expect(shown).toContain("Previews:\n  web  waiting  http://web-cr3-");
    expect(shown).toContain(`  web: ${error}\n`);
    expect(JSON.parse((await run(["cr", "show", "3", "--json=apps"])).stdout).apps).toMatchObject([
      { slug: "web", change_request: 3 },
    ]);
    api.on(`GET ${PREVIEWS}`, () => ({ apps: [] }));
    expect((await run(["cr", "show", "3"])).stdout).not.toContain("Previews");
    expect((await run(["cr", "apps", "3"])).stderr).toContain("previews = true in svc.toml");
  });

  test("deploys the only preview, or the one that is named", async () => {
    const deployed = await run(["cr", "apps", "3", "--deploy"]);
    expect(deployed).toMatchObject({ code: 0, stdout: "web: its deployment has started\n" });
    expect(deployed.stderr).toContain("Next: svc cr apps 3 web --logs");
    api.on(`GET ${PREVIEWS}`, () => ({ apps: [previewOf(), previewOf({ slug: "docs" })] }));
    const several = await run(["cr", "apps", "3", "--deploy"]);
    expect([several.code, several.stderr]).toEqual([
      2,
      expect.stringContaining("several previews: web, docs"),
    ]);
    expect((await run(["cr", "apps", "3", "web", "--deploy"])).code).toBe(0);
  });

  test("--wait waits for room, and shows the log of a failure", async () => {
    const next = deployment({ number: 2, deployment_id: "d", state: "failed", error: "The build failed." });
    api.on(`POST ${PREVIEWS}/web/deploy`, () => previewOf({ state: "waiting", live: null, error }));
    let polls = 0;
    api.on(`GET ${PREVIEWS}/web`, () => ({
      app: polls++ < 2 ? previewOf({ state: "waiting", live: null, error }) : previewOf({ state: "failed" }),
      // the one before has failed, too
      deployments: polls <= 2 ? [deployment({ state: "failed" })] : [next, deployment({ state: "failed" })],
    }));
    api.on(`GET ${PREVIEWS}/web/logs`, () => ({ deployment: next, lines: [LINE], truncated: false }));
    const { code, stderr } = await run(["cr", "apps", "3", "web", "--deploy", "--wait"]);
    expect(code).toBe(1);
    expect(stderr.split(error)).toHaveLength(2);
    for (const part of ["Deployment 2 of web failed", "build | no such", "svc cr apps 3 web --logs"])
      expect(stderr).toContain(part);
  });

  test.each([
    [["--deploy", "--logs"], "Only one of"],
    [["--wait"], "--wait needs --deploy"],
    [["--tail", "3"], "--tail needs --logs"],
    [["--logs", "--json"], "are for the list"],
  ])("refuses %p", async (flags, sentence) => {
    const { code, stderr } = await run(["cr", "apps", "3", ...flags]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)]);
    expect(api.seen).toHaveLength(0);
  });

  test("prints the log, and a sign-in link", async () => {
    expect((await run(["cr", "apps", "3", "--logs"])).stdout).toContain("listens");
    expect((await run(["cr", "apps", "3", "web", "--open"])).stdout).toContain("?token=x");
  });
});
