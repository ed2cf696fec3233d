import { afterAll, beforeAll, describe, expect } from "bun:test";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pack } from "tar-stream";
import { WAIT_LIMIT_MS } from "../../../scripts/test/limit.ts";
import { createDockerProvider } from "../../../src/sandboxes/docker/docker.ts";
import { LABEL } from "../../../src/sandboxes/docker/names.ts";
import {
  type ImageBuild,
  type Provider,
  type ProviderOptions,
  SandboxError,
  type SandboxSpec,
} from "../../../src/sandboxes/provider.ts";
import { agentFolder, agentProgram } from "../../../src/sandboxes/runtime/agents.ts";
import { runtimeFolder } from "../../../src/sandboxes/runtime/install.ts";
import { DOCKER, docker } from "../../helpers/docker-engine.ts";
import { needs } from "../../helpers/needs.ts";
import { makeNeighbour } from "../../helpers/neighbour.ts";
import { sample } from "../../helpers/random.ts";
import {
  type ApiStandIn,
  ask,
  optionsOf,
  specOf,
  startApiStandIn,
  startSandbox,
  watchOf,
} from "../../helpers/sandbox-bench.ts";
import { standInPrograms } from "../../helpers/stand-in-programs.ts";
import { until } from "../../helpers/until.ts";

const test = needs(...DOCKER);

