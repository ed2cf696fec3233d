import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { parse } from "../../cli/arguments.ts";
import { CliError } from "../../cli/failure.ts";
import { commandOf } from "../../cli/lookup.ts";
import { type Command, isGroup, lastWord } from "../../cli/spec.ts";
import { TABLE } from "../../cli/table.ts";
import { DELETING, GROUP_NAMES, READING, SYNONYMS } from "../../cli/words.ts";
import { fakeApi } from "../helpers/cli-api.ts";
import { svc } from "../helpers/cli-run.ts";

const api = fakeApi();
afterAll(() => api.stop());

/**
 * What those who know other tools try first: the intent, the line after `svc`, and what follows. `runs cr ls`: it is that
 * command. `says …`: nothing runs, and the one message has these words.
 */
const LINES = (await Bun.file(join(import.meta.dir, "first-lines.tsv")).text())
  .trimEnd()
  .split("\n")
  .map((line) => line.split("\t"));

/** Words as a shell splits them. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/(?:[^\s"]|"[^"]*")+/g)].map(([word]) => word.replaceAll('"', ""));

/** The command that runs, or the message. */
function outcome(words: readonly string[]): { runs: string } | { says: string } {
  try {
    const parsed = parse(TABLE, words, () => false);
    if (parsed.kind !== "run") return { runs: parsed.kind };
    return { runs: parsed.command.spec.path.join(" ") };
  } catch (error) {
    if (error instanceof CliError && error.exit === 2)
      return { says: `${error.message} ${error.extra.hint ?? ""}` };
    throw error;
  }
}

test("there are at least 200 lines, each once", () => {
  expect(LINES.length).toBeGreaterThanOrEqual(200);
  expect(new Set(LINES.map(([, line]) => line)).size).toBe(LINES.length);
});

test.each(LINES.map(([intent = "", line = "", then = ""]) => [line, then, intent]))(
  "svc %s %s",
  async (line, then) => {
    const words = wordsOf(line);
    const found = outcome(words);
    if (then.startsWith("runs ")) return expect(found).toEqual({ runs: then.slice(5) });
    if ("says" in found) return expect(found.says).toContain(then.slice(5));
    // the command itself rejects it
    const ran = await svc(words, { env: api.env });
    expect(ran).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(then.slice(5)) });
  },
);

const GROUPS = TABLE.filter(isGroup);
const NOUNS = [...GROUPS.map(({ name }) => name), ...Object.keys(GROUP_NAMES)];
const VERBS = [...new Set([...Object.keys(SYNONYMS), ...READING, ...DELETING])];
const READS =
  /^(ls|info|show|diff|files|comments|checks|logs|saved|prompts|conversation|branches|commits|cat|status|deliveries|calls|asks|current|env ls|supervise)$/;

/** Commands that a line leads to: the one that runs, or those that its message suggests. */
function ledTo(words: readonly string[]): string[] {
  const found = outcome(words);
  const lines =
    "runs" in found
      ? [found.runs]
      : [...found.says.matchAll(/`svc ([a-z][a-z -]*)/g)].map(([, name = ""]) => name.trim());
  const isQuestion = "says" in found && !found.says.includes("Did you mean");
  return isQuestion ? [] : lines;
}

const nameOfLine = (line: string): string => {
  const [group = "", ...rest] = line.split(" ");
  const command = GROUPS.find(({ name }) => name === group)?.commands.find(
    ({ spec }) => lastWord(spec) === rest.join(" ") || lastWord(spec) === rest[0],
  );
  return command === undefined ? line : lastWord(command.spec);
};

test("a verb that reads leads to no command that writes, and only one that deletes to one that deletes", () => {
  const wrong = NOUNS.flatMap((noun) =>
    VERBS.flatMap((verb) =>
      ledTo([noun, verb, "3"]).flatMap((line) => {
        const name = nameOfLine(line);
        const isWrong =
          (READING.has(verb) && !READS.test(name)) || (DELETING.has(name) && !DELETING.has(verb));
        return isWrong ? [`${noun} ${verb}: ${line}`] : [];
      }),
    ),
  );
  expect(wrong).toEqual([]);
});

test("a verb with two meanings in a group runs neither", () => {
  const command = (name: string): Command => ({
    spec: { path: ["g", name], summary: "", args: [], flags: {}, examples: [] },
    run: async () => {},
  });
  const [show, info] = [command("show"), command("info")];
  const group = (commands: Command[]) => ({ name: "g", summary: "", commands });
  expect(commandOf(group([show]), ["view"])).toBe(show);
  expect(commandOf(group([show, info]), ["view"])).toBeUndefined();
});

test("a short or ambiguous typo does not suggest to delete", () => {
  for (const line of [
    ["sessions", "rn"],
    ["sessions", "r"],
    ["hosts", "rn"],
    ["secrets", "reset"],
    ["secrets", "inset"],
  ])
    expect([line, ledTo(line).filter((each) => DELETING.has(nameOfLine(each)))]).toEqual([line, []]);
  expect(ledTo(["projects", "remvoe"])).toEqual(["projects rm"]);
  expect(ledTo(["secrets", "unest"])).toEqual(["secrets unset"]);
});

test("names are accepted in the singular and the plural, for help and completion too", async () => {
  for (const { name } of GROUPS) {
    const other = name.endsWith("s") ? name.slice(0, -1) : `${name}s`;
    // `check` is also `validate`
    if (other === "check" || other === "env") continue;
    expect([other, outcome([other])]).toEqual([other, { runs: "bare" }]);
  }
  const { stdout: help } = await svc(["help", "pr", "list"]);
  expect(help).toBe((await svc(["cr", "ls", "--help"])).stdout);
  const completed = await svc(["__complete", "--", "pr", "appr"]);
  expect(completed.stdout).toStartWith("approve\t");
  const ofShorthand = await svc(["__complete", "--", "logs", "--fol"]);
  expect(ofShorthand.stdout).toStartWith("--follow\t");
});

test("other names do not show in the list of commands or as candidates", async () => {
  const { stdout: help } = await svc(["--help"]);
  expect(help).not.toMatch(/^ {2}(pr|mr|logs|diff|comment) /m);
  expect((await svc(["__complete", "--", "p"])).stdout).toBe("projects\tRepositories that svc works on\n");
});

test("--json takes the next word if it names fields, or if the command takes no such argument", async () => {
  const run = (...line: string[]) => svc(line, { env: api.env });
  expect((await run("cr", "ls", "--json", "number,title")).stdout).toBe(
    '[{"number":3,"title":"Fix the login page"}]\n',
  );
  expect((await run("cr", "show", "--json", "number", "3")).stdout).toBe('{"number":3}\n');
  // a required argument comes first
  expect((await run("repo", "cat", "--json", "path")).stdout).toContain('"content":');
  expect((await run("cr", "show", "--json", "3")).stdout).toContain('"number":3');
  const many = await run("secrets", "unset", "A", "--json", "name");
  expect(many.stdout).toBe('[{"name":"A"}]\n');
  await run("secrets", "unset", "A", "--json", "B");
  expect(api.seen.slice(-2).map(({ path }) => path.split("/").at(-1))).toEqual(["A", "B"]);
  const unknown = await run("cr", "ls", "--json", "number,titel");
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("Did you mean `title`?") });
  const extra = await run("cr", "ls", "--json", "--", "number");
  expect(extra).toMatchObject({ code: 2, stderr: expect.stringContaining("does not take `number`") });
});
