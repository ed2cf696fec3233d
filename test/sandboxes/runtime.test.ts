import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { RUNTIME_VERSION } from "../../src/contract/runtime.ts";
import { findRuntime } from "../../src/sandboxes/runtime/find.ts";

const NATIVE = `opencode-${process.platform}-${process.arch}`;
const SCRIPT = "#!/usr/bin/env node\n";

let folder: string;
const path = process.env["PATH"];

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "svc-runtime-")));
  process.env["PATH"] = join(folder, "path");
});

afterAll(() => {
  process.env["PATH"] = path;
  rmSync(folder, { recursive: true, force: true });
});

/** Layouts of npm and other installers: the files, the links to them, and the program that is found. */
const ROWS: {
  what: string;
  files: Record<string, string>;
  links?: Record<string, string>;
  found: string | null;
}[] = [
  { what: "nothing", files: {}, found: null },
  { what: "a program on the path", files: { "path/opencode": "ELF" }, found: "path/opencode" },
  {
    what: "npm's script on the path, with the program inside its package",
    files: {
      "lib/node_modules/opencode-ai/bin/opencode": SCRIPT,
      [`lib/node_modules/opencode-ai/node_modules/${NATIVE}/bin/opencode`]: "ELF",
    },
    links: { "path/opencode": "lib/node_modules/opencode-ai/bin/opencode" },
    found: `lib/node_modules/opencode-ai/node_modules/${NATIVE}/bin/opencode`,
  },
  {
    what: "the checkout's package, with the program beside it",
    files: {
      "checkout/node_modules/opencode-ai/bin/opencode": SCRIPT,
      [`checkout/node_modules/${NATIVE}-baseline/bin/opencode`]: "ELF",
    },
    links: { "checkout/node_modules/.bin/opencode": "checkout/node_modules/opencode-ai/bin/opencode" },
    found: `checkout/node_modules/${NATIVE}-baseline/bin/opencode`,
  },
  {
    what: "a script of somebody's own",
    files: { "path/opencode": SCRIPT },
    found: "path/opencode",
  },
  {
    what: "the data folder before the checkout",
    files: {
      [`data/runtime/opencode-${RUNTIME_VERSION}/bin/opencode`]: "ELF",
      "checkout/node_modules/.bin/opencode": "ELF",
    },
    found: `data/runtime/opencode-${RUNTIME_VERSION}/bin/opencode`,
  },
];

test.each(ROWS.map((row) => [row.what, row] as const))("finds %s", (_, { files, links = {}, found }) => {
  rmSync(folder, { recursive: true, force: true });
  for (const name of [...Object.keys(files), ...Object.keys(links)])
    mkdirSync(dirname(join(folder, name)), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o755 });
  for (const [name, to] of Object.entries(links)) symlinkSync(join(folder, to), join(folder, name));
  const options = { runtime: null, dataDir: join(folder, "data"), binaries: join(folder, "checkout/dist") };
  if (found === null) expect(() => findRuntime(options)).toThrow(/svc-api runtime install.*SVC_RUNTIME_BIN/);
  else expect(findRuntime(options)).toBe(join(folder, found));
});

test("uses only the configured program", () => {
  const options = { dataDir: join(folder, "data"), binaries: join(folder, "checkout/dist") };
  expect(findRuntime({ ...options, runtime: "/bin/sh" })).toBe(realpathSync("/bin/sh"));
  for (const runtime of ["/nowhere", "/etc/passwd", "/usr"])
    expect(() => findRuntime({ ...options, runtime })).toThrow(/SVC_RUNTIME_BIN/);
});
