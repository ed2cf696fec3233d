import { expect, test } from "bun:test";
import { allowHosts } from "../../../src/contract/manifest/allow-hosts.ts";
import { readManifest } from "../../../src/contract/manifest/manifest.ts";

const V = "svc_version = 1\n";
const NEW = ["new.test", "*.new.test:81"];

test.each<[what: string, before: string, after: string]>([
  ["no file", "", `${V}\n[network]\nallow = ["new.test", "*.new.test:81"]\n`],
  ["no table", V, `${V}\n[network]\nallow = ["new.test", "*.new.test:81"]\n`],
  ["no end of the line", "svc_version = 1", `${V}\n[network]\nallow = ["new.test", "*.new.test:81"]\n`],
  [
    "CRLF",
    'svc_version = 1\r\n[network]\r\negress = "none" # x\r\n',
    'svc_version = 1\r\n[network]\r\negress = "none" # x\r\nallow = ["new.test", "*.new.test:81"]\r\n',
  ],
  [
    "another table at the end",
    `${V}[[apps]]\nslug = "web"\nstatic.dir = "."\n`,
    `${V}[[apps]]\nslug = "web"\nstatic.dir = "."\n\n[network]\nallow = ["new.test", "*.new.test:81"]\n`,
  ],
  [
    "an empty table",
    `${V}[network]\n[env]\n`,
    `${V}[network]\nallow = ["new.test", "*.new.test:81"]\n[env]\n`,
  ],
  ["an empty table at the end", `${V}[network]`, `${V}[network]\nallow = ["new.test", "*.new.test:81"]`],
  [
    "a list on one line",
    `${V}[network]\nallow = ["a.test"] # x\n`,
    `${V}[network]\nallow = ["a.test", "new.test", "*.new.test:81"] # x\n`,
  ],
  ["an empty list", `${V}network.allow = []\n`, `${V}network.allow = ["new.test", "*.new.test:81"]\n`],
  [
    "a list of lines",
    `${V}[network]\nallow = [\n  "a.test",\n  "b.test", # x\n]\n`,
    `${V}[network]\nallow = [\n  "a.test",\n  "b.test",\n  "new.test",\n  "*.new.test:81", # x\n]\n`,
  ],
  [
    "a dotted key",
    `${V}network.egress = "restricted"\nagents.reach = "own"\n`,
    `${V}network.egress = "restricted"\nnetwork.allow = ["new.test", "*.new.test:81"]\nagents.reach = "own"\n`,
  ],
  [
    "an inline table",
    `${V}network = { egress = "restricted" }\n`,
    `${V}network = { egress = "restricted", allow = ["new.test", "*.new.test:81"] }\n`,
  ],
  [
    "one of them, in another form",
    `${V}[network]\nallow = ["NEW.test."]\n`,
    `${V}[network]\nallow = ["NEW.test.", "*.new.test:81"]\n`,
  ],
])("%s gets the entries, and nothing else changes", (_, before, after) => {
  expect(allowHosts(before, NEW)).toBe(after);
  expect(readManifest(after).errors.filter(({ severity }) => severity === "error")).toEqual([]);
  expect(allowHosts(after, NEW)).toBe(after);
});

test.each([
  ["no TOML", "["],
  ["a value instead of the table", 'network = "open"\n'],
  ["a list of tables", "[[network]]\n"],
  ["a value instead of the list", '[network]\nallow = "a.test"\n'],
  [
    "a full list",
    `[network]\nallow = [${Array.from({ length: 200 }, (_, n) => `"h${n}.test"`).join(", ")}]\n`,
  ],
])("%s is not edited", (_, text) => {
  expect(allowHosts(text, NEW)).toBeNull();
});
