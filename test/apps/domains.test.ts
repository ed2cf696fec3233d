import { afterAll, beforeAll, beforeEach, describe, expect } from "bun:test";
import { readConfig } from "../../src/config.ts";
import type { AppDomain } from "../../src/contract/app-domain.ts";
import type { Notification } from "../../src/contract/notification.ts";
import { domainOfHost, readDomain } from "../../src/features/apps/domains/name.ts";
import { DOMAIN_WORK } from "../../src/features/apps/domains/worker.ts";
import { Changes } from "../../src/lib/changes.ts";
import { type Answer, type Api, startApi } from "../helpers/api.ts";
import { type AppBench, benchApps, entryOf, isLive, tomlOf } from "../helpers/apps.ts";
import { invited } from "../helpers/invited.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { rawRequest, sendRaw } from "../helpers/raw-http.ts";
import { Remote } from "../helpers/remote.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres", POSTGRES);
const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;

/** The records of the resolver; null: it does not answer. */
const records = new Map<string, string[] | null>();
let ahead = 0;
const changes = new Changes();

let api: Api;
const remotes: Remote[] = [];
let mine: Account;
let theirs: Account;
/** The token of a member of the first account who does not manage it. */
let member: string;

/** An account with a public app, and one for its members. */
interface Account {
  token: string;
  bench: AppBench;
  domains(method: string, rest?: string, body?: unknown, slug?: string): Promise<Answer>;
}

beforeAll(async () => {
  if (!POSTGRES) return;
  api = await startApi({
    deps: {
      changes,
      clock: () => new Date(Date.now() + ahead),
      async txtRecords(name) {
        const found = records.get(name);
        if (found === null) throw new Error("SERVFAIL");
        return found ?? [];
      },
    },
  });
  const other = await api.mint("other@example.com");
  member = await invited(api, "member@example.com");
  [mine, theirs] = await Promise.all([startAccount(api.token, "Mine"), startAccount(other, "Theirs")]);
});
afterAll(async () => {
  await api?.stop();
  for (const remote of remotes) remote.remove();
});
beforeEach(() => {
  ahead = 0;
  records.clear();
});

const SITE = { run: null, static: { dir: "." }, access: "public" } as const;
const ENTRIES = [entryOf({ ...SITE, slug: "site" }), entryOf({ ...SITE, slug: "team", access: "members" })];

async function startAccount(token: string, name: string): Promise<Account> {
  const remote = new Remote();
  remotes.push(remote);
  const call = (method: string, path: string, body?: unknown) =>
    api.call(method, path, { token, ...(body !== undefined && { body }) });
  remote.commit("main", {
    "index.html": name,
    "svc.toml": `svc_version = 1\n${ENTRIES.map(tomlOf).join("")}`,
  });
  const made = await call("POST", "/v1/projects", { name, repo_url: remote.url });
  const at = { url: () => api.url, projectId: made.body.project_id, remote };
  const bench = benchApps({ ...at, call });
  await bench.becomes("the site is live", isLive(1), { slug: "site" });
  const domains: Account["domains"] = (method, rest = "", body = undefined, slug = "site") =>
    bench.call(method, `/${slug}/domains${rest}`, body);
  return { token, bench, domains };
}

/** Adds a domain without a proof. */
async function add({ domains }: Account, domain: string): Promise<AppDomain> {
  const { status, body } = await domains("POST", "", { domain });
  expect([status, body]).toMatchObject([201, { domain }]);
  return body;
}

/** Adds a domain with its proof. */
async function prove(account: Account, domain: string): Promise<AppDomain> {
  const { record } = await add(account, domain);
  publish(record);
  const { body } = await account.domains("POST", `/${domain}/verify`);
  expect(body).toMatchObject({ state: "proven", problem: null });
  return body;
}

const publish = ({ name, value }: AppDomain["record"]) =>
  records.set(name, [...(records.get(name) ?? []), value]);

const list = async ({ domains }: Account): Promise<AppDomain[]> => (await domains("GET")).body.domains;
/** What a person was notified of about a domain, the newest first. */
const noticesOf = async ({ token }: Pick<Account, "token">, domain: string): Promise<string[]> => {
  const { body } = await api.call("GET", "/v1/accounts/notifications", { token });
  return body.notifications.flatMap((each: Notification) =>
    each.event === "app.domain_lost" && each.title === domain ? [each.text] : [],
  );
};
const find = async (account: Account, domain: string) =>
  (await list(account)).find((one) => one.domain === domain);

