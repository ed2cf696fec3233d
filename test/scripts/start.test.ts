import { afterAll, expect, test } from "bun:test";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { askOnce } from "../../scripts/ask-once.ts";
import { findCommand, linkCommand } from "../../scripts/command-link.ts";
import { laptopSettings } from "../../scripts/laptop.ts";
import { wallsLine } from "../../scripts/walls.ts";
import { WALLS } from "../../src/contract/session.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-start-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const newFolder = (): string => mkdtempSync(join(folder, "x-"));

test.each<[Record<string, string>, boolean]>([
  [{}, true],
  [{ SVC_HOST: "" }, true],
  [{ SVC_HOST: "127.0.0.1" }, true],
  [{ SVC_HOST: "::1" }, true],
  [{ SVC_HOST: "localhost", SVC_PUBLIC_URL: "http://localhost:8008" }, true],
  [{ SVC_PUBLIC_URL: "http://[::1]:8008" }, true],
  [{ SVC_HOST: "0.0.0.0" }, false],
  [{ SVC_HOST: "::" }, false],
  [{ SVC_HOST: "192.168.1.2" }, false],
  [{ SVC_PUBLIC_URL: "https://svc.example.com" }, false],
  [{ SVC_PUBLIC_URL: "not a url" }, false],
  [{ SVC_ALLOW_PRIVATE_REPOS: "0" }, false],
  [{ SVC_ALLOW_PRIVATE_REPOS: "1" }, false],
])("npm start with %j allows private repositories: %s", (env, isAllowed) => {
  expect(laptopSettings(env)).toEqual(isAllowed ? { SVC_ALLOW_PRIVATE_REPOS: "1" } : {});
});

test.each([true, false])("a question is asked once, also after %s", async (answer) => {
  const dataDir = join(newFolder(), "data");
  let asked = 0;
  const question = {
    dataDir,
    name: "q",
    ask: async () => {
      asked++;
      return answer;
    },
    keeps: () => true,
  };
  // interrupted: nothing is kept
  expect(await askOnce({ ...question, keeps: () => false })).toBe(answer);
  expect(await askOnce(question)).toBe(answer);
  expect(await askOnce(question)).toBe(answer);
  expect(asked).toBe(2);
  writeFileSync(join(dataDir, "q"), "damaged");
  expect(await askOnce(question)).toBe(answer);
  expect(asked).toBe(3);
});

interface Home {
  bin: string;
  program: string;
  env: { HOME: string; PATH: string };
}

const rows: [string, (home: Home) => void, string][] = [
  ["nowhere, with ~/.local/bin on the PATH", () => {}, "linkable"],
  ["by a link", ({ bin, program }) => symlinkSync(program, join(bin, "svc")), "found"],
  [
    "in another folder",
    ({ env, program }) => {
      env.PATH = `${program.replace(/\/svc$/, "")}:${env.PATH}`;
    },
    "found",
  ],
  [
    "as another program",
    ({ bin }) => writeFileSync(join(bin, "svc"), "#!/bin/sh\n", { mode: 0o755 }),
    "missing",
  ],
  ["as a link to nothing", ({ bin }) => symlinkSync("/nowhere", join(bin, "svc")), "missing"],
  [
    "nowhere, without ~/.local/bin on the PATH",
    ({ env }) => {
      env.PATH = "/usr/bin";
    },
    "missing",
  ],
  ["nowhere, without a folder ~/.local/bin", ({ bin }) => rmSync(bin, { recursive: true }), "missing"],
];

test.each(rows)("svc that is %s", (_, arrange, state) => {
  const home = newFolder();
  const bin = join(home, ".local/bin");
  mkdirSync(bin, { recursive: true });
  const dist = join(home, "dist");
  mkdirSync(dist);
  const program = join(dist, "svc");
  writeFileSync(program, "#!/bin/sh\n");
  chmodSync(program, 0o755);
  const env = { HOME: home, PATH: bin };
  arrange({ bin, program, env });
  const command = findCommand(program, env);
  expect(command.state).toBe(state as typeof command.state);
  if (command.state !== "linkable") return;
  expect(linkCommand(program, command.link)).toBe(true);
  expect(findCommand(program, env)).toEqual({ state: "found" });
  expect(linkCommand(program, command.link)).toBe(false);
});

test("the line on sandboxes names the walls that there are, and those that there are not", () => {
  expect(wallsLine("bubblewrap", ["files", "memory_limit"])).toBe(
    "Sandboxes: bubblewrap. They have: files, memory limit; not: processes, user, network, syscalls, process limit, cpu limit, disk limit.\n",
  );
  expect(wallsLine("x", WALLS)).not.toContain("not:");
});

/** What a command prints may name the Node of somebody's repository. */
const withoutExamples = (text: string) => text.replace(/^```[\s\S]*?^```$/gm, "");

test("every page states the version of Node that package.json requires", () => {
  const root = resolve(import.meta.dir, "../..");
  const wanted = /\d+/.exec(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).engines.node)?.[0];
  const pages = [
    "README.md",
    "CONTRIBUTING.md",
    ...readdirSync(join(root, "docs")).map((name) => `docs/${name}`),
  ];
  const said = pages
    .filter((page) => page.endsWith(".md"))
    .flatMap((page) =>
      [...withoutExamples(readFileSync(join(root, page), "utf8")).matchAll(/\bNode(?:\.js)? (\d+)/g)].map(
        ([, version]) => ({ page, version }),
      ),
    );
  expect(said.map(({ page }) => page)).toContain("docs/getting-started.md");
  expect(said.filter(({ version }) => version !== wanted)).toEqual([]);
});
