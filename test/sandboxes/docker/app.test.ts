import { afterAll, beforeAll, expect } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKeys, loadMasterKey } from "../../../src/keys.ts";
import { type Api, startApi } from "../../helpers/api.ts";
import { type AppBench, benchApps, entryOf, isLive } from "../../helpers/apps.ts";
import { DOCKER, docker } from "../../helpers/docker-engine.ts";
import { needs } from "../../helpers/needs.ts";
import { Remote } from "../../helpers/remote.ts";
import { standInRuntime } from "../../helpers/stand-in-programs.ts";
import { until } from "../../helpers/until.ts";

const isBuilt = existsSync("dist/svc-agent");
const test = needs(isBuilt ? DOCKER[0] : "dist/svc-agent (npm run build)", DOCKER[1] && isBuilt);

/** A server of what every Debian has: it says its version, and where it listens. */
const PROGRAM = `
use IO::Socket::INET;
my $server = IO::Socket::INET->new(LocalAddr => $ENV{HOST}, LocalPort => $ENV{PORT}, Listen => 50, ReuseAddr => 1);
while (my $client = $server->accept) {
  while (my $line = <$client>) { last if $line eq "\\r\\n" }
  my $said = "$ENV{VERSION} at $ENV{PORT} for $<";
  print $client "HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: " . length($said) . "\\r\\n\\r\\n$said";
  close $client;
}
`;

const folder = mkdtempSync(join(tmpdir(), "svc-runtime-"));
const remote = new Remote();
let api: Api;
let bench: AppBench;

beforeAll(async () => {
  if (!DOCKER[1] || !isBuilt) return;
  const runtime = await standInRuntime(folder);
  api = await startApi({ env: { SVC_SANDBOX_PROVIDER: "docker", SVC_RUNTIME_BIN: runtime } });
  remote.commit("main", { "a.txt": "a" });
  const { project_id: projectId } = await api.project(remote.url);
  const call = (method: string, path: string, body?: unknown) =>
    api.call(method, path, body === undefined ? {} : { body });
  bench = benchApps({ url: () => api.url, projectId, remote, call });
});
afterAll(async () => {
  await api?.stop();
  remote.remove();
  rmSync(folder, { recursive: true, force: true });
});

const entry = (VERSION: string) =>
  entryOf({
    build: "touch built",
    run: { command: "test -e built && exec perl app.pl", port: 3000 },
    env: { VERSION },
  });

test("an app in Docker listens on its own port, as an unprivileged user, also while the next takes over", async () => {
  await bench.merge({ "app.pl": PROGRAM }, [entry("one")]);
  await bench.becomes("the first is live", isLive(1));
  const signedIn = await bench.signIn();
  expect((await bench.visit("/", signedIn)).text).toEndWith("one at 3000 for 1000");
  await bench.merge({}, [entry("two")]);
  await bench.becomes("the second is live", isLive(2));
  await until("it answers", async () =>
    (await bench.visit("/", signedIn)).text.endsWith("two at 3000 for 1000"),
  );
  const installation = createKeys(loadMasterKey(api.dataDir)).fingerprint;
  // its own: other tests may have containers in the same engine
  const isOwn = ({ Labels }: { Labels: Record<string, string> }) =>
    Labels["svc.installation"] === installation;
  const containers = async () => (await docker("GET", "/containers/json?all=1")).filter(isOwn);
  const volumes = async () => (await docker("GET", "/volumes")).Volumes.filter(isOwn);

  // a program records its version in the volume, as an unprivileged user
  const noting = (VERSION: string) =>
    entryOf({
      run: {
        command: 'echo "$VERSION" >> "$SVC_VOLUME/log" && exec perl app.pl',
        port: 3000,
        volume: "/srv/data",
      },
      env: { VERSION },
    });
  for (const [index, version] of ["three", "four"].entries()) {
    const entry = noting(version);
    // it answers with all that the volume has
    await bench.merge(
      { "app.pl": PROGRAM.replace("$ENV{VERSION} at", "${\\ scalar `cat /srv/data/log`} at") },
      [entry],
    );
    await bench.becomes(`${version} is live`, isLive(3 + index));
  }
  await until("it answers", async () =>
    (await bench.visit("/", signedIn)).text.includes("three\nfour\n at 3000"),
  );
  expect(await volumes()).toMatchObject([{ Labels: { "svc.volume": expect.any(String) } }]);

  await bench.call("POST", "/web/stop");
  await until("no container is left", async () => (await containers()).length === 0);
  expect(await volumes()).toHaveLength(1);
  await until(
    "its volume can be removed",
    async () => (await bench.call("DELETE", "/web/volume")).status === 200,
  );
  await until("it is removed", async () => (await volumes()).length === 0);
});
