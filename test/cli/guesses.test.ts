import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { parse } from "../../cli/arguments.ts";
import { CliError } from "../../cli/failure.ts";
import { HINTS } from "../../cli/hints.ts";
import { isGroup, nameOf, namesOf } from "../../cli/spec.ts";
import { TABLE } from "../../cli/table.ts";
import { PLANNED } from "../../cli/words.ts";
import { TOKEN } from "../helpers/cli-api.ts";
import { makeHome, svc } from "../helpers/cli-run.ts";

/** The error of a line on a terminal with --yes; the name of the command if there is none. */
function answer(...line: string[]): { message: string; hint: string } | string {
  try {
    const parsed = parse(TABLE, [...line, "--yes"], () => true);
    return parsed.kind === "run" ? parsed.command.spec.path.join(" ") : parsed.kind;
  } catch (error) {
    if (error instanceof CliError && error.exit === 2)
      return { message: error.message, hint: error.extra.hint ?? "" };
    throw error;
  }
}

const hint = (...line: string[]) => {
  const found = answer(...line);
  return typeof found === "string" ? `runs ${found}` : found.hint;
};

test.each<[string, string]>([
  ["PR", "svc cr"],
  ["projcts", "svc projects"],
  ["lgoin", "svc login"],
  ["auth", "svc login"],
  ["auth login", "svc login"],
  ["signout", "svc logout"],
  ["push", "svc ship"],
  ["commit", "svc ship --commit"],
  ["clone", "svc projects clone <project>"],
  ["merge", "svc cr merge"],
  ["chat", "svc sessions chat"],
  ["link", "svc projects link"],
  ["restart", "svc sessions restart"],
  ["preview", "svc sessions preview"],
])("svc %s suggests %s", (line, command) => {
  expect(hint(...line.split(" "))).toBe(`Did you mean \`${command}\`?`);
});

test("a command of several groups suggests each, documented names before guesses", () => {
  expect(hint("approve")).toBe("Did you mean `svc cr approve` or `svc connectors approve`?");
  expect(hint("doctor")).toBe("Did you mean `svc self-host doctor`?");
  expect(hint("selfhost", "start")).toBe("Did you mean `svc self-host start`?");
  expect(hint("delete")).toContain("`svc sessions rm` or ");
});

test.each([
  "self-host",
  "update",
  "uninstall",
  "channels",
  "connectors",
  "usage",
  "mcp",
  "webhooks",
  "network",
  "demo",
])("svc %s is a command, or says in one sentence that it is not one yet", (word) => {
  const names = TABLE.flatMap((node) => (isGroup(node) ? [nameOf(node)] : namesOf(node.spec)));
  if (names.includes(word)) return expect(answer(word)).not.toBe("<project-name>");
  for (const line of [[word], [word, "ls"], [word, "set", "x"]]) {
    expect(answer(...line)).toMatchObject({ message: `\`svc ${word}\` is not part of this version of svc.` });
  }
});

const like = [
  ...Object.keys(HINTS),
  ...PLANNED,
  ...TABLE.flatMap((node) =>
    isGroup(node)
      ? [
          node.name,
          `${node.name}s`,
          node.name.replace(/s$/, ""),
          ...node.commands.flatMap(({ spec }) => namesOf(spec)),
        ]
      : [],
  ),
  ...["chanels", "updat", "webhook", "selfhost", "conectors", "uninstal", "status", "repository"],
].filter((word) => !/\s/.test(word));

test("no word that is like a command is the name of a new project", () => {
  expect(like.length).toBeGreaterThan(200);
  expect(like.filter((word) => answer(word) === "<project-name>")).toEqual([]);
  expect(like.filter((word) => answer(word.toUpperCase()) === "<project-name>")).toEqual([]);
  for (const name of ["my-shop", "store", "web", "acme", "blog2"])
    expect([name, answer(name)]).toEqual([name, "<project-name>"]);
});

test("every command that a hint names exists", () => {
  const named = like.flatMap((word) =>
    [...hint(word).matchAll(/`svc ([a-z -]+?)(?: <[^`]*)?`/g)].map(([, words = ""]) => words),
  );
  const lines = new Set(named);
  expect(lines.size).toBeGreaterThan(40);
  for (const line of lines) {
    const words = line.split(" ");
    if (PLANNED.has(words[0] ?? "") || line.startsWith("--")) continue;
    const found = parse(
      TABLE,
      [...words.filter((word) => !word.startsWith("--prompt")), "--help"],
      () => true,
    );
    const of = found.kind === "help" && found.of ? found.of : null;
    expect([line, of && !(!isGroup(of) && of.spec.anyName)]).toEqual([line, true]);
  }
});

test.each([[["my-shop", "--yes"]], [["init", "--yes"]], [["init"]]])(
  "nothing is scaffolded in a sandbox: %j",
  async (line) => {
    const home = makeHome();
    const env = { SVC_SESSION_ID: "11111111-1111-4111-8111-111111111111", SVC_CLI_TOKEN: TOKEN };
    const { code, stderr } = await svc(line, { home, env });
    expect(code).toBe(2);
    expect(stderr).toContain("Nothing is set up in a sandbox");
    expect(readdirSync(home.cwd)).toEqual([]);
  },
);