/** The status and the last line of an answer. */
async function visit(host: string, target = "/", lines: string[] = []): Promise<[number, string]> {
  const { status, text } = await sendRaw(api.url, rawRequest(target, [`Host: ${host}`, ...lines]));
  return [status, text.slice(text.indexOf("\r\n\r\n") + 4)];
}

/** Waits until a domain answers with the site, or does not. Answers are cached for a second. */
const untilServed = (domain: string, isServed: boolean) =>
  until(`${domain} is ${isServed ? "" : "not "}served`, async () => {
    const [status, body] = await visit(domain);
    return (status === 200 && ["Mine", "Theirs"].includes(body)) === isServed;
  });

const mayHaveCertificate = async (domain: string) =>
  (await api.call("GET", `/v1/preview-hosts/check?domain=${domain}`)).status === 200;

describe("the names of domains", () => {
  const config = readConfig({
    SVC_PUBLIC_URL: "https://svc.acme.com",
    SVC_PREVIEW_HOST: "acme-previews.net:8443",
    SVC_SANDBOX_API_URL: "http://inside.acme.org:8008",
  });
  const deps = { config, api: () => ({ hostname: "127.0.0.1", port: 8008 }) };

  test.each([
    ["www.example.com", "www.example.com"],
    ["WWW.Example.COM.", "www.example.com"],
    ["b\u00fccher.example.com", "xn--bcher-kva.example.com"],
    ["xn--bcher-kva.example.com", "xn--bcher-kva.example.com"],
    ["example.co.uk", "example.co.uk"],
    ["me.github.io", "me.github.io"],
    // beside the server, and above it
    ["docs.acme.com", "docs.acme.com"],
    ["acme.com", "acme.com"],
  ])("%s is %s", (text, domain) => {
    expect(readDomain(deps, text)).toBe(domain);
    expect(domainOfHost(deps, `${text}:8443`)).toBe(domain);
  });

  test.each([
    ...["", ".", "example", "localhost", "a.localhost", "host.docker.internal", "printer.local"],
    ...["*.example.com", "_x.example.com", "-x.example.com", "a..example.com", "a b.example.com"],
    ...["127.0.0.1", "127.1", "0x7f.0.0.1", "2130706433", "[::1]", "::1", "1.2.3.4."],
    ...["co.uk", "com", "github.io", "s3.amazonaws.com"],
    ...[
      "https://www.example.com",
      "www.example.com/x",
      "www.example.com:80",
      "u@www.example.com",
      "a%2eexample.com",
    ],
    ...["svc.acme.com", "x.svc.acme.com", "SVC.ACME.COM.", "acme-previews.net", "site--p.acme-previews.net"],
    ...[
      "inside.acme.org",
      `${"a".repeat(64)}.example.com`,
      `${"a.".repeat(125)}example.com`,
      "\0.example.com",
    ],
  ])("%j is refused", (text) => {
    expect(() => readDomain(deps, text)).toThrow(expect.objectContaining({ code: "validation_failed" }));
    if (!text.includes(":")) expect(domainOfHost(deps, text)).toBeNull();
  });
});

