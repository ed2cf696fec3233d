import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import postgres from "postgres";
import { type ModelBench, modelsFile, startModels, UPSTREAM_KEY } from "../helpers/model-bench.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { stored } from "../helpers/stored.ts";
import { until } from "../helpers/until.ts";
import { bodyOf } from "../helpers/upstream.ts";

let bench: ModelBench;
let key: string;
let id: string;

beforeAll(async () => {
  bench = await startModels();
  ({ id, key } = await bench.session());
});
afterAll(() => bench[Symbol.asyncDispose]());

const CHAT = "openai/v1/chat/completions";
const MESSAGES = "anthropic/v1/messages";

/** The events of a stream. */
const eventsOf = (text: string) => text.split("\n\n").filter(Boolean);

describe("a request for a model", () => {
  test("reaches the upstream byte for byte, with the upstream's key and none of the caller's", async () => {
    const raw = `{ "model":"fast",\n\t"messages":[{"role":"user","content":"{\\"output\\":2} caf\\u00e9 é"}] , "x_unknown": 1e2 }`;
    const answer = await bench.call(key, `${CHAT}?a=b`, raw, {
      headers: {
        "Content-Type": "application/json",
        Authorization: `Bearer ${key}`,
        Cookie: "a=b",
        "X-Forwarded-For": "203.0.113.9",
        "OpenAI-Organization": "org-other",
        "User-Agent": "agent/1",
      },
    });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ object: "chat.completion", usage: { prompt_tokens: 10 } });
    expect(answer.headers.get("openai-organization")).toBeNull();
    const sent = bench.openai.requests.at(-1);
    expect(sent?.body).toBe(raw);
    expect(sent?.path).toBe("/v1/chat/completions?a=b");
    expect(sent?.headers).toMatchObject({ authorization: `Bearer ${UPSTREAM_KEY}`, "user-agent": "agent/1" });
    expect(JSON.stringify(sent?.headers)).not.toContain(key);
    for (const name of ["cookie", "x-forwarded-for", "openai-organization", "x-api-key"])
      expect([name, sent?.headers[name]]).toEqual([name, undefined]);
  });

  test("has only the model's name replaced if the upstream calls it otherwise", async () => {
    const raw = '{"messages":[{"role":"user","content":"mapped"}], "model" : "mapped" ,"n":1}';
    expect((await bench.call(key, CHAT, raw)).status).toBe(200);
    expect(bench.openai.requests.at(-1)?.body).toBe(raw.replace('"mapped" ,', '"the-upstreams-own/name" ,'));
  });

  test("asks for the usage of a stream, which the client does not see unless it asked too", async () => {
    const stream = await bench.call(key, CHAT, bodyOf("chat", "fast", { output: 4 }, true));
    expect(stream.headers.get("content-type")).toBe("text/event-stream");
    expect(stream.headers.get("x-upstream")).toBe("yes");
    const hidden = await stream.text();
    expect(hidden).not.toMatch(/"usage":/);
    expect(eventsOf(hidden)).toHaveLength(6);
    expect(eventsOf(hidden).at(-1)).toBe("data: [DONE]");
    expect(hidden).toContain('word0 \\"usage\\" é');
    for (const event of eventsOf(hidden).slice(0, -1)) JSON.parse(event.slice(6));
    const sent = JSON.parse(bench.openai.requests.at(-1)?.body ?? "");
    expect(sent.stream_options).toEqual({ include_usage: true });

    const options = { include_usage: true, include_obfuscation: false };
    const asked = { ...bodyOf("chat", "fast", { output: 4 }, true), stream_options: options };
    const shown = await (await bench.call(key, CHAT, asked)).text();
    expect(eventsOf(shown)).toHaveLength(7);
    expect(shown.match(/"usage":null/g)).toHaveLength(5);
    expect(bench.openai.requests.at(-1)?.body).toBe(JSON.stringify(asked));

    const other = { ...bodyOf("chat", "fast", {}, true), stream_options: { include_obfuscation: false } };
    await (await bench.call(key, CHAT, other)).text();
    expect(JSON.parse(bench.openai.requests.at(-1)?.body ?? "").stream_options).toEqual(options);
  });

  test.each([
    ["openai/v1/responses", "fast", "responses", true],
    ["openai/v1/responses", "fast", "responses", false],
    ["openai/v1/embeddings", "fast", "embeddings", false],
    [MESSAGES, "claude", "messages", true],
    [MESSAGES, "claude", "messages", false],
  ])("%s of %s is passed on as it is (%s, stream: %p)", async (path, model, kind, stream) => {
    const body = JSON.stringify(bodyOf(kind, model, { pieces: 2 }, stream));
    const upstream = model === "claude" ? bench.anthropic : bench.openai;
    const direct = await fetch(`${upstream.url}${path.replace(/^\w+\/v1/, "")}`, {
      method: "POST",
      headers: { "x-api-key": UPSTREAM_KEY },
      body,
    });
    const headers = { "x-api-key": key, "anthropic-beta": "b" };
    const passed = await bench.call("", path, body, { headers });
    expect([passed.status, await passed.text()]).toEqual([200, await direct.text()]);
    expect(upstream.requests.at(-1)?.body).toBe(body);
    if (model === "claude")
      expect(upstream.requests.at(-1)?.headers).toMatchObject({
        "x-api-key": UPSTREAM_KEY,
        "anthropic-version": "2023-06-01",
        "anthropic-beta": "b",
      });
  });

  test("tokens can be counted, and models listed, in each format", async () => {
    const counted = await bench.call(
      key,
      `${MESSAGES}/count_tokens`,
      bodyOf("messages", "claude", {}, false),
    );
    expect(await counted.json()).toEqual({ input_tokens: 77 });
    const list = async (format: string) =>
      (await bench.call(key, `${format}/v1/models`, undefined, { method: "GET" })).json();
    expect((await list("openai")).data.map(({ id }: { id: string }) => id)).toEqual([
      "fast",
      "both",
      "mapped",
    ]);
    expect(await list("anthropic")).toMatchObject({
      data: [{ id: "claude", type: "model" }],
      has_more: false,
    });
  });

  test("may have several megabytes", async () => {
    const image = "A".repeat(3 * 1024 * 1024);
    const body = { model: "fast", messages: [{ role: "user", content: image }] };
    expect((await bench.call(key, CHAT, body)).status).toBe(200);
    expect(bench.openai.requests.at(-1)?.body).toBe(JSON.stringify(body));
    const tooLarge = await bench.call(key, CHAT, `{"model":"fast","x":"${"A".repeat(33 * 1024 * 1024)}"}`);
    expect(tooLarge.status).toBe(413);
    expect(await tooLarge.json()).toMatchObject({ error: { code: "payload_too_large" } });
  });
});

