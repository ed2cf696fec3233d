import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { cleanEnvironment } from "../helpers/api.ts";

const home = mkdtempSync(join(tmpdir(), "svc-home-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

function env(extra: Record<string, string> = {}): Record<string, string> {
  const { XDG_CONFIG_HOME, XDG_DATA_HOME, ...rest } = cleanEnvironment();
  return { ...rest, HOME: home, SVC_DATA_DIR: join(home, "data"), SVC_PORT: "0", ...extra };
}

/** `npm start` without npm, until it says that svc runs or ends. */
async function start(extra: Record<string, string> = {}) {
  const child = Bun.spawn([process.execPath, resolve("scripts/start.ts")], {
    env: env(extra),
    stdout: "ignore",
    stderr: "pipe",
  });
  let said = "";
  const { promise: ready, resolve: settle } = Promise.withResolvers<string | undefined>();
  const read = (async () => {
    for await (const chunk of child.stderr) {
      said += Buffer.from(chunk).toString();
      if (said.includes("svc cr merge 1")) settle(/svc runs at (\S+)\. /.exec(said)?.[1]);
    }
    settle(undefined);
  })();
  const url = await ready;
  return {
    url,
    child,
    async end(signal: NodeJS.Signals) {
      child.kill(signal);
      const code = await child.exited;
      await read;
      return { code, said };
    },
    said: () => said,
  };
}

async function svc(...args: string[]) {
  const child = Bun.spawn([resolve("dist/svc"), ...args], { env: env(), stdin: "ignore", stderr: "pipe" });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code: child.exitCode, out, err };
}

test("the first start signs the command line in, the second finds it signed in, and Ctrl-C is no failure", async () => {
  const first = await start();
  expect(first.said()).toContain("The svc command is signed in as ");
  const port = new URL(first.url ?? "").port;
  const who = await svc("whoami", "--json");
  expect({ code: who.code, err: who.err }).toMatchObject({ code: 0 });
  expect(JSON.parse(who.out)).toMatchObject({ host: "local-dev", host_url: `${first.url}/v1` });
  expect(await first.end("SIGINT")).toMatchObject({ code: 0 });
  await expect(fetch(`${first.url}/v1/health`)).rejects.toThrow();

  const token = readFileSync(join(home, ".config/svc/config.json"), "utf8");
  const second = await start({ SVC_PORT: port });
  expect(second.said()).not.toContain("signed in as");
  expect(readFileSync(join(home, ".config/svc/config.json"), "utf8")).toBe(token);

  const third = await start({ SVC_PORT: port, SVC_DATA_DIR: join(home, "other") });
  expect(third.url).toBeUndefined();
  expect(await third.child.exited).toBe(1);
  expect(third.said().trim().split("\n")).toEqual([
    "svc-api: The port is in use. Stop the program that has it, or set SVC_PORT to another.",
  ]);
  expect(await second.end("SIGTERM")).toMatchObject({ code: 0 });
}, 60_000);
