import { expect, test } from "bun:test";
import { type Answer, startApi } from "../helpers/api.ts";
import { bomb } from "../helpers/bomb.ts";
import { createRepository, temporary } from "../helpers/git-repo.ts";
import { Remote } from "../helpers/remote.ts";

/** The neighbour's change requests: the first one is merged before the reading, the others beside it. */
const MERGES = 10;
/** Each page is read so often, which takes more than ten times as long as a merge. */
const ROUNDS = 5;

test("reading a repository of 10^6 files does not block merges of another project", async () => {
  await using directory = await temporary();
  const upstream = await createRepository(`${directory.path}/up`);
  await bomb(upstream, 6);
  const api = await startApi();
  const neighbour = new Remote();
  try {
    neighbour.commit("main", { a: "1\n" });
    const hostile = `/v1/projects/${(await api.project(upstream.url)).project_id}/change-requests`;
    const quiet = `/v1/projects/${(await api.project(neighbour.url)).project_id}/change-requests`;
    for (const head_ref of ["bomb", "side"]) {
      expect((await api.call("POST", hostile, { body: { title: "t", head_ref } })).status).toBe(201);
    }
    // all but the merges is done before, so that they are short beside the reading
    const merges: (() => Promise<void>)[] = [];
    for (let n = 0; n < MERGES; n++) {
      neighbour.commit(`w${n}`, { [`f${n}`]: "x\n" }, { from: "main" });
      const { body: cr } = await api.call("POST", quiet, { body: { title: "t", head_ref: `w${n}` } });
      merges.push(async () =>
        expect((await api.call("POST", `${quiet}/${cr.number}/merge`)).status).toBe(200),
      );
    }
    await merges.shift()?.();
    let done = false;
    let diffs = 0;
    const read = async (path: string) => {
      const answers: Answer[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        answers.push(await api.call("GET", `${hostile}/${path}`));
        if (path.endsWith("/diff")) diffs++;
      }
      return answers;
    };
    const busy = Promise.all(["1/diff", "1/merge-preview", "2/diff", "2/merge-preview"].map(read)).finally(
      () => {
        done = true;
      },
    );
    let made = 0;
    for (const merge of merges) {
      if (done) break;
      const before = diffs;
      await merge();
      if (!done && diffs === before) made++;
    }
    for (const answer of (await busy).flat()) {
      // An error at a limit is fine; a wrong result or a crash is not.
      expect([200, 502]).toContain(answer.status);
      if (answer.status === 502) expect(answer.body.code).toBe("merge_engine_failed");
    }
    // a merge that waited for the reading of a diff would end after it
    expect(made).toBeGreaterThan(0);
  } finally {
    await api.stop();
    neighbour.remove();
  }
});