describe("an error", () => {
  test("has the shape of the format", async () => {
    for (const credential of ["", "svc_llm_wrong", bench.sessions.api.token]) {
      const openai = await bench.call(credential, CHAT, {});
      expect([openai.status, await openai.json()]).toEqual([
        401,
        {
          error: {
            message: expect.any(String),
            type: "authentication_error",
            param: null,
            code: "unauthorized",
          },
        },
      ]);
      const anthropic = await bench.call(credential, MESSAGES, {});
      expect([anthropic.status, await anthropic.json()]).toMatchObject([
        401,
        { type: "error", error: { type: "authentication_error" } },
      ]);
    }
    const unknown = await bench.call(key, CHAT, bodyOf("chat", "nothing", {}, false));
    expect([unknown.status, await unknown.json()]).toMatchObject([
      404,
      { error: { code: "model_not_found" } },
    ]);
    // a model of the other format
    expect((await bench.call(key, MESSAGES, bodyOf("messages", "fast", {}, false))).status).toBe(404);
    expect((await bench.call(key, "openai/v1/files", {})).status).toBe(404);
    expect(
      (await bench.call(key, CHAT, undefined, { method: "GET", headers: { "x-api-key": key } })).status,
    ).toBe(405);
  });

  test.each([
    ["no JSON", "{"],
    ["an array", "[]"],
    ["no model", "{}"],
    ["two models", '{"model":"fast","mod\\u0065l":"both"}'],
    ["two streams", '{"model":"fast","stream":true,"stream":false}'],
  ])("refuses %s", async (_, body) => {
    const before = bench.openai.requests.length;
    expect((await bench.call(key, CHAT, body)).status).toBe(400);
    expect(bench.openai.requests).toHaveLength(before);
  });

  test("of an upstream is passed on without its key", async () => {
    const answer = await bench.call(key, CHAT, bodyOf("chat", "fast", { fail: [429] }, true));
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "7"]);
    expect(await answer.json()).toEqual({ error: { message: "It fails with [redacted]", type: "scripted" } });
  });

  test("a background response is refused, since its usage would be unknown", async () => {
    const body = { ...bodyOf("responses", "fast", {}, false), background: true };
    expect((await bench.call(key, "openai/v1/responses", body)).status).toBe(400);
  });
});

