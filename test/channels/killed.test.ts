import { expect } from "bun:test";
import { startChannels } from "../helpers/channels.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { sample } from "../helpers/random.ts";
import { startSlack } from "../helpers/slack.ts";

const test = needs("a real Postgres", POSTGRES);

for (const step of sample(1, ["channel-claimed", "channel-prompted", "channel-posted"] as const))
  test(`a server that dies at ${step}: the next one answers, with one session and one prompt`, async () => {
    const slack = startSlack();
    const [dead, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    // as if the process ended there: nothing that follows happens
    const checkpoint = async (at: string) => {
      if (at !== step) return;
      dead.resolve();
      await over.promise;
      throw new Error("it is dead");
    };
    const first = await startChannels({ slack, deps: { checkpoint } });
    await first.connect();
    const ts = await first.mention("survive");
    await dead.promise;
    await first.stop({ keepData: true });
    over.resolve();
    // its claim has ended
    const databaseTime = async () => new Date(Date.now() + 61_000);
    const second = await startChannels({ slack, dataDir: first.api.dataDir, deps: { databaseTime } });
    try {
      const message = await second.said(ts, "I did: survive");
      expect(message.channel).not.toBe("");
      await second.said(ts, /^Done\./);
      const { sessions } = (await second.api.call("GET", `/v1/projects/${first.projectId}/sessions`)).body;
      expect(sessions).toHaveLength(1);
      const path = `/v1/projects/${first.projectId}/sessions/${sessions[0].session_id}/prompts`;
      expect((await second.api.call("GET", path)).body.prompts).toHaveLength(1);
      expect(slack.thread(ts).filter(({ text }) => text.startsWith("I did"))).toHaveLength(1);
    } finally {
      await second.stop();
      await slack.stop();
      first.remote.remove();
    }
  });
