import { afterAll, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { cleanEnvironment } from "../helpers/api.ts";
import { STRANGER } from "../helpers/isolation.ts";
import { needs, succeeds } from "../helpers/needs.ts";
import { createDatabase, POSTGRES, type TestDatabase } from "../helpers/postgres.ts";
import { descendantsOf, killFound, statusOf } from "../helpers/processes.ts";
import { sample } from "../helpers/random.ts";
import { until } from "../helpers/until.ts";

const home = mkdtempSync(join(tmpdir(), "svc-home-"));
// its programs are for another user, too
chmodSync(home, 0o711);
const databases: TestDatabase[] = [];
afterAll(async () => {
  rmSync(home, { recursive: true, force: true });
  for (const database of databases) await database.drop();
});

/** A database for a server: on a real Postgres, which opens in a fraction of the time (`e2e/readme` starts the embedded one). */
async function newDatabase(): Promise<Record<string, string>> {
  if (!POSTGRES) return {};
  const database = await createDatabase();
  databases.push(database);
  return { DATABASE_URL: database.url };
}

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

test("the first start signs the command line in; the second keeps it signed in, names the missing runtime, and stops although it is busy", async () => {
  // a proxy that refuses every connection, and no NO_PROXY
  const proxy = "http://127.0.0.1:9";
  const database = await newDatabase();
  const first = await start({ ...database, HTTP_PROXY: proxy, HTTPS_PROXY: proxy });
  expect(first.said()).toContain("The svc command is signed in as ");
  // one link, for the user whose token the command has
  const links = first.said().match(/\S+\/welcome\?token=\S+/g) ?? [];
  expect(links).toHaveLength(1);
  const link = await fetch(links[0]?.replace("/welcome", "/v1/auth/link") ?? "").then((answer) =>
    answer.json(),
  );
  const port = new URL(first.url ?? "").port;
  const who = await svc("whoami", "--json");
  expect({ code: who.code, err: who.err }).toMatchObject({ code: 0 });
  expect(JSON.parse(who.out)).toMatchObject({ host: "local-dev", host_url: `${first.url}/v1` });
  expect(link).toMatchObject({ kind: "password", email: JSON.parse(who.out).email });
  expect(await first.end("SIGINT")).toMatchObject({ code: 0 });
  await expect(fetch(`${first.url}/v1/health`)).rejects.toThrow();

  const token = readFileSync(join(home, ".config/svc/config.json"), "utf8");
  const second = await start({ ...withoutRuntime(join(home, "data")), ...database, SVC_PORT: port });
  expect(second.said()).not.toContain("signed in as");
  expect(second.said()).toMatch(
    /Sessions need the agent runtime, which is not installed yet:\n\n {2}\S+svc-api runtime install\n/,
  );
  expect(readFileSync(join(home, ".config/svc/config.json"), "utf8")).toBe(token);

  const other = { ...(await newDatabase()), SVC_DATA_DIR: join(home, "other") };
  const third = await start({ ...other, SVC_PORT: port });
  expect(third.url).toBeUndefined();
  expect(await third.child.exited).toBe(1);
  expect(third.said().trim().split("\n")).toEqual([
    "svc: starting the server …",
    `svc-api: Another program already listens on port ${port} of 127.0.0.1. Stop it, or set SVC_PORT to another port.`,
  ]);
  expect(await endBusy(second)).toMatchObject({ code: 0 });
});

/** Ends a start whose server is too busy to answer: the server gets the signal, too. */
async function endBusy(busy: Awaited<ReturnType<typeof start>>) {
  const server = descendantsOf(busy.child.pid).find(({ command }) =>
    command.startsWith(resolve("dist/svc-api")),
  );
  killFound(server?.pid, "SIGSTOP");
  const ended = busy.end("SIGTERM");
  const isSignalled = () => (pendingSignals(server?.pid ?? 0) & SIGTERM_BIT) !== 0n;
  await until("the server got the signal, too", isSignalled).finally(() => killFound(server?.pid, "SIGCONT"));
  return await ended;
}

const SIGTERM_BIT = 1n << 14n;

/** The signals that a stopped process has not received yet, as bits. */
function pendingSignals(pid: number): bigint {
  return BigInt(`0x${/^ShdPnd:\s*([0-9a-f]+)$/m.exec(statusOf(pid))?.[1] ?? "0"}`);
}

test("a failure during the set-up leaves no server behind", async () => {
  const script = `
    const { startServer } = await import("./scripts/server-process.ts");
    console.log(await startServer({}).listening);
    throw new Error("the set-up failed");
  `;
  const child = Bun.spawn([process.execPath, "-e", script], {
    env: env({ ...(await newDatabase()), SVC_DATA_DIR: join(home, "failed") }),
    stdin: "ignore",
    stderr: "pipe",
  });
  const [url, said] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  expect(await child.exited).toBe(1);
  expect(url).toMatch(/^http:/);
  expect(said).toContain("the set-up failed");
  await until(
    () => `the server at ${url} stops`,
    () =>
      fetch(`${url.trim()}/v1/health`).then(
        () => false,
        () => true,
      ),
  );
});

/** The only programs that some starts find. */
const tools = join(home, "tools");

function addTool(name: string): void {
  mkdirSync(tools, { recursive: true });
  const found = Bun.which(name);
  if (found !== null && !existsSync(join(tools, name))) symlinkSync(found, join(tools, name));
}

/** Where no agent runtime is found: neither in the data folder nor on the PATH. */
function withoutRuntime(dataDir: string): Record<string, string> {
  for (const name of ["git", "sh"]) addTool(name);
  // whether sandboxes are isolated is not the question here
  return { PATH: tools, SVC_DATA_DIR: dataDir, SVC_SANDBOX_ISOLATION: "required" };
}

/** Starts a command on a terminal. */
function onTerminal(command: string[], variables: Record<string, string>) {
  let drawn = "";
  const child = Bun.spawn(command, {
    env: env(variables),
    terminal: {
      cols: 200,
      rows: 40,
      data(_, bytes) {
        drawn += Buffer.from(bytes).toString();
      },
    },
  });
  return {
    drawn: () => drawn,
    shows: (text: string | RegExp) =>
      until(
        () => `it shows ${text}: ${drawn}`,
        () => (typeof text === "string" ? drawn.includes(text) : text.test(drawn)),
      ),
    type: (keys: string) => void child.terminal?.write(keys),
    exited: child.exited,
    [Symbol.dispose]() {
      child.kill("SIGKILL");
      child.terminal?.close();
    },
  };
}

const isRoot = process.getuid?.() === 0;
const BECOME = ["setpriv", `--reuid=${STRANGER}`, `--regid=${STRANGER}`, "--clear-groups", "--"];
const canBecome = !isRoot || succeeds("unshare", "--mount", ...BECOME, "true");

/** `npm start` as an ordinary user whose home is this folder, since root is never asked about isolation. */
function startOf(folder: string): string[] {
  if (!isRoot) return [process.execPath, resolve("scripts/start.ts")];
  const [bun, checkout] = [join(folder, "bun"), join(folder, "checkout")];
  copyFileSync(process.execPath, bun);
  mkdirSync(checkout);
  for (const path of [folder, bun]) chownSync(path, STRANGER, STRANGER);
  // other users may not be able to reach the checkout where it is
  const script = 'mount --bind "$0" "$1" && cd "$1" && shift && exec "$@"';
  return [
    "unshare",
    "--mount",
    "sh",
    "-c",
    script,
    resolve("."),
    checkout,
    ...BECOME,
    bun,
    "scripts/start.ts",
  ];
}

/** What is typed to the question whether the runtime is installed; the registry that it is to come from does not answer. */
const ANSWERS: [meaning: string, keys: string, shown: RegExp][] = [
  ["no", "n\r", /svc-api runtime install/],
  ["yes", "\r", /Cannot download the agent runtime/],
];
needs("another user (unshare, setpriv)", canBecome).each(sample(1, ANSWERS))(
  "without bubblewrap, prompts once whether sandboxes may run without isolation, and until an answer (%s) for the runtime",
  async (_, keys, shown) => {
    const folder = mkdtempSync(join(tmpdir(), "svc-home-"));
    const dataDir = join(folder, "data");
    const { SVC_SANDBOX_ISOLATION, PATH = "", ...rest } = withoutRuntime(dataDir);
    for (const name of isRoot ? ["unshare", "setpriv", "mount"] : []) addTool(name);
    const command = startOf(folder);
    const variables = {
      ...{ ...rest, ...(await newDatabase()), PATH, HOME: folder },
      SVC_NPM_REGISTRY: "http://127.0.0.1:9",
    };
    try {
      for (const time of ["interrupted", "answered", "later"]) {
        using run = onTerminal(command, variables);
        if (time === "interrupted") {
          await run.shows("Run sessions without isolation? [y/N] ");
          expect(run.drawn()).toContain("bubblewrap is not installed");
          run.type("y\r");
        }
        if (time !== "later") {
          await run.shows(/opencode \S+, \d+ MB, from .+: install\? \[Y\/n\] /);
          expect(run.drawn()).toContain(`into ${dataDir}`);
          run.type(time === "interrupted" ? "\x03" : keys);
        }
        if (time !== "interrupted") {
          await run.shows("svc cr merge 1");
          expect(run.drawn()).not.toContain("without isolation?");
          expect(run.drawn().includes("install? [Y/n]")).toBe(time === "answered");
          expect(run.drawn()).toMatch(shown);
          expect(run.drawn()).toContain("svc-api runtime install");
          expect(run.drawn()).toContain("Nothing isolates them");
          expect(run.drawn()).toContain("SVC_SANDBOX_ISOLATION=none: sandboxes are not isolated");
          run.type("\x03");
        }
        expect(await run.exited).toBe(0);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

test("on a terminal, the first start offers the demo", async () => {
  // any program: the session does not get that far
  const database = await newDatabase();
  const env = {
    ...withoutRuntime(join(home, "demo")),
    ...database,
    SVC_RUNTIME_BIN: join(tools, "git"),
    CI: "",
  };
  using run = onTerminal([process.execPath, resolve("scripts/start.ts")], env);
  await run.shows("Try svc with a sample project?");
  run.type("\r");
  await run.shows("Pushed 6 files.");
  run.type("\x03");
  expect(await run.exited).toBe(0);
});
