import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Api, startApi } from "../helpers/api.ts";
import { fc } from "../helpers/property.ts";
import { generator, SEED, share } from "../helpers/random.ts";
import { Remote } from "../helpers/remote.ts";

const draw = generator(SEED);
/** Requests in all; a quick run may take fewer. */
const REQUESTS = share(800, 20_000);
/** Ends the token that it is called with: all that come after would be refused before anybody reads them. */
const REVOKES = "/v1/auth/revoke";

let api: Api;
let remote: Remote;
let operations: { method: string; path: string }[];
let project: { project_id: string; slug: string };

beforeAll(async () => {
  api = await startApi();
  remote = new Remote();
  remote.commit("main", { a: "1\n" });
  remote.commit("work", { a: "2\n" }, { from: "main" });
  project = await api.project(remote.url);
  await api.call("POST", `/v1/projects/${project.project_id}/change-requests`, {
    body: { title: "t", head_ref: "work" },
  });
  const { body } = await api.call("GET", "/v1/openapi.json");
  operations = Object.entries<object>(body.paths)
    // git and the proxy have their own tests
    .filter(([path]) => path !== REVOKES && !/^\/v1\/(git|p)\//.test(path))
    .flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
    );
});
afterAll(async () => {
  await api.stop();
  remote.remove();
});

const nasty = fc.constantFrom(
  "",
  " ",
  "\0",
  "\u202e",
  "\ud800",
  "../..",
  "%00",
  "%2e%2e%2f",
  "-x",
  "--upload-pack=touch /tmp/x",
  "@{-1}",
  "a..b",
  "HEAD",
  "' or 1=1 --",
  "${jndi:x}",
  "<script>",
  "\x1b]0;x\x07",
  "main",
  "work",
  "1e999",
  "9".repeat(400),
  "1",
  "2147483648",
  "null",
  "true",
  "[]",
  "{}",
  "__proto__",
  "constructor",
  "x".repeat(5_000),
);
const text = fc.oneof(
  { weight: 3, arbitrary: nasty },
  { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 40 }) },
);
const names = [
  "title",
  "description",
  "head_ref",
  "base_ref",
  "session_id",
  "metadata",
  "message",
  "name",
  "default_branch",
  "account_id",
  "git_token",
  "git_username",
  "token",
  "username",
  "expires_at",
  "status",
];
const queries = ["status", "limit", "cursor", "account_id", "ref", "path", "path_base64", "x"];
/** Invalid URLs, or an unused port on loopback: no request may ever leave this machine. */
const repoUrl = fc.constantFrom<unknown>(
  "",
  "-x",
  "ext::sh -c id",
  "ssh://-oProxyCommand=id/x",
  "git@-x:y",
  "file:///nowhere",
  "file:///etc/passwd",
  "/nowhere",
  "http://127.0.0.1:1/x",
  "http://[::1]:1/x",
  "http://u:p@127.0.0.1:1/x\n",
  "ssh://127.0.0.1:1/x",
  "git://127.0.0.1:1/x",
  "ftp://127.0.0.1/x",
  "https://",
  "https://127.0.0.1:1/%0d%0a",
  1,
  null,
  {},
);
const value = fc.oneof(
  { weight: 4, arbitrary: text },
  fc.jsonValue({ maxDepth: 3 }),
  fc.constant({ a: "\0" }),
);
const body = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(
        fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 6 }),
        fc.option(repoUrl, { nil: undefined }),
      )
      .map(([fields, url]) => JSON.stringify({ ...fields, ...(url !== undefined && { repo_url: url }) })),
  },
  fc.json(),
  text,
  fc.constantFrom(
    "[".repeat(50_000),
    '{"a":'.repeat(20_000),
    "\xff\xfe",
    '{"title":"a","title":"b"}',
    '{"__proto__":{"x":1}}',
  ),
);

const request = () =>
  fc.record({
    operation: fc.constantFrom(...operations),
    segment: fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom("1", "2", "00000000-0000-4000-8000-000000000000") },
      text,
    ),
    inProject: fc.boolean(),
    query: fc.dictionary(fc.constantFrom(...queries), text, { maxKeys: 3 }),
    body,
    headers: fc.constantFrom<Record<string, string>>(
      {},
      { "content-type": "text/plain" },
      { "content-type": "multipart/form-data; boundary=x" },
      { "content-type": "application/x-www-form-urlencoded" },
      { "content-type": "application/json; charset=utf-16" },
      { accept: "text/x-diff" },
      { accept: "application/octet-stream" },
      { "x-request-id": "a\tb" },
      { cookie: "a=b; c" },
    ),
    anonymous: fc.boolean(),
  });

