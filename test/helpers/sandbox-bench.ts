import { randomBytes } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";
import { type EgressPolicy, OPEN } from "../../src/contract/egress/policy.ts";
import type { EgressRefusal } from "../../src/contract/egress/refusal.ts";
import type { EgressGate, EgressTraffic } from "../../src/sandboxes/egress/gate.ts";
import type {
  Provider,
  ProviderOptions,
  Sandbox,
  SandboxSpec,
  StartWatch,
} from "../../src/sandboxes/provider.ts";
import { until } from "./until.ts";
import type { WaysOut } from "./ways-out.ts";

/** Commands of the stand-in for svc-agent. */
export type SandboxCommand =
  | { do: "environment" }
  | { do: "visit"; url: string; proxy?: string }
  | { do: "listen"; port: number; answer: string }
  | { do: "connect"; host: string; port: number }
  | { do: "try the ways out"; ways: WaysOut }
  | { do: "run"; command: string[] }
  | { do: "spawn"; command: string[] }
  | { do: "print"; base64: string }
  | { do: "exit"; code: number }
  | { do: "die"; signal: number }
  | { do: "eat memory" }
  | { do: "ignore SIGTERM" };

/** Replaces the API, and records the sandboxes' requests. */
export interface ApiStandIn {
  address: { hostname: string; port: number };
  visits: string[];
  stop(): Promise<void>;
}

/** Time limit for a sandbox's responses and actions. */
const ANSWER_MS = 60_000;

/** Makes one program of a source file and what it imports. */
export async function compile(source: string, program: string): Promise<void> {
  // an optional part of ssh2
  const flags = [
    "--compile",
    "--no-compile-autoload-dotenv",
    "--no-compile-autoload-bunfig",
    "--external=cpu-features",
  ];
  const build = Bun.spawn([process.execPath, "build", ...flags, `--outfile=${program}`, source], {
    cwd: dirname(program),
    stdio: ["ignore", "ignore", "pipe"],
  });
  if ((await build.exited) !== 0) throw new Error(await text(build.stderr));
}

export function startApiStandIn(hostname = "127.0.0.1"): ApiStandIn {
  const visits: string[] = [];
  const server = Bun.serve({
    hostname,
    port: 0,
    fetch(request) {
      const { pathname } = new URL(request.url);
      visits.push(pathname);
      return new Response("the API of the tests");
    },
  });
  return {
    address: { hostname, port: server.port ?? 0 },
    visits,
    stop: () => server.stop(true),
  };
}

/** Provider options of a server with its own data folder. */
export function optionsOf(api: ApiStandIn, binaries: string): ProviderOptions {
  return {
    installation: randomBytes(8).toString("hex"),
    dataDir: mkdtempSync(join(tmpdir(), "svc-data-")),
    api: () => api.address,
    apiUrl: null,
    egress: gateOf(),
    binaries,
    runtime: "/bin/true",
    customRuntimes: [],
  };
}

/** A gate with one policy for all sandboxes, and what it was told. */
export interface RecordingGate extends EgressGate {
  policy: EgressPolicy;
  refusals: EgressRefusal[];
  traffic: EgressTraffic[];
}

export function gateOf(policy: EgressPolicy = OPEN): RecordingGate {
  const gate: RecordingGate = {
    ...{ policy, refusals: [], traffic: [] },
    policyOf: async () => gate.policy,
    refused: (_, refusal) => void gate.refusals.push(refusal),
    passed: (_, traffic) => void gate.traffic.push(traffic),
  };
  return gate;
}

/** A sandbox's specification; `secrets` are added to svc's environment. */
export function specOf(
  secrets: Record<string, string> = {},
  changes: Partial<SandboxSpec> = {},
): SandboxSpec {
  const sessionId = changes.sessionId ?? crypto.randomUUID();
  const projectId = crypto.randomUUID();
  return {
    sessionId,
    projectId,
    generation: 1,
    environment: (apiUrl) => ({
      SVC_SESSION_ID: sessionId,
      SVC_BRANCH_NAME: sessionId,
      SVC_PROJECT_ID: projectId,
      SVC_API_URL: `${apiUrl}/v1`,
      SVC_REPO_URL: `${apiUrl}/v1/git/${projectId}.git`,
      SVC_SERVICE_PORT: "8000",
      SVC_TOKEN: "svc_sb_of_the_tests",
      ...secrets,
    }),
    egress: "open",
    runtime: "opencode",
    limits: { cpus: 1, memoryBytes: 1024 ** 3, diskBytes: 1024 ** 3, processes: 256 },
    build: null,
    ...changes,
  };
}

export interface Watched extends StartWatch {
  steps: string[];
  lines: string[];
}

/** @param onEvent called at each step and each line */
export function watchOf(onEvent: () => void = () => {}): Watched {
  const steps: string[] = [];
  const lines: string[] = [];
  return {
    steps,
    lines,
    step(name) {
      steps.push(name);
      onEvent();
    },
    log(source, line) {
      lines.push(`${source}: ${line}`);
      onEvent();
    },
  };
}

/** Starts a sandbox and waits until its daemon answers. */
export async function startSandbox(
  provider: Provider,
  spec: SandboxSpec,
  watch: Watched = watchOf(),
): Promise<Sandbox> {
  const sandbox = await provider
    .start(spec, watch, AbortSignal.timeout(WAIT_LIMIT_MS))
    .catch((error: unknown) => {
      throw new Error(`it did not start: ${error}\n${watch.lines.join("\n")}`);
    });
  await until("the daemon answers", async () => (await health(sandbox)) === 200);
  return sandbox;
}

/** The status of the daemon's health; null without a response. */
export async function health(sandbox: Sandbox): Promise<number | null> {
  const signal = AbortSignal.timeout(2_000);
  const answer = await fetchFrom(sandbox, "/svc/health", { signal }).catch(() => null);
  return answer?.status ?? null;
}

/** Sends a command to the stand-in in the sandbox. */
// biome-ignore lint/suspicious/noExplicitAny: what a command answers is looked into by the assertions of the tests
export async function ask(sandbox: Sandbox, command: SandboxCommand): Promise<any> {
  const answer = await fetchFrom(sandbox, "/do", {
    method: "POST",
    body: JSON.stringify(command),
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  if (answer.status !== 200) throw new Error(`the stand-in says: ${await answer.text()}`);
  return answer.json();
}

/** Sends a request to a sandbox's daemon, on a new connection. */
export async function fetchFrom(
  { address }: Pick<Sandbox, "address">,
  path: string,
  init: BunFetchRequestInit = {},
): Promise<Response> {
  if (!address) throw new Error("the sandbox has no address");
  const { hostname, port, unix } = address;
  if (unix === undefined) return fetch(`http://${hostname}:${port}${path}`, { ...init, keepalive: false });
  return fetch(`http://localhost:8000${path}`, { ...init, keepalive: false, unix });
}
