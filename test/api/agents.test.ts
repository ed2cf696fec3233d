import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { renameSync } from "node:fs";
import type { Agent } from "../../src/contract/agent.ts";
import type { Change } from "../helpers/remote.ts";
import { type SessionBench, startSessions } from "../helpers/sessions.ts";

let bench: SessionBench;
beforeAll(async () => {
  bench = await startSessions();
});
afterAll(() => bench.stop());

const FOLDER = ".svc/agentrt";
const BUILT_IN = ["build", "explore", "general", "plan"];

/** Gives the default branch exactly these files, below the folder of agents unless they begin with a slash. */
function merge(files: Record<string, Change>): void {
  const gone = bench.remote.git("ls-tree", "-r", "--name-only", "main").split("\n").filter(Boolean);
  bench.remote.commit("main", {
    ...Object.fromEntries(gone.map((path) => [path, null])),
    "a.txt": "1\n",
    ...Object.fromEntries(
      Object.entries(files).map(([path, text]) => [
        path.startsWith("/") ? path.slice(1) : `${FOLDER}/${path}`,
        text,
      ]),
    ),
  });
}

const list = async (): Promise<Agent[]> => {
  const { status, body } = await bench.api.call("GET", `/v1/projects/${bench.projectId}/agents`);
  expect(status).toBe(200);
  return body.agents;
};
const create = (agent_name: string) => bench.call("POST", "", { body: { agent_name } });
const agentFile = (lines: string) => `---\n${lines}\n---\nWords.\n`;

const BOMB = `  x0: &x0 [y, y, y, y]\n${Array.from({ length: 200 }, (_, i) => `  x${i + 1}: &x${i + 1} [*x${i}, *x${i}, *x${i}]\n`).join("")}`;

