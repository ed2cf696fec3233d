import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { renderCompose } from "../../../cli/commands/self-host/compose-file.ts";
import { hashOf, renderEnv } from "../../../cli/commands/self-host/env-file.ts";
import { renderPlist, renderUnit } from "../../../cli/commands/self-host/service-files.ts";
import { checkSetting, firstSettings, isSecret, SETTINGS } from "../../../cli/commands/self-host/settings.ts";
import { stackOf } from "../../../cli/commands/self-host/stack.ts";
import { readDotenv } from "../../../cli/dotenv.ts";
import { fc } from "../../helpers/property.ts";

const STACK = stackOf({ env: { HOME: "/home/ada" } });
const IMAGES = { api: "svc-self-host-api:1", postgres: "postgres:17-bookworm", caddy: "caddy:2" };
const HOSTILE = [
  "$HOME ${HOME} $$",
  'it\'s "quoted" \\ and # not a comment',
  " leading and trailing ",
  "a: b\n- c",
  "über 🐘 \u2028 \u0085 \u007f",
  "%h %% *anchor &x !tag",
  "'",
  "`id` $(id)",
  "",
];

const values = fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: "binary" }));
const settings = fc.dictionary(fc.stringMatching(/^[A-Z][A-Z0-9_]{0,20}$/), values);

test("any value of a setting is read back from the settings file", () => {
  fc.assert(
    fc.property(settings, (given) => {
      const env = new Map(Object.entries(given));
      const read = readDotenv(renderEnv(env));
      expect("values" in read && [...read.values]).toEqual([...env]);
    }),
  );
});

test("a shell would not expand a value of the settings file", () => {
  expect(renderEnv(new Map([["A", "$HOME"]]))).toEndWith('\nA="\\$HOME"\n');
});

/** What Compose does to a value: `$$` is a dollar sign, any other is a variable. */
function interpolate(text: string): string {
  expect(text.replaceAll("$$", "")).not.toContain("$");
  return text.replaceAll("$$", "$");
}

function parsed(env: ReadonlyMap<string, string>, socket = "/var/run/docker.sock") {
  const text = renderCompose(env, IMAGES, socket, STACK);
  expect(text).toMatch(/^[\n\x20-\x7e]*$/);
  // biome-ignore lint/suspicious/noExplicitAny: the assertions look into it
  const file: any = Bun.YAML.parse(text);
  return file;
}

test("any value reaches the container of svc-api unchanged", () => {
  fc.assert(
    fc.property(values, (value) => {
      const { api } = parsed(new Map([["SVC_LLM_API_KEY", value]])).services;
      // Bun's parser of YAML replaces half a surrogate pair
      if (value.isWellFormed()) expect(interpolate(api.environment.SVC_LLM_API_KEY)).toBe(value);
    }),
  );
});

test("only loopback ports are published, and svc-api has no capabilities", () => {
  const env = firstSettings("compose", 5433);
  const { services, volumes } = parsed(
    new Map([...env, ["NODE_EXTRA_CA_CERTS", "/etc/our $ ca.pem"]]),
    "/run/a:b",
  );
  expect(services.db.ports).toEqual(["127.0.0.1:5433:5432"]);
  expect(services.db.environment.POSTGRES_PASSWORD).toBe(env.get("POSTGRES_PASSWORD"));
  expect(services.api.ports).toBeUndefined();
  expect(services.api).toMatchObject({
    cap_drop: ["ALL"],
    read_only: true,
    security_opt: ["no-new-privileges:true"],
    environment: {
      SVC_HOST: "127.0.0.1",
      SVC_PORT: "13738",
      DATABASE_URL: `postgres://svc:${env.get("POSTGRES_PASSWORD")}@127.0.0.1:5433/svc`,
      NODE_EXTRA_CA_CERTS: "/etc/svc-authority.pem",
    },
  });
  expect(services.api.environment).not.toHaveProperty("POSTGRES_PASSWORD");
  expect(services.api.volumes).toEqual([
    "data:/var/lib/svc",
    { type: "bind", source: "/run/a:b", target: "/var/run/docker.sock" },
    { type: "bind", source: "/etc/our $$ ca.pem", target: "/etc/svc-authority.pem", read_only: true },
  ]);
  expect(Object.keys(volumes)).toEqual(["db", "data"]);
});

test("a service manager gets the command's words as they are", () => {
  const path = "/usr/bin:/a b";
  const unit = renderUnit(['/home/a da/%n $x "q"/svc', "self-host", "supervise"], STACK, path);
  expect(unit).toContain('ExecStart="/home/a da/%%n $$x \\"q\\"/svc" "self-host" "supervise"\n');
  expect(unit).toContain(`Environment="SVC_SELF_HOST_DIR=${STACK.dir}" "PATH=${path}"\n`);
  const plist = renderPlist(["/a <b>&c/svc", "self-host"], STACK, "svc.x", path);
  expect(plist).toContain("<string>/a &#60;b&#62;&#38;c/svc</string>\n    <string>self-host</string>");
});

