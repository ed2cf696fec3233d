import { afterAll, beforeAll, describe, expect } from "bun:test";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, connect as dial, type Socket } from "node:net";
import { join } from "node:path";
import type { StartedExec } from "../../src/contract/exec.ts";
import { WINDOW } from "../../src/contract/exec-stream.ts";
import { ExecClient, type ExecExit, type ExecHandlers, ExecReplaced } from "../../src/conversation/exec.ts";
import { cliEnv, makeHome, SVC, svcProcess } from "../helpers/cli-run.ts";
import { signedIn } from "../helpers/cookie-browser.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { type Proxied, startProxied } from "../helpers/proxied.ts";
import { generator, SEED } from "../helpers/random.ts";
import { changeRun } from "../helpers/session-row.ts";
import { tie } from "../helpers/tied-sockets.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres", POSTGRES);
let proxied: Proxied;
let execs: string;

beforeAll(async () => {
  if (!POSTGRES) return;
  proxied = await startProxied();
  execs = `/v1/projects/${proxied.bench.hosted.project.project_id}/sessions/${proxied.session.id}/exec`;
});
afterAll(() => proxied?.stop());

async function start(
  command: string[],
  more: { cols?: number; rows?: number; tty?: boolean } = {},
): Promise<StartedExec> {
  const answer = await proxied.bench.api.call("POST", execs, { body: { command, ...more } });
  expect([answer.status, answer.body.code]).toEqual([201, undefined]);
  return answer.body;
}

/** Bun's WebSocket takes headers. */
const socket = (url: string, headers: Record<string, string>): WebSocket =>
  Reflect.construct(WebSocket, [url, { headers }]);

/** A client of a command, with what it has been sent. */
function attach(
  { path }: Pick<StartedExec, "path">,
  {
    origin = proxied.bench.api.url,
    token = proxied.bench.api.token,
    ...more
  }: Partial<ExecHandlers> & { origin?: string; token?: string } = {},
) {
  const got = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[], attached: 0 };
  const client = new ExecClient({
    connect: (query) =>
      socket(`${origin.replace("http", "ws")}${path}?${query}`, { Authorization: `Bearer ${token}` }),
    refusal: async () => null,
    stdout: (bytes) => void got.stdout.push(bytes),
    stderr: (bytes) => void got.stderr.push(bytes),
    onAttached: () => {
      got.attached++;
    },
    ...more,
  });
  const text = (name: "stdout" | "stderr" = "stdout") => Buffer.concat(got[name]).toString();
  return { client, got, text };
}

async function run(command: string[], input: Uint8Array | string = "") {
  const { client, text } = attach(await start(command));
  await client.write(Buffer.from(input));
  client.endInput();
  const exit = await client.finished;
  return { stdout: text(), stderr: text("stderr"), exit };
}
const exited = (code: number): ExecExit => expect.objectContaining({ code, signal: null });

