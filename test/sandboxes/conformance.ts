import { afterAll, beforeAll, describe, expect } from "bun:test";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Provider, ProviderOptions, Sandbox } from "../../src/sandboxes/provider.ts";
import { needs } from "../helpers/needs.ts";
import { sample, share } from "../helpers/random.ts";
import {
  type ApiStandIn,
  ask,
  health,
  optionsOf,
  specOf,
  startApiStandIn,
  startSandbox,
  watchOf,
} from "../helpers/sandbox-bench.ts";
import { standInPrograms } from "../helpers/stand-in-programs.ts";
import { until } from "../helpers/until.ts";

/** A provider whose promises (`src/sandboxes/provider.ts`) are tested. */
export interface Candidate {
  name: string;
  /** What a machine needs for it, and whether this one has it. */
  requires: readonly [name: string, present: boolean];
  /**
   * Makes the provider as a server does that starts; with the options of an earlier one it is the server that comes
   * after that one was killed.
   */
  make(options: ProviderOptions): Promise<Provider>;
  /** What there is on the machine of a sandbox, by whatever name, asked without the provider; empty: nothing. */
  leftovers(options: ProviderOptions, sessionId: string): Promise<string[]>;
  /** Whether a sandbox is kept from looking at others and at the machine. */
  isolates: boolean;
  /** Where the API stands so that sandboxes reach it; default: 127.0.0.1. */
  apiHost?: string;
  /** Called once, when all is over. */
  cleanUp?(): Promise<void>;
}

const GRACE_MS = 5_000;
/** When a start is aborted: at its first step or line, or so many milliseconds after its beginning. */
const ABORTS = ["step", "line", ...sample(3, [0, 3, 10, 30, 60, 100, 200, 400, 800])] as const;
/** How a sandbox exits, with the exit code that it reports. */
const EXITS = [
  ...sample(1, [
    ["exit code 0", { do: "exit", code: 0 }, 0],
    ["exit code 7", { do: "exit", code: 7 }, 7],
  ] as const),
  ...sample(1, [
    ["SIGKILL", { do: "die", signal: 9 }, 137],
    ["SIGSEGV", { do: "die", signal: 11 }, 139],
  ] as const),
];
const AT_ONCE = Math.min(share(4, 10), 10);

/** The table of docs/security.md. */
const ESCAPES =
  readFileSync(join(import.meta.dir, "../../docs/security.md"), "utf8")
    .split("## What an agent cannot do")[1]
    ?.matchAll(/^\| (.+) \| `(.+)` \|$/gm)
    .map(([, attempt = "", by = ""]) => ({ attempt, by }))
    .toArray() ?? [];

/** What a project's secrets may hold, at its worst. */
const HOSTILE: Readonly<Record<string, string>> = {
  HOSTILE_NEWLINES: "one\ntwo\r\n\nfive\n",
  HOSTILE_QUOTES: `'single' "double" \`back\` \\ \\n '"'"' $'x'`,
  HOSTILE_SHELL: '$(touch /tmp/owned) ${HOME} `id` $HOME ; exit 7 && | > /tmp/owned # "',
  HOSTILE_LENGTH: "x".repeat(64 * 1024),
  HOSTILE_UNICODE: "żółć 日本語 🦊 \u202e\u0000".replace("\u0000", "").repeat(3),
  HOSTILE_CONTROL: "\u0001\u001b[31m\u007f\t\u0008",
  HOSTILE_EMPTY: "",
  HOSTILE_EQUALS: "=a=b==",
  HOSTILE_DASHES: "--setenv X Y --",
  HOSTILE_TEMPLATE: "%s %n {{x}} $$(X) $(SVC_TOKEN)",
};

/** Settings of a server that its sandboxes do not get. */
const OF_SERVER = [
  "DATABASE_URL",
  "SVC_MASTER_KEY",
  "AWS_SECRET_ACCESS_KEY",
  "GITHUB_TOKEN",
  "SVC_LOG_LEVEL",
];

