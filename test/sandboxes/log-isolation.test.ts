import { expect, test } from "bun:test";
import pino from "pino";
import { logIsolation } from "../../src/sandboxes/log-isolation.ts";
import { SandboxError } from "../../src/sandboxes/provider.ts";
import { StandInProvider } from "../helpers/stand-in-provider.ts";

async function logged(
  walls: StandInProvider["walls"],
  level = "info",
  describe: () => Promise<Record<string, string>> = async () => ({}),
) {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level, base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const provider = new StandInProvider();
  Object.assign(provider, { walls, describe });
  await logIsolation(provider.sandboxesOf, log);
  return lines;
}

test("each start of a server logs that its sandboxes are not isolated", async () => {
  const [line, ...more] = await logged(async () => []);
  expect(line).toMatchObject({ level: 40, provider: "local", walls: [] });
  expect(String(line?.["msg"])).toContain("SVC_SANDBOX_ISOLATION=none");
  expect(more).toEqual([]);
});

test("each start of a server logs why its sandboxes cannot start", async () => {
  const [line] = await logged(async () => {
    throw new SandboxError("Local sandboxes cannot be isolated: no. Run there: x");
  });
  expect(line).toMatchObject({
    level: 40,
    msg: "sessions cannot start: Local sandboxes cannot be isolated: no. Run there: x",
  });
});

test("each start of a server logs the isolation of its sandboxes", async () => {
  expect(await logged(async () => ["files"])).toMatchObject([{ level: 30, walls: ["files"] }]);
  expect(await logged(async () => ["files"], "silent")).toEqual([]);
});

test("each start of a server logs the engine that it has found, also if sandboxes cannot start with it", async () => {
  const described = async () => ({ engine: "unix:///x.sock", engineFrom: "the context x" });
  const [line] = await logged(async () => ["files"], "info", described);
  expect(line).toMatchObject({ ...(await described()), msg: "sandboxes are isolated" });
  const refused = async () => {
    throw new SandboxError("no");
  };
  expect(await logged(refused, "info", described)).toMatchObject([{ ...(await described()), level: 40 }]);
});
