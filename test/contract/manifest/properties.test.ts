import { describe, expect, test } from "bun:test";
import { parse } from "smol-toml";
import { MANIFEST_MAX_BYTES, readManifest } from "../../../src/contract/manifest/manifest.ts";
import { type Position, positionsOf } from "../../../src/contract/manifest/positions.ts";
import { isTable } from "../../../src/contract/manifest/shape.ts";
import { fc } from "../../helpers/property.ts";
import { share } from "../../helpers/random.ts";

/** Whatever a line of TOML may hold, and much that it may not. */
const TOKENS = [
  ..."[]{}=.,#\"'\\\n\t _-1é😀\u2028",
  "\r\n",
  '"""',
  "'''",
  "[[triggers]]\n",
  "[[apps]]\n",
  "[apps.env]\n",
  "[apps.run]\n",
  "triggers = [",
  "svc_version = 1\n",
  'slug = "a"\n',
  'type = "cron"\n',
  "prompt = ",
  'cron = "* * * * *"\n',
  "enabled",
  "true",
  "2020-01-01 10:00:00",
  "\\u0041",
  "\\n\\u0000",
  "__proto__",
  "constructor",
  "env",
  "change_requests",
];
const anyText = fc
  .array(fc.oneof(fc.constantFrom(...TOKENS), fc.string({ unit: "binary", maxLength: 3 })), { maxLength: 60 })
  .map((parts) => parts.join(""));

test("no text causes an exception, and every problem has a position in the file", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const lines = text.split("\n");
      for (const { line, column, message } of readManifest(text).errors) {
        expect(line).toBeWithin(1, lines.length + 1);
        expect(column).toBeWithin(1, (lines[line - 1] ?? "").length + 2);
        expect(message).not.toMatch(/[\0-\x1f]/);
      }
    }),
    { numRuns: share(300, 6000) },
  );
});

const blank = fc.constantFrom("", " ", "\t", "  ");
const end = fc.constantFrom("\n", "\r\n", ' # slug = "x"\n', "\n\n", "\n# [x]\r\n");
const scalar = fc.constantFrom(
  "1",
  "-1_000",
  "0xff",
  "1.5e3",
  "inf",
  "true",
  "false",
  "2020-01-01",
  "2020-01-01 10:00:00Z",
  "10:00:00",
  '""',
  '"a # b"',
  '"\\"]\\\\"',
  "'\\'",
  "''",
  '"""a"""',
  '"""\n[x]\n"a""\\""""""',
  "'''\n#'\r\n'''''",
  '"""\\\n  a"""',
  '"é😀"',
);
/** Keys of one table differ by their numbers, however they are written. */
const key = (n: number) =>
  fc.constantFrom(
    `k${n}`,
    `"k${n}"`,
    `'k${n}'`,
    `"\\u006b${n}"`,
    `${n}`,
    `"k${n}.#="`,
    `"__proto__"`.replace("_p", `_${n}p`),
  );
const dotted = (n: number) =>
  fc
    .tuple(key(n), fc.array(fc.tuple(blank, blank, key(0)), { maxLength: 2 }))
    .map(([first, more]) => first + more.map(([a, b, next]) => `${a}.${b}${next}`).join(""));
const { value } = fc.letrec<{ value: string; list: string; table: string }>((tie) => ({
  value: fc.oneof({ weight: 6, arbitrary: scalar }, tie("list"), tie("table")),
  list: fc
    .tuple(
      fc.array(fc.tuple(blank, tie("value"), fc.constantFrom("", " ", "\n", " # ],\n")), { maxLength: 3 }),
      fc.boolean(),
    )
    .map(
      ([items, comma]) =>
        `[${items.map(([a, item, b]) => `${a}${item}${b}`).join(",")}${comma && items.length > 0 ? "," : ""} ]`,
    ),
  table: fc
    .array(tie("value"), { maxLength: 3 })
    .chain((values) =>
      fc.tuple(
        ...values.map((item, n) =>
          fc.tuple(dotted(n), blank).map(([name, space]) => `${space}${name} =${space}${item}`),
        ),
      ),
    )
    .map((entries) => `{${entries.join(" ,")} }`),
}));
const entry = (n: number) =>
  fc
    .tuple(blank, dotted(n), blank, value, end)
    .map(([a, name, b, given, c]) => `${a}${name}${b}=${b}${given}${c}`);
const section = (n: number) =>
  fc
    .tuple(
      fc.constantFrom(`[t${n}]`, `[ "t${n}" . x ]`, `[[ l ]]`, `[[l]]\n[l.x]\n[[l.y]]`, `[[ 'm'.n ]]`),
      end,
      fc.array(fc.nat(), { maxLength: 3 }),
    )
    .chain(([header, after, entries]) =>
      fc.tuple(fc.constant(header + after), ...entries.map((_, index) => entry(index))),
    )
    .map((lines) => lines.join(""));
