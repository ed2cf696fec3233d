import { expect, test } from "bun:test";
import { watchServer } from "../../daemon/orphan.ts";
import { until } from "../helpers/until.ts";

/** A server with this response, which counts its requests. */
function startServer(answer: () => Response) {
  let polls = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch() {
      polls++;
      return answer();
    },
  });
  return { apiUrl: `http://127.0.0.1:${server.port}/v1`, polls: () => polls, stop: () => server.stop(true) };
}

test("a sandbox runs while its server responds with any status, and ends once if it does not", async () => {
  const server = startServer(() => new Response("starting", { status: 503 }));
  let orphaned = 0;
  const unwatch = watchServer({ apiUrl: server.apiUrl, orphanS: 1 }, () => orphaned++);
  // longer than a silent server would be waited for
  await until("it has asked often", async () => server.polls() > 8);
  expect(orphaned).toBe(0);
  await server.stop();
  await until("it knows that the server is gone", async () => orphaned > 0);
  unwatch();
  expect(orphaned).toBe(1);
});

test("a sandbox that does not watch its server never ends for it", () => {
  const unwatch = watchServer({ apiUrl: "http://127.0.0.1:1/v1", orphanS: null }, () => {
    throw new Error("it watches");
  });
  unwatch();
});