describe("a command", () => {
  test.each<[what: string, command: string[], input: string, stdout: string, exit: () => unknown]>([
    ["prints", ["echo", "a b", "--help"], "", "a b --help\n", () => exited(0)],
    ["reads its input to the end", ["cat"], "one\ntwo", "one\ntwo", () => exited(0)],
    ["has an exit status", ["sh", "-c", "exit 7"], "", "", () => exited(7)],
    ["ends before its input", ["true"], "x".repeat(200_000), "", () => exited(0)],
    [
      "is ended by a signal",
      ["sh", "-c", "kill -9 $$"],
      "",
      "",
      () => expect.objectContaining({ signal: "SIGKILL" }),
    ],
    ["does not exist", ["no-such-program"], "", "", () => exited(127)],
    [
      "has arguments that are not a shell's",
      ["printf", "%s|", "$HOME", "; id", "-rf", "\n"],
      "",
      "$HOME|; id|-rf|\n|",
      () => exited(0),
    ],
    ["leaves a process behind", ["sh", "-c", "sleep 300 & echo begun"], "", "begun\n", () => exited(0)],
  ])("%s", async (_, command, input, stdout, exit) => {
    const ran = await run(command, input);
    expect({ stdout: ran.stdout, exit: ran.exit }).toEqual({ stdout, exit: exit() as ExecExit });
  });

  test("runs in the workspace, with the agent's variables and without the sandbox's key", async () => {
    const { stdout, stderr, exit } = await run(["sh", "-c", "pwd; env; cat a.txt >&2"]);
    expect([exit, stderr, stdout.split("\n")[0]]).toEqual([exited(0), "1\n", proxied.sandbox.workspace]);
    expect(stdout).toContain(`SVC_SESSION_ID=${proxied.session.id}`);
    expect(stdout).not.toContain("SVC_TOKEN=");
    expect(stdout).not.toContain("OPENCODE_SERVER_PASSWORD");
  });

  test("is signaled", async () => {
    const trap = 'trap "echo interrupted; exit 3" INT; echo ready; while :; do sleep 0.01; done';
    const { client, text } = attach(await start(["sh", "-c", trap]));
    await until("it is ready", () => text() === "ready\n");
    client.signal("INT");
    expect(await client.finished).toEqual(exited(3));
    expect(text()).toBe("ready\ninterrupted\n");
  });

  test("waits for a client that does not read, and loses nothing", async () => {
    const mark = join(proxied.sandbox.folder, "written");
    // Bun may read some MiB from a pipe at once, whatever its reader takes
    const size = 32 * WINDOW;
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const hash = createHash("sha256");
    let count = 0;
    const { client } = attach(await start(["sh", "-c", `head -c ${size} /dev/zero; echo > "${mark}"`]), {
      async stdout(bytes) {
        await gate;
        hash.update(bytes);
        count += bytes.length;
      },
    });
    // a second command shows that the first had the time to write
    await run(["sh", "-c", `head -c ${size} /dev/zero | sha256sum`]);
    expect(existsSync(mark)).toBe(false);
    open();
    expect(await client.finished).toEqual(exited(0));
    expect([count, existsSync(mark)]).toEqual([size, true]);
    expect(hash.digest("hex")).toBe(createHash("sha256").update(new Uint8Array(size)).digest("hex"));
  });

  test("ends with all that it has started when its user leaves", async () => {
    const pid = join(proxied.sandbox.folder, "pid");
    const stubborn = `trap "" HUP TERM INT; sh -c 'trap "" HUP; echo $$ > "${pid}"; while :; do sleep 0.05; done' & wait`;
    const { client } = attach(await start(["sh", "-c", stubborn]));
    await until("it runs", () => existsSync(pid) && readFileSync(pid, "utf8").endsWith("\n"));
    client.end();
    await client.finished;
    const isThere = () => existsSync(`/proc/${readFileSync(pid, "utf8").trim()}`);
    await until("its process has ended", () => !isThere());
  });
});

/** A TCP proxy in front of the server that cuts all connections when told to. */
async function cuttingProxy() {
  const target = new URL(proxied.bench.api.url);
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = dial(Number(target.port), target.hostname);
    tie(client, upstream, open);
    client.pipe(upstream);
    upstream.pipe(client);
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const cut = () => {
    for (const each of open) each.destroy();
  };
  return {
    origin: `http://127.0.0.1:${address.port}`,
    cut,
    [Symbol.dispose]() {
      server.close();
      cut();
    },
  };
}

describe("a connection", () => {
  test("that is lost again and again loses no byte in either direction", async () => {
    using proxy = await cuttingProxy();
    const random = generator(SEED);
    const input = Uint8Array.from({ length: 6 * WINDOW }, () => random(256));
    const hash = createHash("sha256");
    let [count, nextCut, cuts] = [0, WINDOW / 2, 0];
    const { client, got } = attach(await start(["sh", "-c", "cat; exit 9"]), {
      origin: proxy.origin,
      stdout(bytes) {
        hash.update(bytes);
        count += bytes.length;
        if (count < nextCut || cuts === 6) return;
        nextCut = count + WINDOW / 2 + random(WINDOW / 2);
        cuts++;
        proxy.cut();
      },
    });
    for (let at = 0; at < input.length; at += 50_000) await client.write(input.subarray(at, at + 50_000));
    client.endInput();
    expect(await client.finished).toEqual(exited(9));
    expect([count, hash.digest("hex")]).toEqual([
      input.length,
      createHash("sha256").update(input).digest("hex"),
    ]);
    expect([cuts, got.attached]).toEqual([6, 7]);
  });

  test("takes a command over from another", async () => {
    const started = await start(["cat"]);
    const [one, two] = [attach(started), attach(started)];
    await Promise.race([one.client.finished, two.client.finished]).catch((error: unknown) => {
      expect(error).toBeInstanceOf(ExecReplaced);
    });
    const [won] = await Promise.all([
      Promise.any([one.client.finished, two.client.finished]),
      one.client.write(Buffer.from("x")),
      two.client.write(Buffer.from("x")),
      one.client.endInput(),
      two.client.endInput(),
    ]);
    expect(won).toEqual(exited(0));
  });
});