describe("a domain of a public app", () => {
  test("is served once its proof is found, with a certificate, and nothing of svc at it", async () => {
    const domain = "www.example.com";
    const before = await add(mine, domain);
    expect(before).toMatchObject({
      state: "waiting",
      problem: "missing",
      record: { name: "_svc-challenge.www.example.com" },
      url: null,
      served_until: null,
    });
    expect(before.target).toBe("site--mine.localhost");
    // until then the name is another name of the server
    expect((await visit(domain, "/v1/projects"))[0]).toBe(401);
    expect(await mayHaveCertificate(domain)).toBe(false);

    publish(before.record);
    const { body } = await mine.domains("POST", `/${domain}/verify`);
    expect(body).toMatchObject({ state: "proven", problem: null });
    expect(body.url).toMatch(/^http:\/\/www\.example\.com:\d+\/$/);
    expect((await mine.bench.get("site")).app.public_url).toBe(body.url);
    await untilServed(domain, true);
    expect(await mayHaveCertificate(domain)).toBe(true);
    expect(await visit("WWW.EXAMPLE.COM.:443")).toEqual([200, "Mine"]);
    // the site has no such files, and svc's routes are not there, whoever asks
    for (const target of ["/v1/projects", "/v1/p/x", "/projects"])
      expect((await visit(domain, target, [`Authorization: Bearer ${mine.token}`]))[0]).toBe(404);
    // a link signs in at the app's own name only
    const link = new URL((await mine.bench.call("POST", "/site/preview")).body.url);
    const answer = await sendRaw(api.url, rawRequest(`/${link.search}`, [`Host: ${domain}`]));
    expect(answer.status).toBe(303);
    expect(answer.text.toLowerCase()).not.toContain("set-cookie");

    expect((await mine.domains("DELETE", `/${domain}`)).status).toBe(200);
    expect(await mayHaveCertificate(domain)).toBe(false);
    await untilServed(domain, false);
    expect((await mine.domains("DELETE", `/${domain}`)).body.code).toBe("not_found");
  });

  test("is not served while the app is for members", async () => {
    const { body } = await mine.domains("POST", "", { domain: "team.example.com" }, "team");
    publish(body.record);
    const proven = await mine.domains("POST", "/team.example.com/verify", undefined, "team");
    expect(proven.body).toMatchObject({ state: "proven", url: null });
    expect((await visit("team.example.com"))[0]).toBe(404);
    expect(await mayHaveCertificate("team.example.com")).toBe(false);
  });

  test("belongs to one account at a time: the one whose proof is there", async () => {
    const domain = "shared.example.com";
    const { record } = await prove(mine, domain);
    await untilServed(domain, true);
    const other = await add(theirs, domain);
    expect(other.record.name).toBe(record.name);
    expect(other.record.value).not.toBe(record.value);
    expect(other).toMatchObject({ state: "waiting", problem: "missing" });
    // with both proofs it stays where it is
    publish(other.record);
    expect((await theirs.domains("POST", `/${domain}/verify`)).body).toMatchObject({
      state: "waiting",
      problem: "taken",
    });
    expect(await visit(domain)).toEqual([200, "Mine"]);
    records.set(record.name, [other.record.value]);
    expect((await theirs.domains("POST", `/${domain}/verify`)).body.state).toBe("proven");
    await until("it is theirs", async () => (await visit(domain))[1] === "Theirs");
    expect(await find(mine, domain)).toMatchObject({ state: "waiting", problem: "missing" });
    expect(await noticesOf(mine, domain)).toEqual(["svc no longer serves the app at it."]);
    // and it does not go back by a check of the former owner
    await mine.domains("POST", `/${domain}/verify`);
    expect(await find(theirs, domain)).toMatchObject({ state: "proven" });
  });

  test("is served for three days without its proof, and again when it is back", async () => {
    const domain = "lost.example.com";
    const { record } = await prove(mine, domain);
    const check = async () => {
      const before = (await find(mine, domain))?.checked_at;
      changes.notify(DOMAIN_WORK);
      await until("it is checked", async () => (await find(mine, domain))?.checked_at !== before);
      return await find(mine, domain);
    };
    const { name } = record;
    // a resolver that does not answer says nothing about the proof
    records.set(name, null);
    ahead = 7 * HOUR_MS;
    expect(await check()).toMatchObject({ state: "proven", problem: "unanswered", served_until: null });
    ahead += 10 * DAY_MS;
    expect(await check()).toMatchObject({ state: "proven", problem: "unanswered", served_until: null });
    expect(await noticesOf(mine, domain)).toEqual([]);
    records.set(name, []);
    ahead += DAY_MS;
    const lost = await check();
    expect(lost).toMatchObject({ state: "lost", problem: "missing" });
    const [first] = await noticesOf(mine, domain);
    expect(first).toContain(lost?.served_until?.slice(0, 10) ?? "a day");
    const until3 = Date.parse(lost?.served_until ?? "") - Date.now() - ahead;
    expect(Math.round(until3 / HOUR_MS)).toBe(72);
    ahead += 3 * DAY_MS - HOUR_MS;
    expect(await check()).toMatchObject({ state: "lost", url: expect.any(String) });
    expect(await mayHaveCertificate(domain)).toBe(true);
    // whether or not it has been checked meanwhile
    ahead += 1.5 * HOUR_MS;
    expect(await mayHaveCertificate(domain)).toBe(false);
    expect(await check()).toMatchObject({ state: "waiting", problem: "missing", url: null });
    expect(await mayHaveCertificate(domain)).toBe(false);
    // once for each loss, to those who can mend it
    const over = "svc no longer serves the app at it.";
    expect(await noticesOf(mine, domain)).toEqual([over, first ?? ""]);
    expect(await noticesOf(theirs, domain)).toEqual([]);
    expect(await noticesOf({ token: member }, domain)).toEqual([]);
    publish(record);
    ahead += DAY_MS;
    expect(await check()).toMatchObject({ state: "proven", problem: null });
    expect(await mayHaveCertificate(domain)).toBe(true);
  });

  test("a domain that waits is proven without a request, as soon as its record is there", async () => {
    const { record } = await add(mine, "later.example.com");
    publish(record);
    ahead = HOUR_MS;
    changes.notify(DOMAIN_WORK);
    await until("it is proven", async () => (await find(mine, "later.example.com"))?.state === "proven");
  });
});

