import { describe, expect, test } from "bun:test";
import { CliError } from "../../cli/failure.ts";
import { GLOBAL, readFlags, tokenize } from "../../cli/flags.ts";
import type { Command, Flags } from "../../cli/spec.ts";

const FLAGS = {
  title: { kind: "string", value: "text", summary: "", short: "t", aliases: ["name"] },
  status: { kind: "string", value: "word", summary: "", choices: ["open", "all"], fallback: "open" },
  note: { kind: "string", value: "text", summary: "", empty: true },
  label: { kind: "string", value: "text", summary: "", many: true, short: "Z" },
  count: { kind: "integer", value: "n", summary: "", min: 2, max: 12, short: "n" },
  most: { kind: "integer", value: "n", summary: "", min: 0, max: 999_999_999 },
  jq: { kind: "optional", value: "fields", summary: "" },
  yes: { kind: "boolean", summary: "", short: "y" },
  "z-z": { kind: "boolean", summary: "" },
} as const satisfies Flags;

const COMMAND: Command = {
  spec: { path: ["do"], summary: "", args: [], flags: FLAGS, examples: [] },
  run: async () => {},
};

function read(...line: string[]) {
  return readFlags(tokenize([COMMAND], line).options, { ...FLAGS, ...GLOBAL }, "svc do").values;
}

/** The error for the user: the message, and the hint if there is one. */
function fault(...line: string[]): string {
  try {
    return `read as ${JSON.stringify(read(...line))}`;
  } catch (thrown) {
    if (!(thrown instanceof CliError)) throw thrown;
    return `${thrown.message}\n${thrown.extra.hint ?? ""}`;
  }
}

test("a missing flag has its default, no value or an empty list, and a switch is off", () => {
  expect(read()).toEqual({
    ...{ status: "open", label: [], yes: false, "z-z": false },
    ...{ help: false, "no-color": false, "no-input": false, quiet: false },
  });
});

test.each([
  [["--title", "a"], { title: "a" }],
  [["--title=a"], { title: "a" }],
  [["--title=a=b"], { title: "a=b" }],
  [["--name", "a"], { title: "a" }],
  [["-t", "a"], { title: "a" }],
  [["-ta"], { title: "a" }],
  [["--status", "all"], { status: "all" }],
  [["--note", ""], { note: "" }],
  [["--label", "a", "--label", "b", "-Z", "c"], { label: ["a", "b", "c"] }],
  [["--jq"], { jq: "" }],
  [["--jq=a"], { jq: "a" }],
  [["-y", "--z-z"], { yes: true, "z-z": true }],
  [["--timeout", "1"], { timeout: 1 }],
  [["--timeout", "3600"], { timeout: 3600 }],
])("parses %j as %j", (line, values) => {
  expect(read(...line)).toMatchObject(values);
});

describe("accepts whole numbers from minimum to maximum only", () => {
  test.each([
    ["--count", ["2", "3", "12", "012"], ["1", "13", "0", "1e1", "3.0", "0x3", "+3", " 3", "3 ", "x", "³"]],
    ["--most", ["0", "999999999"], ["1000000000", "0000000001", "9".repeat(30)]],
    ["--timeout", ["1", "3600"], ["0", "3601"]],
  ])("%s", (flag, good, bad) => {
    for (const text of good) expect(read(flag, text)[flag.slice(2)]).toBe(Number(text));
    for (const text of bad) expect(fault(flag, text)).toContain(`${flag} must be a whole number from `);
    expect(fault(`${flag}=-1`)).toContain(`${flag} must be a whole number from `);
    expect(fault(`${flag}=`)).toContain(`${flag} must be a whole number from `);
  });
});

describe("rejects a value that looks like a flag, unless it follows “=”", () => {
  test.each(["--a", "--z", "--quiet", "--z-z", "--az=b", "--a=", "--jq", "-t", "-n", "-Z", "-y", "-h", "-q"])(
    "%s",
    (word) => {
      expect(fault("--title", word)).toBe(
        `--title needs a value.\nIf ${word} is the value, write --title=${word}`,
      );
      expect(read(`--title=${word}`)["title"]).toBe(word);
    },
  );

  test.each([
    ...[
      "a--b",
      "x--quiet",
      "--A",
      "--1",
      "---",
      "--",
      "--a1",
      "--a b",
      "--a_",
      "-",
      "-1",
      "-x",
      "-T",
      "-tt",
      "x-t",
      "-ty",
    ],
    ...["a-y", "- y", "--- a", "-é", "-3"],
  ])("accepts %j as a value", (word) => {
    expect(read("--title", word)["title"]).toBe(word);
  });
});

test.each([
  [["--titel", "x"], "Unknown flag: --titel\nDid you mean `--title`?"],
  [["--nam", "x"], "Unknown flag: --nam\nDid you mean `--name`?"],
  [["--jp"], "Unknown flag: --jp\nDid you mean `--jq`?"],
  // of one letter any short name is the neighbour
  [["-j"], "Unknown flag: -j\nRun `svc do --help` for the list."],
  [["--constructor"], "Unknown flag: --constructor\nRun `svc do --help` for the list."],
  [["--t", "x"], "Unknown flag: --t\nRun `svc do --help` for the list."],
  [["--title"], "--title needs a value.\nsvc do --title <text>"],
  [["--title="], "--title needs a value.\n"],
  [["--title", ""], "--title needs a value.\n"],
  [["--jq="], "--jq= needs a value, or write --jq alone.\n"],
  [["--yes=no"], "--yes does not take a value.\n"],
  [["--status", "opne"], "--status must be one of open, all; not opne\nDid you mean `open`?"],
  [["--status", "xyz"], "--status must be one of open, all; not xyz\n"],
  [["--color=x"], "--color must be one of always, auto, never; not x\n"],
  [["--title", "a", "--title", "b"], "--title is given twice.\n"],
  [["-t", "a", "--name", "b"], "-t and --name are the same flag: give one of them.\n"],
])("rejects %j: %j", (line, says) => {
  expect(fault(...line)).toBe(says);
});

test("a letter of two flags takes a value until the command is known, and a word after “--” is not a command", () => {
  const other: Command = {
    spec: { ...COMMAND.spec, flags: { force: { kind: "boolean", short: "n", summary: "" } } },
    run: async () => {},
  };
  for (const table of [
    [COMMAND, other],
    [other, COMMAND],
  ]) {
    const { options, words } = tokenize(table, ["-n", "3", "a", "--", "-n"]);
    expect(options).toEqual([{ name: "count", raw: "-n", value: "3", inline: false }]);
    expect(words).toEqual([
      { value: "a", literal: false },
      { value: "-n", literal: true },
    ]);
  }
});
