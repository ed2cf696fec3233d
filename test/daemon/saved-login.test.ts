import { expect, test } from "bun:test";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { recordPaths } from "../../daemon/record/paths.ts";
import { agentOf } from "../../daemon/runtime/acp-agents.ts";
import { startSaving } from "../helpers/saving.ts";

const CODEX_FILE = agentOf("codex").login?.file ?? "";
const login = (kind: string) =>
  JSON.stringify({ tokens: { access_token: `${kind}-access-`.padEnd(60, "x"), account_id: "short" } });
const tokenOf = (text: string): string => JSON.parse(text).tokens.access_token;

test("saved work has neither the tokens of a login of Codex nor those that Codex has renewed", async () => {
  using bench = await startSaving();
  const [given, renewed] = [login("given"), login("renewed")];
  const life = await bench.life({ login: given });
  const file = join(life.home, CODEX_FILE);
  mkdirSync(join(life.home, ".codex"));
  writeFileSync(file, renewed);
  const put = (path: string, text: string) => writeFileSync(join(life.workspace, path), text);
  put("given.txt", `curl -H "Bearer ${tokenOf(given)}"`);
  put("renewed.txt", tokenOf(renewed));
  put("copy.txt", renewed);
  put("kept.txt", "short\n");
  await life.save();
  const files = await bench.repository.git("ls-tree", "-r", "--name-only", bench.ref);
  expect(files.split("\n")).toEqual(["a.txt", "kept.txt"]);
});

test("what an agent puts in the place of its login neither stops the saving nor is followed", async () => {
  using bench = await startSaving();
  const life = await bench.life({ login: login("given") });
  const file = join(life.home, CODEX_FILE);
  mkdirSync(join(life.home, ".codex"));
  const elsewhere = join(life.home, "elsewhere.json");
  writeFileSync(elsewhere, login("elsewhere"));
  const puts = [
    () => void Bun.spawnSync(["mkfifo", file]),
    () => symlinkSync(elsewhere, file),
    () => mkdirSync(file),
    () => writeFileSync(file, "[".repeat(100_000)),
  ];
  for (const [index, put] of puts.entries()) {
    rmSync(file, { recursive: true, force: true });
    put();
    writeFileSync(join(life.workspace, `${index}.txt`), tokenOf(login("elsewhere")));
    await life.save();
    expect([index, life.saver.problem]).toEqual([index, null]);
  }
  expect(await bench.repository.git("ls-tree", "-r", "--name-only", bench.ref)).toContain("3.txt");
});

test("an agent's record of its conversation, which svc keeps, leaves its login out", () => {
  expect(recordPaths("codex").filter((path) => `${CODEX_FILE}/`.startsWith(`${path}/`))).toEqual([]);
});
