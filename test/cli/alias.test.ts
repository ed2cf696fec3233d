import { afterAll, beforeEach, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fakeApi, TOKEN } from "../helpers/cli-api.ts";
import { makeHome, svc } from "../helpers/cli-run.ts";
import { SESSION_ID } from "../helpers/cli-sessions.ts";

const api = fakeApi();
afterAll(() => api.stop());
beforeEach(() => api.reset());

/** A home whose configuration has these aliases, beside a host and a field that this version does not know. */
function homeWith(aliases?: unknown) {
  const home = makeHome();
  mkdirSync(join(home.home, ".config/svc"), { recursive: true });
  const hosts = { team: { url: "https://svc.example.com", token: TOKEN } };
  writeFileSync(home.config, JSON.stringify({ later: 1, hosts, ...(aliases !== undefined && { aliases }) }));
  const run = (...line: string[]) => svc(line, { home, env: api.env });
  return { home, run, stored: () => JSON.parse(readFileSync(home.config, "utf8")) };
}

test("set, ls and rm keep aliases beside the rest of the configuration", async () => {
  const { run, stored } = homeWith();
  expect(await run("alias", "ls")).toMatchObject({
    ...{ code: 0, stdout: "" },
    stderr: expect.stringContaining("No aliases."),
  });
  expect((await run("alias", "set", "mine", "svc cr status")).stdout).toBe("svc mine is now svc cr status\n");
  expect(await run("alias", "ls")).toMatchObject({ stdout: "mine\tcr status\n", stderr: "" });
  await run("alias", "set", "co", "cr checkout");
  await run("alias", "set", "co", "pr checkout");
  expect((await run("alias", "ls")).stdout).toBe("co\tpr checkout\nmine\tcr status\n");
  expect(stored()).toMatchObject({ later: 1, hosts: { team: { token: TOKEN } } });
  expect((await run("aliases", "delete", "co")).stdout).toBe("Removed the alias co.\n");
  await run("alias", "set", "co", "cr checkout");
  expect((await run("alias", "rm", "co", "--json")).stdout).toBe('{"name":"co","removed":true}\n');
  expect(stored()).toMatchObject({ later: 1, aliases: { mine: "cr status" } });
  expect(await run("alias", "rm", "co")).toMatchObject({ code: 1, stdout: "" });
});

test.each([
  [["show"], "cr show 3", ["show"], "/3"],
  [["see"], "cr show $1", ["see", "5"], "/5"],
  [["see"], "cr show", ["see", "5", "--jq", ".number"], "/5"],
  [["see"], "cr comments --open $2", ["see", "x", "7"], null],
  [["see"], "cr comments $1", ["see", "7", "--open"], "/7/comments"],
] as [name: [string], command: string, line: string[], path: string | null][])(
  "%j for %j runs as %j",
  async ([name], command, line, path) => {
    const { run } = homeWith({ [name]: command });
    const ran = await run(...line);
    if (path === null) expect(ran.code).toBe(2);
    else {
      expect([ran.code, api.seen.some((call) => call.path.endsWith(`/change-requests${path}`))]).toEqual([
        0,
        true,
      ]);
    }
  },
);

test("what follows stays one word, and is not expanded itself", async () => {
  const { run } = homeWith({
    why: `cr comment $1 "Why $2? \\"$2\\" 'a' \\\\n" --file 'a b'c`,
    rate: "cr comment 3 $1$1",
    clear: `cr edit 3 -b "" -t ''x`,
  });
  await run("why", "3", "a 'b $1");
  expect(api.seen.at(-1)?.body).toEqual({ body: `Why a 'b $1? "a 'b $1" 'a' \\n`, path: "a bc" });
  await run("rate", "$2 $(id)");
  expect(api.seen.at(-1)?.body).toEqual({ body: "$2 $(id)$2 $(id)" });
  await run("clear");
  expect(api.seen.at(-1)?.body).toEqual({ title: "x", description: "" });
  const missing = await run("why", "3");
  expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining("The alias why needs $2") });
});

test("a command has precedence over an alias, and an alias stands for no other alias", async () => {
  const { run } = homeWith({
    cr: "projects rm shop --yes",
    diff: "projects rm shop --yes",
    a: "b 3",
    b: "cr show",
  });
  expect((await run("cr", "ls")).code).toBe(0);
  expect((await run("diff", "3")).code).toBe(0);
  expect(api.seen.some(({ method }) => method === "DELETE")).toBe(false);
  expect(await run("a")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("Unknown command: svc b"),
  });
});

test("an error of an alias is JSON if its command asks for JSON", async () => {
  const { run } = homeWith({ see: "cr show --json" });
  expect(JSON.parse((await run("see", "x")).stderr).error.code).toBe("usage");
});

test("what cannot be an alias is refused, and the configuration stays as it is", async () => {
  const { run, stored } = homeWith({ kept: "cr ls" });
  const before = stored();
  const rows: [line: string[], says: string][] = [
    [["cr", "projects ls"], "svc cr is a command"],
    [["pr", "projects ls"], "svc pr is a command"],
    [["diff", "projects ls"], "svc diff is a command"],
    [["help", "projects ls"], "svc help is a command"],
    [["Ls", "cr ls"], "Not a name of an alias"],
    [["-x", "cr ls"], "Unknown flag"],
    [["../x", "cr ls"], "Not a name of an alias"],
    [["x".repeat(41), "cr ls"], "Not a name of an alias"],
    [["x", "frobnicate"], "this is none: svc frobnicate"],
    [["x", "!rm -rf"], "this is none"],
    [["x", "kept"], "this is none: svc kept"],
    [["x", "cr comment 'open"], "A quote is not closed"],
    [["x", `cr comment ${"y".repeat(1000)}`], "longer than 1000"],
    [["x", "cr", "ls"], "Put the command in quotes"],
    [["x", "cr ls", "--shell"], "name it svc-<name>"],
  ];
  for (const [line, says] of rows) {
    const ran = await run("alias", "set", ...line);
    expect([line, ran.code, ran.stderr]).toEqual([line, 2, expect.stringContaining(says)]);
  }
  expect(stored()).toEqual(before);
  const full = homeWith(Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`a${at}`, "cr ls"])));
  expect((await full.run("alias", "set", "a1", "cr status")).code).toBe(0);
  expect((await full.run("alias", "set", "one-more", "cr ls")).code).toBe(2);
});

test.each([[[]], [{ x: 1 }], [{ "A B": "cr ls" }], ["cr ls"]])("aliases %j are damaged", async (aliases) => {
  const ran = await homeWith(aliases).run("alias", "ls");
  expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining("is damaged") });
});

test("in a sandbox there are no aliases", async () => {
  const { home } = homeWith({ see: "cr show" });
  const env = { ...api.env, SVC_SESSION_ID: SESSION_ID };
  expect((await svc(["see", "3"], { home, env })).stderr).toContain("Unknown command: svc see");
  expect((await svc(["alias", "set", "x", "cr ls"], { home, env })).code).toBe(2);
  expect(api.seen).toEqual([]);
});