/** Postgres accepts this character in no text. */
test("no parameter with a NUL character causes a server error", async () => {
  const failed: string[] = [];
  for (const { method, path } of operations) {
    const known = path.replace("{projectId}", project.project_id);
    if (!known.includes("{")) continue;
    const { status } = await api.call(method, known.replace(/\{\w+\}/g, "%00"), {
      ...(method === "GET" ? {} : { raw: "{}" }),
    });
    if (status >= 500 || status < 400) failed.push(`${method} ${path}: ${status}`);
  }
  expect(failed).toEqual([]);
});

test("no generated request causes a server error", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(request(), { minLength: 8, maxLength: 8 }), async (requests) => {
      await Promise.all(
        requests.map(async ({ operation, segment, inProject, query, body, headers, anonymous }) => {
          const own = inProject ? project.project_id : segment;
          const path = operation.path
            .replace("{projectId}", () => encode(own))
            .replace(/\{\w+\}/g, () => encode(segment));
          const search = Object.entries(query)
            .map(([name, text]) => `${name}=${encode(text)}`)
            .join("&");
          // The project itself is needed by the requests that follow, and its stream of events never ends.
          const here = `/v1/projects/${project.project_id}`;
          if (`${operation.method} ${path}` === `DELETE ${here}` || path === `${here}/events`) return;
          const answer = await api.call(operation.method, `${path}?${search}`, {
            headers,
            ...(anonymous && draw(5) === 0 ? { token: null } : {}),
            ...(operation.method === "GET" ? {} : { raw: body }),
          });
          // A head over 16 KB is refused by the HTTP parser, before there is a request to answer.
          // The Model Context Protocol has errors of its own.
          const code = answer.body?.jsonrpc === "2.0" ? answer.body.error?.code : answer.body?.code;
          const unsaid = answer.status >= 400 && answer.status !== 431 && !code;
          const failed = answer.status === 500 || answer.status === 503 || unsaid;
          if (failed)
            throw new Error(
              `${operation.method} ${path}?${search}\n${body}\n${answer.status} ${answer.text}`,
            );
          if (answer.status >= 400)
            expect(answer.text).not.toMatch(/select |insert |\/tmp\/svc-|svc-data-|node_modules/);
        }),
      );
    }),
    { numRuns: Math.ceil(REQUESTS / 8), endOnFailure: true },
  );
});

/** Percent-encodes text that may hold a lone surrogate, which a URL cannot. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

test("rejects unknown paths and methods", async () => {
  for (const path of [
    "/",
    "/v1",
    "/v1/",
    "/v2/health",
    "/v1/projects/x/y/z",
    "/v1/%00",
    "//v1/health",
    "/v1/health/../../etc/passwd",
  ]) {
    const answer = await api.call("GET", path);
    expect([path, [404, 200].includes(answer.status)]).toEqual([path, true]);
  }
  const wrong = await api.call("PUT", `/v1/projects/${project.project_id}`);
  expect([wrong.status, wrong.body.code, wrong.headers.get("allow")]).toEqual([
    405,
    "method_not_allowed",
    "DELETE, GET, PATCH",
  ]);
});

test("a body over 1 MiB is 413, with and without a declared length", async () => {
  const big = JSON.stringify({ title: "x".repeat(1024 * 1024) });
  const path = `/v1/projects/${project.project_id}/change-requests`;
  const stream = () =>
    new ReadableStream({
      start(c) {
        c.enqueue(Buffer.from(big));
        c.close();
      },
    });
  for (const raw of [big, stream()]) {
    const answer = await api.call("POST", path, { raw });
    expect([answer.status, answer.body.code]).toEqual([413, "payload_too_large"]);
  }
});

test("every response has a request id, and errors contain it in JSON", async () => {
  for (const path of ["/v1/health", "/v1/nope", "/v1/accounts/me"]) {
    expect((await api.call("GET", path)).headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  }
});

test("rejects an object that cannot be converted to a string", async () => {
  for (const title of [{ toString: true }, { valueOf: 1, toString: null }, { toString: { toString: 0 } }]) {
    const path = `/v1/projects/${project.project_id}/change-requests`;
    const answer = await api.call("POST", path, { body: { title, head_ref: "work" } });
    expect([answer.status, answer.body.code]).toEqual([400, "validation_failed"]);
    const kept = await api.call("PATCH", `${path}/1`, { body: { metadata: title } });
    expect([kept.status, kept.body.metadata]).toEqual([200, title]);
  }
});
