import { afterAll, beforeAll, describe, expect } from "bun:test";
import { freePort } from "../../scripts/free-port.ts";
import type { ListeningPort } from "../../src/contract/ports.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { type Proxied, startProxied } from "../helpers/proxied.ts";
import { rawRequest, sendRaw } from "../helpers/raw-http.ts";
import { changeRun } from "../helpers/session-row.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres", POSTGRES);
let proxied: Proxied;
let own: string;

beforeAll(async () => {
  if (!POSTGRES) return;
  proxied = await startProxied();
  own = `/v1/projects/${proxied.bench.hosted.project.project_id}/sessions/${proxied.session.id}`;
});
afterAll(() => proxied?.stop());

/** Runs a program in the sandbox that listens, until it is ended. */
async function listenIn(hostname: string, port: number, answer = "new Response()") {
  const program = `Bun.serve({ hostname: "${hostname}", port: ${port}, fetch: (request) => ${answer} })`;
  const command = ["sh", "-c", `echo $$ > pid-${port}; exec "$@"`, "sh", process.execPath, "-e", program];
  expect((await proxied.bench.api.call("POST", `${own}/exec`, { body: { command } })).status).toBe(201);
  return async () => {
    await proxied.bench.api.call("POST", `${own}/exec`, {
      body: { command: ["sh", "-c", `kill -9 $(cat pid-${port})`] },
    });
  };
}
const ports = async (): Promise<number[]> =>
  (await proxied.bench.api.call("GET", `${own}/ports`)).body.ports.map(({ port }: ListeningPort) => port);

/** The events of the session, while the page is open. */
async function watch() {
  const stop = new AbortController();
  const seen: number[][] = [];
  const { url, token } = proxied.bench.api;
  const response = await fetch(`${url}${own}/events`, {
    headers: { Authorization: `Bearer ${token}` },
    signal: stop.signal,
  });
  const reading = (async () => {
    let text = "";
    for await (const piece of response.body ?? []) {
      text += Buffer.from(piece).toString();
      const whole = text.split("\n\n");
      text = whole.pop() ?? "";
      for (const event of whole) {
        const [, data] = /^event: ports\ndata: (.*)$/m.exec(event) ?? [];
        if (data) seen.push(JSON.parse(data).ports.map(({ port }: ListeningPort) => port));
      }
    }
  })().catch(() => {});
  const end = async () => {
    stop.abort();
    await reading;
  };
  return { seen, stop: end };
}

describe("the ports of a sandbox", () => {
  test("are those of its programs that a preview reaches, and change while somebody watches", async () => {
    const [reached, everywhere, elsewhere] = [freePort(), freePort(), freePort()];
    const watched = await watch();
    const ends = await Promise.all([
      listenIn("127.0.0.1", reached),
      listenIn("0.0.0.0", everywhere),
      listenIn("127.0.0.2", elsewhere),
    ]);
    const expected = [reached, everywhere].toSorted((a, b) => a - b);
    await until("both are listed", async () => Bun.deepEquals(await ports(), expected));
    await until("the page has both", () => Bun.deepEquals(watched.seen.at(-1), expected));
    const { body } = await proxied.bench.api.call("GET", `${own}/ports`);
    expect(body.ports[0].process).toMatch(/^bun/);
    await Promise.all(ends.map((end) => end()));
    await until("none is listed", async () => (await ports()).length === 0);
    await until("the page has none", () => watched.seen.at(-1)?.length === 0);
    await watched.stop();
    // it says only what has changed
    for (const [at, list] of watched.seen.entries()) expect(list).not.toEqual(watched.seen[at + 1] ?? [-1]);
  });

  test("are not there without a sandbox, and not for other accounts", async () => {
    const { bench, session } = proxied;
    await changeRun(bench.db, session.id, { status: "stopped" });
    const stopped = await bench.api.call("GET", `${own}/ports`);
    await changeRun(bench.db, session.id, { status: "running" });
    expect([stopped.status, stopped.body.code]).toEqual([503, "not_running"]);
    const stranger = await bench.api.mint("ports-stranger@example.com");
    expect((await bench.api.call("GET", `${own}/ports`, { token: stranger })).status).toBe(403);
    expect((await bench.api.call("GET", `${own}/ports`, { token: session.token })).status).toBe(200);
  });
});

describe("a preview", () => {
  const hostOf = (port: number) =>
    `p${port}-${proxied.session.id}.localhost:${new URL(proxied.bench.api.url).port}`;
  async function signIn(port: number) {
    const { url } = (await proxied.bench.api.call("POST", `${own}/preview`, { body: { port } })).body;
    const { text } = await visit(port, `/${new URL(url).search}`);
    return `Cookie: ${/^Set-Cookie: ([^;]+)/m.exec(text)?.[1]}`;
  }
  const visit = (port: number, path: string, lines: string[] = []) =>
    sendRaw(proxied.bench.api.url, rawRequest(path, [`Host: ${hostOf(port)}`, ...lines]));

  test("waits for a program on a page that reloads, and tells other clients at once", async () => {
    const port = freePort();
    const cookie = await signIn(port);
    const page = await visit(port, "/", [cookie, "Accept: text/html"]);
    expect(page.status).toBe(502);
    expect(page.text).toContain(`<title>Waiting for port ${port}</title>`);
    expect(page.text).toContain('http-equiv="refresh"');
    const other = await visit(port, "/", [cookie, "Accept: */*"]);
    expect(other.text).toContain('"code":"nothing_listening"');
  });

  test("maps redirects to the sandbox's loopback, and no others", async () => {
    const port = freePort();
    const rows: [from: string, to: string][] = [
      [`http://localhost:${port}/a?b=1#c`, `http://${hostOf(port)}/a?b=1#c`],
      [`http://127.0.0.1:${port}`, `http://${hostOf(port)}`],
      ["http://[::1]:5173/", `http://${hostOf(5173)}/`],
      ["HTTP://LOCALHOST:3000?x", `http://${hostOf(3000)}?x`],
      ...[
        "/relative",
        "http://localhost/",
        "https://localhost:3000/",
        "http://localhost:3000.evil.example/",
        "http://localhost:3000@evil.example/",
        "http://localhost:8000/",
        "http://localhost:4096/",
        "http://localhost:70000/",
        "http://example.com:3000/",
      ].map((same): [string, string] => [same, same]),
    ];
    const answer = (part: string) => `new URL(request.url).searchParams.get("${part}")`;
    const redirect = `new Response("body", { status: Number(${answer("status")}), headers: { location: ${answer("to")} } })`;
    const end = await listenIn("127.0.0.1", port, redirect);
    await until("it listens", async () => (await ports()).includes(port));
    const cookie = await signIn(port);
    const locationOf = async (status: number, to: string) => {
      const { text } = await visit(port, `/?status=${status}&to=${encodeURIComponent(to)}`, [cookie]);
      expect(text).toEndWith("body");
      return /^location: (.*)\r$/im.exec(text)?.[1];
    };
    for (const [from, to] of rows) expect([from, await locationOf(302, from)]).toEqual([from, to]);
    const [[address, mapped] = ["", ""]] = rows;
    for (const status of [301, 307]) expect(await locationOf(status, address)).toBe(mapped);
    for (const status of [200, 201, 404]) expect(await locationOf(status, address)).toBe(address);
    await end();
  });
});
