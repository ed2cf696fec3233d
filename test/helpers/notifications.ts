import postgres from "postgres";
import type { Notification, NotificationSettings } from "../../src/contract/notification.ts";
import type { NotificationEvent, NotificationWay } from "../../src/contract/notification-event.ts";
import type { Deps } from "../../src/deps.ts";
import { Changes } from "../../src/lib/changes.ts";
import type { Answer } from "./api.ts";
import { invited } from "./invited.ts";
import { type PushedBrowser, type PushService, startPushService } from "./push-service.ts";
import { hostRuntimes, type RuntimeHost } from "./runtime-host.ts";
import { type SessionBench, startSessions } from "./sessions.ts";
import { type Smtp, startSmtp } from "./smtp.ts";
import { until } from "./until.ts";

/** A server that sends pushes and e-mails to stand-ins on loopback, with a clock of its database. */
export interface NotificationBench {
  sessions: SessionBench;
  push: PushService;
  smtp: Smtp;
  runtimeOf: (sessionId: string) => RuntimeHost;
  /** Of the account of the project. */
  member(email: string): Promise<string>;
  /** Below `/v1/accounts/notifications`. */
  call(method: string, path: string, options?: { token?: string; body?: unknown }): Promise<Answer>;
  list(token?: string): Promise<Notification[]>;
  choose(event: NotificationEvent, ways: NotificationWay[], token?: string): Promise<NotificationSettings>;
  /** Switches push on in a new browser. */
  addBrowser(token?: string): Promise<PushedBrowser & { id: string }>;
  /** Waits until the newest notification of a person is of this event. */
  notifies(event: NotificationEvent, token?: string): Promise<Notification>;
  /** Puts the database's clock forward. */
  pass(seconds: number): void;
  /** Sets it right again: what happens from now on is not due yet. */
  rewind(): void;
  /** How much is still to be sent. */
  pending(): Promise<number>;
  open(options?: { token?: string; title?: string; session?: string }): Promise<Answer["body"]>;
  stop(options?: { keepData?: boolean }): Promise<void>;
}

export async function startNotifications(
  options: { env?: Record<string, string>; deps?: Partial<Deps>; dataDir?: string } = {},
): Promise<NotificationBench> {
  const push = startPushService();
  const smtp = await startSmtp();
  const changes = new Changes();
  let ahead = 0;
  const sessions = await startSessions({
    ...(options.dataDir !== undefined && { dataDir: options.dataDir }),
    env: {
      ...{ SVC_ALLOW_PRIVATE_ADDRESSES: "1", SVC_SESSION_CAP: "50" },
      ...{ SVC_SMTP_URL: smtp.url, SVC_MAIL_FROM: "svc <svc@example.com>", ...options.env },
    },
    deps: {
      changes,
      databaseTime: async () => new Date(Date.now() + ahead * 1000),
      ...options.deps,
    },
  });
  const { api, projectId, remote } = sessions;
  const sql = postgres(api.databaseUrl ?? "", { max: 1, onnotice() {} });
  const call: NotificationBench["call"] = (method, path, more) =>
    api.call(method, `/v1/accounts/notifications${path}`, more);
  const having = (token?: string) => (token === undefined ? {} : { token });
  const list = async (token?: string): Promise<Notification[]> =>
    (await call("GET", "", having(token))).body.notifications;
  let branches = 0;
  return {
    ...{ sessions, push, smtp, call, list, runtimeOf: hostRuntimes(sessions.provider) },
    member: (email) => invited(api, email),
    async choose(event, ways, token) {
      const answer = await call("PATCH", "/settings", {
        ...having(token),
        body: { choices: [{ event, ways }] },
      });
      if (answer.status !== 200) throw new Error(`not chosen: ${answer.text}`);
      return answer.body;
    },
    async addBrowser(token) {
      const browser = await push.browser();
      const added = await call("POST", "/browsers", { ...having(token), body: browser.subscription });
      if (added.status !== 201) throw new Error(`no browser: ${added.text}`);
      return { ...browser, id: added.body.browser_id };
    },
    async notifies(event, token) {
      let newest: Notification | undefined;
      await until(
        () => `a person is notified of ${event}, and not of ${newest?.event}`,
        async () => {
          [newest] = await list(token);
          return newest?.event === event;
        },
      );
      if (!newest) throw new Error("no notification");
      return newest;
    },
    pass(seconds) {
      ahead += seconds;
      changes.notify("notification");
    },
    rewind() {
      ahead = 0;
    },
    pending: async () => {
      const [row] = await sql`select count(*)::int as rows from notification_deliveries`;
      return row?.["rows"];
    },
    async open({ token, title = "Fix the login", session } = {}) {
      const head = `work-${++branches}-${crypto.randomUUID()}`;
      remote.commit(head, { [head]: "1\n" }, { from: "main" });
      const made = await api.call("POST", `/v1/projects/${projectId}/change-requests`, {
        ...having(token),
        body: { title, head_ref: head, ...(session !== undefined && { session_id: session }) },
      });
      if (made.status !== 201) throw new Error(`no change request: ${made.text}`);
      return made.body;
    },
    async stop(how) {
      await sql.end({ timeout: 1 });
      await (how?.keepData ? api.stop(how) : sessions.stop());
      await push.stop();
      await smtp.stop();
    },
  };
}
