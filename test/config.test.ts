import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { ConfigError, readConfig } from "../src/config.ts";

const hostsOf = (text: string) => readConfig({ SVC_GIT_HOSTS: text }).gitHosts;

test("git hosts are read with their scheme, host and port", () => {
  expect(readConfig({}).gitHosts).toEqual([]);
  expect(hostsOf(" , ")).toEqual([]);
  expect(
    hostsOf(
      "git.example.com=gitlab, Code.Example.org:3000=gitea,\nhttp://code.lan:3000=gitea https://[::1]:8443=github",
    ),
  ).toEqual([
    { origin: "https://git.example.com", kind: "gitlab" },
    { origin: "https://code.example.org:3000", kind: "gitea" },
    { origin: "http://code.lan:3000", kind: "gitea" },
    { origin: "https://[::1]:8443", kind: "github" },
  ]);
  // one host on two ports, or with and without TLS, is two hosts
  expect(hostsOf("a.lan=gitea,a.lan:3000=gitea,http://a.lan=gitea")).toHaveLength(3);
});

test.each([
  "git.example.com",
  "git.example.com=",
  "=gitlab",
  "git.example.com=bitbucket",
  "git.example.com=GitLab",
  "git.example.com=gitlab=x",
  "ftp://git.example.com=gitlab",
  "git.example.com/path=gitlab",
  "https://git.example.com/path=gitlab",
  "git.example.com?=gitlab",
  "git.example.com#=gitlab",
  "git.example.com:99999=gitlab",
  "*.example.com=gitlab",
  "git..example.com;=gitlab",
  "https://=gitlab",
  "ok.example.com=gitea,git.example.com=svn",
])("%s is an error that names the variable and the entry", (text) => {
  const bad = text.split(",").at(-1) ?? "";
  expect(() => hostsOf(text)).toThrow(ConfigError);
  const message = messageOf(text);
  expect(message).toStartWith("SVC_GIT_HOSTS ");
  expect(message).toContain(`"${bad}"`);
  expect(message).not.toContain("\n");
});

test("rejects a host that is named twice", () => {
  expect(messageOf("a.example=gitea,https://A.example:443=gitlab")).toBe(
    "SVC_GIT_HOSTS names https://a.example twice.",
  );
});

test("credentials in an entry are refused and not repeated", () => {
  for (const entry of [
    "https://me:s3cr3t@git.example.com=gitlab",
    "s3cr3t@git.example.com=gitlab",
    "a:s3cr3t@b=x",
  ]) {
    expect(messageOf(entry)).toStartWith("SVC_GIT_HOSTS ");
    expect(messageOf(entry)).not.toContain("s3cr3t");
  }
});

