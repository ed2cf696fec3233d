import { afterAll, beforeAll, describe, expect } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { detect } from "../../../cli/commands/init/detect/detect.ts";
import { projectFiles } from "../../../cli/commands/init/scaffold.ts";
import { LABEL } from "../../../src/sandboxes/docker/names.ts";
import { type Api, startApi } from "../../helpers/api.ts";
import { DOCKER, docker } from "../../helpers/docker-engine.ts";
import { needs } from "../../helpers/needs.ts";
import { Remote } from "../../helpers/remote.ts";
import { untilStatus } from "../../helpers/sessions.ts";
import { standInRuntime } from "../../helpers/stand-in-programs.ts";

const isBuilt = existsSync("dist/svc-agent");
const test = needs(isBuilt ? DOCKER[0] : "dist/svc-agent (npm run build)", DOCKER[1] && isBuilt);

/** The engine's label of a volume without a name. */
const ANONYMOUS = "com.docker.volume.anonymous";
/** As the agent's user, in the workspace and in its home. */
const SETUP =
  "mkdir -p deps ~/.cache && echo 1 > deps/a && ln -s a deps/b && echo 2 > ~/.cache/c && test $(id -u) != 0";
const VISIT = `bash -c 'for host in works localhost; do read -r line < /dev/tcp/$host/5432 && echo "$host: $line"; done'`;
/** Listens after a moment, as a database does. */
const SERVICE = `sleep 1; $s = IO::Socket::INET->new(LocalPort => 5432, Listen => 5) or die;
while ($c = $s->accept) { print $c "served\\n"; close $c }`;

/** Makes an image of the base of sandboxes that runs a command. */
async function makeImage(name: string, command: readonly string[]): Promise<void> {
  const { Id } = await docker("POST", "/containers/create", { Image: "debian:bookworm-slim", Cmd: ["true"] });
  const changes = ["EXPOSE 5432/tcp", "VOLUME /data", `CMD ${JSON.stringify(command)}`];
  const query = new URLSearchParams([
    ["container", Id],
    ["repo", name],
    ["tag", "1"],
  ]);
  for (const change of changes) query.append("changes", change);
  await docker("POST", `/commit?${query}`, {});
  await docker("DELETE", `/containers/${Id}`);
}

describe("the files of svc init, in Docker", () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-runtime-"));
  let api: Api;
  let remote: Remote;

  beforeAll(async () => {
    if (!DOCKER[1] || !isBuilt) return;
    const runtime = await standInRuntime(folder);
    api = await startApi({ env: { SVC_SANDBOX_PROVIDER: "docker", SVC_RUNTIME_BIN: runtime } });
    remote = new Remote();
  });

  afterAll(async () => {
    await api?.stop();
    remote?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  test("the Dockerfile can be built, and its session runs with services; one without gets what an earlier setup command has added", async () => {
    await makeImage("svc-test/works", ["perl", "-MIO::Socket::INET", "-e", SERVICE]);
    await makeImage("svc-test/broken", ["sh", "-c", "echo no luck; exit 3"]);
    const write = (setup: string, services: string) => {
      const files = projectFiles("shop", "", { ...detect([]), setup });
      const changed = files.map(({ path, text }) => [
        path,
        text.replace("# cpu = 2", `services = ${services}`),
      ]);
      remote.commit("main", Object.fromEntries(changed));
    };
    write(`${SETUP} && ${VISIT}`, '["svc-test/works:1", "svc-test/broken:1"]');
    const { project_id } = await api.project(remote.url);
    const sessions = `/v1/projects/${project_id}/sessions`;
    const start = async () => {
      const id: string = (await api.call("POST", sessions, { body: {} })).body.session_id;
      const look = async () => (await api.call("GET", `${sessions}/${id}`)).body;
      const session = await untilStatus(look, ["running", "failed"]);
      const log = (await api.call("GET", `${sessions}/${id}/logs`)).text;
      expect([session.status, session.error, session.status === "failed" ? log : ""]).toEqual([
        "running",
        null,
        "",
      ]);
      expect((await api.call("DELETE", `${sessions}/${id}`)).status).toBe(200);
      return { setup: session.setup?.state, log };
    };
    const first = await start();
    expect(first.log).toContain("RUN dpkg -s $PACKAGES");
    for (const line of ["setup works: served", "setup localhost: served", "no luck"])
      expect(first.log).toContain(line);
    expect(first.log).toContain("without the service svc-test/broken:1: it exited with code 3.");
    // what the command did in a service would be missing in the next one
    expect(first.log).not.toContain("svc keeps");
    write(SETUP, "[]");
    expect([first.setup, (await start()).setup, (await start()).setup]).toEqual(["ok", "ok", "restored"]);
    // with their volumes
    const [containers, volumes] = [
      await docker("GET", "/containers/json?all=1"),
      await docker("GET", "/volumes"),
    ];
    const isOurs = ({ Labels }: { Labels: Record<string, string> }) => Labels[LABEL.role] === "service";
    // other tests have named ones
    const isAnonymous = ({ Labels }: { Labels: Record<string, string> | null }) =>
      Labels !== null && ANONYMOUS in Labels;
    expect([containers.filter(isOurs), (volumes.Volumes ?? []).filter(isAnonymous)]).toEqual([[], []]);
  });
});
