import { afterEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { checkImports } from "../../scripts/check-imports.ts";
import { checkSizes, FILE_LINES_MAX, FUNCTION_LINES_MAX } from "../../scripts/check-sizes.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function tree(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), "svc-tree-"));
  folders.push(root);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

const rejected: [string, Record<string, string>, string][] = [
  [
    "an import of a higher layer",
    { "src/features/projects/list.ts": `import { merge } from "../change-requests/merge.ts";` },
    "src/features/projects/list.ts imports src/features/change-requests/merge.ts: src/features/change-requests/ is in a higher layer than src/features/projects/",
  ],
  [
    "an import within a layer",
    { "src/identity/accounts/me.ts": `import type { P } from "../../features/projects/read.ts";` },
    "src/identity/accounts/me.ts imports src/features/projects/read.ts: src/features/projects/ is in the same layer as src/identity/accounts/",
  ],
  [
    "git importing the database",
    { "src/git/mirror/mirror.ts": `import type { Db } from "../../../db/client.ts";` },
    "src/git/mirror/mirror.ts imports db/client.ts: src/git/ may import only src/contract/ and src/lib/",
  ],
  [
    "the CLI importing the server dynamically",
    { "cli/main.ts": `const app = await import("../src/app.ts");` },
    "cli/main.ts imports src/app.ts: cli/ may import only src/contract/ and src/conversation/",
  ],
  [
    "the contract importing another part",
    { "src/contract/a.ts": `export * from "../http/page.ts";` },
    "src/contract/a.ts imports src/http/page.ts: src/contract/ may import no other part",
  ],
  [
    "the routes of another feature",
    { "src/features/change-requests/open.ts": `import { routes } from "../projects/routes.ts";` },
    "src/features/change-requests/open.ts imports src/features/projects/routes.ts: only src/app.ts may import routes; call the function behind the route",
  ],
  [
    "a database driver outside db/client.ts",
    { "src/features/projects/list.ts": `import type { Sql } from "postgres";` },
    "src/features/projects/list.ts imports postgres: only db/client.ts, db/listen.ts, db/migrate.ts and src/jobs/queue.ts may import a database driver",
  ],
  [
    "the product importing a test helper",
    { "src/http/page.ts": `import { needs } from "../../test/helpers/needs.ts";` },
    "src/http/page.ts imports test/helpers/needs.ts, which is not part of the product",
  ],
  [
    "a folder without a layer",
    { "src/novelty/a.ts": "" },
    "src/novelty/a.ts is in no layer: add its folder to ORDER in scripts/check-imports.ts",
  ],
  [
    "a cycle inside one part",
    {
      "cli/a.ts": `import { b } from "./b.ts"; console.log(b);`,
      "cli/b.ts": `import { c } from "./c.ts"; console.log(c);`,
      "cli/c.ts": `import { a } from "./a.ts"; console.log(a);`,
    },
    "import cycle: cli/a.ts → cli/b.ts → cli/c.ts → cli/a.ts",
  ],
];

for (const [name, files, line] of rejected) {
  test(`the import check rejects ${name}`, () => {
    expect(checkImports(tree(files))).toEqual([line]);
  });
}

test("the import check allows lower layers, cycles of types, and imports in comments", () => {
  const root = tree({
    "src/features/change-requests/merge.ts": `import { read } from "../projects/read.ts";\n// from "../triggers/fire.ts"`,
    "src/features/projects/read.ts": `import { db } from "../../db/client.ts";`,
    "db/client.ts": `import postgres from "postgres";\nimport { limits } from "../src/contract/limits.ts";`,
    "src/app.ts": `import { routes } from "./projects/routes.ts";`,
    "cli/table.ts": `export const load = () => import("./command.ts");`,
    "cli/command.ts": `import type { Row } from "./table.ts";`,
  });
  expect(checkImports(root)).toEqual([]);
});

test("the size check rejects files and functions over the limit, but not tests", () => {
  const lines = (count: number) => "x;\n".repeat(count);
  const root = tree({
    "src/long.ts": lines(FILE_LINES_MAX),
    "cli/too-long.ts": lines(FILE_LINES_MAX + 1),
    "db/function.ts": `function short() {\n${lines(FUNCTION_LINES_MAX - 2)}}\nfunction long() {\n${lines(FUNCTION_LINES_MAX - 1)}}\n`,
    "test/list.test.ts": lines(900),
  });
  expect(checkSizes(root)).toEqual([
    `cli/too-long.ts has ${FILE_LINES_MAX + 1} lines; the limit is ${FILE_LINES_MAX}`,
    `db/function.ts:${FUNCTION_LINES_MAX + 1} has a function of ${FUNCTION_LINES_MAX + 1} lines; the limit is ${FUNCTION_LINES_MAX}`,
  ]);
});
