import { expect, test } from "bun:test";
import { readPattern, skeletonOf } from "../../src/gateway/names.ts";
import { fc } from "../helpers/property.ts";

test.each([
  ["main", "main", true],
  ["main", "main2", false],
  ["main", "amain", false],
  ["*", "x", true],
  ["*", "x/y", false],
  ["*", "", true],
  ["**", "x/y", true],
  ["release/*", "release/1", true],
  ["release/*", "release/", true],
  ["release/*", "release", false],
  ["release/*", "release/1/2", false],
  ["release/**", "release/1/2", true],
  ["**/stable", "a/b/stable", true],
  ["**/stable", "stable", false],
  ["v*.*", "v1.2", true],
  ["v*.*", "v12", false],
  ["a*b*c", "abbc", true],
  ["a*b*c", "abbd", false],
  ["a+b", "aab", false],
  ["a.b", "axb", false],
])("pattern %j, name %j: %p", (pattern, name, fits) => {
  expect(readPattern(pattern).fits(name)).toBe(fits);
});

test("a name fits itself, and a pattern of stars in time that grows with its length alone", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("a", "b", "/", "ä", "𝕏") }), (name) => {
      expect(readPattern(name).fits(name)).toBe(true);
      expect(readPattern("**").fits(name)).toBe(true);
    }),
  );
  expect(readPattern("**a".repeat(80)).fits(`${"a".repeat(240)}b`)).toBe(false);
});

test.each([
  ["main", "MAIN"],
  ["main", "m\u0430in"],
  ["main", "m\u200bain"],
  ["main", "\uff4dain"],
  ["main", "rnain"],
  ["release/1", "r\u0435lease/l"],
  ["stra\u00dfe", "STRA\u1e9eE"],
])("%j can be taken for %j", (one, other) => {
  expect(skeletonOf(one)).toBe(skeletonOf(other));
  expect(readPattern(one).isTakenFor(skeletonOf(other))).toBe(true);
});

test.each([
  ["main", "mine"],
  ["main", "main-2"],
  ["release/1", "release/2"],
])("%j cannot be taken for %j", (one, other) => {
  expect(skeletonOf(one)).not.toBe(skeletonOf(other));
});
