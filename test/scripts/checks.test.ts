import { afterEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { checkImports } from "../../scripts/check-imports.ts";
import { checkSizes } from "../../scripts/check-sizes.ts";

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

const refused: [string, Record<string, string>, string][] = [
  [
    "a lower feature that imports a higher one",
    { "src/features/projects/list.ts": `import { merge } from "../change-requests/merge.ts";` },
    "src/features/projects/list.ts imports src/features/change-requests/merge.ts: src/features/change-requests/ stands above src/features/projects/",
  ],
  [
    "a feature that imports one beside it",
    { "src/identity/accounts/me.ts": `import type { P } from "../../features/projects/read.ts";` },
    "src/identity/accounts/me.ts imports src/features/projects/read.ts: src/features/projects/ stands beside src/identity/accounts/",
  ],
  [
    "git that knows the database",
    { "src/git/mirror/mirror.ts": `import type { Db } from "../../../db/client.ts";` },
    "src/git/mirror/mirror.ts imports db/client.ts: src/git/ may use src/contract/ and src/lib/",
  ],
  [
    "the command line that imports the server, even late",
    { "cli/main.ts": `const app = await import("../src/app.ts");` },
    "cli/main.ts imports src/app.ts: cli/ may use src/contract/ and src/conversation/",
  ],
  [
    "the contract that imports anything of ours",
    { "src/contract/a.ts": `export * from "../http/page.ts";` },
    "src/contract/a.ts imports src/http/page.ts: src/contract/ may use nothing of the rest",
  ],
  [
    "another feature's routes",
    { "src/features/change-requests/open.ts": `import { routes } from "../projects/routes.ts";` },
    "src/features/change-requests/open.ts imports src/features/projects/routes.ts: only src/app.ts mounts routes; call the verb",
  ],
  [
    "a database driver outside db/client.ts",
    { "src/features/projects/list.ts": `import type { Sql } from "postgres";` },
    "src/features/projects/list.ts imports postgres: only db/client.ts, db/listen.ts, db/migrate.ts and src/jobs/queue.ts name a database driver",
  ],
  [
    "the product that imports a test's helper",
    { "src/http/page.ts": `import { needs } from "../../test/helpers/needs.ts";` },
    "src/http/page.ts imports test/helpers/needs.ts: that is no part of the product",
  ],
  [
    "a part that nobody has placed",
    { "src/novelty/a.ts": "" },
    "src/novelty/a.ts has no place in the order of scripts/check-imports.ts: give it one",
  ],
  [
    "a circle inside one part",
    {
      "cli/a.ts": `import { b } from "./b.ts"; console.log(b);`,
      "cli/b.ts": `import { c } from "./c.ts"; console.log(c);`,
      "cli/c.ts": `import { a } from "./a.ts"; console.log(a);`,
    },
    "a circle of imports: cli/a.ts → cli/b.ts → cli/c.ts → cli/a.ts",
  ],
];

for (const [name, files, line] of refused) {
  test(`the direction of imports refuses ${name}`, () => {
    expect(checkImports(tree(files))).toEqual([line]);
  });
}

test("the direction of imports allows what goes down, types in a circle, and words in comments", () => {
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

test("a source file over 500 lines fails, one over 300 is mentioned, a test may be longer", () => {
  const lines = (count: number) => "x;\n".repeat(count);
  const root = tree({
    "src/short.ts": lines(300),
    "src/long.ts": lines(301),
    "cli/too-long.ts": lines(501),
    "test/list.test.ts": lines(900),
  });
  expect(checkSizes(root).map(({ level, message }) => `${level}: ${message.split(":")[0]}`)).toEqual([
    "error: cli/too-long.ts has 501 lines, more than 500",
    "warning: src/long.ts has 301 lines, more than 300",
    "warning: test/list.test.ts has 900 lines, more than 300",
  ]);
});
