import { afterAll, beforeAll, expect } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FLUSH, packet } from "../../src/git/remote/pkt-line.ts";
import { type GatewayBench, runClient, scratch, startGateway } from "../helpers/gateway.ts";
import { createRepository } from "../helpers/git-repo.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { authorizationOf } from "../helpers/wire.ts";

const test = needs("a real Postgres", POSTGRES);
const path = process.env["PATH"] ?? "";

let bench: GatewayBench;
let tip: string;
const folder = scratch();
const go = join(folder.path, "go");

beforeAll(async () => {
  if (!POSTGRES) return;
  process.env["PATH"] = `${await slowGit()}:${path}`;
  bench = await startGateway();
  const work = await createRepository(join(folder.path, "work.git"));
  tip = (await work.write([{ name: "first", files: { f: "1\n" } }]))["first"] ?? "";
  await work.git("push", "--quiet", bench.hosted.directory, `${tip}:refs/heads/main`);
});

afterAll(async () => {
  process.env["PATH"] = path;
  writeFileSync(go, "");
  await bench?.stop();
  folder[Symbol.dispose]();
});

/** A git whose fetches wait until a file exists. @returns its folder */
async function slowGit(): Promise<string> {
  const real = Bun.which("git");
  const core = (await runClient(folder.path, "--exec-path")).out.trim();
  const [outer, inner] = [join(folder.path, "bin"), join(folder.path, "core")];
  mkdirSync(outer);
  mkdirSync(inner);
  for (const name of readdirSync(core)) if (name !== "git") symlinkSync(join(core, name), join(inner, name));
  const script = (lines: string) => ({ mode: 0o755, text: `#!/bin/sh\n${lines}\nexec ${real} "$@"\n` });
  const serving = script(
    `[ "$1" = upload-pack ] && export GIT_EXEC_PATH=${inner} && env > ${join(folder.path, "env")}`,
  );
  const packing = script(`[ "$1" = pack-objects ] && while [ ! -e ${go} ]; do sleep 0.05; done`);
  writeFileSync(join(outer, "git"), serving.text, { mode: serving.mode });
  writeFileSync(join(inner, "git"), packing.text, { mode: packing.mode });
  return outer;
}

/** Seconds after which isomorphic-git gives up on a server that is silent. */
const PATIENCE_S = 5;

test("a slow fetch gets keep-alive packets until its pack is ready", async () => {
  const body = Buffer.concat([
    packet("command=fetch"),
    Buffer.from("0001"),
    packet("no-progress\n"),
    packet(`want ${tip}\n`),
    packet("done\n"),
    FLUSH,
  ]);
  const answer = await fetch(`${bench.url(bench.hosted, null)}/git-upload-pack`, {
    method: "POST",
    headers: {
      Authorization: authorizationOf(bench),
      "Content-Type": "application/x-git-upload-pack-request",
      "Git-Protocol": "version=2",
    },
    body: new Uint8Array(body),
  });
  let seen = "";
  let alive = 0;
  for await (const piece of answer.body ?? []) {
    seen += Buffer.from(piece).toString("latin1");
    alive = seen.split("0005\x01").length - 1;
    // git goes on only now
    if (alive === 1) writeFileSync(go, "");
  }
  const settings = readFileSync(join(folder.path, "env"), "utf8");
  const [, index] = /^GIT_CONFIG_KEY_(\d+)=uploadpack\.keepAlive$/m.exec(settings) ?? [];
  const seconds = new RegExp(`^GIT_CONFIG_VALUE_${index}=(\\d+)$`, "m").exec(settings)?.[1];
  expect(Number(seconds)).toBeLessThanOrEqual(PATIENCE_S / 2);
  expect(alive).toBeGreaterThanOrEqual(1);
  expect(seen.indexOf("PACK")).toBeGreaterThan(seen.indexOf("0005\x01"));
});