const document = fc
  .tuple(fc.boolean(), fc.nat(3), fc.nat(4))
  .chain(([bom, entries, sections]) =>
    fc.tuple(
      fc.constant(bom ? "\ufeff" : ""),
      ...Array.from({ length: entries }, (_, n) => entry(n)),
      ...Array.from({ length: sections }, (_, n) => section(n)),
    ),
  )
  .map((parts) => parts.join(""));

test("every value is found at its position, and no other", () => {
  fc.assert(
    fc.property(document, (text) => {
      hold(text, parse(text), positionsOf(text));
    }),
    { numRuns: share(150, 3000) },
  );
});

function hold(text: string, value: unknown, position: Position): void {
  if (isTable(value)) {
    expect([...position.entries.keys()].sort()).toEqual(Object.keys(value).sort());
    for (const [name, inner] of position.entries) {
      expect(keyAt(text, inner.at)).toBe(name);
      hold(text, value[name], inner);
    }
  } else if (Array.isArray(value)) {
    expect(position.items).toHaveLength(value.length);
    for (const [index, item] of position.items.entries()) hold(text, value[index], item);
  }
  if (position.value) {
    const written = text.slice(position.value.start, position.value.end);
    expect<unknown>(parse(`k = ${written}`)["k"]).toEqual(value);
  }
}

function keyAt(text: string, at: number): string {
  const [written = ""] = /^(?:"(?:[^"\\]|\\.)*"|'[^']*'|[\w-]+)/.exec(text.slice(at)) ?? [];
  return Object.keys(parse(`${written} = 1`))[0] ?? "";
}

const ITEMS = {
  triggers: ['slug = "g"', 'type = "cron"', 'prompt = "x"', 'cron = "0 9 * * *"'],
  apps: ['slug = "g"', 'static = { dir = "x" }'],
} as const;

test("a valid trigger and app survive any invalid entry above or below", () => {
  const lines = fc.array(
    fc.tuple(
      fc.constantFrom(
        "slug",
        "type",
        "prompt",
        "cron",
        "enabled",
        "static",
        "run",
        "env",
        "agent",
        "é",
        "__proto__",
      ),
      value,
    ),
    { maxLength: 6 },
  );
  fc.assert(
    fc.property(fc.constantFrom("triggers", "apps"), lines, fc.boolean(), (list, broken, above) => {
      const good = `[[${list}]]\n${ITEMS[list].join("\n")}\n`;
      const other = `[[${list}]]\n${[...new Map(broken)].map(([name, given]) => `"${name}" = ${given}\n`).join("")}`;
      const { manifest } = readManifest(above ? other + good : good + other);
      const found = manifest?.[list].map(({ slug }) => slug);
      expect(found).toContain("g");
    }),
    { numRuns: share(50, 1000) },
  );
});

describe("hostile files of the largest size are parsed in time", () => {
  const fill = (unit: string, around: [string, string] = ["", ""]) =>
    around[0] + unit.repeat(Math.floor((MANIFEST_MAX_BYTES - 200) / unit.length)) + around[1];
  const numbered = (line: (n: number) => string) =>
    Array.from({ length: 16_000 }, (_, n) => line(n))
      .join("\n")
      .slice(0, MANIFEST_MAX_BYTES);
  test.each([
    ["brackets", fill("[", ["x = ", ""])],
    ["closed brackets", `x = ${"[".repeat(120_000)}${"]".repeat(120_000)}`],
    ["brackets as deep as is taken", numbered(() => `x = ${"[".repeat(900)}${"]".repeat(900)}`)],
    ["inline tables", `x = ${"{a=".repeat(60_000)}1${"}".repeat(60_000)}`],
    ["a deep key", fill(".a", ["a", " = 1"])],
    ["a deep header", fill(".a", ["[a", "]"])],
    ["many deep keys", numbered((n) => `${"a.".repeat(300)}k${n} = 1`)],
    ["tables", numbered((n) => `[t${n}]`)],
    ["keys", numbered((n) => `t${n} = 1`)],
    ["escaped keys", numbered((n) => `"\\u0041${n}" = 1`)],
    ["near misses", numbered((n) => `[trigger${n}]`)],
    ["empty triggers", fill("[[triggers]]\n")],
    ["triggers in a line", fill("{},", ["triggers = [", "]"])],
    ["bad names", fill("'b',", ["[env]\nrequired = [", "]"])],
    ["variables", `[[apps]]\n[apps.env]\n${numbered((n) => `b${n}=1`)}`],
    ["open braces", fill("{{", ["[[triggers]]\nprompt = '", "'"])],
    ["blanks", fill(" ", ["[[triggers]]\nprompt = '", "'"])],
    ["comments", fill("#\n")],
    ["blank lines and a problem", fill("\n", ["", "[triggers]"])],
    ["a long string", fill('\\"', ['x = "', '"'])],
    ["quotes", fill('""\\"', ['x = """', '"""'])],
    ["an open string", fill("\\\\", ['x = "', ""])],
    ["too much", "#".repeat(MANIFEST_MAX_BYTES + 1)],
  ])("%s", (_, text) => {
    const { errors } = readManifest(text);
    expect(errors.length).toBeLessThanOrEqual(50);
  });
});
