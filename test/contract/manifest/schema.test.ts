import { expect, test } from "bun:test";
import { join } from "node:path";
import Ajv from "ajv";
import { parse } from "smol-toml";
import { renderSchema, withKeys } from "../../../scripts/manifest-docs.ts";
import { readManifest } from "../../../src/contract/manifest/manifest.ts";
import { BROKEN } from "../../helpers/broken-manifests.ts";
import { LAYOUTS } from "../../helpers/manifest-layouts.ts";

const docs = (name: string) => Bun.file(join(import.meta.dir, "../../../docs", name)).text();
const fits = new Ajv({ allErrors: true }).compile(JSON.parse(renderSchema()));

/** Rules that JSON Schema cannot express: schedules, zones, templates, duplicates, bytes, and keys that depend on others. */
const BEYOND =
  /\.cron (?:must be five fields|is not a valid schedule|names a day)|a time zone name|\{\{ without|not a \{\{ dotted\.path|again: slugs|of at most \d+ bytes that is not blank|below its context/;

const GOOD_VOLUMES = [
  "/data",
  "/srv/app-1/data_2",
  "/home/x",
  "/data/x.y",
  "/etcetera",
  "/a/tmp",
  `/${"a".repeat(199)}`,
];
const BAD_VOLUMES = [
  ...[
    "",
    "/",
    "data",
    "./data",
    "/data/",
    "//data",
    "/data//x",
    "/data/..",
    "/../data",
    "/data/./x",
    "/.data",
    "/data/.x",
  ],
  ...[
    "/da ta",
    "/data\n",
    "/da\u0000ta",
    "/da\u001bta",
    "/d:ro",
    "/d,ro",
    "/dä",
    "/-data",
    `/${"a".repeat(200)}`,
  ],
  ..."bin boot dev etc lib lib32 lib64 libx32 nix opt proc root run sbin sys tmp usr var workspace"
    .split(" ")
    .flatMap((name) => [`/${name}`, `/${name}/x`]),
];
const withVolume = (path: string) =>
  `svc_version = 1\n[[apps]]\nslug = "a"\nrun = { command = "x", port = 80, volume = ${JSON.stringify(path)} }`;

/** As JSON has it: dates are strings, and no number is too large. */
const plain = (text: string): unknown =>
  JSON.parse(
    JSON.stringify(parse(text, { integersAsBigInt: "asNeeded" }), (_, value) =>
      typeof value === "bigint" ? String(value) : value,
    ),
  );

const TEXTS = [
  ...BROKEN.map(([text]) => `svc_version = 1\n${text}`),
  ...Object.values(LAYOUTS).flatMap((layout) =>
    ["$1", "$2"].map((side) => layout.replaceAll(/<<([^|]*)\|([^>]*)>>/g, side)),
  ),
  ..."-1|101|1.5|'2'|nan|true|99999999999999999999|0|100"
    .split("|")
    .map((value) => `svc_version = 1\n[change_requests]\nrequired_approvals = ${value}`),
  ...[
    "/etc",
    "..",
    "a/../b",
    "a\\b",
    "",
    "a\n",
    ".git/x",
    ".GIT",
    "a/.git",
    ".",
    "a",
    ".svc/x",
    ".gitignore",
    "a b/é",
    "a//b",
    "a/",
    "...",
  ].map((path) => `svc_version = 1\n[sandbox]\ncontext = ${JSON.stringify(path)}`),
  ...["A", "a", "SVC_A", "PATH", "PATHS", "_", "LD_X", "1A", "A".repeat(65)].map(
    (name) => `svc_version = 1\n[env]\noptional = ["${name}"]`,
  ),
  ...["cpu = 0", "cpu = 0.1", "cpu = inf", "memory = '1'", "gpu = 1", "disk = 2020-01-01"].map(
    (line) => `svc_version = 1\n[sandbox]\n${line}`,
  ),
  ...[...GOOD_VOLUMES, ...BAD_VOLUMES].map(withVolume),
  "",
  "svc_version = 1",
  "svc_version = 1\nproject = 2020-01-01",
];

test.each(TEXTS)("the schema and the parser agree: %j", (text) => {
  const { errors } = readManifest(text);
  const told = errors.filter(({ message }) => !BEYOND.test(message));
  const accepted = fits(plain(text));
  if (told.length > 0) expect({ told, accepted }).toEqual({ told, accepted: false });
  if (errors.length === 0) expect(fits.errors ?? []).toEqual([]);
});

test("the schema and the page's list of keys match the definition of the manifest (bun scripts/manifest-docs.ts)", async () => {
  expect(await docs("svc.schema.json")).toBe(renderSchema());
  const page = await docs("manifest.md");
  expect(page).toBe(withKeys(page));
  expect(page).toContain("| `secret_env` |");
});

test("the page's example is valid", async () => {
  const [, example = ""] = /```toml\n([\s\S]*?)```/.exec(await docs("manifest.md")) ?? [];
  const { manifest, errors } = readManifest(example);
  expect(errors).toEqual([]);
  expect(manifest).toMatchObject({
    triggers: [{ slug: "nightly" }, { slug: "issue" }],
    apps: [{ slug: "web" }],
  });
});

test("the path of a volume is absolute, normalized, and outside the folders of the system and of svc", () => {
  const said = (path: string) => readManifest(withVolume(path)).errors.map(({ path: key }) => key);
  for (const path of GOOD_VOLUMES) {
    expect([path, said(path)]).toEqual([path, []]);
    expect(readManifest(withVolume(path)).manifest?.apps[0]?.run).toEqual({
      command: "x",
      port: 80,
      volume: path,
    });
  }
  for (const path of BAD_VOLUMES) expect([path, said(path)]).toEqual([path, ["apps[0].run.volume"]]);
});