describe("an upstream that fails", () => {
  test("is followed by the next with the same model, until the first byte", async () => {
    const counts = () => [bench.openai.requests.length, bench.second.requests.length];
    const [first = 0, second = 0] = counts();
    // each upstream counts its own failures
    const body = bodyOf("chat", "both", { fail: [500] }, true);
    const failed = await bench.call(key, CHAT, body);
    expect(failed.status).toBe(500);
    expect(counts()).toEqual([first + 1, second + 1]);
    // the first one has failed with this body before, and so serves it
    expect((await bench.call(key, CHAT, body)).status).toBe(200);
    expect(counts()).toEqual([first + 2, second + 1]);

    const cut = await bench.call(key, CHAT, bodyOf("chat", "both", { holdAfter: 1, dropAfter: 2 }, true));
    expect(cut.status).toBe(200);
    await bench.openai.waits();
    bench.openai.go();
    expect(await cut.text().catch(() => "broken")).not.toContain("[DONE]");
    expect(counts()).toEqual([first + 3, second + 1]);
  });

  test("is tried again if it is the only one", async () => {
    const before = bench.openai.requests.length;
    expect((await bench.call(key, CHAT, bodyOf("chat", "fast", { fail: [503] }, false))).status).toBe(200);
    expect(bench.openai.requests).toHaveLength(before + 2);
  });

  test("is 502 in the format's shape if it cannot be reached", async () => {
    const alone = await startModels();
    const { key: other } = await alone.session();
    await alone.anthropic[Symbol.asyncDispose]();
    const answer = await alone.call(other, MESSAGES, bodyOf("messages", "claude", {}, false));
    expect([answer.status, await answer.json()]).toMatchObject([
      502,
      { type: "error", error: { code: "model_unreachable" } },
    ]);
    expect(await alone.usage()).toMatchObject({ total: { calls: 1, incomplete: 0, cost: 0 } });
    await alone[Symbol.asyncDispose]();
  });
});

describe("a client that disconnects", () => {
  test.each([true, false])("ends the upstream's response (stream: %p)", async (stream) => {
    const { openai } = bench;
    const before = openai.aborted;
    const stop = new AbortController();
    const body = bodyOf("chat", "fast", { pieces: 3, holdAfter: 1 }, stream);
    const answer = bench.call(key, CHAT, body, {
      signal: stop.signal,
      headers: { Authorization: `Bearer ${key}` },
    });
    await openai.waits();
    if (stream) await (await answer).body?.getReader().read();
    stop.abort();
    await answer.catch(() => {});
    await until("the upstream's response has ended", () => openai.aborted > before && openai.open === 0);
    openai.go();
  });
});

test("a failure whose body does not end ends with its client", async () => {
  const { openai } = bench;
  const recorded = async () => (await bench.usage()).total.calls;
  const before = await recorded();
  const stop = new AbortController();
  const answer = bench.call(key, CHAT, bodyOf("chat", "fast", { fail: [400], endless: true }, false), {
    signal: stop.signal,
    headers: { Authorization: `Bearer ${key}` },
  });
  await openai.waits();
  stop.abort();
  await answer.catch(() => {});
  await until("the upstream's response has ended", () => openai.open === 0);
  await until("the call is recorded", async () => (await recorded()) === before + 1);
});

