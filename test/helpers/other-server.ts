import type { Session } from "../../src/contract/session.ts";
import { Changes } from "../../src/lib/changes.ts";
import { type Api, startApi } from "./api.ts";
import type { SessionServer } from "./session-server.ts";
import { untilStatus } from "./sessions.ts";
import { StandInProvider } from "./stand-in-provider.ts";

/** Another server on the same database, with sandboxes of its own. */
export interface OtherServer {
  api: Api;
  provider: StandInProvider;
  /** Sends a request below the project's sessions. */
  call(method: string, path: string): ReturnType<Api["call"]>;
  becomes(id: string, status: "running" | "failed"): ReturnType<typeof untilStatus>;
  /** Makes it check the sessions now. */
  look(): void;
  stop(): Promise<void>;
}

/**
 * @param env also the master key of the first one, which the database knows
 * @param kind what its sandboxes pass for
 */
export async function startOther(
  { databaseUrl, path, token }: Pick<SessionServer, "databaseUrl" | "path" | "token">,
  env: Record<string, string>,
  kind: Session["sandbox_provider"] = "local",
): Promise<OtherServer> {
  const provider = new StandInProvider(kind);
  const changes = new Changes();
  const api = await startApi({
    env: { ...env, DATABASE_URL: databaseUrl },
    deps: { sandboxes: provider.sandboxesOf, changes },
  });
  const call: OtherServer["call"] = (method, below) =>
    api.call(method, path + below, { token, ...(method === "POST" && { body: {} }) });
  return {
    api,
    provider,
    call,
    becomes: (id, status) => untilStatus(async () => (await call("GET", `/${id}`)).body, [status]),
    look() {
      for (const subject of ["runs", "sessions"]) changes.notify(subject);
    },
    async stop() {
      await api.stop();
      await provider.close();
    },
  };
}