describe("images of sandboxes in Docker", () => {
  let binaries: string;
  let api: ApiStandIn;
  const made: { provider: Provider; options: ProviderOptions }[] = [];
  /** Used by the tests that need no provider of their own. */
  let provider: Provider;
  /** Each image has the programs of a hundred megabytes, so most tests have this one. */
  const shared = buildOf({
    ".svc/Dockerfile": [
      "FROM debian:bookworm-slim",
      `RUN echo built-once-${crypto.randomUUID()}`,
      "COPY sub/hello.txt /hello.txt",
      "RUN useradd --uid 1000 node",
      "ENV FROM_IMAGE=yes BUN_OPTIONS=--version BUN_BE_BUN=1 LD_PRELOAD=/nothing.so",
      // what would stand in for svc's own
      "LABEL svc.session=0f0f0f0f-0000-4000-8000-000000000000 svc.role=fence svc.user=0:0",
      'ENTRYPOINT ["false"]',
      "HEALTHCHECK CMD false",
      "USER node",
      "",
    ].join("\n"),
    "sub/hello.txt": "hello\n",
  });

  beforeAll(async () => {
    if (!DOCKER[1]) return;
    binaries = await standInPrograms();
    api = startApiStandIn();
    provider = make();
  });

  afterAll(async () => {
    for (const { provider, options } of made) {
      await stopAll(provider);
      await provider.close();
      rmSync(options.dataDir, { recursive: true, force: true });
    }
    await api?.stop();
  });

  function make(changes: Partial<ProviderOptions> = {}): Provider {
    const options = { ...optionsOf(api, binaries), ...changes };
    const provider = createDockerProvider(options);
    made.push({ provider, options });
    return provider;
  }

  /** Starts a sandbox from a Dockerfile and ends it. @returns the log, and the error if it failed */
  async function tryBuild(provider: Provider, files: Record<string, string>, dockerfile = ".svc/Dockerfile") {
    const spec = specOf({}, { build: buildOf(files, dockerfile) });
    const watch = watchOf();
    const failure = await provider.start(spec, watch, AbortSignal.timeout(WAIT_LIMIT_MS)).then(
      () => null,
      (error: unknown) => error,
    );
    await provider.stop(spec.sessionId, 0);
    return { failure, lines: watch.lines };
  }

  test("an image is built once: neither the next start nor the next server builds, and starts at once share a build", async () => {
    const watches = [1, 2, 3].map(() => watchOf());
    const start = (provider: Provider, index: number) =>
      provider.start(
        specOf({}, { build: shared }),
        watches[index] ?? watchOf(),
        AbortSignal.timeout(WAIT_LIMIT_MS),
      );
    await Promise.all([start(provider, 0), start(provider, 1)]);
    const built = (index: number) => watches[index]?.lines.filter((line) => line.startsWith("build:")) ?? [];
    expect(built(0).join("\n")).toContain("RUN echo built-once");
    expect(built(1)).toEqual(built(0));
    const next = make();
    await start(next, 2);
    expect(built(2)).toEqual([]);
    for (const server of [provider, next]) await stopAll(server);
  });

  test("an image is the project's Dockerfile plus svc's programs, a workspace and an unprivileged user", async () => {
    const sandbox = await startSandbox(provider, specOf({}, { build: shared }));
    const { out } = await ask(sandbox, {
      do: "run",
      command: [
        "sh",
        "-c",
        "cat /hello.txt; id -u; id -un; stat -c '%n %u %a' /workspace /opt/svc/home /usr/local/bin/opencode",
      ],
    });
    expect(out).toBe(
      "hello\n1001\nagent\n/workspace 1001 755\n/opt/svc/home 1001 755\n/usr/local/bin/opencode 0 755\n",
    );
    const environment = await ask(sandbox, { do: "environment" });
    expect(environment).toMatchObject({ FROM_IMAGE: "yes", SVC_RUNTIME_USER: "1001:1001" });
    for (const name of ["BUN_OPTIONS", "BUN_BE_BUN", "LD_PRELOAD"]) expect(environment[name]).toBeUndefined();
    await provider.stop(sandbox.sessionId, 0);
  });

  test("the packages of the runtime's plugins are in the image, readable by all users", async () => {
    const options = optionsOf(api, binaries);
    const provider = make(options);
    const look = async () => {
      const command = [
        "sh",
        "-c",
        "cd /opt/svc/plugins/node_modules && find . -type f | sort && cat */*/*.js",
      ];
      const sandbox = await startSandbox(provider, specOf());
      const { out } = await ask(sandbox, { do: "run", command });
      await provider.stop(sandbox.sessionId, 0);
      return out;
    };
    expect(await look()).toBe("");
    const folder = join(runtimeFolder(options.dataDir), "plugins/node_modules");
    const long = `${"long-name-".repeat(15)}.txt`;
    for (const [name, text] of [
      ["@opencode-ai/plugin/tool.js", "export {}\n"],
      ["zod/empty.txt", ""],
      [`zod/${long}`, "1"],
    ] as const) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text, { mode: 0o600 });
    }
    expect(await look()).toBe(`./@opencode-ai/plugin/tool.js\n./zod/empty.txt\n./zod/${long}\nexport {}\n`);
  });

  test("an agent that is installed on the server is in the images of its own sessions only", async () => {
    const options = optionsOf(api, binaries);
    const provider = make(options);
    const look = async (runtime: SandboxSpec["runtime"], watch = watchOf()) => {
      const spec = specOf({}, { runtime });
      const sandbox = await startSandbox(provider, spec, watch);
      const { SVC_RUNTIME_BIN: program = null } = await ask(sandbox, { do: "environment" });
      const script = "cd /opt/svc/agent && find . -type f -exec stat -c '%n %u %a %s' {} + | sort";
      const { out } = await ask(sandbox, { do: "run", command: ["sh", "-c", script] });
      await provider.stop(spec.sessionId, 0);
      return { program, out };
    };
    expect(await look("codex")).toEqual({ program: null, out: "" });
    const program = agentProgram("codex") ?? "";
    const folder = agentFolder(options.dataDir, "codex");
    mkdirSync(dirname(join(folder, program)), { recursive: true });
    writeFileSync(join(folder, program), "#!/bin/sh\n", { mode: 0o700 });
    writeFileSync(join(folder, "node_modules/NOTICE"), "", { mode: 0o600 });
    const added = {
      program: `/opt/svc/agent/${program}`,
      out: `./${program} 0 755 10\n./node_modules/NOTICE 0 644 0\n`,
    };
    expect(await look("codex")).toEqual(added);
    const watch = watchOf();
    expect(await look("codex", watch)).toEqual(added);
    expect(watch.lines.filter((line) => line.startsWith("build:"))).toEqual([]);
    for (const other of ["opencode", "claude-code", null] as const)
      expect(await look(other)).toEqual({ program: null, out: "" });
  });

  test("a failed build reports the reason and its last lines, and leaves nothing", async () => {
    const unreadable: [string, Record<string, string>, RegExp][] = [
      [
        "no instruction",
        { ".svc/Dockerfile": "BEGIN here\n" },
        /could not be built: .*(unknown instruction|parse error)/i,
      ],
      ["nothing", { ".svc/Dockerfile": "" }, /could not be built: /],
      [
        "a missing file",
        { ".svc/Dockerfile": "FROM debian:bookworm-slim\nCOPY missing /\n" },
        /could not be built: .*missing/,
      ],
    ];
    const cases: [string, Record<string, string>, RegExp][] = [
      ...sample(1, unreadable),
      [
        "a command that fails",
        { ".svc/Dockerfile": "FROM debian:bookworm-slim\nRUN echo the last words && exit 3\n" },
        /^the image of \.svc\/Dockerfile could not be built: .*code: 3\n(.*\n)*.*the last words/,
      ],
      [
        "no Dockerfile",
        { "other.txt": "x" },
        /^\.svc\/Dockerfile cannot be built: the repository does not contain this file\.$/,
      ],
      [
        "ADD of a URL",
        { ".svc/Dockerfile": "FROM debian:bookworm-slim\nADD http://169.254.169.254/latest /x\n" },
        /ADD of a URL is not allowed/,
      ],
      [
        "a base without git",
        { ".svc/Dockerfile": "FROM scratch\nCOPY other.txt /\n", "other.txt": "x" },
        /has no git/,
      ],
    ];
    for (const [what, files, message] of cases) {
      const { failure } = await tryBuild(provider, files);
      expect([what, failure]).toEqual([what, expect.any(SandboxError)]);
      expect(failure).toMatchObject({ permanent: true, message: expect.stringMatching(message) });
    }
    expect(await scratch()).toEqual([]);
  });

  test("the network policy applies to builds too", async () => {
    if (process.getuid?.() !== 0) return;
    const neighbour = await makeNeighbour("169.254.78.77");
    try {
      const visit = `exec 3<>/dev/tcp/${neighbour.address}/${neighbour.port}`;
      // it fails, so that no image is made of it
      const { failure, lines } = await tryBuild(provider, {
        ".svc/Dockerfile": `FROM debian:bookworm-slim\nRUN bash -c '${visit}' && echo reach""ed || echo fen""ced; exit 3\n`,
      });
      expect(failure).toMatchObject({ message: expect.stringContaining("code: 3") });
      expect(lines).toContain("build: fenced");
      expect(lines).not.toContain("build: reached");
    } finally {
      neighbour.remove();
    }
  });

  test("a build is cancelled when its last waiter leaves, not before", async () => {
    const mark = crypto.randomUUID();
    const build = buildOf({ ".svc/Dockerfile": `FROM debian:bookworm-slim\nRUN sleep 3600; echo ${mark}\n` });
    const [first, second] = [new AbortController(), new AbortController()];
    const watch = watchOf();
    const starts = [first, second].map(({ signal }) => provider.start(specOf({}, { build }), watch, signal));
    const outcomes = Promise.allSettled(starts);
    await until("it builds", () => watch.lines.filter((line) => line.includes("sleep 3600")).length === 2);
    first.abort(new Error("left"));
    expect(starts[0]).rejects.toThrow("left");
    second.abort(new Error("left too"));
    await outcomes;
    expect(starts[1]).rejects.toThrow("left too");
    await until("nothing of it is left", async () => (await scratch()).length === 0);
  });

  test("an image that is removed during a start is built again; a build removes old images, except those in use", async () => {
    await makeOldImages(["0"]);
    const { Id } = await docker("POST", "/containers/create", { Image: "svc-old:0", Cmd: ["true"] });
    // the engine lists images with the second of their creation, and this one is to be the oldest
    const next = (Math.floor(Date.now() / 1000) + 1) * 1000;
    await until("the next second", () => Date.now() >= next);
    await makeOldImages(Array.from({ length: 14 }, (_, index) => `${index + 1}`));
    const first = specOf({}, { build: shared });
    await provider.start(first, watchOf(), AbortSignal.timeout(WAIT_LIMIT_MS));
    const [{ ImageID }] = await docker("GET", `/containers/json?filters=${sandboxOf(first.sessionId)}`);
    await stopAll(provider);
    // by the time of this step the image has been found
    const watch = watchOf();
    const step = (name: "image" | "sandbox") => {
      watch.step(name);
      // nothing else goes on meanwhile
      if (watch.steps.length === 2) removeImageNow(ImageID);
    };
    const second = specOf({}, { build: shared });
    await provider.start(second, { step, log: watch.log }, AbortSignal.timeout(WAIT_LIMIT_MS));
    expect(watch.steps).toEqual(["image", "sandbox", "image", "sandbox"]);
    const images: { RepoTags: string[] | null }[] = await docker("GET", "/images/json");
    const kept = images.flatMap(({ RepoTags }) => RepoTags ?? []).filter((tag) => tag.startsWith("svc-old:"));
    // the one in use, and twelve
    expect(kept).toContain("svc-old:0");
    expect(kept.length).toBeLessThanOrEqual(13);
    expect(kept.length).toBeGreaterThanOrEqual(12);
    await docker("DELETE", `/containers/${Id}`);
  });

  test("reports missing and invalid programs by name", async () => {
    const folder = mkdtempSync(join(tmpdir(), "svc-binaries-"));
    try {
      copyFileSync(join(binaries, "svc-agent"), join(folder, "svc-agent"));
      writeFileSync(join(folder, "svc"), "");
      const provider = make({ binaries: folder });
      const failure = await provider
        .start(specOf(), watchOf(), AbortSignal.timeout(WAIT_LIMIT_MS))
        .catch((error) => error);
      expect(failure).toMatchObject({
        permanent: true,
        message: expect.stringContaining("no svc-entrypoint, svc for images with glibc"),
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  /** What is there only while something is prepared: other tests may have theirs in the same engine. */
  async function scratch(): Promise<string[]> {
    const [containers, networks] = await Promise.all([
      docker("GET", "/containers/json?all=1"),
      docker("GET", "/networks"),
    ]);
    const own = made.map(({ options }) => options.installation);
    return [...containers, ...networks]
      .filter(({ Labels }) => own.includes(Labels["svc.installation"]) && !Labels["svc.session"])
      .map((part) => JSON.stringify(part));
  }
});

async function stopAll(provider: Provider): Promise<void> {
  for (const { sessionId } of await provider.list()) await provider.stop(sessionId, 0);
}

/** Images of a kind of their own: with the real ones, those of other files would be old. */
async function makeOldImages(tags: readonly string[]): Promise<void> {
  const { Id } = await docker("POST", "/containers/create", {
    Image: "debian:bookworm-slim",
    Cmd: ["true"],
  });
  for (const tag of tags) {
    const query = new URLSearchParams({ container: Id, repo: "svc-old", tag });
    query.set("changes", `LABEL ${LABEL.image}=old`);
    await docker("POST", `/commit?${query}`);
  }
  await docker("DELETE", `/containers/${Id}`);
}

function removeImageNow(id: string): void {
  const unix = (process.env["DOCKER_HOST"] ?? "").replace(/^unix:\/\//, "");
  const options = JSON.stringify({ unix, method: "DELETE" });
  const program = `const { ok } = await fetch("http://docker/images/${id}?force=1", ${options}); process.exit(ok ? 0 : 1)`;
  const { success } = Bun.spawnSync([process.execPath, "-e", program]);
  if (!success) throw new Error("the image was not removed");
}

function sandboxOf(sessionId: string): string {
  return encodeURIComponent(JSON.stringify({ label: [`svc.session=${sessionId}`, "svc.role=sandbox"] }));
}

function buildOf(files: Record<string, string>, dockerfile = ".svc/Dockerfile"): ImageBuild {
  return {
    dockerfile,
    hash: new Bun.CryptoHasher("sha256").update(JSON.stringify(files)).digest("hex"),
    context() {
      const tar = pack();
      for (const [name, text] of Object.entries(files)) tar.entry({ name }, text);
      tar.finalize();
      return new ReadableStream({
        async start(controller) {
          for await (const piece of tar) if (piece instanceof Uint8Array) controller.enqueue(piece);
          controller.close();
        },
      });
    },
  };
}
