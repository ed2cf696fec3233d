import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { prepareAgentHome } from "../../daemon/acp/home.ts";
import type { AcpDescription } from "../../daemon/acp/settings.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-acp-home-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const put = (path: string, text: string) => {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
};
const at = (path: string) => readFileSync(join(folder, path), "utf8");

function prepare(change: Partial<AcpDescription> = {}): void {
  prepareAgentHome({
    command: ["agent"],
    variables: {},
    workspace: folder,
    journal: join(folder, "journal"),
    choice: { mode: "full-access", isModeRequired: false, allowsEdits: false, model: null, effort: null },
    startEfforts: [],
    rules: { text: "the rules", in: "system-prompt" },
    skills: { from: [join(folder, "svc"), join(folder, "project")], to: join(folder, "home/skills") },
    tools: null,
    ...change,
  });
}

test("the skills of svc and the project are where the agent reads them, and its own are kept", () => {
  put("svc/svc/SKILL.md", "svc's");
  put("project/deploy/SKILL.md", "first");
  put("project/own/SKILL.md", "the project's");
  put("home/skills/own/SKILL.md", "the agent's");
  prepare();
  expect([at("home/skills/svc/SKILL.md"), at("home/skills/own/SKILL.md")]).toEqual(["svc's", "the agent's"]);
  // the folder of the project is written anew at each start
  rmSync(join(folder, "project"), { recursive: true });
  prepare();
  put("project/deploy/SKILL.md", "second");
  prepare();
  expect(at("home/skills/deploy/SKILL.md")).toBe("second");
});

test("rules go into a file only if the agent reads them there", () => {
  prepare();
  expect(() => at("home/AGENTS.md")).toThrow();
  for (const text of ["first", "second"]) {
    prepare({ rules: { text, in: { file: join(folder, "home/AGENTS.md") } } });
    expect(at("home/AGENTS.md")).toBe(text);
  }
});