describe("a terminal", () => {
  test("has a size, which changes, and job control", async () => {
    const { client, text } = attach(await start([], { tty: true, cols: 93, rows: 31 }));
    const type = (line: string) => client.write(Buffer.from(`${line}\r`));
    await type("stty size");
    await until("it shows its size", () => text().includes("31 93"));
    client.resize(40, 12);
    await type("stty size");
    await until("it shows its new size", () => text().includes("12 40"));
    await type("echo be''gun; sleep 300");
    await until("it sleeps", () => text().includes("begun"));
    await client.write(Buffer.from("\x03"));
    await type("echo interrupted $?");
    await until("it was interrupted", () => text().includes("interrupted 130"));
    await type("exit 5");
    expect(await client.finished).toEqual(exited(5));
  });

  test("shows its end to a slow client", async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    let [isSkipped, last] = [false, ""];
    const mark = join(proxied.sandbox.folder, "shown");
    const program = `yes | head -c 6000000; echo the end; touch "${mark}"`;
    const { client } = attach(await start(["sh", "-c", program], { tty: true }), {
      async stdout(bytes) {
        await gate;
        last = (last + Buffer.from(bytes).toString()).slice(-100);
      },
      onSkipped: () => {
        isSkipped = true;
      },
    });
    // a terminal does not wait for its client
    await until("it has written everything", () => existsSync(mark));
    open();
    expect(await client.finished).toEqual(exited(0));
    expect([isSkipped, last.endsWith("the end\r\n")]).toEqual([true, true]);
  });

  test("of svc is that of the shell", async () => {
    const { api, hosted } = proxied.bench;
    const home = makeHome();
    const env = cliEnv(home.home, {
      SVC_API_URL: `${api.url}/v1`,
      SVC_CLI_TOKEN: api.token,
      SVC_PROJECT_ID: hosted.project.project_id,
    });
    const open = () => {
      let shown = "";
      const data = (_: unknown, bytes: Uint8Array) => {
        shown += Buffer.from(bytes).toString();
      };
      const child = Bun.spawn([...SVC, "sessions", "shell", proxied.session.id], {
        ...{ env, cwd: home.cwd, terminal: { cols: 71, rows: 20, data } },
      });
      return { child, type: (text: string) => child.terminal?.write(text), shown: () => shown };
    };
    const [one, two] = [open(), open()];
    one.type("stty size; printf 'one\\ntwo\\n'\r");
    // a line feed that moves the cursor only, as full-screen programs use it
    await until("it shows its size", () => /20 71\r*\n/.test(one.shown()) && /one\r?\ntwo/.test(one.shown()));
    one.type("exit 6\r");
    expect(await one.child.exited).toBe(6);
    two.type("echo be''gun\r");
    await until("it runs", () => two.shown().includes("begun"));
    two.type("~.");
    expect(await two.child.exited).toBeGreaterThan(0);
  });
});

