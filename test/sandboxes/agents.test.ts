import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { readArguments, UsageError } from "../../src/arguments.ts";
import { readConfig } from "../../src/config.ts";
import { runtimeList } from "../../src/edge/admin/runtime.ts";
import { agentFolder, agentProgram } from "../../src/sandboxes/runtime/agents.ts";
import { findRuntimeFiles } from "../../src/sandboxes/runtime/find.ts";

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "svc-agents-"));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const NAMES = ["claude-code", "codex"] as const;

test.each(NAMES)("%s is found where it is installed, and else its installation is named", (name) => {
  const find = () => findRuntimeFiles({ dataDir, runtime: null, binaries: "" }, name);
  expect(find).toThrow(`svc-api runtime install ${name}`);
  const program = agentProgram(name) ?? "";
  const path = join(agentFolder(dataDir, name), program);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "");
  expect(find()).toEqual({ path: realpathSync(agentFolder(dataDir, name)), program });
  const lines = runtimeList(readConfig({ SVC_DATA_DIR: dataDir })).split("\n");
  expect(lines.find((line) => line.startsWith(name))).toEndWith(" installed");
  const other = NAMES.find((each) => each !== name) ?? name;
  expect(lines.find((line) => line.startsWith(other))).toEndWith(
    `not installed: svc-api runtime install ${other}`,
  );
});

test("the command line names the agents that can be installed", () => {
  expect(readArguments(["runtime", "install"])).toEqual({ verb: "runtime install", name: "opencode" });
  expect(readArguments(["runtime", "install", "codex"])).toEqual({ verb: "runtime install", name: "codex" });
  expect(readArguments(["runtime", "ls"])).toEqual({ verb: "runtime ls" });
  expect(() => readArguments(["runtime", "install", "gemini"])).toThrow(
    new UsageError('svc does not know the agent "gemini". It can install: opencode, claude-code, codex.'),
  );
  expect(() => readArguments(["runtime", "install", "codex", "opencode"])).toThrow(UsageError);
});
