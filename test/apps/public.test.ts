import { afterAll, beforeAll, describe, expect } from "bun:test";
import { randomBytes } from "node:crypto";
import net from "node:net";
import { and, eq } from "drizzle-orm";
import { openPostgres } from "../../db/client.ts";
import { accountMembers, users } from "../../db/schema/index.ts";
import { type Api, startApi } from "../helpers/api.ts";
import { APP_PROGRAM, type AppBench, benchApps, entryOf, isLive, NODE_INSIDE } from "../helpers/apps.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { type RawAnswer, rawRequest, sendRaw } from "../helpers/raw-http.ts";
import { Remote } from "../helpers/remote.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres, and node below /usr", POSTGRES && NODE_INSIDE);

const KEY = randomBytes(32).toString("hex");
/** Its folder is not that of the manifest, whose changes would deploy it. */
const CLOSED = entryOf({ rootPath: "app" });
const OPEN = { ...CLOSED, access: "public" } as const;

const remote = new Remote();
let api: Api;
let bench: AppBench;
let host: string;
let projectId: string;
let accountId: string;
/** The lines that identify each visitor. */
let visitors: Record<"nobody" | "member" | "left" | "token" | "cookie" | "session", string[]>;

beforeAll(async () => {
  if (!POSTGRES) return;
  api = await startApi({ env: { SVC_MASTER_KEY: KEY } });
  const project = await api.project(remote.url, { name: "p" });
  projectId = project.project_id;
  accountId = project.account_id;
  const call = (token: string) => (method: string, path: string, body?: unknown) =>
    api.call(method, path, { token, ...(body !== undefined && { body }) });
  const place = { url: () => api.url, projectId, remote };
  bench = benchApps({ ...place, call: call(api.token) });
  await bench.merge({ "app/server.js": APP_PROGRAM, "app/says.txt": "one" }, [CLOSED]);
  await bench.becomes("it is live", isLive(1));

  const signedIn = await bench.signIn();
  const left = await api.mint("left@example.com");
  const leaving = await whileMember("left@example.com", () =>
    benchApps({ ...place, call: call(left) }).signIn(),
  );
  host = signedIn.host;
  visitors = {
    nobody: [],
    member: [`Cookie: a=b; ${signedIn.cookie}; svc_x=y`],
    left: [`Cookie: ${leaving.cookie}`],
    token: [`Authorization: Bearer ${api.token}`],
    cookie: [`Cookie: svc=svc_bs_${"x".repeat(43)}`],
    session: [`Authorization: Basic ${btoa(`x:svc_sb_${"x".repeat(43)}`)}`, "X-Svc-User-Context: forged"],
  };
});
afterAll(async () => {
  await api?.stop();
  remote.remove();
});

/** Has a user in the account meanwhile. */
async function whileMember<T>(email: string, act: () => Promise<T>): Promise<T> {
  const { db, close } = await openPostgres(api.databaseUrl ?? "");
  try {
    const [user] = await db.select().from(users).where(eq(users.email, email));
    const userId = user?.userId ?? "";
    await db.insert(accountMembers).values({ accountId, userId, role: "member" });
    const result = await act();
    await db
      .delete(accountMembers)
      .where(and(eq(accountMembers.accountId, accountId), eq(accountMembers.userId, userId)));
    return result;
  } finally {
    await close();
  }
}

const UPGRADE = [
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
];

/** Sends a WebSocket's or another request, and reads what there is until the other end closes. */
const KINDS = {
  GET: (lines, url) => sendRaw(url, rawRequest("/head?token=x", [`Host: ${host}`, ...lines])),
  POST: (lines, url) =>
    sendRaw(url, rawRequest("/head", [`Host: ${host}`, "Content-Length: 2", ...lines], "POST", "hi")),
  "an event stream": (lines, url) => sendRaw(url, rawRequest("/events", [`Host: ${host}`, ...lines])),
  "a WebSocket": (lines, url) =>
    sendRaw(url, socketRequest([...lines, ...(lines.length > 0 ? [`Origin: http://${host}`] : [])])),
  "a path of the API": (lines, url) => sendRaw(url, rawRequest("/v1/whoami", [`Host: ${host}`, ...lines])),
  "a path of a sandbox": (lines, url) => sendRaw(url, rawRequest("/svc/output", [`Host: ${host}`, ...lines])),
} satisfies Record<string, (lines: string[], url: string) => Promise<RawAnswer>>;

const socketRequest = (lines: string[]) =>
  `${["GET /socket HTTP/1.1", `Host: ${host}`, "Connection: Upgrade, close", ...UPGRADE, ...lines].join("\r\n")}\r\n\r\n`;

/** The status of each kind of request of each visitor. */
async function statuses(url = api.url): Promise<Record<string, Record<string, number>>> {
  const rows = Object.entries(visitors).map(async ([visitor, lines]) => {
    const answers = Object.entries(KINDS).map(
      async ([kind, send]) => [kind, (await send(lines, url)).status] as const,
    );
    return [visitor, Object.fromEntries(await Promise.all(answers))] as const;
  });
  return Object.fromEntries(await Promise.all(rows));
}