describe("the command line", () => {
  const ran = async (args: string[], stdin = "", home = makeHome()) => {
    const { api, hosted } = proxied.bench;
    const env = {
      SVC_API_URL: `${api.url}/v1`,
      SVC_CLI_TOKEN: api.token,
      SVC_PROJECT_ID: hosted.project.project_id,
    };
    return await svcProcess(["sessions", ...args], { env, stdin, home });
  };

  test("passes input, output and exit status on, and lists who ran what", async () => {
    const { id } = proxied.session;
    const script = "cat; echo problem >&2; exit 4";
    const { code, stdout, stderr } = await ran(["exec", id, "--", "sh", "-c", script], "typed");
    expect([code, stdout, stderr]).toEqual([4, "typed", "problem\n"]);
    const listed = await ran(["commands", id, "--json"]);
    const [newest] = JSON.parse(listed.stdout);
    expect(newest).toMatchObject({
      command: ["sh", "-c", script],
      tty: false,
      user_name: expect.any(String),
    });
  });

  test("copies files and folders both ways, and nothing out of them", async () => {
    const { id } = proxied.session;
    const { workspace } = proxied.sandbox;
    const home = makeHome();
    const copy = (...args: string[]) => ran(["cp", ...args], "", home);
    const here = (...parts: string[]) => join(home.cwd, ...parts);
    mkdirSync(here("in/deep"), { recursive: true });
    writeFileSync(here("in/a"), "a");
    writeFileSync(here("in/deep/b"), new Uint8Array(3 * WINDOW).fill(7), { mode: 0o755 });
    symlinkSync("deep/b", here("in/link"));
    expect(await copy("in", `${id}:`)).toMatchObject({ code: 0 });
    expect(await copy("in", `${id}:other`)).toMatchObject({ code: 0 });
    expect(readFileSync(join(workspace, "in/link")).equals(readFileSync(here("in/deep/b")))).toBe(true);
    expect(statSync(join(workspace, "other/deep/b")).mode & 0o777).toBe(0o755);
    symlinkSync("/etc/passwd", join(workspace, "in/out"));
    symlinkSync("../../..", join(workspace, "in/up"));
    expect((await run(["sh", "-c", "mkfifo in/pipe; ln in/a in/hard"])).exit).toEqual(exited(0));
    const back = await copy(`${id}:in`, "back");
    expect(back.code).toBe(0);
    for (const name of ["in/out", "in/up", "in/pipe"]) expect(back.stderr).toContain(name);
    expect(readdirSync(here("back")).toSorted()).toEqual(["a", "deep", "hard", "link"]);
    expect(readFileSync(here("back/link")).equals(readFileSync(here("in/deep/b")))).toBe(true);
    expect(await copy(`${id}:in/a`, ".")).toMatchObject({ code: 0 });
    expect(readFileSync(here("a"), "utf8")).toBe("a");
    for (const [from, to, said] of [
      [`${id}:in`, ".", "exists"],
      [`${id}:none`, "x", "cannot be read"],
      ["none", `${id}:x`, "ENOENT"],
      ["a", "b", "must be in a sandbox"],
    ] as const)
      expect(await copy(from, to)).toMatchObject({
        code: said.startsWith("must") ? 2 : 1,
        stderr: expect.stringContaining(said),
      });
    expect(readdirSync(home.cwd).toSorted()).toEqual(["a", "back", "in"]);
  });

  test("wants a terminal for a shell", async () => {
    const { code, stderr } = await ran(["shell", proxied.session.id]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("needs a terminal")]);
  });
});

describe("access", () => {
  test("has only the person who started the command", async () => {
    const { bench, session } = proxied;
    const other = await bench.member(bench.hosted, "other@example.com");
    const stranger = await bench.api.mint("stranger@example.com");
    const { path } = await start(["cat"]);
    const status = async (token: string) => (await bench.api.call("GET", path, { token })).status;
    expect(await Promise.all([bench.api.token, other, session.token, stranger].map(status))).toEqual([
      426, 404, 404, 403,
    ]);
    const { client } = attach({ path });
    client.end();
    await client.finished;
  });

  test("has no agent, and no session that does not run", async () => {
    const { bench, session } = proxied;
    const body = { command: ["true"] };
    const agent = await bench.api.call("POST", execs, { token: session.token, body });
    expect([agent.status, agent.body.code]).toEqual([403, "forbidden"]);
    await changeRun(bench.db, session.id, { status: "stopped" });
    const stopped = await bench.api.call("POST", execs, { body });
    await changeRun(bench.db, session.id, { status: "running" });
    expect([stopped.status, stopped.body.code]).toEqual([503, "not_running"]);
    const { commands } = (await bench.api.call("GET", execs)).body;
    expect(commands.filter(({ command }: { command: string[] }) => command[0] === "true")).toHaveLength(1);
  });

  test("has a browser by its cookie from svc's own pages only", async () => {
    const { api } = proxied.bench;
    const { cookie } = await signedIn(api);
    const { path } = await start(["cat"]);
    const own = new URL(api.url);
    const opens = async (headers: Record<string, string>) => {
      const opened = socket(`${api.url.replace("http", "ws")}${path}`, headers);
      const { promise, resolve } = Promise.withResolvers<boolean>();
      opened.onopen = () => resolve(true);
      opened.onerror = () => resolve(false);
      const result = await promise;
      opened.close();
      return result;
    };
    const Cookie = cookie ?? "";
    expect(await opens({ Cookie, Origin: own.origin })).toBe(true);
    const elsewhere = [
      "https://evil.example",
      `http://p3000-x.${own.host}`,
      `http://${own.hostname}:1`,
      "null",
    ];
    for (const Origin of elsewhere)
      expect([Origin, await opens({ Cookie, Origin })]).toEqual([Origin, false]);
    expect(await opens({ Cookie })).toBe(false);
    const { client } = attach({ path });
    client.end();
    await client.finished;
  });
});