test("settings are the same whatever their order", () => {
  const one = new Map([
    ["A", "1"],
    ["B", "2"],
  ]);
  expect(hashOf(new Map([...one].reverse()))).toBe(hashOf(one));
  expect(
    hashOf(
      new Map([
        ["A", "2"],
        ["B", "1"],
      ]),
    ),
  ).not.toBe(hashOf(one));
});

describe("settings", () => {
  test("every variable of docs/configuration.md can be set, and is one of the list", () => {
    const page = readFileSync(join(import.meta.dir, "../../../docs/configuration.md"), "utf8");
    const names = [...page.matchAll(/^\| (`[A-Z_`, ]+`) \|/gm)].flatMap(
      ([, cell = ""]) => cell.match(/[A-Z_]+/g) ?? [],
    );
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter((name) => !SETTINGS.includes(name))).toEqual([]);
  });

  test("a new server's secrets are random", () => {
    const [one, other] = [firstSettings("compose", 1), firstSettings("compose", 1)];
    for (const name of ["SVC_MASTER_KEY", "POSTGRES_PASSWORD"]) {
      expect(one.get(name)).toMatch(/^[0-9a-f]{64}$/);
      expect(one.get(name)).not.toBe(other.get(name));
    }
    expect([...firstSettings("native", null).keys()]).toEqual(["SVC_HOST", "SVC_PORT", "SVC_MASTER_KEY"]);
  });

  test.each([
    ["SVC_MASTER_KEY", "x", true],
    ["POSTGRES_PASSWORD", "x", true],
    ["SVC_GITHUB_CLIENT_SECRET", "x", true],
    ["SVC_LLM_API_KEY", "", true],
    ["HTTPS_PROXY", "http://ada:pw@proxy:3128", true],
    ["DATABASE_URL", "postgres://svc:pw@db/svc", true],
    ["HTTPS_PROXY", "http://proxy:3128/a@b", false],
    ["SVC_PORT", "13738", false],
  ])("%s=%s is secret: %p", (name, value, secret) => {
    expect(isSecret(name, value)).toBe(secret);
  });

  test.each([
    ["SVC_SIGN_UP", "open", "native", null],
    ["SVC_SIGN_UP", "", "native", null],
    ["SVC_PORT", "1", "native", null],
    ["SVC_PORT", "65536", "native", "SVC_PORT must be a port"],
    ["SVC_PORT", "0", "native", "SVC_PORT must be a port"],
    ["SVC_HOST", "::1", "native", null],
    ["SVC_HOST", "example.com", "native", "SVC_HOST must be an IP address"],
    ["SVC_FOO", "1", "native", "SVC_FOO is not a setting"],
    ["svc_port", "1", "native", "svc_port is not a setting"],
    ["SVC_MASTER_KEY", "ab", "native", "SVC_MASTER_KEY cannot be changed"],
    ["SVC_MASTER_KEY", "", "compose", "SVC_MASTER_KEY cannot be changed"],
    ["SVC_DATA_DIR", "/x", "native", "SVC_DATA_DIR cannot be changed"],
    ["DATABASE_URL", "postgres://h/d", "native", null],
    ["DATABASE_URL", "postgres://h/d", "compose", "DATABASE_URL cannot be changed"],
    ["POSTGRES_PASSWORD", "x", "compose", "POSTGRES_PASSWORD cannot be changed"],
    ["SVC_LLM_MODEL", "a\nB=1", "native", "must be one line"],
    ["SVC_LLM_MODEL", "a\u001b[2J", "native", "must be one line"],
    ["SVC_LLM_MODEL", "x".repeat(8193), "native", "longer than"],
    ["NODE_EXTRA_CA_CERTS", "ca.pem", "compose", "must be the absolute path"],
  ] as const)("%s=%j with %s", (name, value, mode, problem) => {
    const check = () => checkSetting(name, value, mode);
    if (problem === null) expect(check).not.toThrow();
    else expect(check).toThrow(problem);
  });
});

test("a folder of its own has a project of its own", () => {
  const project = (dir: string) => stackOf({ env: { HOME: "/h", SVC_SELF_HOST_DIR: dir } }).project;
  expect(STACK).toMatchObject({ dir: "/home/ada/.svc/self-host", project: "svc-self-host" });
  expect(project("/a/")).toBe(project("/a"));
  expect(new Set([project("/a"), project("/b"), STACK.project]).size).toBe(3);
  expect(() => project("a")).toThrow("absolute");
  expect(() => project(`/${"x".repeat(90)}`)).toThrow("too long");
});
