import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FormatError } from "../../../scripts/release/bytes.ts";
import { withoutSourceTexts } from "../../../scripts/release/source-map.ts";
import { run } from "../../../scripts/run.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-source-map-"));
const MAIN = `import { fail } from "./second.ts";\n\ntry {\n  fail();\n} catch (error) {\n  console.log(error.stack);\n}\nfail();\n`;
const SECOND = `// a comment of the source\nexport function fail(): never {\n  throw new Error("no");\n}\n`;
let compiled = new Uint8Array();

beforeAll(async () => {
  writeFileSync(join(folder, "main.ts"), MAIN);
  writeFileSync(join(folder, "second.ts"), SECOND);
  const flags = [
    "--compile",
    "--bytecode",
    "--format=esm",
    "--minify-whitespace",
    "--minify-syntax",
    "--sourcemap",
  ];
  const { code, out, err } = await run(
    [process.execPath, "build", ...flags, "--outfile=program", "main.ts"],
    {
      cwd: folder,
    },
  );
  if (code !== 0) throw new Error(`${out}${err}`);
  compiled = await Bun.file(join(folder, "program")).bytes();
  // Bun would show their lines
  for (const name of ["main.ts", "second.ts"]) rmSync(join(folder, name));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a program without the texts of its sources names files and lines in stack traces, caught or not", async () => {
  const changed = withoutSourceTexts(compiled);
  const path = join(folder, "changed");
  writeFileSync(path, changed);
  chmodSync(path, 0o755);
  const { code, out, err } = await run([path], { cwd: folder });
  expect(code).toBe(1);
  for (const printed of [out, err]) {
    expect(printed).toMatch(/second\.ts:3:/);
    expect(printed).toMatch(/main\.ts:[48]:/);
  }
  expect(err).not.toContain("a comment of the source");
  expect(changed.length).toBe(compiled.length);
  expect(withoutSourceTexts(changed)).toEqual(changed);
  expect(Bun.zstdCompressSync(changed.subarray(-200_000)).length).toBeLessThan(
    Bun.zstdCompressSync(compiled.subarray(-200_000)).length,
  );
});

test("another layout is refused", () => {
  expect(() => withoutSourceTexts(Buffer.from("no program"))).toThrow(FormatError);
  const end = Buffer.from(compiled).lastIndexOf("\n---- Bun! ----\n");
  const other = Buffer.from(compiled);
  other.writeUInt32LE(53, end - 20);
  expect(() => withoutSourceTexts(other)).toThrow(FormatError);
});