test("a domain is in one app of an account, and an app has ten", async () => {
  for (const { domain } of await list(theirs)) await theirs.domains("DELETE", `/${domain}`);
  for (let number = 1; number <= 10; number++) await add(theirs, `n${number}.example.com`);
  const more = await theirs.domains("POST", "", { domain: "n11.example.com" });
  expect([more.status, more.body.code]).toEqual([409, "too_many_domains"]);
  // one that is there is checked again
  await add(theirs, "n1.example.com");
  const elsewhere = await theirs.domains("POST", "", { domain: "n1.example.com" }, "team");
  expect([elsewhere.status, elsewhere.body.code]).toEqual([409, "domain_exists"]);
  // another account may have it, too
  await add(mine, "n1.example.com");
});

test("a domain that an app does not have cannot be verified, nor one of an unknown app", async () => {
  for (const [rest, slug] of [
    ["/nobody.example.com", "site"],
    ["/n1.example.com", "none"],
  ] as const) {
    expect((await theirs.domains("POST", `${rest}/verify`, undefined, slug)).body.code).toBe("not_found");
    expect((await theirs.domains("DELETE", rest, undefined, slug)).body.code).toBe("not_found");
  }
});

test("visitors of a public app that is stopped do not see why, and members do", async () => {
  await mine.bench.call("POST", "/site/stop");
  const { host, cookie } = await mine.bench.signIn("site");
  await until("it is stopped", async () => (await visit(host))[0] === 503);
  expect(JSON.parse((await visit(host))[1])).toEqual({
    error: "This app is not available now.",
    code: "not_running",
  });
  const [status, seen] = await visit(host, "/", [`Cookie: ${cookie}`]);
  expect([status, JSON.parse(seen)]).toMatchObject([503, { status: "stopped" }]);
  // a cookie that svc has not written is none
  expect((await visit(host, "/", [`Cookie: ${cookie}x`]))[1]).not.toContain("status");
});

test("an account verifies domains so often in ten minutes, and others as before", async () => {
  await add(mine, "often.example.com");
  const verify = async (account: Account) => {
    const { status, headers } = await account.domains("POST", "/often.example.com/verify");
    return [status, headers.get("retry-after")] as const;
  };
  // beside those of the tests before
  const seen = [];
  for (let count = 0; count < 31; count++) seen.push(await verify(mine));
  expect(seen[0]?.[0]).toBe(200);
  expect(seen.at(-1)?.[0]).toBe(429);
  expect(Number(seen.at(-1)?.[1])).toBeWithin(1, 601);
  await theirs.domains("DELETE", "/n1.example.com");
  await add(theirs, "often.example.com");
  expect((await verify(theirs))[0]).toBe(200);
  ahead = HOUR_MS;
  expect((await verify(mine))[0]).toBe(200);
});
