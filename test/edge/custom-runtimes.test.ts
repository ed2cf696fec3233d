import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readCustomRuntimes } from "../../src/edge/admin/custom-runtimes.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-runtimes-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function read(text: string) {
  const path = join(folder, "runtimes.toml");
  writeFileSync(path, text);
  return readCustomRuntimes(path);
}

const entry = (...lines: string[]) => ["[[runtimes]]", ...lines, ""].join("\n");

test("an agent has what its table says, and defaults for the rest", () => {
  const lines = [
    'name = "goose"',
    'title = "Goose"',
    'command = ["bin/goose", "acp"]',
    'folder = "/opt/goose"',
    'model_format = "anthropic"',
    'environment = { GOOSE_MODEL = "{model}" }',
    'mode = "auto"',
    'rules_file = ".config/goose/.goosehints"',
    'records = [".local/share/goose/sessions"]',
    'skills = ".agents/skills"',
    'secrets = ["GOOSE_KEY"]',
  ];
  expect(read(entry(...lines) + entry('name = "own"', 'command = ["own"]'))).toEqual([
    {
      ...{ name: "goose", title: "Goose", command: ["bin/goose", "acp"], folder: "/opt/goose" },
      ...{ modelFormat: "anthropic", environment: { GOOSE_MODEL: "{model}" }, mode: "auto" },
      ...{ rulesFile: ".config/goose/.goosehints", skills: ".agents/skills", secrets: ["GOOSE_KEY"] },
      records: [".local/share/goose/sessions"],
    },
    {
      ...{
        name: "own",
        title: "own",
        command: ["own"],
        folder: null,
        modelFormat: "openai",
        environment: {},
      },
      ...{ mode: null, rulesFile: null, skills: null, secrets: [], records: [] },
    },
  ]);
  expect(readCustomRuntimes(null)).toEqual([]);
});

const OWN = 'name = "own"';
const COMMAND = 'command = ["own"]';
test.each([
  ["not TOML", "[[runtimes", "line 1, column 3: incomplete key-value: cannot find end of key"],
  ["no command", entry(OWN), "runtimes.0.command is required"],
  ["an empty command", entry(OWN, "command = []"), "runtimes.0.command must not be empty"],
  ["a name that is a path", entry('name = "../x"', COMMAND), "runtimes.0.name"],
  ["a name that svc knows", entry('name = "codex"', COMMAND), 'runtimes.0.name "codex" is taken'],
  ["a name twice", entry(OWN, COMMAND) + entry(OWN, COMMAND), 'runtimes.1.name "own" is taken'],
  ["an unknown key", entry(OWN, COMMAND, 'image = "x"'), "runtimes.0.image"],
  ["a relative folder", entry(OWN, COMMAND, 'folder = "x"'), "runtimes.0.folder must be an absolute path"],
  [
    "a program outside its folder",
    entry(OWN, 'command = ["/bin/own"]', 'folder = "/x"'),
    "runtimes.0.command must begin with a path in the folder",
  ],
  [
    "a program above its folder",
    entry(OWN, 'command = ["../own"]', 'folder = "/x"'),
    "runtimes.0.command must begin with a path in the folder",
  ],
  ["rules above the home", entry(OWN, COMMAND, 'rules_file = "a/../../b"'), "runtimes.0.rules_file"],
  ["a record outside the home", entry(OWN, COMMAND, 'records = ["/etc"]'), "runtimes.0.records.0"],
  ["skills outside the home", entry(OWN, COMMAND, 'skills = "/etc"'), "runtimes.0.skills"],
  [
    "a format that svc lacks",
    entry(OWN, COMMAND, 'model_format = "gemini"'),
    "must be one of openai, anthropic",
  ],
])("a file with %s is refused with the place", (_, text, reason) => {
  expect(() => read(text)).toThrow(`SVC_RUNTIMES_FILE (${join(folder, "runtimes.toml")}) is not valid: `);
  expect(() => read(text)).toThrow(reason);
});

test("a file that is missing is named", () => {
  expect(() => readCustomRuntimes(join(folder, "gone.toml"))).toThrow("is not valid: there is no such file.");
});
