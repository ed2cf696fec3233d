import { expect, test } from "bun:test";
import { copyFileSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { startApi } from "../helpers/api.ts";
import { cliEnv, textOf } from "../helpers/cli-run.ts";
import { shipper } from "../helpers/shipping.ts";

test("git finds svc in a folder with a space, a quote and a dollar sign", async () => {
  const api = await startApi();
  const who = shipper(api);
  const folder = join(who.home.home, "it's $HOME; here");
  mkdirSync(folder);
  const svc = join(folder, "svc");
  copyFileSync(resolve("dist/svc"), svc);
  who.commit({ a: "1\n" });
  const child = Bun.spawn([svc, "ship", "--yes", "--json"], {
    cwd: who.cwd,
    env: cliEnv(who.home.home),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, err] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
  expect([await child.exited, err]).toEqual([0, ""]);
  expect(JSON.parse(out)).toMatchObject({ created: true, pushed: true });
  who.commit({ b: "2\n" });
  expect(await who.asks("push")).toMatchObject({ code: 0 });
  await api.stop();
});
