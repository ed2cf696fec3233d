import { expect } from "bun:test";
import { needs } from "../helpers/needs.ts";
import { type NotificationBench, startNotifications } from "../helpers/notifications.ts";
import { POSTGRES } from "../helpers/postgres.ts";

const test = needs("a real Postgres", POSTGRES);
const KEY = { SVC_MASTER_KEY: "ab".repeat(32) };

/** Somebody else's script opens a change request for the first user, who has chosen a push. */
async function happen(bench: NotificationBench) {
  const browser = await bench.addBrowser();
  await bench.choose("cr.opened", ["page", "push"]);
  const path = `/v1/projects/${bench.sessions.projectId}/cli-token`;
  const { token } = (await bench.sessions.api.call("POST", path, { body: { name: "script" } })).body;
  await bench.open({ token });
  return browser;
}

test("a server that dies between the event and its delivery: the next one sends it", async () => {
  const first = await startNotifications({ env: KEY });
  const browser = await happen(first);
  await first.sessions.api.stop({ keepData: true });
  expect(browser.messages).toEqual([]);
  const second = await startNotifications({ env: KEY, dataDir: first.sessions.api.dataDir });
  second.pass(6);
  const messages = await browser.gets(1);
  expect(messages).toHaveLength(1);
  await second.stop();
  await first.push.stop();
  await first.smtp.stop();
});

for (const step of ["notification-claimed", "notification-sent"] as const)
  test(`a server that dies at ${step}: the next one sends it, with the same tag`, async () => {
    const [dead, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    // as if the process ended there: nothing that follows happens
    const checkpoint = async (at: string) => {
      if (at !== step) return;
      dead.resolve();
      await over.promise;
      throw new Error("it is dead");
    };
    const first = await startNotifications({ env: KEY, deps: { checkpoint } });
    const browser = await happen(first);
    first.pass(6);
    await dead.promise;
    const env = { ...KEY, DATABASE_URL: first.sessions.api.databaseUrl ?? "" };
    const second = await startNotifications({ env });
    // the claim has ended
    second.pass(70);
    const count = step === "notification-sent" ? 2 : 1;
    const messages = await browser.gets(count);
    expect(messages).toHaveLength(count);
    expect(new Set(messages.map(({ tag }) => tag)).size).toBe(1);
    over.resolve();
    await second.stop();
    await first.stop();
  });
