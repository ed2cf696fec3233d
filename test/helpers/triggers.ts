import { createHmac } from "node:crypto";
import type { Firing, Trigger, TriggerDetail } from "../../src/contract/trigger.ts";
import type { Deps } from "../../src/deps.ts";
import { Changes } from "../../src/lib/changes.ts";
import { type Answer, type Api, startApi } from "./api.ts";
import { Remote } from "./remote.ts";
import { StandInProvider } from "./stand-in-provider.ts";
import { until } from "./until.ts";

/** A server with stand-in sandboxes, a project on a git host (a folder of the test's), and a clock of its database. */
export interface TriggerBench {
  api: Api;
  provider: StandInProvider;
  remote: Remote;
  projectId: string;
  /** Below `/v1/projects/<id>/triggers`. */
  call(method: string, path: string, options?: Parameters<Api["call"]>[2]): Promise<Answer>;
  /** Commits a manifest with these triggers to the default branch, and waits until it is applied. */
  have(...entries: string[]): Promise<void>;
  get(slug: string): Promise<TriggerDetail>;
  /** Its firings, oldest first. */
  firings(slug: string): Promise<Firing[]>;
  now(): Date;
  /** Sets the database's clock, and waits until due firings are recorded. */
  goTo(time: Date | string): Promise<void>;
  /** Makes the server check waiting firings. */
  wake(): void;
  stop(): Promise<void>;
}

/** A trigger's entry in a manifest. */
export const cron = (slug: string, schedule: string, more = "") =>
  `[[triggers]]\nslug = "${slug}"\ntype = "cron"\ncron = "${schedule}"\nprompt = "Do ${slug}."\n${more}`;
export const webhook = (slug: string, prompt: string, more = "") =>
  `[[triggers]]\nslug = "${slug}"\ntype = "webhook"\nsecret_env = "HOOK_SECRET"\nprompt = ${JSON.stringify(prompt)}\n${more}`;

export async function startTriggers(
  start: string,
  options: { env?: Record<string, string>; deps?: Partial<Deps> } = {},
): Promise<TriggerBench> {
  const provider = new StandInProvider();
  const changes = new Changes();
  let now = new Date(start);
  const api = await startApi({
    ...(options.env && { env: options.env }),
    deps: { sandboxes: provider.sandboxesOf, changes, databaseTime: async () => now, ...options.deps },
  });
  const remote = new Remote();
  remote.commit("main", { "svc.toml": "svc_version = 1\n" });
  const { project_id: projectId } = await api.project(remote.url);
  const call: TriggerBench["call"] = (method, path, more) =>
    api.call(method, `/v1/projects/${projectId}/triggers${path}`, more);
  const list = async (): Promise<{ triggers: Trigger[]; commit: string }> => (await call("GET", "")).body;
  const get = async (slug: string): Promise<TriggerDetail> => (await call("GET", `/${slug}`)).body;
  return {
    api,
    provider,
    remote,
    projectId,
    call,
    get,
    async have(...entries) {
      const text = ["svc_version = 1", ...entries].join("\n");
      const commit = remote.commit("main", { "svc.toml": text });
      // like an edit of the project, without waiting for the next poll
      await api.call("PATCH", `/v1/projects/${projectId}`, { body: { name: "Example" } });
      await until("the manifest is followed", async () => (await list()).commit === commit);
    },
    firings: async (slug) => (await get(slug)).firings.toReversed(),
    now: () => now,
    async goTo(time) {
      now = new Date(time);
      const isDone = ({ next_fire_at }: Trigger) => next_fire_at === null || new Date(next_fire_at) > now;
      await until("what is due is written down", async () => {
        changes.notify("trigger");
        return (await list()).triggers.every(isDone);
      });
    },
    wake: () => changes.notify("trigger"),
    async stop() {
      await api.stop();
      await provider.close();
      remote.remove();
    },
  };
}

/** The signature of a webhook's body. */
export const signatureOf = (secret: string, body: string | Uint8Array) =>
  `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
