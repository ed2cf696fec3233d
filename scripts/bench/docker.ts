import { LABEL } from "../../src/sandboxes/docker/names.ts";
import { startDockerEngine } from "../docker-engine.ts";
import { bridgeOf, imageOf, runBare } from "./bare-docker.ts";
import { git } from "./git.ts";
import { alternate, median } from "./measure.ts";
import { makeNoiseRepository } from "./noise.ts";
import { type Server, startServer } from "./server.ts";
import { endSession, startSession, timeSession } from "./session.ts";
import { buildStandIn } from "./sessions.ts";
import { makeSetupRepository, setupCommand, timeSetups } from "./set-up.ts";
import type { Workbench } from "./workbench.ts";

const WHAT = "docker";
const ROUNDS = 9;
const REPOSITORY = { files: 200, fileBytes: 20_000 };
const BAR = { atMost: 2 };

/**
 * Compares the time from the request that creates a session until it is running, in Docker with an existing image, with the
 * minimum of work: running the same image, cloning the same repository, starting the same runtime.
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

/** @param host an engine in which images may be created */
export async function dockerAt(bench: Workbench, host: string): Promise<void> {
  const runtime = process.env["SVC_RUNTIME_BIN"] ?? (await buildStandIn(bench));
  const settings = { DOCKER_HOST: host, SVC_SANDBOX_PROVIDER: "docker", SVC_RUNTIME_BIN: runtime };
  // listen where a container outside of svc can connect, too
  const server = await startServer(bench, { env: { ...settings, SVC_HOST: await bridgeOf(host) } });
  const { id, path: project } = await server.project();
  const remote = `${server.url}/v1/git/${id}.git`;
  await pushMain(server, remote, await makeNoiseRepository(bench, "docker", REPOSITORY));
  const place = `${project}/sessions`;
  // the first session builds the image
  const first = await startSession(server, place);
  const image = await imageOf(host, { [LABEL.session]: first, [LABEL.role]: "sandbox" });
  await endSession(server, place, first);
  const { ours, peer } = await alternate(bench, ROUNDS, {
    ours: () => timeSession(server, place),
    peer: () => byHand(host, image, server, remote),
  });
  const seconds = (values: readonly number[]) => median(values) / 1000;
  const figures = { ours: seconds(ours), peer: ["by hand", seconds(peer)] as const, bar: BAR };
  bench.report.ratio({ what: `${WHAT}: create to running`, unit: "s", ...figures });
  const withSetup = await makeSetupRepository(bench, REPOSITORY);
  let last = "";
  const newProject = async () => {
    const made = await server.project();
    last = `${server.url}/v1/git/${made.id}.git`;
    await pushMain(server, last, withSetup);
    return `${made.path}/sessions`;
  };
  await newProject();
  await timeSetups(bench, server, WHAT, newProject, () =>
    byHand(host, image, server, last, setupCommand(bench)),
  );
  await server.stop();
}

/** Pushes the default branch of a project that svc hosts. @param path the repository */
async function pushMain({ token }: Server, remote: string, path: string): Promise<void> {
  await git(path, [
    "-c",
    `http.extraHeader=Authorization: Bearer ${token}`,
    "push",
    "--quiet",
    remote,
    "main",
  ]);
}

/** Runs, clones, sets up and starts one after the other. The time that the engine needs to start the script is not counted. */
async function byHand(
  host: string,
  image: string,
  { token }: Server,
  remote: string,
  setup = ":",
): Promise<number> {
  const container = await runBare(host, image, ["sleep", "infinity"]);
  try {
    const said = await container.run(SCRIPT, {
      HOME: "/tmp",
      HEADER: `Authorization: Bearer ${token}`,
      REMOTE: remote,
      SETUP: setup,
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_AUTOUPDATE: "1",
    });
    const [, before, runtime] = /^took (\d+) (\d+)\s*$/m.exec(said) ?? [];
    if (before === undefined) throw new Error(`unexpected output of the script: ${said}`);
    return container.ms + Number(before) / 1000 + Number(runtime) / 1000;
  } finally {
    await container.remove();
  }
}

/** Clones, sets up, and starts the runtime until it passes the health checks. Prints the microseconds before and in its start. */
const SCRIPT = `
set -eu
now() { at=\${EPOCHREALTIME/[.,]/}; }
ask() {
  { printf 'GET %s HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' "$1" >&3 &&
    read -r -t 2 answer <&3 && [[ $answer == *" 200 "* ]]; } 3<>/dev/tcp/127.0.0.1/4096
}
now; begun=$at
git -c "http.extraHeader=$HEADER" clone --quiet --template= "$REMOTE" /tmp/clone
cd /tmp/clone
sh -c "$SETUP"
now; ready=$at
exec {said}< <(exec opencode serve --port 4096 --hostname 127.0.0.1)
line=
until [[ $line == *listening* ]]; do read -r line <&$said; done
for path in /global/health /config; do until ask $path; do sleep 0.01; done; done
now; echo "took $((ready - begun)) $((at - ready))"
`;
