import { describe, expect, test } from "bun:test";
import { names, render } from "../../src/triggers/template.ts";
import { fc } from "../helpers/property.ts";

const MAX = 64 * 1024;
const context = {
  text: "words",
  body: { number: 7, flag: false, none: null, list: ["a", { b: "c" }], "x-y": "dash", deep: { er: "in" } },
};

describe("a place is filled by what its path leads to, or by nothing", () => {
  test.each([
    ["{{ text }}", "words"],
    ["{{text}}{{  text  }}", "wordswords"],
    ["{{ body.number }} {{ body.flag }}", "7 false"],
    ["<{{ body.none }}>", "<>"],
    ["<{{ body.missing.at.all }}>", "<>"],
    ["<{{ nothing }}>", "<>"],
    ["{{ body.list.0 }} {{ body.list.1.b }} {{ body.list.9 }}", "a c "],
    ["{{ body.list }}", '["a",{"b":"c"}]'],
    ["{{ body.x-y }}", "dash"],
    ["<{{ text.length }}>", "<>"],
    ["<{{ body.list.length }}>", "<2>"],
    ["<{{ body.constructor }}{{ body.__proto__ }}{{ constructor.name }}{{ text.at }}>", "<>"],
    ["{{ a b }} {{ }} {{ body. }} {{ .body }}", "{{ a b }} {{ }} {{ body. }} {{ .body }}"],
    ["{ { text } } {text} {{ text", "{ { text } } {text} {{ text"],
  ])("%j", (template, text) => {
    expect(render(template, context)).toBe(text);
  });
});

test("what fills a place is not looked at again", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const said = `{{ secret }}${text.replaceAll("\0", "")}`;
      expect(render("<{{ said }}>", { said, secret: "S3CRET" })).toBe(`<${said}>`);
    }),
  );
});

test("any template with anything is text of at most 64 KiB, and never fails", () => {
  const template = fc.array(
    fc.oneof(fc.constant("{{ a.b }}"), fc.constant("{{ a }}"), fc.string({ unit: "binary" })),
  );
  const value = fc.oneof(
    fc.anything(),
    fc.constant("\u{1f600}".repeat(40_000)),
    fc.constant({ b: "x".repeat(70_000) }),
  );
  fc.assert(
    fc.property(template, value, (parts, a) => {
      const text = render(parts.join(""), { a });
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX);
      expect(text.isWellFormed()).toBeTrue();
      expect(text).not.toContain("\0");
    }),
  );
});

test("a place that is named a million times takes no more room than one", () => {
  const text = render("{{ a }}".repeat(9_000), { a: "x".repeat(1_000_000) });
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX);
});

test("only the first part of a path names it", () => {
  expect(names("{{ text }}", "text")).toBeTrue();
  expect(names("{{ body.text }} {{ texts }} text", "text")).toBeFalse();
});
