import { pathOf, smallFixture, textOf } from "./fixtures.ts";
import { load } from "./load.ts";
import { makeRemotes } from "./remotes.ts";
import { type Server, startServer } from "./server.ts";
import type { Workbench } from "./workbench.ts";

const CHANGE_REQUESTS = 50;
const READERS = 32;
const SECONDS = 6;
const BAR = { atMost: 0.1 };

/** Compares the number of listings of the repository's branches with that of the responses to 32 readers. */
export async function readers(bench: Workbench): Promise<void> {
  const remotes = await makeRemotes(bench, await smallFixture(bench));
  const server = await startServer(bench);
  const project = await server.project(remotes.ours);
  for (let index = 0; index < bench.amount(CHANGE_REQUESTS, 2); index++) {
    const branch = `work-${index}`;
    await remotes.commit({ branch, from: "main", files: { [pathOf(index)]: textOf(index, 1000 + index) } });
    await server.open(project, branch);
  }
  const before = await listings(server);
  const page = `${server.url}${project.path}/change-requests?status=open&limit=${CHANGE_REQUESTS}`;
  const { answers } = await load(page, server.token, READERS, bench.amount(SECONDS, 0.1));
  const made = (await listings(server)) - before;
  bench.report.ratio({
    what: `${READERS} readers of ${CHANGE_REQUESTS} open change requests, listings`,
    unit: "requests",
    ours: made,
    peer: ["responses", answers],
    bar: BAR,
  });
  await server.stop();
}

/** The metrics page is cached for seconds, so wait for the next version. */
async function listings(server: Server): Promise<number> {
  const headers = { Authorization: `Bearer ${server.token}` };
  const read = () => fetch(`${server.url}/metrics`, { headers }).then((response) => response.text());
  const before = await read();
  let text = before;
  while (text === before) {
    await Bun.sleep(100);
    text = await read();
  }
  const value = /^svc_git_listings_total (\d+)/m.exec(text)?.[1];
  if (value === undefined) throw new Error("the metrics do not contain svc_git_listings_total");
  return Number(value);
}
