import { describe, expect, test } from "bun:test";
import { type Manifest, readManifest } from "../../../src/contract/manifest/manifest.ts";
import { setTriggerEnabled } from "../../../src/contract/manifest/set-trigger-enabled.ts";
import { LAYOUTS } from "../../helpers/manifest-layouts.ts";
import { fc } from "../../helpers/property.ts";
import { share } from "../../helpers/random.ts";

const DIFFERENCE = /<<([^|]*)\|([^>]*)>>/g;

describe("changes one value, and no other byte of the file", () => {
  test.each(Object.entries(LAYOUTS))("%s", (name, layout) => {
    const [before, after] = ["$1", "$2"].map((part) => layout.replaceAll(DIFFERENCE, part));
    if (before === undefined || after === undefined) throw new Error("a layout has two sides");
    const enabled = name === "from off to on";
    expect(setTriggerEnabled(before, "nightly", enabled)).toBe(after);
    expect(setTriggerEnabled(before, "nightly", !enabled)).toBe(before);
    expect(setTriggerEnabled(after, "nightly", enabled)).toBe(after);
    // what was added stays, and says the other
    const back = layout.includes("<<|") ? changedBack(layout) : before;
    expect(setTriggerEnabled(after, "nightly", !enabled)).toBe(back);
    expect(flags(readManifest(after).manifest)).toEqual({
      ...flags(readManifest(before).manifest),
      nightly: enabled,
    });
  });
});

const changedBack = (layout: string): string =>
  layout.replaceAll(DIFFERENCE, (_, _before: string, after: string) => after.replace("false", "true"));

const flags = (manifest: Manifest | null): Record<string, boolean> =>
  Object.fromEntries((manifest?.triggers ?? []).map(({ slug, enabled }) => [slug, enabled]));

test.each([
  [
    "a slug that is not there",
    '[[triggers]]\nslug = "other"\ntype = "cron"\nprompt = "x"\ncron = "0 3 * * *"',
  ],
  ["a trigger with an error", '[[triggers]]\nslug = "nightly"\ntype = "cron"\nprompt = "x"'],
  ["only a comment", '# [[triggers]]\n# slug = "nightly"'],
  ["an app of that name", '[[apps]]\nslug = "nightly"\nstatic.dir = "x"'],
  ["no list", "triggers = 1"],
  ["no TOML", "[[triggers]"],
  ["nothing", ""],
])("edits nothing: %s", (_, text) => {
  expect(setTriggerEnabled(text, "nightly", false)).toBeNull();
  expect(setTriggerEnabled(text, "__proto__", true)).toBeNull();
});

const blank = fc.constantFrom("", " ", "  ", "\t");
const lineEnd = fc.constantFrom("\n", "\r\n", " # enabled = true\n", "\n\n", "\t\r\n");
const keyed = (key: string) =>
  fc.constantFrom(
    key,
    `"${key}"`,
    `'${key}'`,
    `"\\u${key.charCodeAt(0).toString(16).padStart(4, "0")}${key.slice(1)}"`,
  );
const given = (key: string, value: string) =>
  fc.tuple(keyed(key), blank, blank).map(([name, a, b]) => `${name}${a}=${b}${value}`);
const flag = fc.constantFrom(null, "true", "false");
const entries = (slug: string, enabled: string | null) => {
  const all = [
    given("slug", `"${slug}"`),
    given("type", "'cron'"),
    fc
      .constantFrom('"x"', '"""\nenabled = true\n"""', "'''}, {slug = \"t0\"'''", '"\\"]}#"')
      .chain((prompt) => given("prompt", prompt)),
    given("cron", '"0 3 * * *"'),
    ...(enabled === null ? [] : [given("enabled", enabled)]),
  ];
  return fc.tuple(...all).chain((written) => fc.shuffledSubarray(written, { minLength: written.length }));
};
const trigger = (slug: string) => flag.chain((enabled) => entries(slug, enabled));
const triggers = fc
  .integer({ min: 1, max: 4 })
  .chain((count) => fc.tuple(...Array.from({ length: count }, (_, n) => trigger(`t${n}`))));
const asTables = triggers.chain((all) =>
  fc
    .tuple(
      ...all.map((lines) =>
        fc
          .tuple(
            blank,
            lineEnd,
            fc.array(fc.tuple(blank, lineEnd), { minLength: lines.length, maxLength: lines.length }),
          )
          .map(
            ([indent, end, around]) =>
              `${indent}[[triggers]]${end}${lines.map((line, n) => `${around[n]?.[0]}${line}${around[n]?.[1]}`).join("")}`,
          ),
      ),
    )
    .map((parts) => parts.join("")),
);
const asInline = triggers.chain((all) =>
  fc
    .tuple(fc.constantFrom(" ", "", "\n  ", " # }\n"), fc.boolean())
    .map(
      ([space, comma]) =>
        `triggers = [${all.map((lines) => `${space}{${space}${lines.join(`,${space}`)}${comma ? "," : ""}${space}}`).join(",")}${space}]`,
    ),
);
const file = fc
  .tuple(fc.constantFrom("", "\ufeff"), fc.oneof(asTables, asInline), fc.boolean())
  .map(([bom, text, cut]) => bom + (cut ? text.trimEnd() : text));

test("in any layout, an edit changes only the one flag of the manifest, and the text in one place", () => {
  fc.assert(
    fc.property(file, fc.nat(3), fc.boolean(), (text, n, enabled) => {
      const before = readManifest(text);
      const slug = `t${n}`;
      const edited = setTriggerEnabled(text, slug, enabled);
      if (!before.manifest?.triggers.some((one) => one.slug === slug)) return expect(edited).toBeNull();
      if (edited === null) throw new Error("a good trigger was not found");
      const after = readManifest(edited);
      expect(after.manifest?.triggers).toEqual(
        before.manifest.triggers.map((one) => (one.slug === slug ? { ...one, enabled } : one)),
      );
      expect({ ...after.manifest, triggers: [] }).toEqual({ ...before.manifest, triggers: [] });
      expect(after.errors.map(({ message }) => message)).toEqual(before.errors.map(({ message }) => message));
      expect(setTriggerEnabled(edited, slug, enabled)).toBe(edited);
      const [start, end] = shared(text, edited);
      expect(start + end).toBeGreaterThanOrEqual(text.length - "false".length);
      expect(edited.length - start - end).toBeLessThan(30);
      return undefined;
    }),
    { numRuns: share(150, 3000) },
  );
});

/** Lengths of what two texts begin and end with alike. */
function shared(a: string, b: string): [number, number] {
  const least = Math.min(a.length, b.length);
  let start = 0;
  while (start < least && a[start] === b[start]) start++;
  let end = 0;
  while (end < least - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  return [start, end];
}
