import { expect, test } from "bun:test";
import { join } from "node:path";

test("svc-api imports its signal handlers first: sorted imports once moved them behind the whole server", async () => {
  const source = await Bun.file(join(import.meta.dir, "../src/main.ts")).text();
  const [first] = new Bun.Transpiler({ loader: "ts" }).scanImports(source);
  expect(first?.path).toBe("./signals.ts");
});
