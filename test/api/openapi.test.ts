import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";
import Ajv from "ajv";
import { arrayOf, field, isObject, parseJson, textField } from "../../src/contract/json.ts";
import { OPERATIONS } from "../../src/http/openapi/operations.ts";
import { type Api, startApi } from "../helpers/api.ts";

interface Operation {
  method: string;
  path: string;
  /** The object of the document. */
  described: Record<string, unknown>;
}

let api: Api;
let document: Record<string, unknown>;
let operations: Operation[];

beforeAll(async () => {
  api = await startApi();
  document = (await api.call("GET", "/v1/openapi.json", { token: null })).body;
  operations = Object.entries(document["paths"] ?? {}).flatMap(([path, item]) =>
    Object.entries(isObject(item) ? item : {}).flatMap(([method, described]) =>
      method === "parameters" || !isObject(described)
        ? []
        : [{ method: method.toUpperCase(), path, described }],
    ),
  );
});
afterAll(async () => {
  await api.stop();
});

const ajv = new Ajv({ strict: false, validateFormats: false });
const bodySchema = ({ described }: Operation) =>
  field(field(field(field(described, "requestBody"), "content"), "application/json"), "schema");
const named = ({ method, path }: Pick<Operation, "method" | "path">) => `${method} ${path}`;

test("the document is valid OpenAPI 3.1", async () => {
  const result = await new Validator().validate(structuredClone(document));
  expect(result.errors ?? []).toEqual([]);
  expect(result.valid).toBe(true);
});

test("every operation has its own name, a summary, a known tag, responses with contents, and its errors", () => {
  const tags = arrayOf(document["tags"]).map((tag) => textField(tag, "name"));
  const ids = operations.map(({ described }) => textField(described, "operationId"));
  expect(new Set(ids).size).toBe(operations.length);
  for (const operation of operations) {
    const { described } = operation;
    const problems: string[] = [];
    if (!/^[a-z]\w+$/.test(textField(described, "operationId"))) problems.push("operationId");
    if (textField(described, "summary") === "") problems.push("summary");
    if (!arrayOf(described["tags"]).every((tag) => tags.includes(String(tag)))) problems.push("tags");
    if (arrayOf(described["tags"]).length === 0) problems.push("tags");
    const responses = Object.entries(described["responses"] ?? {});
    const successes = responses.filter(([status]) => /^[123]/.test(status));
    if (successes.length === 0) problems.push("no success");
    for (const [status, response] of successes)
      if (!["101", "204", "303"].includes(status) && !isObject(field(response, "content")))
        problems.push(`no content of ${status}`);
    for (const status of ["4XX", "5XX"]) if (!responses.some(([is]) => is === status)) problems.push(status);
    const isGuarded = arrayOf(described["security"]).length > 0;
    if (isGuarded !== responses.some(([status]) => status === "401")) problems.push("401");
    expect([named(operation), problems]).toEqual([named(operation), []]);
  }
});

test("the list of names has no route that does not exist", () => {
  const routes = new Set(operations.map(named));
  const unknown = Object.keys(OPERATIONS).filter(
    (route) => !routes.has(route.replace(/:(\w+)/g, "{$1}").replace("*", "{branch}")),
  );
  expect(unknown).toEqual([]);
});

