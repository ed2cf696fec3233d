import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { findEndpoint, isThere } from "../../../src/sandboxes/docker/endpoint.ts";

/** A machine with an engine at its default socket uses that one. */
const hasDefault = existsSync("/var/run/docker.sock");

describe("the endpoint of the engine", () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-endpoint-"));
  const listeners: { stop(): unknown }[] = [];
  let home: string;
  let env: Record<string, string>;
  let count = 0;

  beforeEach(() => {
    home = join(folder, `${count++}`);
    env = { XDG_RUNTIME_DIR: join(home, "run") };
    mkdirSync(env["XDG_RUNTIME_DIR"] ?? "", { recursive: true });
  });
  afterAll(() => {
    for (const listener of listeners) listener.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const listen = (name: string): string => {
    const path = join(home, name);
    mkdirSync(dirname(path), { recursive: true });
    listeners.push(Bun.listen({ unix: path, socket: { data() {} } }));
    return path;
  };
  const write = (name: string, value: unknown) => {
    const path = join(home, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof value === "string" ? value : JSON.stringify(value));
  };
  const context = (name: string, Host: unknown, config = ".docker") => {
    const id = new Bun.CryptoHasher("sha256").update(name).digest("hex");
    write(`${config}/contexts/meta/${id}/meta.json`, { Name: name, Endpoints: { docker: { Host } } });
  };
  const found = () => findEndpoint(env, home);

  /** From the most preferred on. */
  const USUAL = [
    "run/docker.sock",
    ".docker/run/docker.sock",
    ".colima/default/docker.sock",
    ".orbstack/run/docker.sock",
    "run/podman/podman.sock",
  ];

  test("is the first of the usual sockets, the default one before all others", () => {
    for (const name of USUAL.toReversed()) {
      const socket = hasDefault ? "/var/run/docker.sock" : listen(name);
      expect(found()).toEqual({ url: `unix://${socket}`, socket, source: "its usual socket" });
      expect(isThere(found())).toBe(true);
    }
  });

  test("is the default socket if there is none", () => {
    write("run/docker.sock", "a file");
    if (hasDefault || existsSync("/run/podman/podman.sock")) return;
    expect(found()).toMatchObject({ socket: "/var/run/docker.sock" });
    expect(isThere(found())).toBe(false);
  });

  test("is that of the current context, before the usual sockets", () => {
    for (const name of USUAL) listen(name);
    context("colima", "unix:///colima.sock");
    context("other", "unix:///other.sock");
    write(".docker/config.json", { currentContext: "colima" });
    expect(found()).toEqual({
      url: "unix:///colima.sock",
      socket: "/colima.sock",
      source: "the context colima",
    });
    env["DOCKER_CONTEXT"] = "other";
    expect(found()).toMatchObject({ socket: "/other.sock", source: "the context other" });
    env["DOCKER_CONTEXT"] = "default";
    expect(found().source).toBe("its usual socket");
    env["DOCKER_CONTEXT"] = "";
    context("elsewhere", "unix:///elsewhere.sock", "config");
    write("config/config.json", { currentContext: "elsewhere" });
    env["DOCKER_CONFIG"] = join(home, "config");
    expect(found().source).toBe("the context elsewhere");
  });

  test.each([
    ["of another machine", "ssh://me@host"],
    ["over TCP", "tcp://127.0.0.1:2375"],
    ["without a path", "unix://"],
    ["that is not text", { a: 1 }],
  ])("is not that of a context %s", (_, host) => {
    listen("run/docker.sock");
    context("x", host);
    write(".docker/config.json", { currentContext: "x" });
    expect(found().source).toBe("its usual socket");
  });

  test.each(["", "{", "null", "[1]", '{"currentContext": 1}', '{"currentContext": "../../x"}'])(
    "is found with the configuration %j",
    (text) => {
      write(".docker/config.json", text);
      expect(found().source).toBe("its usual socket");
    },
  );

  test("is DOCKER_HOST before all else", () => {
    listen("run/docker.sock");
    context("x", "unix:///x.sock");
    write(".docker/config.json", { currentContext: "x" });
    for (const url of ["unix:///a.sock", "tcp://10.0.0.1:2376"]) {
      env["DOCKER_HOST"] = url;
      expect(found()).toEqual({ url, socket: null, source: "DOCKER_HOST" });
    }
  });
});