/** Registers the tests of everything that a provider promises. */
export function conformance(candidate: Candidate): void {
  const test = needs(...candidate.requires);
  const made: { provider: Provider; options: ProviderOptions }[] = [];
  let binaries: string;
  let api: ApiStandIn;
  /** Used by the tests that need no provider of their own. */
  let options: ProviderOptions;
  let provider: Provider;
  /** Used by the tests that need no sandbox of their own: it has hostile values, and its server had secrets as it started. */
  let shared: Sandbox;
  const sharedSpec = specOf({ ...HOSTILE, MARK: "mark-of-the-other" });
  const secret = `of-the-server-${crypto.randomUUID()}`;

  const make = async (given: ProviderOptions): Promise<Provider> => {
    const provider = await candidate.make(given);
    made.push({ provider, options: given });
    return provider;
  };
  const gone = async (sessionId: string, of = options): Promise<void> =>
    expect(await candidate.leftovers(of, sessionId)).toEqual([]);

  describe(candidate.name, () => {
    beforeAll(async () => {
      if (!candidate.requires[1]) return;
      binaries = await standInPrograms();
      api = startApiStandIn(candidate.apiHost);
      options = optionsOf(api, binaries);
      provider = await make(options);
      shared = await withSecrets(secret, () => startSandbox(provider, sharedSpec));
    });

    afterAll(async () => {
      for (const { provider, options } of made) {
        for (const { sessionId } of await provider.list()) await provider.stop(sessionId, 0);
        await provider.close();
        rmSync(options.dataDir, { recursive: true, force: true });
      }
      await candidate.cleanUp?.();
      await api?.stop();
    });

    test("a sandbox starts, answers at its address, reaches the API, and is listed with its logs until it is asked to end", async () => {
      const spec = specOf();
      expect(await provider.find(spec.sessionId)).toBeNull();
      expect(await provider.logs(spec.sessionId, 1000)).toHaveLength(0);
      const watch = watchOf();
      const sandbox = await startSandbox(provider, spec, watch);
      expect(sandbox).toMatchObject({
        sessionId: spec.sessionId,
        generation: 1,
        state: "running",
        exitCode: null,
        outOfMemory: false,
      });
      expect(watch.steps.at(-1)).toBe("sandbox");
      const environment = await ask(sandbox, { do: "environment" });
      expect(environment).toMatchObject({
        SVC_SESSION_ID: spec.sessionId,
        SVC_PROJECT_ID: spec.projectId,
        SVC_TOKEN: "svc_sb_of_the_tests",
      });
      for (const name of ["SVC_API_URL", "SVC_REPO_URL"]) {
        const answer = await ask(sandbox, { do: "visit", url: `${environment[name]}/${spec.sessionId}` });
        expect(answer).toBe("200 the API of the tests");
      }
      expect(api.visits.filter((path) => path.endsWith(spec.sessionId))).toHaveLength(2);

      expect(await provider.find(spec.sessionId)).toEqual(sandbox);
      expect(await provider.list()).toContainEqual(sandbox);
      const hostile = Buffer.from("\u001b]0;title\u0007\u001b[2J żółć \u202e\r\n", "utf8");
      await ask(sandbox, { do: "print", base64: hostile.toString("base64") });
      await until("the line is in the log", async () =>
        Buffer.from(await provider.logs(spec.sessionId, 100_000)).includes(hostile),
      );
      const log = Buffer.from(await provider.logs(spec.sessionId, 100_000));
      expect(log.toString()).toContain("listening on");
      const end = Buffer.from(await provider.logs(spec.sessionId, 10));
      expect(end).toHaveLength(10);
      expect(log.subarray(-10)).toEqual(end);

      // if it did not get SIGTERM first, this would take longer than a test may
      await provider.stop(spec.sessionId, 3_600_000);
      expect(api.visits).toContain(`/v1/asked-to-end/${spec.sessionId}`);
      expect(await health(sandbox)).toBeNull();
      expect(await provider.find(spec.sessionId)).toBeNull();
      expect((await provider.list()).map(({ sessionId }) => sessionId)).not.toContain(spec.sessionId);
      await gone(spec.sessionId);
    });

    test("svc and git are on a sandbox's PATH", async () => {
      const svc = await ask(shared, { do: "run", command: ["sh", "-c", "svc; git --version"] });
      expect(svc.out).toMatch(/^svc of the tests\ngit version/);
    });

    test("hostile values arrive byte for byte", async () => {
      expect(await ask(shared, { do: "environment" })).toMatchObject(HOSTILE);
      const names = Object.keys(HOSTILE);
      const script = `for name in ${names.join(" ")}; do printenv $name | tr '\\n' n | wc -c; done`;
      const { out } = await ask(shared, { do: "run", command: ["sh", "-c", script] });
      // printenv adds a line's end
      const lengths = names.map((name) => Buffer.byteLength(HOSTILE[name] ?? "") + 1);
      expect(out.trim().split(/\s+/).map(Number)).toEqual(lengths);
    });

    test("a sandbox has nothing of the server's environment", async () => {
      expect(JSON.stringify(await ask(shared, { do: "environment" }))).not.toContain(secret);
      if (!candidate.isolates) return;
      const look = "cat /proc/[0-9]*/environ 2>/dev/null";
      const { out } = await ask(shared, { do: "run", command: ["sh", "-c", look] });
      expect(out).not.toContain(secret);
    });

    if (candidate.isolates)
      test("its agent cannot do anything that docs/security.md excludes", async () => {
        expect(ESCAPES.length).toBeGreaterThan(10);
        const { PATH, SVC_RUNTIME_WRAP = "[]" } = await ask(shared, { do: "environment" });
        // the daemon gives its agent an environment without its own keys
        const before = ["env", "-i", `PATH=${PATH}`, ...JSON.parse(SVC_RUNTIME_WRAP)];
        const asAgent = async (script: string) =>
          await ask(shared, { do: "run", command: [...before, "sh", "-c", `${script}; echo "[$?]"`] });
        expect((await asAgent("id -u")).out).toBe("1000\n[0]\n");
        for (const { attempt, by } of ESCAPES) {
          const { out, err } = await asAgent(by);
          // a program that is not there would prove nothing
          expect([attempt, out, err]).toEqual([
            attempt,
            expect.stringMatching(/^\[(?!0\]|126\]|127\])\d+\]\n$/),
            expect.any(String),
          ]);
        }
      });

    test("a log of many megabytes does not block the sandbox, and its end is kept", async () => {
      const line = `${"y".repeat(99)}\n`;
      const base64 = Buffer.from(line.repeat(10_000)).toString("base64");
      for (let count = 0; count < 12; count++) await ask(shared, { do: "print", base64 });
      await ask(shared, { do: "print", base64: Buffer.from("the very end\n").toString("base64") });
      await until("the end is in the log", async () =>
        Buffer.from(await provider.logs(shared.sessionId, 1000)).includes("the very end"),
      );
      const log = Buffer.from(await provider.logs(shared.sessionId, 64 * 1024));
      expect(log.length).toBe(64 * 1024);
      expect(log.toString()).toEndWith(`${line}the very end\n`);
    });

    test("a sandbox that does not end is killed after the grace period, with all its processes", async () => {
      const spec = specOf();
      const sandbox = await startSandbox(provider, spec);
      await ask(sandbox, { do: "ignore SIGTERM" });
      await ask(sandbox, {
        do: "spawn",
        command: ["sh", "-c", "trap '' TERM HUP; sleep 300 & wait; sleep 300"],
      });
      const orphan = "(trap '' TERM HUP; sleep 300 & sleep 300) >/dev/null 2>&1 &";
      await ask(sandbox, { do: "run", command: ["sh", "-c", orphan] });
      const begun = performance.now();
      await provider.stop(spec.sessionId, 500);
      expect(performance.now() - begun).toBeGreaterThan(450);
      expect(await health(sandbox)).toBeNull();
      await gone(spec.sessionId);
    });

    test("stopping an unknown sandbox is not an error", async () => {
      await provider.stop(crypto.randomUUID(), GRACE_MS);
    });

    test("a new start ends the remains of an earlier one, which the next server after a killed one has, too", async () => {
      const spec = specOf();
      const first = await startSandbox(provider, spec);
      await ask(first, {
        do: "run",
        command: ["sh", "-c", "echo left > left-behind; echo left > $HOME/left-behind"],
      });
      await ask(first, { do: "spawn", command: ["sleep", "300"] });
      const second = await startSandbox(provider, { ...spec, generation: 2 });
      expect(second.generation).toBe(2);
      expect(await provider.find(spec.sessionId)).toEqual(second);
      const listed = await provider.list();
      expect(listed.filter(({ sessionId }) => sessionId === spec.sessionId)).toEqual([second]);
      const look = "ls left-behind $HOME/left-behind";
      const { out } = await ask(second, { do: "run", command: ["sh", "-c", look] });
      expect(out).toBe("");

      const next = await make(options);
      expect(await next.find(spec.sessionId)).toEqual(second);
      expect(await next.list()).toContainEqual(second);
      expect(await health(second)).toBe(200);
      const log = async () => Buffer.from(await next.logs(spec.sessionId, 10_000)).toString();
      await until("its log is read", async () => (await log()).includes("listening on"));
      const again = await startSandbox(next, { ...spec, generation: 3 });
      expect(again.generation).toBe(3);
      await next.stop(spec.sessionId, GRACE_MS);
      expect(await next.find(spec.sessionId)).toBeNull();
      expect(await provider.find(spec.sessionId)).toBeNull();
      await gone(spec.sessionId);
    });

    test("a start that is aborted at any moment leaves nothing", async () => {
      for (const moment of ABORTS) {
        const spec = specOf();
        const abort = new AbortController();
        const watch = watchOf(() => typeof moment === "string" && abort.abort());
        if (typeof moment === "number") setTimeout(() => abort.abort(), moment);
        const outcome = await provider.start(spec, watch, abort.signal).then(
          () => "started",
          () => "aborted",
        );
        // it was there before the abort came
        if (outcome === "started" && typeof moment === "number") await provider.stop(spec.sessionId, 0);
        else expect({ moment, outcome }).toEqual({ moment, outcome: "aborted" });
        expect(await provider.find(spec.sessionId)).toBeNull();
        await gone(spec.sessionId);
      }
      const spec = specOf();
      expect(provider.start(spec, watchOf(), AbortSignal.abort())).rejects.toThrow();
      await gone(spec.sessionId);
    });

    test("ignores the sandboxes of another installation", async () => {
      const { sessionId } = sharedSpec;
      const other = await make(optionsOf(api, options.binaries));
      expect(await other.find(sessionId)).toBeNull();
      expect(await other.list()).toEqual([]);
      await other.stop(sessionId, 0);
      expect(await health(shared)).toBe(200);
      // not even by a session of the same name
      const same = await startSandbox(other, sharedSpec);
      expect(await health(shared)).toBe(200);
      expect(await health(same)).toBe(200);
      await other.stop(sessionId, 0);
      expect(await provider.find(sessionId)).toEqual(shared);
      expect(await health(shared)).toBe(200);
    });

    test.each(EXITS)(
      "a sandbox that exits with %s reports it, and its log stays",
      async (_, command, exitCode) => {
        const spec = specOf();
        const sandbox = await startSandbox(provider, spec);
        await ask(sandbox, { do: "print", base64: Buffer.from("last words\n").toString("base64") });
        await ask(sandbox, command).catch(() => {});
        await until("it has ended", async () => (await provider.find(spec.sessionId))?.state === "ended");
        const ended = await provider.find(spec.sessionId);
        if (!ended) throw new Error("it is not found any more");
        expect(ended).toMatchObject({
          generation: 1,
          state: "ended",
          address: null,
          exitCode,
          outOfMemory: false,
        });
        expect(await provider.list()).toContainEqual(ended);
        expect(Buffer.from(await provider.logs(spec.sessionId, 10_000)).toString()).toContain("last words");
        await provider.stop(spec.sessionId, GRACE_MS);
        await gone(spec.sessionId);
      },
    );

    test("concurrent sandboxes start at separate addresses, and end", async () => {
      const specs = Array.from({ length: AT_ONCE }, () => specOf());
      try {
        const sandboxes = await Promise.all(specs.map((spec) => startSandbox(provider, spec)));
        const addresses = sandboxes.map(({ address }) => JSON.stringify(address));
        expect(new Set(addresses).size).toBe(AT_ONCE);
        for (const [index, sandbox] of sandboxes.entries()) {
          const environment = await ask(sandbox, { do: "environment" });
          expect(environment["SVC_SESSION_ID"]).toBe(specs[index]?.sessionId);
        }
      } finally {
        await Promise.all(specs.map(({ sessionId }) => provider.stop(sessionId, 0)));
      }
      for (const { sessionId } of specs) await gone(sessionId);
    });

    if (candidate.isolates)
      test("a sandbox cannot see processes, environment or files of another or of the server", async () => {
        await ask(shared, { do: "run", command: ["sh", "-c", "echo mark-of-the-other > kept"] });
        await ask(shared, { do: "run", command: ["sh", "-c", "echo mark-of-the-other > /tmp/kept"] });
        const spec = specOf();
        try {
          const sandbox = await startSandbox(provider, spec);
          const sees = async (script: string): Promise<string> =>
            (await ask(sandbox, { do: "run", command: ["sh", "-c", script] })).out;
          const grep = (text: string) =>
            sees(
              `cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -c ${text}`,
            );
          expect(Number(await grep("svc-[a]gent"))).toBeGreaterThan(0);
          expect(await grep("mark-of-the-[o]ther")).toBe("0\n");
          expect(await grep(`[${shared.sessionId.slice(0, 1)}]${shared.sessionId.slice(1)}`)).toBe("0\n");
          expect(await sees(`ls -d ${options.dataDir} /proc/${process.pid}/cwd 2>/dev/null`)).toBe("");
          expect(await sees("cat kept /tmp/kept 2>/dev/null")).toBe("");
          expect(await sees("cat /etc/shadow 2>/dev/null | grep -v '^[^:]*:[!*]'")).toBe("");
          const sockets = ["/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock"];
          expect(await sees(`ls ${sockets.join(" ")} 2>/dev/null`)).toBe("");
          expect(
            await sees("touch /usr/bin/owned /etc/owned 2>/dev/null; ls /usr/bin/owned /etc/owned"),
          ).toBe("");
        } finally {
          await provider.stop(spec.sessionId, 0);
        }
      });
  });
}

/** Does this while the server's environment has a secret in each of its settings. */
async function withSecrets<T>(secret: string, act: () => Promise<T>): Promise<T> {
  const before = OF_SERVER.map((name) => [name, process.env[name]] as const);
  for (const name of OF_SERVER) process.env[name] = secret;
  try {
    return await act();
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}