const all = (status: number) => Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, status]));
const SERVED = { ...all(200), "a WebSocket": 101 };
const MEMBERS_ONLY = {
  nobody: all(401),
  member: SERVED,
  left: all(403),
  token: all(401),
  cookie: all(401),
  session: all(401),
};
const EVERYBODY = Object.fromEntries(Object.keys(MEMBERS_ONLY).map((visitor) => [visitor, SERVED]));

async function setAccess(access: "members" | "public"): Promise<void> {
  const commit = await bench.merge({}, [access === "public" ? OPEN : CLOSED]);
  await bench.follows(commit);
  await until(`it is for ${access}`, async () => {
    const { status } = await KINDS.GET([], api.url);
    return status === (access === "public" ? 200 : 401);
  });
}

describe("who may open an app", () => {
  test("only members open an app whose manifest does not say more", async () => {
    expect(await statuses()).toEqual(MEMBERS_ONLY);
    expect((await bench.get()).app).toMatchObject({ access: "members", public_url: null });
  });

  test("everybody opens a public app, which gets no credential of svc's", async () => {
    await setAccess("public");
    const { app, deployments } = await bench.get();
    expect(app).toMatchObject({ access: "public", public_url: app.url });
    // who may open it is not a change of the app
    expect(deployments).toHaveLength(1);
    expect(await statuses()).toEqual(EVERYBODY);
    for (const lines of Object.values(visitors)) {
      const { text } = await KINDS.GET(lines, api.url);
      const seen = text.slice(text.indexOf("{"));
      expect(seen).not.toContain("svc_");
      expect(seen).not.toContain("x-svc");
      expect(seen).not.toContain("authorization");
      expect(text.toLowerCase()).not.toContain("set-cookie");
    }
  });

  test("a public app may be used from other sites, but not with a member's cookie", async () => {
    const foreign = ["Origin: https://other.example", "Sec-Fetch-Site: cross-site"];
    expect((await KINDS.POST(foreign, api.url)).status).toBe(200);
    expect((await KINDS.POST([...foreign, ...visitors.member], api.url)).status).toBe(403);
    // the cookie of a former member is that of a stranger
    expect((await KINDS.POST([...foreign, ...visitors.left], api.url)).status).toBe(200);
  });

  test("the address of a public app opens nothing else", async () => {
    const at = (name: string, path = "/") =>
      sendRaw(api.url, rawRequest(path, [`Host: ${name}`])).then(({ status }) => status);
    const site = host.slice(host.indexOf(".") + 1);
    expect(await at(`other--p.${site}`)).toBe(401);
    expect(await at(`web--other.${site}`)).toBe(401);
    expect(await at(`p3000-${crypto.randomUUID()}.${site}`)).toBe(401);
    expect(await at(site, `/v1/projects/${projectId}/apps`)).toBe(401);
  });

  test("a server can forbid public apps, and a deleted one is closed", async () => {
    const other = await startApi({
      env: { SVC_MASTER_KEY: KEY, DATABASE_URL: api.databaseUrl ?? "", SVC_PUBLIC_APPS: "0" },
    });
    const seen = await statuses(other.url);
    const told = await other.call("GET", `/v1/projects/${projectId}/apps/web`, { token: api.token });
    await other.stop();
    // a member reaches the app, which runs on the machine of the first server
    expect({ ...seen, member: 0 }).toEqual({ ...MEMBERS_ONLY, member: 0 });
    expect(Object.values(seen["member"] ?? {})).not.toContain(401);
    expect(told.body.app).toMatchObject({ access: "public", public_url: null });
  });
});

/** Opens a stream or a WebSocket that stays open. */
async function stay(lines: string[], isSocket: boolean): Promise<{ isOpen(): boolean; close(): void }> {
  const { hostname, port } = new URL(api.url);
  const head = isSocket
    ? socketRequest(["X-Stay: 1", ...lines])
    : rawRequest("/events", [`Host: ${host}`, "X-Stay: 1", ...lines]);
  const socket = net.connect(Number(port), hostname, () => socket.write(head));
  let [text, isOpen] = ["", true];
  socket.on("data", (bytes) => {
    text += bytes.toString("latin1");
  });
  socket.on("close", () => {
    isOpen = false;
  });
  socket.on("error", () => {});
  await until(
    () => `it is open: ${text}`,
    async () => text.includes("one"),
  );
  return { isOpen: () => isOpen, close: () => socket.destroy() };
}

describe("an app that is closed again", () => {
  test.each(["members in the manifest", "deleted"])("ends what strangers have open, %s", async (how) => {
    await setAccess("public");
    const member = [...visitors.member, `Origin: http://${host}`];
    const [socket, stream, kept] = [
      await stay([], true),
      await stay(visitors.token, false),
      await stay(member, true),
    ];
    if (how === "deleted") await api.call("DELETE", `/v1/projects/${projectId}`, { body: {} });
    else await setAccess("members");
    await until("they have ended", async () => !socket.isOpen() && !stream.isOpen());
    if (how !== "deleted") expect(kept.isOpen()).toBe(true);
    else await until("it is closed", async () => (await KINDS.GET([], api.url)).status === 401);
    kept.close();
  });
});
