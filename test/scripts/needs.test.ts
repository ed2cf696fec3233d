import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { cleanEnvironment } from "../helpers/api.ts";

test("reports tests that are skipped for a missing requirement, also those of a table", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-needs-"));
  const file = join(folder, "lacking.test.ts");
  const skips = join(folder, "skips");
  writeFileSync(
    file,
    `import { needs } from ${JSON.stringify(resolve("test/helpers/needs.ts"))};
const test = needs("a moon", false);
test("one", () => { throw new Error("it ran"); });
test.each([["a", 1], ["b", 2]] as const)("row %s is %d", () => { throw new Error("it ran"); }, 1_000);
test.each(["x"])("word %s", () => { throw new Error("it ran"); });
`,
  );
  const child = Bun.spawn([process.execPath, "test", file], {
    cwd: folder,
    env: { ...cleanEnvironment(), SVC_TEST_SKIPS: skips },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const said = await new Response(child.stderr).text();
  expect([await child.exited, /4 skip/.test(said)]).toEqual([0, true]);
  const lines = readFileSync(skips, "utf8").trim().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toEqual(
    ["one", "row a is 1", "row b is 2", "word x"].map((title) => ({ name: "a moon", title })),
  );
  rmSync(folder, { recursive: true });
});
