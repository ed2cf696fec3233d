import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { renderCaddyfile } from "../../../cli/commands/self-host/caddy-file.ts";
import { renderCompose } from "../../../cli/commands/self-host/compose-file.ts";
import { stackOf } from "../../../cli/commands/self-host/stack.ts";
import { needs } from "../../helpers/needs.ts";

const caddyTest = needs("Caddy 2 (caddy)", Bun.which("caddy") !== null);
const folder = mkdtempSync(join(tmpdir(), "svc-caddy-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const env = (settings: Record<string, string>) =>
  new Map(
    Object.entries({
      SVC_HOST: "127.0.0.1",
      SVC_PORT: "13738",
      SVC_SELF_HOST_TLS: "caddy",
      SVC_PUBLIC_URL: "https://svc.example.com",
      ...settings,
    }),
  );

const CASES: readonly (readonly [string, Record<string, string>])[] = [
  ["a public name alone", {}],
  ["a port", { SVC_PUBLIC_URL: "https://svc.example.com:8443" }],
  ["previews", { SVC_PREVIEW_HOST: "example-previews.net" }],
  ["an international name", { SVC_PUBLIC_URL: "https://sv\u00e7.example.com" }],
  ["previews, and no public apps", { SVC_PREVIEW_HOST: "example-previews.net", SVC_PUBLIC_APPS: "0" }],
  ["neither previews nor public apps", { SVC_PUBLIC_APPS: "0" }],
  ["an IPv6 listener", { SVC_HOST: "::1", SVC_PREVIEW_HOST: "example-previews.net:443" }],
];

for (const [name, settings] of CASES) {
  caddyTest(`Caddy accepts the file for ${name}`, () => {
    const file = join(folder, "Caddyfile");
    writeFileSync(file, renderCaddyfile(env(settings)));
    const ran = Bun.spawnSync(["caddy", "adapt", "--config", file, "--adapter", "caddyfile"], {
      env: { PATH: process.env["PATH"] ?? "", HOME: folder },
    });
    expect(ran.stderr.toString()).not.toContain("Error");
    expect(ran.exitCode).toBe(0);
    const { apps } = JSON.parse(ran.stdout.toString());
    const { routes } = Object.values<{ routes: { match?: { host: string[] }[] }[] }>(
      apps.http.servers,
    )[0] ?? {
      routes: [],
    };
    // the route for the domains of apps is for any name, and comes after the others
    const names = routes.map(({ match }) => match?.flatMap(({ host }) => host) ?? "any");
    const hosts = names
      .flat()
      .filter((one) => one !== "any")
      .sort();
    const hasDomains = settings["SVC_PUBLIC_APPS"] !== "0";
    expect(names.indexOf("any")).toBe(hasDomains ? names.length - 1 : -1);
    const preview = settings["SVC_PREVIEW_HOST"] === undefined ? [] : ["*.example-previews.net"];
    expect(hosts).toEqual(
      [...preview, new URL(settings["SVC_PUBLIC_URL"] ?? "https://svc.example.com").hostname].sort(),
    );
    const asked = apps.tls?.automation?.on_demand?.ask ?? null;
    expect(asked !== null).toBe(preview.length > 0 || hasDomains);
    expect(JSON.stringify(apps)).toContain('"flush_interval":-1');
  });
}

const HOSTILE: readonly Record<string, string>[] = [
  { SVC_PUBLIC_URL: "" },
  { SVC_PUBLIC_URL: "http://svc.example.com" },
  { SVC_PUBLIC_URL: "https://localhost" },
  { SVC_PUBLIC_URL: "https://svc.localhost" },
  { SVC_PUBLIC_URL: "https://10.0.0.1" },
  { SVC_PUBLIC_URL: "https://[::1]" },
  { SVC_PUBLIC_URL: "https://svc" },
  { SVC_PUBLIC_URL: "https://svc_x.example.com" },
  { SVC_PUBLIC_URL: "https://-svc.example.com" },
  { SVC_PUBLIC_URL: `https://${"a".repeat(64)}.example.com` },
  { SVC_PREVIEW_HOST: "example.net {\n}\n:80" },
  { SVC_PREVIEW_HOST: "example.net, evil.example.org" },
  { SVC_PREVIEW_HOST: "*.example.net" },
  { SVC_PREVIEW_HOST: "{env.SECRET}.net" },
  { SVC_PREVIEW_HOST: "localhost" },
  { SVC_PREVIEW_HOST: "EXAMPLE.net" },
  { SVC_PREVIEW_HOST: "example.net\t" },
];

test("names that cannot have a certificate, or are syntax, are refused", () => {
  for (const settings of HOSTILE) {
    const render = () => renderCaddyfile(env(settings));
    expect([settings, render]).toEqual([settings, expect.any(Function)]);
    expect(render).toThrow(/TLS with Caddy needs|is not a public name/);
  }
});

test("the Compose file has Caddy only where it was chosen", () => {
  const images = { api: "api:1", postgres: "postgres:17", caddy: "caddy:2" };
  const stack = stackOf({ env: { SVC_SELF_HOST_DIR: "/srv/a$b" } });
  const services = (settings: Record<string, string>) => {
    const text = renderCompose(env(settings), images, "/var/run/docker.sock", stack);
    return JSON.parse(text.replace(/^#.*$/gm, ""));
  };
  const file = services({});
  expect(file.services.caddy.volumes[1].source).toBe("/srv/a$$b/Caddyfile");
  expect(file.services.api.environment.SVC_TRUSTED_PROXIES).toBe("127.0.0.1,::1");
  expect(file.services.api.environment.SVC_SELF_HOST_TLS).toBeUndefined();
  expect(file.volumes.caddy).toEqual({});
  const without = services({ SVC_SELF_HOST_TLS: "" });
  expect(without.services.caddy).toBeUndefined();
  expect(without.services.api.environment.SVC_TRUSTED_PROXIES).toBeUndefined();
  expect(services({ SVC_TRUSTED_PROXIES: "10.0.0.1" }).services.api.environment.SVC_TRUSTED_PROXIES).toBe(
    "10.0.0.1",
  );
});