describe("the agents of a project", () => {
  const own = (name: string, change: Partial<Agent> = {}): Agent => ({
    name,
    description: null,
    mode: "all",
    source: "project",
    ...change,
  });

  test.each<[string, Record<string, Change>, Agent[]]>([
    ["no agents", {}, []],
    [
      "a file with front matter",
      { "agents/a.md": agentFile("# a remark\ndescription: Reviews.\nmode: primary\nmodel: x/y") },
      [own("a", { description: "Reviews.", mode: "primary" })],
    ],
    ["a file without that", { "agents/a.md": "Words.\n" }, [own("a")]],
    ["one that cannot be read", { "agents/a.md": agentFile("description: a: b\n- x") }, [own("a")]],
    [
      "in every form that a string has",
      {
        "agents/a.md": agentFile("model: x\ndescription: >-\n  Two\n  lines.\n\nmode: 'all' # a remark"),
        "agents/b.md": agentFile(
          'mode: "subagent"\ndescription: "A *bold* \\u0041 & more"\ntools:\n  description: x',
        ),
        "agents/c.md": agentFile("description: R&D for *all*, *really*\n  on two lines # a remark"),
      },
      [
        own("a", { description: "Two lines." }),
        own("b", { description: "A *bold* A & more", mode: "subagent" }),
        own("c", { description: "R&D for *all*, *really* on two lines" }),
      ],
    ],
    [
      "aliases, which let a few lines cost seconds",
      {
        "agents/a.md": agentFile(`mode: primary\nx:\n${BOMB}`),
        "agents/b.md": agentFile(`description:\n${BOMB}`),
      },
      [own("a", { mode: "primary" }), own("b")],
    ],
    ["of other kinds", { "agents/a.md": agentFile("description: [1]\nmode: 7") }, [own("a")]],
    [
      "with the ends of lines of Windows",
      { "agents/a.md": "---\r\nmode: subagent\r\n---\r\n" },
      [own("a", { mode: "subagent" })],
    ],
    [
      "in all the folders that the runtime reads, and below them",
      {
        "agent/a.md": "x",
        "agents/sub/b.md": "x",
        "mode/c.md": "x",
        "modes/d.md": agentFile("mode: subagent"),
      },
      [own("a"), own("c", { mode: "primary" }), own("d", { mode: "primary" }), own("sub/b")],
    ],
    ["files elsewhere are not agents", { "agents/a.txt": "x", "skills/agents/b.md": "x", "a.md": "x" }, []],
    [
      "a link counts, as it does for the runtime",
      { "agents/a.md": { link: "../b.md" }, "b.md": "x" },
      [own("a")],
    ],
    [
      "settings",
      {
        "opencode.json": '{ "agent": { "a": { "description": "A.", "mode": "primary" }, "b": {} } }',
        "opencode.jsonc": '{ // a remark\n "agent": { "b": { "description": "B." }, }, }',
      },
      [own("a", { description: "A.", mode: "primary" }), own("b", { description: "B." })],
    ],
    ["settings that cannot be read", { "opencode.json": "{", "agents/a.md": "x" }, [own("a")]],
    [
      "settings of other kinds",
      { "opencode.json": '{ "agent": [1, null] }', "agents/a.md": "x" },
      [own("0"), own("1"), own("a")],
    ],
    [
      "hostile keys",
      { "opencode.json": '{ "agent": { "__proto__": {}, "toString": {} } }' },
      [own("__proto__"), own("toString")],
    ],
    [
      "another folder by the manifest",
      {
        "/svc.toml": 'svc_version = 1\n[opencode]\nconfig_dir = "x"\n',
        "/x/agents/a.md": "x",
        "agents/b.md": "x",
      },
      [own("a")],
    ],
  ])("%s", async (_, files, wanted) => {
    merge(files);
    const found = await list();
    expect(found.slice(0, -BUILT_IN.length)).toEqual(wanted);
    expect(found.slice(-BUILT_IN.length).map(({ name, source }) => [name, source])).toEqual(
      BUILT_IN.map((name) => [name, "runtime"]),
    );
  });

  test("can override and disable the runtime's agents", async () => {
    merge({
      "agents/plan.md": agentFile("description: Ours."),
      "agents/explore.md": agentFile("disable: true"),
      "opencode.json": '{ "agent": { "general": { "disable": true } } }',
    });
    const found = await list();
    expect(found.map(({ name, source }) => [name, source])).toEqual([
      ["plan", "project"],
      ["build", "runtime"],
    ]);
    expect(found[0]).toMatchObject({ description: "Ours.", mode: "primary" });
  });

  test("long texts and long lists are truncated", async () => {
    const many = Array.from({ length: 300 }, (_, index) => [`agents/a${index}.md`, "x"]);
    merge({
      "agents/long.md": agentFile(`description: ${"x".repeat(9000)}`),
      "agents/big.md": "x".repeat(200_000),
    });
    const found = await list();
    expect(found.find(({ name }) => name === "long")?.description).toHaveLength(500);
    expect(found.map(({ name }) => name)).toContain("big");
    merge(Object.fromEntries(many));
    expect(await list()).toHaveLength(200);
  });

  test("an empty repository has the runtime's agents", async () => {
    const { body } = await bench.api.call("POST", "/v1/projects", { body: { name: "Empty" } });
    const answer = await bench.api.call("GET", `/v1/projects/${body.project_id}/agents`);
    expect(answer.body.agents.map(({ name }: Agent) => name)).toEqual(BUILT_IN);
  });
});

describe("agent_name", () => {
  test("must be an agent of the default branch or the runtime; otherwise 400 with the known agents", async () => {
    merge({ "agents/reviewer.md": "x" });
    bench.remote.commit("feature", { [`${FOLDER}/agents/planted.md`]: "x" }, { from: "main" });
    for (const name of ["reviewer", "build"]) {
      const made = await create(name);
      expect([made.status, made.body.agent_name]).toEqual([201, name]);
    }
    const missing = { agent_name: "planted", base_ref: "feature" };
    for (const body of [missing, { agent_name: "Reviewer" }, { agent_name: "../reviewer" }]) {
      const refused = await bench.call("POST", "", { body });
      expect([refused.status, refused.body.code, refused.body.details[0].path]).toEqual([
        400,
        "validation_failed",
        "agent_name",
      ]);
      expect(refused.body.error).toContain("Available: reviewer, build, explore, general, plan.");
    }
    expect((await bench.call("GET", "")).body.sessions).toHaveLength(2);
  });

  test("is not checked while the repository is unreachable", async () => {
    const away = `${bench.remote.path}.away`;
    renameSync(bench.remote.path, away);
    try {
      const made = await create("anybody");
      expect([made.status, made.body.agent_name]).toEqual([201, "anybody"]);
      expect((await bench.api.call("GET", `/v1/projects/${bench.projectId}/agents`)).status).toBe(502);
    } finally {
      renameSync(away, bench.remote.path);
    }
  });
});
