import { expect, test } from "bun:test";
import { readPattern, skeletonsOf } from "../../src/edge/gateway/names.ts";
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

test("a name matches itself and **, and a pattern of many stars matches in linear time", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("a", "b", "/", "ä", "𝕏") }), (name) => {
      expect(readPattern(name).fits(name)).toBe(true);
      expect(readPattern("**").fits(name)).toBe(true);
    }),
  );
  expect(readPattern("**a".repeat(80)).fits(`${"a".repeat(240)}b`)).toBe(false);
});

const isConfusable = (pattern: string, name: string) => readPattern(pattern).isConfusable(skeletonsOf(name));

test.each([
  // another case
  ["main", "MAIN"],
  ["main", "Main"],
  ["stra\u00dfe", "STRA\u1e9eE"],
  ["\u043c\u0438\u0440", "\u041c\u0418\u0420"],
  ["\u03bc\u03ad\u03bd", "\u039c\u0388\u039d"],
  ["\u03bf\u03b4\u03cc\u03c2", "\u039f\u0394\u038c\u03a3"],
  // characters that look the same, small ones and capitals
  ["main", "m\u0430in"],
  ["main", "rnain"],
  ["release/1", "r\u0435lease/l"],
  ["release", "reIease"],
  ["release/0", "release/O"],
  ["focus", "fo\u03f2us"],
  ["fix", "\u017fix"],
  ["MAIN", "M\u0410IN"],
  ["MAIN", "\u039cAlN"],
  ["main", "\u039cain"],
  ["main", "\u041c\u0410IN"],
  ["main", "\u039cAIN"],
  ["main", "\u041c\u0410\u0406N"],
  ["main", "\u041c\u0410\u0399\uff2e"],
  ["MAIN", "MA\u0406N"],
  ["beta", "\u0392\u0395\u03a4\u0391"],
  ["QA", "Q\u0391"],
  // characters that are not shown
  ["main", "m\u200bain"],
  ["main", "main\u{e0041}"],
  ["main", "m\u00adain"],
  // what a file system may take for the same (NFKC): wide, styled, raised, joined, composed
  ["main", "\uff4dain"],
  ["main", "\u{1d426}ain"],
  ["main", "ma\u2071\u207f"],
  ["fix", "\ufb01x"],
  ["six", "\u017fix"],
  ["v12", "v\u00b9\u00b2"],
  ["dz", "\u01f3"],
  ["caf\u00e9", "cafe\u0301"],
  ["a\u0323\u0302", "a\u0302\u0323"],
])("%j is confusable with %j", (one, other) => {
  expect([isConfusable(one, other), isConfusable(other, one)]).toEqual([true, true]);
  expect(isConfusable(`x/*/${one}*`, `x/y/${other}z`)).toBe(true);
  expect(isConfusable(`x/**${one}`, `X/y/z/${other}`)).toBe(true);
  expect(isConfusable(`x/*/${one}`, `x/y/z/${other}`)).toBe(false);
});

test.each([
  ["main", "mine"],
  ["main", "main-2"],
  ["main", "maln"],
  ["release/1", "release/2"],
  ["stra\u00dfe", "strasse"],
  ["den", "dev"],
  ["den", "deh"],
  ["fix", "six"],
  ["cafe", "caf\u00e9"],
  ["ab", "a"],
])("%j is not confusable with %j", (one, other) => {
  expect([isConfusable(one, other), isConfusable(other, one)]).toEqual([false, false]);
});

test("a name is confusable with itself, also through a pattern", () => {
  const names = fc.string({ unit: "grapheme", minLength: 1 }).filter((name) => !name.includes("*"));
  fc.assert(
    fc.property(names, (name) => {
      expect(isConfusable(name, name)).toBe(true);
      expect(isConfusable(`${name}*`, `${name}x`)).toBe(true);
    }),
  );
});
