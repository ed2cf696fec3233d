import { expect, test } from "bun:test";
import type { ConnectorPolicy } from "../../src/contract/manifest/connectors.ts";
import { decide, matches } from "../../src/features/connectors/policy.ts";
import { fc } from "../helpers/property.ts";

const list = (...pairs: [string, ConnectorPolicy["action"]][]): ConnectorPolicy[] =>
  pairs.map(([match, action]) => ({ match, action }));

test.each<[string, ConnectorPolicy[], string, ConnectorPolicy["action"]]>([
  ["no policies allow", [], "delete_repo", "allow"],
  ["no match denies", list(["get_*", "allow"]), "delete_repo", "deny"],
  ["the first match decides", list(["get_secret", "deny"], ["get_*", "allow"]), "get_secret", "deny"],
  [
    "also if a later one is stricter",
    list(["get_*", "allow"], ["get_secret", "deny"]),
    "get_secret",
    "allow",
  ],
  ["ask", list(["*", "ask"]), "anything", "ask"],
  ["a pattern is the whole name", list(["get", "allow"]), "get_all", "deny"],
  ["case counts", list(["Get_*", "allow"]), "get_a", "deny"],
  ["* crosses /", list(["DELETE *", "deny"], ["*", "allow"]), "DELETE /a/b/c", "deny"],
  ["a path's start", list(["GET /repos/*", "allow"]), "GET /repos/a/b", "allow"],
  ["not another path", list(["GET /repos/*", "allow"]), "GET /repository", "deny"],
  ["dots are dots", list(["a.b", "allow"]), "axb", "deny"],
])("%s", (_, policies, subject, action) => {
  expect(decide(policies, subject)).toBe(action);
});

test("a tool with two names has the first policy that matches either", () => {
  const policies = list(["DELETE *", "deny"], ["*Pet", "allow"]);
  expect(decide(policies, "deletePet", "DELETE /pets/{id}")).toBe("deny");
  expect(decide(policies, "getPet", "GET /pets/{id}")).toBe("allow");
});

test("patterns match as the expression with .* for * does", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "/", "*", ".", "\n"), maxLength: 12 });
  fc.assert(
    fc.property(text, text, (pattern, subject) => {
      const parts = pattern.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
      expect(matches(pattern, subject)).toBe(new RegExp(`^${parts.join("[^]*")}$`).test(subject));
    }),
  );
});

test("a hostile pattern takes linear time", () => {
  const pattern = `${"*a".repeat(100)}b`;
  expect(matches(pattern, "a".repeat(2_000_000))).toBe(false);
});
