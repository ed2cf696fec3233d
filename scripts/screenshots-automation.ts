import type { SessionPages } from "../test/helpers/session-pages.ts";
import { until } from "../test/helpers/until.ts";
import type { Take } from "./screenshots-review.ts";

/** Waits for the triggers and the app of the manifest (`AUTOMATED`), and fires one. @returns a function that takes screenshots */
export async function makeAutomation(pages: SessionPages): Promise<(take: Take) => Promise<void>> {
  const { api, projectId } = pages;
  const at = `/v1/projects/${projectId}`;
  // svc is not notified of pushes to a git host: an edit of the project makes it poll
  await api.call("PATCH", at, { body: { default_branch: "main" } });
  await api.call("PUT", `${at}/secrets/CI_SECRET`, { body: { value: "a secret that CI has, too" } });
  const isLive = async () => (await api.call("GET", `${at}/apps/handbook`)).body.app?.state === "live";
  await until("the app is live", isLive);
  const areKnown = async () => (await api.call("GET", `${at}/triggers`)).body.triggers.length === 2;
  await until("the triggers are known", areKnown);
  const { body } = await api.call("POST", `${at}/triggers/dependencies/fire`, { body: {} });
  await pages.becomes(body.session_id, "running");
  return async (take) => {
    await take("triggers", "/triggers", (page) => page.getByText("Explain the failed build").waitFor());
    await take("trigger", "/triggers/dependencies", (page) =>
      page.getByRole("link", { name: /^Session / }).waitFor(),
    );
    await take("apps", "/apps", (page) => page.getByText("Live", { exact: true }).waitFor());
    await take("app", "/apps/handbook", (page) => page.getByText("Deployment 1", { exact: true }).waitFor());
  };
}

/** The files on the default branch. */
export const AUTOMATED = {
  "site/index.html": "<h1>Handbook</h1>\n",
  "svc.toml": `svc_version = 1

[change_requests]
required_approvals = 1

[[triggers]]
slug = "dependencies"
name = "Upgrade dependencies"
type = "cron"
cron = "0 6 * * 1"
timezone = "Europe/Berlin"
prompt = "Upgrade what is out of date, run the tests, and open a change request that says what changed."

[[triggers]]
slug = "failed-build"
name = "Explain the failed build"
type = "webhook"
secret_env = "CI_SECRET"
prompt = "The build {{ body.build.url }} has failed. Find out why."

[[apps]]
slug = "handbook"
name = "Handbook"
static = { dir = "site" }
`,
};
