import { describe, expect, test } from "bun:test";
import { names, render } from "../../src/features/triggers/template.ts";
import { fc } from "../helpers/property.ts";

const MAX = 64 * 1024;
const context = {
  text: "words",
  body: { number: 7, flag: false, none: null, list: ["a", { b: "c" }], "x-y": "dash", deep: { er: "in" } },
};

describe("a placeholder is replaced by the value of its path, or by nothing", () => {
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

test("inserted values are not expanded again", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const said = `{{ secret }}${text.replaceAll("\0", "")}`;
      expect(render("<{{ said }}>", { said, secret: "S3CRET" })).toBe(`<${said}>`);
    }),
  );
});

test("any template with any context renders at most 64 KiB, and never fails", () => {
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

test("a placeholder that is repeated a million times takes no more memory than one", () => {
  const text = render("{{ a }}".repeat(9_000), { a: "x".repeat(1_000_000) });
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX);
});

const CUT = "\n[… cut by svc: longer than the limit of a prompt]";

test.each(["x", "é", "€", "\u{1f600}"])(
  "exactly 64 KiB of %s are kept; a byte more is cut between characters, with a note",
  (character) => {
    const size = Buffer.byteLength(character);
    for (const shift of [0, 1, 2, 3]) {
      // a U+FFFD of the input is not one of the truncation
      const head = `\ufffd${"-".repeat(shift)}`;
      const room = MAX - Buffer.byteLength(head);
      const full = head + character.repeat(Math.floor(room / size)) + "-".repeat(room % size);
      expect(render(full, {})).toBe(full);
      const cut = render(`${full}-`, {});
      const kept = cut.slice(0, -CUT.length);
      expect([full.startsWith(kept), cut.slice(-CUT.length)]).toEqual([true, CUT]);
      expect(MAX - Buffer.byteLength(cut)).toBeWithin(0, size);
    }
  },
);

test("placeholders are replaced while there is a byte left", () => {
  const fill = (bytes: number) => render("{{ a }}{{ b }}{{ c }}", { a: "x".repeat(bytes), b: "y", c: "z" });
  expect(fill(MAX)).toBe("x".repeat(MAX));
  expect(fill(MAX - 1)).toBe(`${"x".repeat(MAX - 1)}y`);
  expect(fill(MAX - 2)).toBe(`${"x".repeat(MAX - 2)}yz`);
});

test("only the first part of a path is the name", () => {
  expect(names("{{ text }}", "text")).toBeTrue();
  expect(names("{{ body.text }} {{ text.body }} {{ texts }}", "text")).toBeTrue();
  expect(names("{{ body.text }} {{ texts }} text", "text")).toBeFalse();
  expect(names("", "text")).toBeFalse();
});
