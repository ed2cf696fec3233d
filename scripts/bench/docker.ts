import { startDockerEngine } from "../docker-engine.ts";
import { bridgeOf, imageOf, runBare } from "./bare-docker.ts";
import { git } from "./git.ts";
import { alternate, median } from "./measure.ts";
import { makeNoiseRepository } from "./noise.ts";
import { type Server, startServer } from "./server.ts";
import { timeSession } from "./session.ts";
import { buildStandIn } from "./sessions.ts";
import type { Workbench } from "./workbench.ts";

const WHAT = "docker";
const ROUNDS = 9;
const REPOSITORY = { files: 200, fileBytes: 20_000 };
/** What a session may take beyond what has to be done in any case. */
const BEYOND_S = 0.5;

/**
 * From the request that creates a session to the moment when it runs, in Docker and with its image made, beside what
 * has to be done for it in any case, by hand: the same image run, the same repository cloned, the same runtime started.
 */
export async function docker(bench: Workbench): Promise<void> {
  const engine = await startDockerEngine();
  if ("missing" in engine) return bench.report.skip(WHAT, engine.missing);
  try {
    await dockerAt(bench, engine.host);
  } finally {
    await engine.stop();
  }
}

/** @param host an engine that may be filled with images */
export async function dockerAt(bench: Workbench, host: string): Promise<void> {
  const runtime = process.env["SVC_RUNTIME_BIN"] ?? (await buildStandIn(bench));
  const settings = { DOCKER_HOST: host, SVC_SANDBOX_PROVIDER: "docker", SVC_RUNTIME_BIN: runtime };
  // where a container of nobody's can reach it too
  const server = await startServer(bench, { env: { ...settings, SVC_HOST: await bridgeOf(host) } });
  const { id, path: project } = await server.project();
  const remote = `${server.url}/v1/git/${id}.git`;
  await fill(bench, server, remote);
  const place = `${project}/sessions`;
  // the first makes the image
  await timeSession(server, place);
  const image = await imageOf(host, "svc-sandbox");
  const { ours, peer } = await alternate(bench, ROUNDS, {
    ours: () => timeSession(server, place),
    peer: () => byHand(host, image, server, remote),
  });
  await server.stop();
  report(bench, ours, peer);
}

/** A project that svc hosts gets its branch. */
async function fill(bench: Workbench, { token }: Server, remote: string): Promise<void> {
  const path = await makeNoiseRepository(bench, "docker", REPOSITORY);
  await git(path, [
    "-c",
    `http.extraHeader=Authorization: Bearer ${token}`,
    "push",
    "--quiet",
    remote,
    "main",
  ]);
}

/** What one round took by hand, each in milliseconds. */
interface ByHand {
  run: number;
  clone: number;
  runtime: number;
}

/** One after the other, as they need each other; what the engine takes to begin the script is not counted. */
async function byHand(host: string, image: string, { token }: Server, remote: string): Promise<ByHand> {
  const container = await runBare(host, image, ["sleep", "infinity"]);
  try {
    const said = await container.run(SCRIPT, {
      HOME: "/tmp",
      HEADER: `Authorization: Bearer ${token}`,
      REMOTE: remote,
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_AUTOUPDATE: "1",
    });
    const [, clone, runtime] = /^took (\d+) (\d+)\s*$/m.exec(said) ?? [];
    if (clone === undefined) throw new Error(`the script said ${said}`);
    return { run: container.ms, clone: Number(clone) / 1000, runtime: Number(runtime) / 1000 };
  } finally {
    await container.remove();
  }
}

/** Clones, and starts the runtime until it answers as the daemon asks it; says what either took in microseconds. */
const SCRIPT = `
set -eu
now() { at=\${EPOCHREALTIME/[.,]/}; }
ask() {
  { printf 'GET %s HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' "$1" >&3 &&
    read -r -t 2 answer <&3 && [[ $answer == *" 200 "* ]]; } 3<>/dev/tcp/127.0.0.1/4096
}
now; begun=$at
git -c "http.extraHeader=$HEADER" clone --quiet --template= "$REMOTE" /tmp/clone
now; cloned=$at
cd /tmp/clone
exec {said}< <(exec opencode serve --port 4096 --hostname 127.0.0.1)
until read -r line <&$said && [[ $line == *listening* ]]; do :; done
for path in /global/health /config; do until ask $path; do sleep 0.01; done; done
now; echo "took $((cloned - begun)) $((at - cloned))"
`;

function report({ report }: Workbench, sessions: readonly number[], hands: readonly ByHand[]): void {
  const seconds = (values: readonly number[]) => median(values) / 1000;
  const session = seconds(sessions);
  const hand = seconds(hands.map(({ run, clone, runtime }) => run + clone + runtime));
  const figures: [string, number][] = [
    ["create to running", session],
    ["by hand", hand],
    ["by hand, docker run", seconds(hands.map(({ run }) => run))],
    ["by hand, git clone", seconds(hands.map(({ clone }) => clone))],
    ["by hand, the agent runtime's start", seconds(hands.map(({ runtime }) => runtime))],
  ];
  for (const [what, ours] of figures) report.figure({ what: `${WHAT}: ${what}`, unit: "s", ours });
  const bar = { atMost: BEYOND_S };
  report.figure({ what: `${WHAT}: beyond what it takes by hand`, unit: "s", ours: session - hand, bar });
}
