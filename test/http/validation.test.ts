import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { toBody, toSvcError } from "../../src/http/errors.ts";

const body = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 5, pattern: "\\S" }),
  id: Type.Optional(Type.String({ format: "uuid" })),
  at: Type.Optional(Type.String({ format: "date-time" })),
  count: Type.Optional(Type.Integer({ minimum: 1, maximum: 9 })),
  share: Type.Optional(Type.Number()),
  on: Type.Optional(Type.Boolean()),
  tags: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 2 })),
  deep: Type.Optional(Type.Object({ word: Type.String({ minLength: 2 }) })),
  status: Type.Optional(Type.Union([Type.Literal("open"), Type.Literal("closed")])),
  level: Type.Optional(
    Type.Unsafe<string>(Type.String({ enum: ["low", "high"], pattern: "^(?:low|high)$" })),
  ),
  code: Type.Optional(Type.String({ pattern: "^[a-z]$" })),
});

const app = new Elysia()
  .onError(({ error, code }) => {
    const failure = toSvcError(error, code, "request-1");
    return Response.json(toBody(failure), { status: failure.status });
  })
  .post("/", () => "ok", { body })
  .get("/q", () => "ok", {
    query: Type.Object({ limit: Type.Optional(Type.String({ pattern: "^\\d+$" })) }),
  });

test.each<[object, string]>([
  [{}, "name is required."],
  [{ name: "" }, "name must not be empty."],
  [{ name: "  " }, "name must not be blank."],
  [{ name: 3 }, "name must be text."],
  [{ name: null }, "name must be text."],
  [{ name: "abcdef" }, "name must have at most 5 characters."],
  [{ name: "a", id: "x" }, "id must be a UUID."],
  [{ name: "a", at: "yesterday" }, "at must be a time such as 2026-01-31T12:00:00Z."],
  [{ name: "a", count: 1.5 }, "count must be a whole number."],
  [{ name: "a", count: 0 }, "count must be at least 1."],
  [{ name: "a", count: 10 }, "count must be at most 9."],
  [{ name: "a", share: "x" }, "share must be a number."],
  [{ name: "a", on: "perhaps" }, "on must be true or false."],
  [{ name: "a", tags: {} }, "tags must be a list."],
  [{ name: "a", tags: [] }, "tags must not be empty."],
  [{ name: "a", tags: ["a", "b", "c"] }, "tags must have at most 2 entries."],
  [{ name: "a", tags: ["a", {}] }, "tags.1 must be text."],
  [{ name: "a", deep: { word: "x" } }, "deep.word must have at least 2 characters."],
  [{ name: "a", status: "x" }, "status must be one of open, closed."],
  [{ name: "a", level: "x" }, "level must be one of low, high."],
  [{ name: "a", code: "9" }, "code must match ^[a-z]$."],
])("%j: %s", async (sent, sentence) => {
  const request = new Request("http://localhost/", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(sent),
  });
  const answer = await app.handle(request);
  const { error, code, details } = await answer.json();
  expect([answer.status, code, error]).toEqual([400, "validation_failed", sentence]);
  const [first] = details;
  expect(`${first.path} ${first.message}.`).toBe(sentence);
  expect(details).toHaveLength(1);
});

test("every field that is wrong is listed once", async () => {
  const request = new Request("http://localhost/", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ name: "", count: 0, status: "x" }),
  });
  const { details } = await (await app.handle(request)).json();
  expect(details.map(({ path }: { path: string }) => path).toSorted()).toEqual(["count", "name", "status"]);
});

test("a query is named by its parameter, and a body that is not JSON with what to send", async () => {
  const query = await (await app.handle(new Request("http://localhost/q?limit=many"))).json();
  expect(query.error).toBe("limit must be a whole number.");
  const broken = new Request("http://localhost/", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: "{",
  });
  const parsed = await (await app.handle(broken)).json();
  expect([parsed.code, parsed.error]).toEqual([
    "invalid_json",
    expect.stringContaining("Content-Type: application/json"),
  ]);
});
