import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import pino from "pino";
import { openModels } from "../../src/models/models.ts";
import { type ModelBench, modelsFile, startModels, UPSTREAM_KEY } from "../helpers/model-bench.ts";
import { stored } from "../helpers/stored.ts";
import { bodyOf } from "../helpers/upstream.ts";

let bench: ModelBench;
const logged: string[] = [];
const log = pino({ level: "trace" }, { write: (line: string) => void logged.push(line) });

beforeAll(async () => {
  bench = await startModels({ deps: { log } });
});
afterAll(() => bench[Symbol.asyncDispose]());

test("the keys of the upstreams are in no answer, log, sandbox or database, whatever fails", async () => {
  const { id, key } = await bench.session();
  const answers: string[] = [];
  const call = async (path: string, body: unknown, credential = key) => {
    const answer = await bench.call(credential, path, body);
    answers.push(JSON.stringify([...answer.headers]), await answer.text().catch(String));
    return answer.status;
  };
  const chat = (ask: Parameters<typeof bodyOf>[2], stream = false) =>
    call("openai/v1/chat/completions", bodyOf("chat", "fast", ask, stream));
  // the upstream repeats its key in these errors
  expect(await chat({ fail: [500] })).toBe(500);
  expect(await chat({ fail: [400] }, true)).toBe(400);
  expect(await chat({ fail: [503, 503] })).toBe(503);
  // it may break before or after svc has passed on the first event
  expect([200, 502]).toContain(await chat({ dropAfter: 1 }, true));
  expect(await chat({})).toBe(200);
  expect(await call("openai/v1/chat/completions", "{")).toBe(400);
  expect(await call("openai/v1/chat/completions", {}, "svc_llm_wrong")).toBe(401);
  expect(await call("anthropic/v1/messages/count_tokens", bodyOf("messages", "claude", {}, false))).toBe(200);
  // with another key, the upstream refuses; it repeats that one, too
  const wrong = "sk-another-Kp3x8Wq1";
  writeFileSync(bench.file, modelsFile(bench).replaceAll(UPSTREAM_KEY, wrong));
  expect(await chat({ index: 1 })).toBe(401);
  await bench.openai[Symbol.asyncDispose]();
  expect(await chat({ index: 2 })).toBe(502);
  const { environment } = bench.sessions.provider.sandboxes.get(id) ?? {};
  const found = {
    answers: answers.join("\n"),
    log: logged.join("\n"),
    sandbox: JSON.stringify(environment),
    stored: await stored(bench.sessions.api),
  };
  // each of them was searched
  expect(found.answers).toContain("[redacted]");
  expect(found.log).toContain('"status":502');
  expect(found.sandbox).toContain(key);
  expect(found.stored).toContain(id);
  for (const [where, text] of Object.entries(found))
    for (const secret of [UPSTREAM_KEY, wrong])
      expect([where, text.includes(secret)]).toEqual([where, false]);
  for (const where of ["answers", "log", "stored"] as const)
    expect([where, found[where].includes(key)]).toEqual([where, false]);
});

test("a file that is not valid is logged without its keys", () => {
  const paths = { modelsFile: bench.file, modelUpstream: null };
  writeFileSync(bench.file, modelsFile(bench));
  const models = openModels(paths, {}, log);
  const before = models.upstreams();
  const valid = modelsFile(bench);
  for (const broken of [
    valid.replace(UPSTREAM_KEY, `${UPSTREAM_KEY}"\nkey_env = "X`),
    valid.replace(`"${UPSTREAM_KEY}"`, `"${UPSTREAM_KEY}`),
    valid.replace(UPSTREAM_KEY, `${UPSTREAM_KEY} with blanks`),
    valid.replace('key = "', `${UPSTREAM_KEY} = "`),
  ]) {
    logged.length = 0;
    writeFileSync(bench.file, broken);
    expect(models.upstreams()).toBe(before);
    expect(logged.join("")).toContain("is not valid");
    expect(logged.join("")).not.toContain(UPSTREAM_KEY);
  }
});
