import type { App } from "../../../src/contract/app.ts";
import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import type { Preview } from "../../../src/contract/preview.ts";
import type { Project } from "../../../src/contract/project.ts";
import { path } from "../../api.ts";
import { openBrowser } from "../../browser.ts";
import { CliError } from "../../failure.ts";
import { count, oneLine } from "../../text.ts";
import { makeProgress } from "../sessions/progress.ts";
import type { Demo } from "./demo.ts";
import { APP, headingOf, isChanged } from "./sample.ts";
import { announce } from "./say.ts";
import { readStage } from "./stage.ts";

/** A site without a build is live within a second. */
const DEPLOY_SECONDS = 120;
const POLL_MS = 500;
const PAGE_MS = 30_000;
/** Larger than any page of the sample. */
const PAGE_MAX = 256 * 1024;

interface Merged {
  project: Project;
  cr: ChangeRequest;
  wasReviewed: boolean;
}

/** @throws CliError `timeout` */
export async function waitForDeployment(demo: Demo, { project }: Merged): Promise<void> {
  const { context, api, record } = demo;
  const seconds = context.globals.timeout ?? DEPLOY_SECONDS;
  const progress = makeProgress(context);
  progress.step("svc deploys the app from main");
  for (const end = performance.now() + seconds * 1000; performance.now() < end; ) {
    if ((await readStage(api, record, demo.skipsReview)).at !== "deploy") return progress.end("worked");
    await context.system.sleep(POLL_MS);
  }
  await progress.end("failed");
  throw new CliError("timeout", `The app of the demo is not live after ${count(seconds, "second")}.`, {
    hint: `To check it: svc apps info ${APP} --project ${project.slug}\n      To continue: svc demo`,
  });
}

/** Checks that the app answers with the changed page, and prints its address. @throws CliError `demo_failed` */
export async function show(demo: Demo, stage: Merged & { app: App }): Promise<void> {
  const { context, record } = demo;
  const { project, cr, app } = stage;
  await announce(demo, "The app, served from main", [`svc apps open ${APP} --project ${project.slug}`]);
  const page = await readPage(demo, await link(demo, project));
  if (!isChanged(page, stage.wasReviewed)) {
    throw new CliError("demo_failed", "The app answers, but not with the page that was merged.", {
      hint: `To deploy it again: svc apps deploy ${APP} --project ${project.slug} --wait`,
    });
  }
  const { url } = app;
  const opening = demo.isGuided ? await link(demo, project) : url;
  const answer = {
    project_id: project.project_id,
    project_slug: project.slug,
    session_id: record.session_id,
    cr_number: cr.number,
    merge_commit_sha: cr.merge_commit_sha,
    url,
    heading: headingOf(page),
    deleted: false,
  };
  await context.out.result(answer, () => `${oneLine(opening)}\n`);
  const isShown = demo.isGuided && (await openBrowser(context.system, opening));
  if (isShown) await context.out.note("Opened in the browser.");
  await context.out.note(
    `\nThe demo is complete: the app says "${oneLine(answer.heading ?? "")}".\nTo delete it: svc demo --clean\nFor your own repository: svc projects new --repo <url> --link`,
  );
}

/** A link that signs one browser in to the app. */
async function link({ api }: Demo, { project_id }: Project): Promise<string> {
  const call = { method: "POST", path: path`/projects/${project_id}/apps/${APP}/preview` };
  return (await api.call<Preview>(call)).url;
}

/** Opens a link as a browser does: it answers with a cookie, and the page needs it. */
async function readPage({ context: { system } }: Demo, opened: string): Promise<string> {
  try {
    const signedIn = await request(new URL(opened), {});
    await signedIn.body?.cancel();
    const [cookie = ""] = signedIn.headers.getSetCookie().map((each) => each.split(";")[0] ?? "");
    const page = await request(new URL("/", opened), { Cookie: cookie });
    const text = await page.text();
    if (page.ok) return text.slice(0, PAGE_MAX);
    throw new CliError("demo_failed", `The app answers with status ${page.status}.`);
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError("network", `The app cannot be reached at ${oneLine(new URL(opened).origin)}.`);
  }

  /** Browsers resolve every name below `localhost` to this machine; other programs may not. */
  function request(url: URL, headers: Record<string, string>): Promise<Response> {
    const { host, hostname } = url;
    const to = new URL(url);
    if (hostname.endsWith(".localhost")) to.hostname = "localhost";
    const init = {
      headers: { ...headers, Host: host },
      redirect: "manual",
      signal: AbortSignal.timeout(PAGE_MS),
    };
    return system.fetch(to.href, { ...init, redirect: "manual" });
  }
}
