import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError } from "../../src/config.ts";
import { firstModel, routesTo } from "../../src/models/catalog.ts";
import { openModels } from "../../src/models/models.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-catalog-"));
const path = join(folder, "models.toml");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const log = { info: () => {}, error: () => {} };
const KEY = "sk-of-the-file";
const HEAD = `[[upstreams]]\nid = "a"\nformat = "openai"\nurl = "https://a.example/v1/"\nkey = "${KEY}"\n`;
const MODEL = `[[upstreams.models]]\nid = "m"\n`;

function open(text: string, modelUpstream: { url: string; key: string } | null = null) {
  writeFileSync(path, text);
  return openModels({ modelsFile: path, modelUpstream }, { FROM_ENV: "sk-env" }, log).upstreams();
}

test("a file lists upstreams, and SVC_LLM_BASE_URL is the last one", () => {
  const [a, b, single] = open(
    `${HEAD}${MODEL}input = 1\noutput = 2.5\n[[upstreams.models]]\nid = "free"\nname = "org/free"\n[[upstreams]]\nid = "b"\nformat = "anthropic"\nurl = "https://b.example"\nkey_env = "FROM_ENV"\n`,
    { url: "http://c.example/v1", key: "sk-c" },
  );
  expect(a).toMatchObject({ id: "a", url: "https://a.example/v1", key: KEY });
  expect([...(a?.models?.values() ?? [])]).toEqual([
    { id: "m", name: "m", prices: { input: 1, output: 2.5, cachedInput: 1 } },
    { id: "free", name: "org/free", prices: null },
  ]);
  expect(b).toMatchObject({ id: "b", format: "anthropic", key: "sk-env", models: null });
  expect(single).toMatchObject({ id: "default", format: "openai", models: null });
  const all = [a, b, single].flatMap((upstream) => upstream ?? []);
  const routes = (format: "openai" | "anthropic", id: string) =>
    routesTo({ own: [], server: all }, format, id).map(({ upstream, model }) => [upstream.id, model.name]);
  expect(routes("openai", "free")).toEqual([
    ["a", "org/free"],
    ["default", "free"],
  ]);
  expect(routes("openai", "other")).toEqual([["default", "other"]]);
  expect(routes("anthropic", "m")).toEqual([["b", "m"]]);
  expect([firstModel(all, "openai"), firstModel(all, "anthropic")]).toEqual(["m", null]);
});

test.each([
  ["no TOML", `${HEAD}x = = 1\n`, "line 6, column 5"],
  ["no upstreams", "", "upstreams must have at least one entry"],
  ["an unknown table", "[upstream]\n", 'unknown key "upstream"'],
  ["an unknown format", HEAD.replace("openai", "gemini"), "upstreams[0].format"],
  ["a URL with a password", HEAD.replace("//a", "//u:p@a"), "upstreams[0].url"],
  ["another protocol", HEAD.replace("https", "ftp"), "upstreams[0].url"],
  ["a key with a line break", HEAD.replace(KEY, `${KEY}\\n`), "upstreams[0].key"],
  ["no key", HEAD.replace(/key = .*\n/, ""), "either key or key_env"],
  ["two keys", `${HEAD}key_env = "FROM_ENV"\n`, "either key or key_env"],
  [
    "a variable that is not set",
    HEAD.replace(/key = .*/, 'key_env = "NOT_SET"'),
    "NOT_SET, which is not set",
  ],
  ["an id twice", HEAD + HEAD, 'the id "a" twice'],
  ["a model twice", HEAD + MODEL + MODEL, 'upstreams[0].models has the id "m" twice'],
  ["a misspelled price", `${HEAD + MODEL}inptu = 1\n`, 'upstreams[0].models[0] has an unknown key "inptu"'],
  ["half a price", `${HEAD + MODEL}input = 1\n`, "upstreams[0].models[0] must have both"],
  ["a negative price", `${HEAD + MODEL}input = -1\noutput = 1\n`, "upstreams[0].models[0].input"],
  ["a price that is no number", `${HEAD + MODEL}input = nan\noutput = 1\n`, "upstreams[0].models[0].input"],
])("%s is refused with one line that names the place, and no key", (_, text, place) => {
  let message = "";
  try {
    open(text);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    message = error.message;
  }
  expect(message).toContain(place);
  expect(message).toContain("SVC_MODELS_FILE");
  expect(message).not.toMatch(/\n|sk-/);
});

test("a file that does not exist is refused", () => {
  const file = join(folder, "none.toml");
  expect(() => openModels({ modelsFile: file, modelUpstream: null }, {}, log)).toThrow(
    "there is no such file",
  );
});
