import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chooseIsolation, type Situation } from "../../scripts/isolation.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-data-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function situation(changes: Partial<Situation> = {}) {
  const asked: string[] = [];
  const dataDir = join(folder, crypto.randomUUID());
  return {
    asked,
    dataDir,
    isRoot: false,
    canAsk: true,
    problem: "bubblewrap is not installed. Run there: apt-get install bubblewrap",
    ask: async (question: string) => {
      asked.push(question);
      return true;
    },
    ...changes,
  };
}

test.each([
  [true, { SVC_SANDBOX_ISOLATION: "none" }],
  [false, { SVC_SANDBOX_ISOLATION: "required" }],
])(
  "npm start prompts once whether sandboxes may run without isolation (%s), and stores the answer",
  async (says, chosen) => {
    const first = situation();
    const ask = async (question: string) => {
      first.asked.push(question);
      return says;
    };
    expect(await chooseIsolation({ ...first, ask })).toEqual(chosen);
    expect(first.asked).toEqual([expect.stringContaining("apt-get install bubblewrap")]);
    expect(readFileSync(join(first.dataDir, "sandbox-isolation"), "utf8")).toBe(
      `${chosen.SVC_SANDBOX_ISOLATION}\n`,
    );
    expect(await chooseIsolation({ ...first, ask, canAsk: false })).toEqual(chosen);
    expect(first.asked).toHaveLength(1);
  },
);

test.each<[string, Partial<Situation>]>([
  ["root", { isRoot: true }],
  ["a script", { canAsk: false }],
  ["a machine with bubblewrap", { problem: null }],
])("npm start of %s never turns isolation off", async (_, changes) => {
  const here = situation(changes);
  expect(await chooseIsolation(here)).toEqual({});
  expect(here.asked).toEqual([]);
  expect(existsSync(here.dataDir)).toBe(false);
});

test("a stored answer does not apply to root, nor once bubblewrap works", async () => {
  const here = situation();
  await chooseIsolation(here);
  expect(await chooseIsolation({ ...here, isRoot: true })).toEqual({});
  expect(await chooseIsolation({ ...here, problem: null })).toEqual({});
});