describe("a key", () => {
  test("belongs to one start of a session, and ends with it", async () => {
    const { sessions } = bench;
    const mine = await bench.session();
    const works = async (one: string) =>
      (await bench.call(one, CHAT, bodyOf("chat", "fast", {}, false))).status;
    expect(await works(mine.key)).toBe(200);
    await sessions.call("POST", `/${mine.id}/stop`);
    await sessions.becomes(mine.id, "stopped");
    expect(await works(mine.key)).toBe(401);
    await sessions.call("POST", `/${mine.id}/restart`);
    await sessions.becomes(mine.id, "running");
    const next = sessions.provider.sandboxes.get(mine.id)?.environment["SVC_LLM_API_KEY"] ?? "";
    expect(next).toStartWith("svc_llm_");
    expect([await works(next), await works(mine.key)]).toEqual([200, 401]);
    await sessions.call("DELETE", `/${mine.id}`);
    await until("the key is revoked", async () => (await works(next)) === 401);
  });

  test("is accepted as a bearer token or as x-api-key, and in no other form", async () => {
    const status = async (headers: Record<string, string>) => {
      const init = { method: "GET", body: null, headers };
      const answer = await bench.call(key, "openai/v1/models", "", init);
      await answer.text();
      return answer.status;
    };
    for (const headers of [{ Authorization: `bearer  ${key}` }, { "X-Api-Key": key }])
      expect([headers, await status(headers)]).toEqual([headers, 200]);
    for (const value of [`Xbearer ${key}`, `Bearer${key}`, `Bearer ${key} more`, `Basic ${key}`, key])
      expect([value, await status({ Authorization: value })]).toEqual([value, 401]);
  });

  needs("a real Postgres", POSTGRES)("lists no models for a user who has left the account", async () => {
    const { accountId, sessions } = bench;
    const mine = await bench.session();
    const status = async () => {
      const answer = await bench.call(mine.key, "openai/v1/models", "", { method: "GET", body: null });
      await answer.text();
      return answer.status;
    };
    expect(await status()).toBe(200);
    await sessions.api.mint("stays@example.com");
    const sql = postgres(sessions.api.databaseUrl ?? "", { max: 1, onnotice() {} });
    try {
      // the account has another member, and the user another account
      await sql`insert into account_members (account_id, user_id, role)
        select ${accountId}, user_id, 'owner' from users where email = 'stays@example.com'`;
      const [other] =
        await sql`insert into accounts (name, slug) values ('Other', 'other') returning account_id`;
      await sql`update account_members set account_id = ${other?.["account_id"]}
        where account_id = ${accountId} and user_id = (select user_id from users where email = 'first@example.com')`;
      await until("the key is refused", async () => (await status()) === 401);
      await sql`update account_members set account_id = ${accountId} where account_id = ${other?.["account_id"]}`;
    } finally {
      await sql.end({ timeout: 1 });
    }
    await until("the key works again", async () => (await status()) === 200);
  });

  test("is in the sandbox's environment, with svc's address and a model; the upstream's key is not", () => {
    const { environment } = bench.sessions.provider.sandboxes.get(id) ?? {};
    expect(environment).toMatchObject({
      SVC_LLM_API_KEY: key,
      SVC_LLM_BASE_URL: "http://api.test/v1/llm/openai/v1",
      SVC_YOLO_API_KEY: key,
      SVC_YOLO_URL: "http://api.test/v1/llm/openai/v1",
      SVC_LLM_MODEL: "fast",
    });
    expect(JSON.stringify(environment)).not.toContain(UPSTREAM_KEY);
  });

  test("is stored nowhere, nor is a prompt, an answer or the key of an upstream", async () => {
    const secret = "a prompt that nobody keeps";
    const body = { model: "fast", messages: [{ role: "user", content: secret }] };
    expect((await bench.call(key, CHAT, body)).status).toBe(200);
    const text = await stored(bench.sessions.api);
    expect(text).toContain(id);
    for (const found of [key, UPSTREAM_KEY, secret, "word0"]) expect(text.includes(found)).toBe(false);
  });
});

test("SVC_MODELS_FILE is read again when it changes; a file that is not valid changes nothing", async () => {
  const status = async (model: string) => {
    const answer = await bench.call(key, CHAT, bodyOf("chat", model, {}, false));
    await answer.text();
    return answer.status;
  };
  const text = modelsFile(bench);
  writeFileSync(bench.file, text.replace('id = "fast"', 'id = "renamed"'));
  expect([await status("renamed"), await status("fast")]).toEqual([200, 404]);
  writeFileSync(bench.file, "[[upstreams]]\nid = 1\n");
  expect([await status("renamed"), await status("fast")]).toEqual([200, 404]);
  writeFileSync(bench.file, text);
  expect([await status("renamed"), await status("fast")]).toEqual([404, 200]);
});
