import type { Delivery, Webhook } from "../../src/contract/webhook.ts";
import type { Deps } from "../../src/deps.ts";
import { Changes } from "../../src/lib/changes.ts";
import { type Answer, type Api, startApi } from "./api.ts";
import { Remote } from "./remote.ts";
import { StandInProvider } from "./stand-in-provider.ts";
import { until } from "./until.ts";

/** A request that a receiver of webhooks got. */
export interface Received {
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** A receiver of webhooks on loopback. */
export interface Receiver {
  /** The URL of a path. */
  url(path: string): string;
  received: Received[];
  /** Those of a path. */
  of(path: string): Received[];
  /** The answer to a request; a test changes it. */
  answer: (request: Received) => Response | Promise<Response>;
  stop(): Promise<void>;
}

export function startReceiver(): Receiver {
  const received: Received[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const headers = Object.fromEntries(request.headers);
      const got = { path: pathname, headers, body: await request.text() };
      received.push(got);
      return await receiver.answer(got);
    },
  });
  const receiver: Receiver = {
    url: (path) => `http://127.0.0.1:${server.port}${path}`,
    received,
    of: (path) => received.filter((request) => request.path === path),
    answer: () => new Response("thanks"),
    stop: () => server.stop(true),
  };
  return receiver;
}

/** A server whose projects may send to loopback, with stand-in sandboxes and a clock of its database. */
export interface WebhookBench {
  api: Api;
  provider: StandInProvider;
  remote: Remote;
  receiver: Receiver;
  projectId: string;
  /** Below the project's path. */
  call(method: string, path: string, options?: Parameters<Api["call"]>[2]): Promise<Answer>;
  /** Adds a webhook of a path of the receiver. */
  add(path: string, body?: Record<string, unknown>): Promise<Webhook & { secret: string }>;
  get(webhookId: string): Promise<Webhook>;
  test(webhookId: string): Promise<Delivery>;
  /** The deliveries of a webhook, oldest first. */
  deliveries(webhookId: string): Promise<Delivery[]>;
  /** Waits until the deliveries of a webhook are so. */
  become(webhookId: string, isSo: (deliveries: Delivery[]) => boolean): Promise<Delivery[]>;
  now(): Date;
  /** Puts the database's clock forward. */
  advance(seconds: number): void;
  stop(options?: { keepData?: boolean }): Promise<void>;
}

export async function startWebhooks(
  options: { env?: Record<string, string>; deps?: Partial<Deps>; dataDir?: string; ahead?: number } = {},
): Promise<WebhookBench> {
  const provider = new StandInProvider();
  const changes = new Changes();
  let now = new Date(Date.now() + (options.ahead ?? 0) * 1000);
  const api = await startApi({
    ...(options.dataDir !== undefined && { dataDir: options.dataDir }),
    env: { SVC_ALLOW_PRIVATE_ADDRESSES: "1", ...options.env },
    deps: { sandboxes: provider.sandboxesOf, changes, databaseTime: async () => now, ...options.deps },
  });
  const remote = new Remote();
  remote.commit("main", { a: "1\n" });
  const receiver = startReceiver();
  const { project_id: projectId } = await api.project(remote.url);
  const call: WebhookBench["call"] = (method, path, more) =>
    api.call(method, `/v1/projects/${projectId}${path}`, more);
  const deliveries = async (id: string): Promise<Delivery[]> =>
    (await call("GET", `/webhooks/${id}/deliveries?limit=200`)).body.deliveries.toReversed();
  return {
    api,
    provider,
    remote,
    receiver,
    projectId,
    call,
    deliveries,
    async add(path, body = {}) {
      const made = await call("POST", "/webhooks", { body: { url: receiver.url(path), ...body } });
      if (made.status !== 201) throw new Error(`no webhook: ${made.status} ${made.text}`);
      return made.body;
    },
    get: async (id) => (await call("GET", `/webhooks/${id}`)).body,
    async test(id) {
      const made = await call("POST", `/webhooks/${id}/test`);
      if (made.status !== 202) throw new Error(`no test: ${made.status} ${made.text}`);
      return made.body;
    },
    async become(id, isSo) {
      let last: Delivery[] = [];
      await until(
        () => `the deliveries are as expected, and not ${JSON.stringify(last)}`,
        async () => {
          last = await deliveries(id);
          return isSo(last);
        },
      );
      return last;
    },
    now: () => now,
    advance(seconds) {
      now = new Date(now.getTime() + seconds * 1000);
      changes.notify("webhook");
    },
    async stop(how) {
      await api.stop(how);
      await provider.close();
      await receiver.stop();
      remote.remove();
    },
  };
}

/** Whether all deliveries have ended. */
export const areOver = (deliveries: Delivery[]) =>
  deliveries.length > 0 && deliveries.every(({ status }) => status !== "pending");
