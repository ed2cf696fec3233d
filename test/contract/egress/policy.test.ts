import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  allows,
  EGRESS_MODES,
  type EgressMode,
  limited,
  readEntry,
  readHost,
} from "../../../src/contract/egress/policy.ts";
import { EGRESS_PRESETS } from "../../../src/contract/egress/presets.ts";
import { readManifest } from "../../../src/contract/manifest/manifest.ts";
import { fc } from "../../helpers/property.ts";

test.each([
  ["api.example.com", "api.example.com"],
  ["API.Example.COM.", "api.example.com"],
  ["*.CDN.example.com", "*.cdn.example.com"],
  ["example.com:8443", "example.com:8443"],
  ["bücher.example", "xn--bcher-kva.example"],
  ["xn--bcher-kva.example", "xn--bcher-kva.example"],
  ["example。com", "example.com"],
  ["192.0.32.8", "192.0.32.8"],
  ["192.0.32.8:22", "192.0.32.8:22"],
  ["preset:packages", "preset:packages"],
])("the entry %s is read as %s", (text, entry) => {
  expect(readEntry(text)).toBe(entry);
});

test.each([
  ...[
    "",
    "*",
    "*.",
    "*.com",
    ".",
    "a..example",
    "-a.example",
    "a-.example",
    "*.*.example.com",
    "a.*.example.com",
  ],
  ...["https://example.com", "example.com/path", "user@example.com", "example.com:0", "example.com:65536"],
  ...["example.com:", "example.com:443:80", "exa mple.com", "example.com\n", "ex%61mple.com", "a\0.example"],
  ...[
    "0x7f.1",
    "2130706433",
    "127.1",
    "017700000001",
    "*.0.0.1",
    "*.1.2.3.4",
    "[::1]",
    "::1",
    "[::ffff:1.2.3.4]",
  ],
  ...[
    "preset:",
    "preset:other",
    "preset:constructor",
    `${"a".repeat(64)}.example`,
    `${"a.".repeat(127)}example`,
  ],
])("%j is not an entry", (text) => {
  expect(readEntry(text)).toBeNull();
});

test.each<[entry: string, host: string, port: number, isAllowed: boolean]>([
  ["example.com", "example.com", 443, true],
  ["example.com", "EXAMPLE.com.", 80, true],
  ["example.com", "example.com", 8443, false],
  ["example.com:8443", "example.com", 8443, true],
  ["example.com:8443", "example.com", 443, false],
  ["example.com", "www.example.com", 443, false],
  ["example.com", "notexample.com", 443, false],
  ["example.com", "example.com.evil.test", 443, false],
  ["*.example.com", "a.example.com", 443, true],
  ["*.example.com", "a.b.example.com", 443, true],
  ["*.example.com", "example.com", 443, false],
  ["*.example.com", ".example.com", 443, false],
  ["*.example.com", "notexample.com", 443, false],
  ["*.example.com:81", "a.example.com", 81, true],
  ["*.example.com:81", "a.example.com", 80, false],
  ["xn--bcher-kva.example", "bücher.example", 443, true],
  ["192.0.32.8", "192.0.32.8", 443, true],
  ["192.0.32.8", "192.0.32.9", 443, false],
  ["192.0.32.8", "0xc0.0.32.8", 443, true],
  ["example.com", "192.0.32.8", 443, false],
  ["example.com", "[::1]", 443, false],
  ["preset:packages", "registry.npmjs.org", 443, true],
  ["preset:packages", "npmjs.org", 443, false],
])("%s: %s:%d → %p", (entry, host, port, isAllowed) => {
  expect(allows([entry], host, port)).toBe(isAllowed);
});

const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,5}[a-z0-9])?$/);
const name = fc.array(label, { minLength: 2, maxLength: 4 }).map((labels) => [...labels, "test"].join("."));

test("no entry lets in a name that is neither itself nor below its wildcard", () => {
  fc.assert(
    fc.property(name, name, fc.boolean(), (allowed, other, isWild) => {
      const entry = readEntry(isWild ? `*.${allowed}` : allowed);
      const isIn = isWild ? other.endsWith(`.${allowed}`) : other === allowed;
      expect(entry !== null && allows([entry], other, 443)).toBe(entry !== null && isIn);
    }),
  );
});

test("a name and its prefix or suffix with another character are different names", () => {
  const noise = fc.stringMatching(/^[a-z0-9.-]{1,4}$/);
  fc.assert(
    fc.property(name, noise, noise, (allowed, before, after) => {
      for (const other of [`${before}${allowed}`, `${allowed}${after}`])
        expect([other, allows([allowed], other, 443)]).toEqual([other, readHost(other) === allowed]);
    }),
  );
});

test("an entry in its one form is read as itself", () => {
  fc.assert(
    fc.property(fc.oneof(name, fc.domain(), fc.string()), (text) => {
      const entry = readEntry(text);
      if (entry !== null) expect(readEntry(entry)).toBe(entry);
    }),
  );
});

test("every entry of a preset is in its one form, and docs/egress.md lists it", () => {
  const page = readFileSync(join(import.meta.dir, "../../../docs/egress.md"), "utf8");
  for (const [preset, hosts] of Object.entries(EGRESS_PRESETS)) {
    expect(hosts.map(readEntry)).toEqual([...hosts]);
    const row = page.split("\n").find((line) => line.startsWith(`| \`preset:${preset}\` | \``));
    expect(row?.match(/(?<=`)[a-z0-9.-]+(?=`)/g)).toEqual([...hosts]);
  }
});

test.each(
  EGRESS_MODES.flatMap((wanted) => EGRESS_MODES.map((limit): [EgressMode, EgressMode] => [wanted, limit])),
)("%s on a server that allows at most %s is the more closed of both", (wanted, limit) => {
  const { mode, allow } = limited({ mode: wanted, allow: ["a.test"] }, { mode: limit, allow: ["b.test"] });
  const isNone = [wanted, limit].includes("none");
  expect(mode).toBe(isNone ? "none" : [wanted, limit].includes("restricted") ? "restricted" : "open");
  expect(allow).toEqual(isNone ? ["b.test"] : ["b.test", "a.test"]);
});

test.each([
  ["", { mode: "open", allow: [] }],
  ['[network]\nallow = ["a.example"]', { mode: "open", allow: ["a.example"] }],
  ['[network]\negress = "restricted"', { mode: "restricted", allow: [] }],
  ['[network]\negress = "Open"\nallow = ["a.example"]', { mode: "none", allow: ["a.example"] }],
  ["[network]\negress = true", { mode: "none", allow: [] }],
  ['network = "open"', { mode: "none", allow: [] }],
  ["[[network]]", { mode: "none", allow: [] }],
  ['[network]\negress = "restricted"\nallow = "a.example"', { mode: "restricted", allow: [] }],
  [
    '[network]\negress = "restricted"\nallow = ["*", "a.example", 1]',
    { mode: "restricted", allow: ["a.example"] },
  ],
])("an invalid value of %j counts as the most restrictive one", (text, network) => {
  expect(readManifest(text).manifest?.network).toMatchObject(network);
});