function messageOf(text: string): string {
  try {
    hostsOf(text);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return "";
}

test.each([
  [
    "SVC_KUBERNETES_IMAGE",
    ["registry.example:5000/svc/sandbox:1.2@sha256:0a1b", "sandbox"],
    ["-x", "A B", "a\nb"],
  ],
  [
    "SVC_DOCKER_RUNTIME",
    ["runsc", "kata-runtime", "io.containerd.runc.v2"],
    ["-x", "a b", "a\nb", "/usr/bin/runsc"],
  ],
  ["SVC_KUBERNETES_NAMESPACE", ["sandboxes", "a-1"], ["-a", "a-", "A", "a/b", "../x", "a".repeat(64)]],
  [
    "SVC_KUBERNETES_RUNTIME_CLASS",
    ["gvisor", "kata-qemu", "a.b-1"],
    ["-a", "a.", "a..b", "A", "a b", "a".repeat(254)],
  ],
])("accepts or rejects the name %s", (name, good, bad) => {
  for (const value of good) expect(Object.values(readConfig({ [name]: value }))).toContain(value);
  for (const value of bad) expect(() => readConfig({ [name]: value })).toThrow(name);
  const { kubernetesImage, kubernetesNamespace } = readConfig({});
  expect({ kubernetesImage, kubernetesNamespace }).toEqual({
    kubernetesImage: null,
    kubernetesNamespace: null,
  });
});

test("sandbox kinds are a list, the default first", () => {
  expect(readConfig({}).sandboxProviders).toEqual([]);
  expect(readConfig({ SVC_SANDBOX_PROVIDER: "local" }).sandboxProviders).toEqual(["local"]);
  expect(readConfig({ SVC_SANDBOX_PROVIDER: "docker, local" }).sandboxProviders).toEqual(["docker", "local"]);
});

test("sandboxes are isolated unless the operator sets none, which is refused for root", () => {
  expect(readConfig({}, true).sandboxIsolation).toBe("required");
  expect(readConfig({ SVC_SANDBOX_ISOLATION: "required" }, true).sandboxIsolation).toBe("required");
  expect(readConfig({ SVC_SANDBOX_ISOLATION: "none" }, false).sandboxIsolation).toBe("none");
  expect(() => readConfig({ SVC_SANDBOX_ISOLATION: "none" }, true)).toThrow(
    /^SVC_SANDBOX_ISOLATION=none is refused for root.*install bubblewrap/,
  );
});

test("the session limit is for all tiers, or for one", () => {
  const caps = (text: string) => Object.fromEntries(readConfig({ SVC_SESSION_CAP: text }).sessionCaps);
  expect(caps("")).toEqual({ "*": 20 });
  expect(caps("3")).toEqual({ "*": 3 });
  expect(caps("5, free=0 team=50")).toEqual({ "*": 5, free: 0, team: 50 });
});

test("an OAuth app is for github.com unless another GitHub is set", () => {
  expect(readConfig({}).github).toBeNull();
  const app = { SVC_GITHUB_CLIENT_ID: "Iv1.a", SVC_GITHUB_CLIENT_SECRET: "s" };
  expect(readConfig(app).github).toMatchObject({
    url: "https://github.com",
    apiUrl: "https://api.github.com",
  });
  expect(readConfig({ ...app, SVC_GITHUB_URL: "https://ghe.example.com/" }).github).toEqual({
    clientId: "Iv1.a",
    clientSecret: "s",
    url: "https://ghe.example.com",
    apiUrl: "https://ghe.example.com/api/v3",
  });
  expect(() => readConfig({ ...app, SVC_GITHUB_CLIENT_SECRET: "a\nsecret" })).toThrow("without blanks");
});

test.each([
  ["SVC_SANDBOX_PROVIDER", "moon"],
  ["SVC_SANDBOX_PROVIDER", "docker,moon"],
  ["SVC_SANDBOX_PROVIDER", "local,local"],
  ["SVC_SANDBOX_ISOLATION", "bubblewrap"],
  ["SVC_SESSION_CAP", "many"],
  ["SVC_SESSION_CAP", "-1"],
  ["SVC_SESSION_CAP", "free="],
  ["SVC_SESSION_CAP", "5,=3"],
  ["SVC_IDLE_TIMEOUT", "1"],
  ["SVC_IDLE_TIMEOUT", "an hour"],
  ["SVC_RUNTIME_BIN", "opencode"],
  ["SVC_PREVIEW_HOST", "https://x"],
  ["SVC_PREVIEW_HOST", "x:0"],
  ["SVC_LLM_BASE_URL", "http://alone"],
  ["SVC_LLM_API_KEY", "alone"],
  ["SVC_LLM_MODEL", "alone"],
  ["SVC_MODELS_FILE", "relative.toml"],
  ["SVC_LLM_SESSION_RATE", "0"],
  ["SVC_LLM_PROJECT_RATE", "many"],
  ["SVC_SIGN_UP", "everybody"],
  ["SVC_GITHUB_CLIENT_ID", "alone"],
  ["SVC_GITHUB_CLIENT_SECRET", "alone"],
  ["SVC_GITHUB_URL", "ftp://github.example.com"],
])("%s=%s is an error that names the variable", (name, value) => {
  const read = () => readConfig({ [name]: value });
  expect(read).toThrow(ConfigError);
  expect(read).toThrow(new RegExp(`^(?=.*${name})[^\\n]+$`));
});

test("a folder of releases must exist and be absolute", () => {
  expect(readConfig({}).releasesDir).toBeNull();
  expect(readConfig({ SVC_RELEASES_DIR: import.meta.dir }).releasesDir).toBe(import.meta.dir);
  for (const path of ["releases", join(import.meta.dir, "none"), import.meta.path])
    expect(() => readConfig({ SVC_RELEASES_DIR: path })).toThrow(/^SVC_RELEASES_DIR must be /);
});

test.each([
  // SVC_PUBLIC_URL, SVC_PREVIEW_HOST, whether cookies of one reach the other
  ["https://svc.example.com", "preview.example.com", true],
  ["https://example.com", "preview.example.com", true],
  ["https://svc.example.com", "example.com", true],
  ["https://svc.example.com:8443", "preview.example.com:8443", true],
  ["https://svc.example.co.uk", "preview.example.co.uk", true],
  ["https://svc.example.com.", "preview.example.com", true],
  ["http://svc.team.lan", "preview.team.lan", true],
  ["https://svc.example.com", "svc-previews.com", false],
  ["https://svc.example.com", "preview.example.net", false],
  ["https://a.co.uk", "b.co.uk", false],
  ["https://team.github.io", "previews.github.io", false],
  ["https://notexample.com", "example.com", false],
  ["http://localhost:8008", "localhost:8008", false],
  ["http://svc.localhost", "preview.localhost", false],
  ["http://127.0.0.1:8008", "preview.example.com", false],
  ["http://10.1.2.3", "10.1.2.3", false],
])("with %s, previews at %s share its cookies: %p", (url, host, shared) => {
  const env = { SVC_PUBLIC_URL: url, SVC_PREVIEW_HOST: host };
  if (shared) expect(() => readConfig(env)).toThrow(/^SVC_PREVIEW_HOST[^\n]*separate domain[^\n]*$/);
  else expect(readConfig(env).previewHost).toBe(host);
  expect(readConfig({ ...env, SVC_ALLOW_SHARED_PREVIEW_DOMAIN: "1" }).previewHost).toBe(host);
});

describe("docs/configuration.md", () => {
  const page = readFileSync(join(import.meta.dir, "../docs/configuration.md"), "utf8");
  const words = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word);
  const rows = [...page.matchAll(/^\| (`[A-Z`_, ]+`) \| (.+?) \| (.+) \|$/gm)].map(
    ([, names = "", byDefault = "", meaning = ""]) => ({ names: words(names), byDefault, meaning }),
  );
  /** What a variable needs beside it. */
  const BESIDE: Record<string, Record<string, string>> = {
    SVC_GITHUB_URL: { SVC_GITHUB_CLIENT_ID: "id", SVC_GITHUB_CLIENT_SECRET: "secret" },
  };
  const read = (name: string, value: string) => {
    const { publicUrlSource, ...config } = readConfig({ ...BESIDE[name], [name]: value }, false);
    return config;
  };
  const defaults = rows.flatMap(({ names, byDefault }) => {
    const values = words(byDefault);
    const isValue = byDefault.replace(/`[^`]+`(?:, )?/g, "") === "" && values.length === names.length;
    return isValue ? names.map((name, index): [string, string] => [name, values[index] ?? ""]) : [];
  });
  const ranges = rows.flatMap(({ names, meaning }) => {
    const [, low, high] = /[ ;](\d+) to (\d+)\./.exec(meaning) ?? [];
    return low && high
      ? names.map((name): [string, number, number] => [name, Number(low), Number(high)])
      : [];
  });

  test("has a row for every variable that the server reads", () => {
    const files = ["config.ts", "config/settings.ts", "config/preview-domain.ts"];
    const source = files.map((file) => readFileSync(join(import.meta.dir, "../src", file), "utf8")).join("");
    const known = rows.flatMap(({ names }) => names);
    const isRead = new Set(source.match(/(?<=")(?:SVC_[A-Z_]+|DATABASE_URL)(?=")/g));
    expect(isRead.size).toBeGreaterThan(30);
    expect([...isRead].filter((name) => !known.includes(name))).toEqual([]);
    expect(defaults.length).toBeGreaterThan(15);
    expect(ranges.length).toBeGreaterThan(3);
  });

  test.each(defaults)("%s has the default %s", (name, value) => {
    expect(read(name, value.replace(/^~/, homedir()))).toEqual(read(name, ""));
  });

  test.each(ranges)("%s has the range %d to %d", (name, low, high) => {
    for (const value of [low, high]) expect(() => read(name, `${value}`)).not.toThrow();
    for (const value of [low - 1, high + 1]) expect(() => read(name, `${value}`)).toThrow(name);
  });
});

test.each([
  ["SVC_PORT", "http"],
  ["SVC_PORT", "70000"],
  ["SVC_DATA_DIR", "relative/path"],
  ["SVC_DATA_DIR", `/${"x".repeat(100)}`],
  ["SVC_PUBLIC_URL", "localhost:8008"],
  ["SVC_PUBLIC_URL", "https://user:hunter2@example.com"],
  ["DATABASE_URL", "mysql://user:hunter2@host/db"],
  ["SVC_MASTER_KEY", "hunter2"],
  ["SVC_ALLOW_PRIVATE_REPOS", "maybe"],
  ["SVC_SSH_KEYS", "everyone"],
  ["SVC_LOG_LEVEL", "loud"],
  ["SVC_NO_REPLY_HOST", "a b"],
])("an invalid %s is an error of one line that names it, and does not repeat it: %s", (name, value) => {
  const read = () => readConfig({ SVC_DATA_DIR: "/nonexistent", [name]: value });
  expect(read).toThrow(ConfigError);
  expect(read).toThrow(new RegExp(`^${name} (?!.*hunter2)[^\\n]+$`));
});