test("a route requires a credential if and only if the document says so", async () => {
  const wrong: string[] = [];
  for (const operation of operations.filter(({ path }) => !/^\/v1\/(git|p|webhooks|channels)\//.test(path))) {
    const path = operation.path.replace(/\{\w+\}/g, crypto.randomUUID());
    const { status } = await api.call(operation.method, path, { token: null });
    const isGuarded = arrayOf(operation.described["security"]).length > 0;
    if (isGuarded !== (status === 401)) wrong.push(`${named(operation)}: ${status}`);
  }
  expect(wrong).toEqual([]);
});

test("the server and the document refuse the same bodies", async () => {
  // a sandbox's own route refuses a person first: test/api/agent-record.test.ts
  const isForSandboxes = ({ described }: Operation) =>
    JSON.stringify(described["security"]).includes("serviceKey");
  const withBody = operations.filter(
    (operation) => bodySchema(operation) !== undefined && !isForSandboxes(operation),
  );
  // all routes that take one
  expect(withBody.length).toBeGreaterThanOrEqual(30);
  const project = await api.call("POST", "/v1/projects", { body: { name: "Bodies" } });
  for (const operation of withBody) {
    const path = operation.path
      .replace("{projectId}", String(project.body.project_id))
      .replace(/\{\w+\}/g, crypto.randomUUID());
    const isValid = ajv.compile(Object(bodySchema(operation)));
    const isRequired = field(operation.described["requestBody"], "required") === true;
    for (const body of [7, "text", [], { name: 7, title: 7, role: 7, text: 7, value: 7 }]) {
      if (isValid(body)) continue;
      const { status, body: answer } = await api.call(operation.method, path, { body });
      expect([named(operation), body, status, answer.code]).toEqual([
        named(operation),
        body,
        400,
        "validation_failed",
      ]);
    }
    if (isRequired) {
      const { status } = await api.call(operation.method, path);
      expect([named(operation), status]).toEqual([named(operation), 400]);
    }
  }
});

test("the bodies in the documentation are valid", () => {
  const docs = join(import.meta.dir, "../../docs");
  const examples = readdirSync(docs)
    .filter((name) => name.endsWith(".md"))
    .flatMap((name) => examplesIn(readFileSync(join(docs, name), "utf8")));
  expect(examples.length).toBeGreaterThan(0);
  for (const { method, url, body } of examples) {
    const operation = operations.find(
      (each) => each.method === method && new RegExp(`${each.path.replace(/\{\w+\}/g, "[^/]+")}$`).test(url),
    );
    if (!operation) throw new Error(`The documentation calls ${method} ${url}, which does not exist.`);
    const isValid = ajv.compile(Object(bodySchema(operation)));
    expect([url, isValid(parseJson(body)), isValid.errors ?? null]).toEqual([url, true, null]);
  }
});

test("streams, git and the proxy say what they send", () => {
  const types = (method: string, path: string) => {
    const found = operations.find((each) => each.method === method && each.path === path);
    const responses = Object.entries(field(found?.described, "responses") ?? {});
    const [, success] = responses.find(([status]) => status.startsWith("2")) ?? [];
    return Object.keys(field(success, "content") ?? {});
  };
  const project = "/v1/projects/{projectId}";
  expect(types("GET", `${project}/events`)).toEqual(["text/event-stream"]);
  expect(types("GET", `${project}/sessions/{sessionId}/events`)).toEqual(["text/event-stream"]);
  expect(types("GET", `${project}/change-requests/{crId}/diff`)).toEqual(["application/json", "text/x-diff"]);
  expect(types("GET", `${project}/git/agent-config`)).toEqual(["application/x-tar"]);
  expect(types("POST", "/v1/git/{projectId}.git/git-upload-pack")).toEqual([
    "application/x-git-upload-pack-result",
  ]);
  expect(types("POST", "/v1/p/{sessionId}/{port}/{path}")).toEqual(["*/*"]);
});

/** The calls with curl and a JSON body in a page. */
function examplesIn(page: string): { method: string; url: string; body: string }[] {
  return [...page.replaceAll("\\\n", " ").matchAll(/^\$? ?curl .*$/gm)].flatMap(([line]) => {
    const body = / (?:-d|--data|--json) '([^']*)'/.exec(line)?.[1];
    const url = /https?:\/\/\S+|\$SVC_API_URL\S*/
      .exec(line)?.[0]
      ?.replace("$SVC_API_URL", "/v1")
      .replace(/"$/, "");
    const method = / -X (\w+)/.exec(line)?.[1] ?? "POST";
    return body === undefined || url === undefined ? [] : [{ method, url, body }];
  });
}
