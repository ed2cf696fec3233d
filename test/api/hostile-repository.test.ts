import { expect, test } from "bun:test";
import { startApi } from "../helpers/api.ts";
import { bomb } from "../helpers/bomb.ts";
import { createRepository, temporary } from "../helpers/git-repo.ts";
import { Remote } from "../helpers/remote.ts";

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
    let done = false;
    const busy = Promise.all(
      [1, 2].flatMap((number) =>
        ["diff", "merge-preview"].map((what) => api.call("GET", `${hostile}/${number}/${what}`)),
      ),
    ).finally(() => {
      done = true;
    });
    let made = 0;
    for (let n = 0; !done; n++) {
      neighbour.commit(`w${n}`, { [`f${n}`]: "x\n" }, { from: "main" });
      const { body: cr } = await api.call("POST", quiet, { body: { title: "t", head_ref: `w${n}` } });
      expect((await api.call("POST", `${quiet}/${cr.number}/merge`)).status).toBe(200);
      if (!done) made++;
    }
    for (const answer of await busy) {
      // An error at a limit is fine; a wrong result or a crash is not.
      expect([200, 502]).toContain(answer.status);
      if (answer.status === 502) expect(answer.body.code).toBe("merge_engine_failed");
    }
    // reading takes much longer than a merge: one that waited for it would be made afterwards
    expect(made).toBeGreaterThan(0);
  } finally {
    await api.stop();
    neighbour.remove();
  }
});
