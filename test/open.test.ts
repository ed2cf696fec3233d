import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectFailure } from "../db/connect-failure.ts";
import { freePort } from "../scripts/free-port.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-open-"));
afterAll(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, "file"), "");
const port = freePort();

/** What `svc-api` writes when it does not start. */
async function start(env: Record<string, string>) {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "../src/main.ts")], {
    env: {
      PATH: process.env["PATH"],
      HOME: folder,
      SVC_DATA_DIR: join(folder, "data"),
      SVC_PORT: "0",
      ...env,
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const text = await new Response(child.stderr).text();
  return { code: await child.exited, text };
}

test.each([
  [
    "a data folder below a file",
    { SVC_DATA_DIR: join(folder, "file/data") },
    `svc-api: Cannot use the data folder ${folder}/file/data (ENOTDIR). Set SVC_DATA_DIR to a folder that`,
  ],
  [
    "a data folder that is a file",
    { SVC_DATA_DIR: join(folder, "file") },
    `svc-api: Cannot use the data folder ${folder}/file (EEXIST).`,
  ],
  [
    "a database that does not run",
    { DATABASE_URL: `postgres://svc:secret@127.0.0.1:${port}/svc` },
    `svc-api: Cannot connect to the database at 127.0.0.1:${port}: ECONNREFUSED. Check that Postgres runs there`,
  ],
])("%s is one line, without a stack trace or a password", async (_, env, line) => {
  const { code, text } = await start(env);
  expect({ code, text }).toEqual({ code: 1, text: expect.stringContaining(line) });
  expect(text.trimEnd().split("\n")).toHaveLength(1);
  expect(text).not.toContain("secret");
});

test.each([
  ["28P01", 'password authentication failed for user "svc"', true],
  ["3D000", 'database "svc" does not exist', true],
  ["42P01", 'relation "users" does not exist', false],
])("Postgres' error %s (%s) is of the connection: %p", (code, message, isOfConnection) => {
  const error = new Error("Failed query", { cause: Object.assign(new Error(message), { code }) });
  expect(connectFailure(error)).toBe(isOfConnection ? message : null);
});
